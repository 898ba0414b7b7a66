/**
 * Reads the parts that may precede a line's time: colours, a level, a pid, brackets, and the keys of logfmt and auditd. A foreign word ends
 * the search. The copy in JavaScript is core/time/line-start.ts.
 */
import { isDigit } from '../digits';

// As u64, in small letters, the first in the lowest byte.
const TRACE: u64 = 0x6563617274;
const DEBUG: u64 = 0x6775626564;
const INFO: u64 = 0x6f666e69;
const NOTICE: u64 = 0x656369746f6e;
const WARN: u64 = 0x6e726177;
const WARNING: u64 = 0x676e696e726177;
const ERR: u64 = 0x727265;
const ERROR: u64 = 0x726f727265;
const CRIT: u64 = 0x74697263;
const CRITICAL: u64 = 0x6c61636974697263;
const SEVERE: u64 = 0x657265766573;
const FATAL: u64 = 0x6c61746166;
const ALERT: u64 = 0x7472656c61;
const PANIC: u64 = 0x63696e6170;

/** Pieces before the time, and pairs of logfmt before its key, at most. */
export const MOST_PIECES: u32 = 12;
const MOST_PAIRS = 8;
const MOST_GROUP = 64;
const MOST_KEY = 32;
const MOST_VALUE: usize = 128;

/** Where `placeBehindKey` leads: a slow query log, `audit(…)`, a value that may be a count, or one that may not. */
export const SLOW_LOG: u32 = 1;
export const AUDIT: u32 = 2;
export const VALUE: u32 = 3;
export const TEXT_VALUE: u32 = 4;
export let placeKind: u32 = 0;

/** `# Time: `, `audi` and `t(`, `time`, `ts`, `msg`. */
const SLOW_LOG_TEXT: u64 = 0x203a656d69542023;
const AUDI: u32 = 0x69647561;
const T_OPEN: u32 = 0x2874;
const TIME: u32 = 0x656d6974;
const TS: u32 = 0x7374;
const MSG: u32 = 0x67736d;

function isLetter(c: u32): bool {
  return (c | 0x20) - 0x61 < 26;
}

function isLevel(word: u64): bool {
  return (
    word == INFO ||
    word == WARN ||
    word == ERROR ||
    word == DEBUG ||
    word == WARNING ||
    word == TRACE ||
    word == NOTICE ||
    word == ERR ||
    word == CRIT ||
    word == CRITICAL ||
    word == SEVERE ||
    word == FATAL ||
    word == ALERT ||
    word == PANIC
  );
}

/** Behind the level at `p`, or 0. */
export function levelEnd(p: usize): usize {
  let length: usize = 0;
  while (length < 9 && isLetter(load<u8>(p + length))) length++;
  if (length < 3 || length == 9) return 0;
  const word = (load<u64>(p) | 0x2020202020202020) & (u64.MAX_VALUE >> (64 - ((<u64>length) << 3)));
  return isLevel(word) ? p + length : 0;
}

/** Letters, digits, `_`, `.`, `@`, `-`: a bit for each character. */
function isOfKey(c: u32): bool {
  return isLetter(c) || c - 0x30 < 10 || c == 0x5f || c == 0x2e || c == 0x2d || c == 0x40;
}

/** Behind the value of logfmt at `p` and the space after it, or 0. */
function valueEnd(p: usize): usize {
  let n: usize = 0;
  if (load<u8>(p) == 0x22) {
    p++;
    while (n <= MOST_VALUE && isInQuotes(load<u8>(p + n))) n++;
    if (n > MOST_VALUE || load<u8>(p + n) != 0x22) return 0;
    p += n + 1;
  } else {
    while (n <= MOST_VALUE && load<u8>(p + n) != 0x20 && isInQuotes(load<u8>(p + n))) n++;
    if (n > MOST_VALUE) return 0;
    p += n;
  }
  return load<u8>(p) == 0x20 ? p + 1 : 0;
}

function isInQuotes(c: u32): bool {
  return c >= 0x20 && c != 0x22 && c != 0x5c;
}

function isAudit(p: usize): bool {
  return load<u32>(p) == AUDI && <u32>load<u16>(p, 4) == T_OPEN && isDigit(p + 6);
}

/** Whether a `=` is near enough for the first key: most lines have none. */
function mayHaveKey(p: usize): bool {
  const equals = i8x16.splat(0x3d);
  return (
    v128.any_true(v128.or(i8x16.eq(v128.load(p), equals), i8x16.eq(v128.load(p, 16), equals))) ||
    load<u8>(p, MOST_KEY) == 0x3d
  );
}

/** Finds the time after `time=`, `ts=` or `t=` of logfmt, in `audit(…)`, or after `# Time: `; 0 if the line has none. Sets `placeKind`. */
export function placeBehindKey(p: usize): usize {
  if (load<u64>(p) == SLOW_LOG_TEXT) {
    placeKind = SLOW_LOG;
    return p + 8;
  }
  placeKind = AUDIT;
  if (isAudit(p)) return p + 6;
  if (!mayHaveKey(p)) return 0;
  for (let n = 0; n < MOST_PAIRS; n++) {
    const c = <u32>load<u8>(p);
    if (!isLetter(c) && c != 0x5f && c != 0x40) return 0;
    let length = 1;
    while (length < MOST_KEY && isOfKey(load<u8>(p + length))) length++;
    let value = p + length;
    if (load<u8>(value++) != 0x3d) return 0;
    const word = load<u32>(p);
    const isText = length == 1 && c == 0x74;
    if ((length == 4 && word == TIME) || (length == 2 && (word & 0xffff) == TS) || isText) {
      placeKind = isText ? TEXT_VALUE : VALUE;
      return load<u8>(value) == 0x22 ? value + 1 : value;
    }
    if (length == 3 && (word & 0xffffff) == MSG && isAudit(value)) return value + 6;
    p = valueEnd(value);
    if (p == 0) return 0;
  }
  return 0;
}

/** Returns the end of the brackets that open at `p` and do not hold a clock; or 0. */
function groupEnd(p: usize, open: u32, close: u32): usize {
  p++;
  for (let n = 0; n <= MOST_GROUP; n++, p++) {
    const c = <u32>load<u8>(p);
    if (c == close) return p + 1;
    if (c == open || !isInQuotes(c)) return 0;
    if (c == 0x3a && n > 0 && isDigit(p - 1) && isDigit(p + 1) && isDigit(p + 2)) return 0;
  }
  return 0;
}

/** Behind `<13>` at `p`, or 0. */
function priorityEnd(p: usize): usize {
  let n: usize = 1;
  while (n < 4 && isDigit(p + n)) n++;
  return n > 1 && load<u8>(p + n) == 0x3e ? p + n + 1 : 0;
}

/** Behind `1234` or `1:M` at `p`, or `p`. */
function pidEnd(p: usize): usize {
  let q = p;
  while (q - p < 11 && isDigit(q)) q++;
  if (q - p > 10) return p;
  const c = <u32>load<u8>(q);
  if (c == 0x3a && load<u8>(q, 2) == 0x20) {
    const role = <u32>load<u8>(q, 1);
    if (role == 0x4d || role == 0x53 || role == 0x43 || role == 0x58) return q + 2;
  }
  return c == 0x20 || c == 0x09 || c == 0x3a ? q : p;
}

/** Returns the end of the colour whose escape is at `p`, or `p`. */
function colourEnd(p: usize): usize {
  if (load<u8>(p, 1) != 0x5b) return p;
  let n: usize = 2;
  while (n < 18 && (isDigit(p + n) || load<u8>(p + n) == 0x3b)) n++;
  return load<u8>(p + n) == 0x6d ? p + n + 1 : p;
}

/** `[`, `(`, `<` and a quote: a time may follow at once. */
export function isOpening(c: u32): bool {
  return c == 0x5b || c == 0x28 || c == 0x3c || c == 0x22;
}

/** Letters that abbreviate levels. */
function isLevelLetter(c: u32): bool {
  return (
    c == 0x44 || c == 0x49 || c == 0x57 || c == 0x45 || c == 0x46 || c == 0x54 || c == 0x56 || c == 0x41 || c == 0x55
  );
}

let hasPid: bool = false;

export function beginPieces(): void {
  hasPid = false;
}

/** Returns the end of the piece at `p`, or `p` at a foreign word. `isInside`: other pieces precede it. */
export function pieceEnd(p: usize, isInside: bool): usize {
  const c = <u32>load<u8>(p);
  if (isLetter(c)) {
    const end = levelEnd(p);
    if (end) return end;
    const next = <u32>load<u8>(p, 1);
    return isLevelLetter(c) && (next == 0x20 || next == 0x2c || next == 0x5d || next == 0x7c) ? p + 1 : p;
  }
  if (c - 0x30 < 10) {
    if (hasPid) return p;
    const end = pidEnd(p);
    hasPid = end != p;
    return end;
  }
  if (isOpening(c)) {
    const end =
      c == 0x5b ? groupEnd(p, 0x5b, 0x5d) : c == 0x28 ? groupEnd(p, 0x28, 0x29) : c == 0x3c ? priorityEnd(p) : 0;
    return end ? end : p + 1;
  }
  if (c == 0x1b) return colourEnd(p);
  if (!isInside) return p;
  if (c == 0x20 || c == 0x09) {
    let n: usize = 1;
    while (n < 4 && (load<u8>(p + n) == 0x20 || load<u8>(p + n) == 0x09)) n++;
    return p + n;
  }
  return c == 0x5d || c == 0x29 || c == 0x3e || c == 0x3a || c == 0x7c || c == 0x2c || c == 0x2d ? p + 1 : p;
}
