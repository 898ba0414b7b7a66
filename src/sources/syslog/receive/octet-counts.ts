/**
 * Octet counts (RFC 6587: `NUMBER SP MESSAGE`) in bytes, and whether they agree with the bytes behind them. Pure. Promises: linear
 * time, because each look goes over a bounded number of bytes, or over bytes that are taken next.
 */
import { MAX_OCTET_COUNT_DIGITS } from '../limits.ts';

export const [NUL, LF, CR, SPACE, ZERO, NINE, LESS_THAN, GREATER_THAN] = [0, 10, 13, 32, 48, 57, 60, 62];
/** CR, LF and NUL between two messages that are looked over; behind more, a count is taken for granted. */
const MAX_TRAILERS = 8;
/** Digits that a text may end in, right before a count. */
const MAX_TEXT_DIGITS = 6;
/** Counts in a row, each in step with the next, that prove the bytes before them wrong. */
export const PROVING_COUNTS = 3;
/** A count, its space and a PRI are not longer. */
export const LONGEST_START = MAX_OCTET_COUNT_DIGITS + 6;

export interface OctetCount {
  /** Bytes of the message. */
  readonly octets: number;
  /** Bytes of the number and its space. */
  readonly length: number;
  readonly hasPriority: boolean | 'open';
}

export function isTrailer(byte: number | undefined): boolean {
  return byte === LF || byte === CR || byte === NUL;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= NINE;
}

/** How many of the last bytes are CR, LF or NUL. */
export function countTrailers(bytes: Buffer): number {
  let at = bytes.length;
  while (at > 0 && isTrailer(bytes[at - 1])) at -= 1;
  return bytes.length - at;
}

/** How many of the last bytes are CR, LF or NUL, where the bytes up to `from` ended in `before` of them. */
export function trailersBehind(bytes: Buffer, from: number, before: number): number {
  const rest = bytes.subarray(from);
  const trailers = countTrailers(rest);
  return trailers === rest.length ? before + trailers : trailers;
}

/** The place of a LF or NUL from `at` on, or -1. */
export function delimiterAt(bytes: Buffer, at: number): number {
  const newline = bytes.indexOf(LF, at);
  const nul = bytes.subarray(0, newline === -1 ? undefined : newline).indexOf(NUL, at);
  return nul === -1 ? newline : nul;
}

/** Whether `at` holds a `<PRI>`; `open`: the bytes end before that is known. */
export function priorityAt(bytes: Buffer, at: number): boolean | 'open' {
  if (at >= bytes.length) return 'open';
  if (bytes[at] !== LESS_THAN) return false;
  let to = at + 1;
  while (to < at + 4 && isDigit(bytes[to])) to += 1;
  if (to === bytes.length) return 'open';
  return to > at + 1 && bytes[to] === GREATER_THAN;
}

/** The count at `at`; undefined without one; `open`: the bytes end before that is known. */
export function countAt(bytes: Buffer, at: number): OctetCount | 'open' | undefined {
  let to = at;
  while (to <= at + MAX_OCTET_COUNT_DIGITS && isDigit(bytes[to])) to += 1;
  if (to === at + MAX_OCTET_COUNT_DIGITS + 1) return undefined;
  if (to >= bytes.length) return 'open';
  if (to === at || bytes[to] !== SPACE) return undefined;
  const octets = Number(bytes.toString('latin1', at, to));
  return octets === 0 ? undefined : { octets, length: to + 1 - at, hasPriority: priorityAt(bytes, to + 1) };
}

function skipTrailers(bytes: Buffer, at: number): number {
  let to = at;
  while (to < at + MAX_TRAILERS && isTrailer(bytes[to])) to += 1;
  return to;
}

/** Nothing more has come, or too many trailers to tell. */
function isUnknown(bytes: Buffer, at: number): boolean {
  return at === bytes.length || isTrailer(bytes[at]);
}

/**
 * How many counts in a row, from the one at `at` on, are followed by a valid beginning of the next: 0 where the bytes end before that is
 * known,
 * -1 where they contradict one of the counts. `isEnd`: nothing more comes, so that the last message may end where the bytes do.
 */
export function fittingCounts(bytes: Buffer, at: number, isEnd: boolean): number {
  let from = at;
  for (let fitting = 0; fitting < PROVING_COUNTS; fitting += 1) {
    const count = countAt(bytes, from);
    if (count === undefined) return fitting > 0 ? fitting : -1;
    if (count === 'open') return fitting;
    const end = from + count.length + count.octets;
    if (end > bytes.length) return fitting;
    from = skipTrailers(bytes, end);
    if (isUnknown(bytes, from)) return fitting + (isEnd || from < bytes.length ? 1 : 0);
    if (countAt(bytes, from) === undefined && priorityAt(bytes, from) === false) return -1;
  }
  return PROVING_COUNTS;
}

/** The number before the `<` at `at`, not before `floor`; undefined without one. */
function numberBefore(bytes: Buffer, at: number, floor: number): number | undefined {
  if (at - 1 < floor || bytes[at - 1] !== SPACE) return undefined;
  let from = at - 1;
  while (from > floor && at - 1 - from < MAX_OCTET_COUNT_DIGITS && isDigit(bytes[from - 1])) from -= 1;
  return from === at - 1 ? undefined : from;
}

export interface FoundCount {
  readonly at: number;
  readonly fitting: number;
}

/**
 * The count whose PRI is at `at`. Text may end in digits right before its number: the longest number that fits the bytes after it is taken,
 * else the longest that may still do.
 */
function countBefore(bytes: Buffer, at: number, floor: number, isEnd: boolean): FoundCount | undefined {
  const first = numberBefore(bytes, at, floor);
  if (first === undefined || priorityAt(bytes, at) !== true || countAt(bytes, first) === undefined) return undefined;
  let best: FoundCount = { at: first, fitting: fittingCounts(bytes, first, isEnd) };
  for (let start = first + 1; start < at - 1 && best.fitting < 1; start += 1) {
    // A zero rather ends the text.
    const fitting = bytes[start] === ZERO ? -1 : fittingCounts(bytes, start, isEnd);
    if (fitting > best.fitting) best = { at: start, fitting };
  }
  return best;
}

/** How many counts in a row fit from a later digit of the number at 0 on, whose PRI is at `at`: text may end in the digits before. */
export function fittingInNumber(bytes: Buffer, at: number, isEnd: boolean): number {
  let best = -1;
  if (priorityAt(bytes, at) !== true) return best;
  for (let start = 1; start <= MAX_TEXT_DIGITS && start < at - 1; start += 1)
    if (bytes[start] !== ZERO) best = Math.max(best, fittingCounts(bytes, start, isEnd));
  return best;
}

/** The first `NUMBER SP <PRI>` whose PRI is at `from` or later and whose number not before `floor`. */
function findCount(bytes: Buffer, from: number, floor: number, isEnd: boolean): FoundCount | undefined {
  for (let at = bytes.indexOf(LESS_THAN, from); at !== -1; at = bytes.indexOf(LESS_THAN, at + 1)) {
    const found = countBefore(bytes, at, floor, isEnd);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Where a message may begin again: at the first such count, or at a `<PRI>` behind LF or NUL. */
export function findStart(bytes: Buffer, from: number, floor: number, isEnd: boolean): number | undefined {
  for (let at = bytes.indexOf(LESS_THAN, from); at !== -1; at = bytes.indexOf(LESS_THAN, at + 1)) {
    if (at > floor && isTrailer(bytes[at - 1]) && priorityAt(bytes, at) === true) return at;
    const found = countBefore(bytes, at, floor, isEnd);
    if (found !== undefined) return found.at;
  }
  return undefined;
}

interface ProofQuestion {
  /** Counts whose PRI is here or later, and whose number not before `floor`, up to `to`. */
  readonly from: number;
  readonly floor: number;
  readonly to: number;
  /** So many in a row must agree with what follows. */
  readonly least: number;
  readonly isEnd: boolean;
  /** Whether a count of which that is not known yet is waited for. */
  readonly mayWait: boolean;
}

/** The first such count, and the place before which there surely is no other. */
export function findProof(
  bytes: Buffer,
  { from, floor, to, least, isEnd, mayWait }: ProofQuestion,
): { at?: number; compared: number } {
  for (let next = from; ;) {
    const found = findCount(bytes, next, floor, isEnd);
    if (found === undefined || found.at >= to) return { compared: Math.max(0, to - LONGEST_START) };
    if (found.fitting >= least) return { at: found.at, compared: found.at };
    if (found.fitting >= 0 && mayWait) return { compared: found.at };
    next = bytes.indexOf(LESS_THAN, Math.max(next, found.at)) + 1;
  }
}

/** Whether the bytes do not contradict this count: its message has not come whole, or something may begin behind it. */
function mayFit(bytes: Buffer, at: number, { length, octets }: OctetCount): boolean {
  const behind = at + length + octets;
  if (behind >= bytes.length) return true;
  const next = skipTrailers(bytes, behind);
  return isUnknown(bytes, next) || countAt(bytes, next) !== undefined || priorityAt(bytes, next) !== false;
}

/**
 * Whether the bytes at `end` may follow a counted message of which the body began at `start`: nothing yet; a count and a PRI; a count alone
 * when its own message ends in step; a `<PRI>` whose line ends before another count that fits.
 */
export function isInStep(bytes: Buffer, start: number, end: number): boolean {
  const at = skipTrailers(bytes, end);
  if (isUnknown(bytes, at)) return true;
  const count = countAt(bytes, at);
  if (count === 'open') return true;
  if (count !== undefined) {
    // The message may end within the number.
    const isCut = isDigit(bytes[at - 1]);
    if (count.hasPriority !== false && !isCut) return true;
    if (mayFit(bytes, at, count)) return true;
    return count.hasPriority !== false && (countBefore(bytes, at + count.length, start, false)?.fitting ?? 0) < 1;
  }
  const priority = priorityAt(bytes, at);
  if (priority !== true) return priority === 'open';
  const delimiter = delimiterAt(bytes, at);
  // The count may have covered the next one's number, too.
  const own = countBefore(bytes, at, start, false);
  if (own !== undefined && (own.fitting > 0 || delimiter === -1)) return false;
  const [to, least] = delimiter === -1 ? [bytes.length, 1] : [delimiter, PROVING_COUNTS];
  return findProof(bytes, { from: at + 1, floor: at, to, least, isEnd: false, mayWait: false }).at === undefined;
}
