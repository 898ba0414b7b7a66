/**
 * Whether a file holds the bytes read of a stream: by its fingerprint (the hash of its first bytes, up to 1 KiB), the checksum of the bytes
 * before the position, and for a copy the checksum of everything read. Those of the bytes up to the position, and some before, tell a copy
 * from a file that only begins alike, also a copy that was made before the last read.
 */
import { hash } from 'node:crypto';
import type { Tail } from '../../../core/block.ts';
import { HEAD_BYTES, TAIL_BYTES } from '../../../core/limits.ts';
import type { FileIdentity } from '../../../core/stream.ts';
import { addPoint, addSums, type ContentPoint, tailOf, thinPoints } from '../../../core/sums.ts';
import { contentSum } from '../../../kernel/content-sum.ts';
import { LAST_LINES, LAST_PART_BYTES, PART_BYTES } from '../limits.ts';
import { type FileSystem, readBefore, readByte } from '../scan/file-system.ts';
import { tailBefore, withoutTrailingNuls } from './nul-runs.ts';

/** The bytes read of a stream. */
export interface ReadContent {
  readonly identity: FileIdentity;
  /** Where the stream begins in the file. */
  readonly startAt: number;
  readonly offset: number;
  /** Of the bytes just before `offset`. */
  readonly tail: Tail;
}

/** `more`: bytes are left to compare. */
export type ContentVerdict = 'same' | 'different' | 'more';

export const NO_FINGERPRINT = { headLength: 0, headHash: '' } as const;

const NUL_HASHES = new Map<number, string>();
const headScratch = Buffer.alloc(HEAD_BYTES);
const chunk = Buffer.alloc(256 * 1024);

/** The first bytes of an open file. Overwritten by the next call. */
export function peekHead(fileSystem: FileSystem, fd: number): Buffer {
  return headScratch.subarray(0, fileSystem.peek(fd, headScratch, 0));
}

/** Length and hash of a file's first bytes. */
export function fingerprintOf(head: Buffer): Pick<FileIdentity, 'headLength' | 'headHash'> {
  return head.length === 0 ? NO_FINGERPRINT : { headLength: head.length, headHash: hash('sha256', head, 'hex') };
}

/** The same without the NULs that they end in, which may not be there yet; of nothing but NULs, all of them. */
export function fingerprintOfText(head: Buffer): Pick<FileIdentity, 'headLength' | 'headHash'> {
  return fingerprintOf(textOf(head));
}

function textOf(head: Buffer): Buffer {
  const end = withoutTrailingNuls(head);
  return end === 0 ? head : head.subarray(0, end);
}

/** The file has so many more first bytes by now that its fingerprint should have them, too. */
export function mayGrow({ headLength }: FileIdentity, head: Buffer): boolean {
  const { length } = textOf(head);
  return length === HEAD_BYTES ? headLength < HEAD_BYTES : length >= headLength * 2;
}

/** True when a file with these first bytes may be the one of the fingerprint. */
export function hasFingerprint({ headLength, headHash }: FileIdentity, head: Buffer): boolean {
  return headLength === 0 || fingerprintOf(head.subarray(0, headLength)).headHash === headHash;
}

/** The fingerprint is of nothing but NULs. */
export function isAllNuls({ headLength, headHash }: FileIdentity): boolean {
  let nuls = NUL_HASHES.get(headLength);
  if (nuls === undefined) NUL_HASHES.set(headLength, (nuls = hash('sha256', Buffer.alloc(headLength), 'hex')));
  return headLength > 0 && headHash === nuls;
}

/** Its file began with nothing but NULs, and no text behind them was read: in their place, text may be written without a truncation. */
export function isEmpty({ identity, startAt, offset }: Omit<ReadContent, 'tail'>): boolean {
  return offset === startAt && startAt === 0 && isAllNuls(identity);
}

/** Nothing was read behind the stream's NUL gap: only the end of the gap is known. */
export function isAtGap({ identity, startAt, offset }: Omit<ReadContent, 'tail'>): boolean {
  return startAt > 0 && offset === startAt && isAllNuls(identity);
}

/**
 * Whether an open file of this size still has the bytes read, by its fingerprint and the bytes before the position. Throws system errors.
 */
export function compare(
  fileSystem: FileSystem,
  fd: number,
  size: number,
  read: ReadContent,
  head = peekHead(fileSystem, fd),
): Exclude<ContentVerdict, 'more'> {
  if (size < read.offset || !hasFingerprint(read.identity, head)) return 'different';
  return hasEdges(fileSystem, fd, read) ? 'same' : 'different';
}

/** The same, of the file's present size: generations of lines of one width have the same last bytes at the same position. */
export function isUntouched(fileSystem: FileSystem, fd: number, read: ReadContent): boolean {
  return compare(fileSystem, fd, fileSystem.fstat(fd).size, read) === 'same';
}

function hasEdges(fileSystem: FileSystem, fd: number, read: ReadContent): boolean {
  // A later generation has a longer gap.
  if (isAtGap(read) && readByte(fileSystem, fd, read.startAt) === 0) return false;
  return hasTail(fileSystem, fd, read);
}

/** The bytes before the position are as they were. Throws system errors. */
export function hasTail(
  fileSystem: FileSystem,
  fd: number,
  { offset, tail }: Pick<ReadContent, 'offset' | 'tail'>,
): boolean {
  const found = readBefore(fileSystem, fd, offset, tail.length);
  if (found.length !== tail.length) return false;
  return tailOf(found).crc === tail.crc || tailBefore(fileSystem, fd, offset, tail.length).crc === tail.crc;
}

/** Compares everything that was read of a stream with a file that may be a copy, a bounded number of bytes at a time. */
export class CopyComparison {
  readonly #fileSystem: FileSystem;
  readonly #stream: ReadContent & { readonly sum: ContentSum };
  /** The stream's own descriptor, while its deleted file is open. */
  readonly #held: number | undefined;
  #sum: { at: number; sum: number; readonly until: { readonly at: number; readonly sum: number } } | undefined;

  constructor(fileSystem: FileSystem, stream: ReadContent & { readonly sum: ContentSum }, held: number | undefined) {
    this.#fileSystem = fileSystem;
    this.#stream = stream;
    this.#held = held;
  }

  /**
   * Reads up to `maxBytes` more of the file. `same`: it holds everything that was read, or all that it holds was read (a copy
   * made before the last read). Throws system errors.
   */
  step(fd: number, size: number, maxBytes: number): ContentVerdict {
    if (!this.#sum) {
      const verdict = this.#compareEdges(fd, size);
      if (verdict !== 'more') return verdict;
    }
    const sum = this.#sum!;
    if (!this.#addTo(fd, Math.min(sum.until.at, sum.at + maxBytes))) return 'different';
    if (sum.at < sum.until.at) return 'more';
    return sum.sum === sum.until.sum ? 'same' : 'different';
  }

  /** The checksum of what the file has up to `end`, after `step` returned `same`. Throws system errors. */
  sumUp(fd: number, end: number): number {
    if (!this.#addTo(fd, end)) throw new Error('file was cut off while it was compared');
    return this.#sum!.sum;
  }

  /** False when the file ends before `end`. */
  #addTo(fd: number, end: number): boolean {
    const sum = this.#sum!;
    while (sum.at < end) {
      const count = this.#fileSystem.peek(fd, chunk.subarray(0, Math.min(chunk.length, end - sum.at)), sum.at);
      if (count === 0) return false;
      sum.sum = addSums(sum.sum, contentSum(chunk.subarray(0, count), sum.at));
      sum.at += count;
    }
    return true;
  }

  #compareEdges(fd: number, size: number): ContentVerdict {
    const { identity, offset, startAt, sum } = this.#stream;
    if (identity.headLength === 0) return 'different';
    // One that is shorter than the fingerprint was made before all of that was there: the sums tell.
    const isTold = size < identity.headLength && offset > startAt;
    if (!isTold && !hasFingerprint(identity, peekHead(this.#fileSystem, fd))) return 'different';
    if (!this.#hasEndOf(this.#held, fd, size)) return 'different';
    if (size >= offset && !hasEdges(this.#fileSystem, fd, this.#stream)) return 'different';
    // Nothing was read: it does not matter which stream it gets.
    if (offset === startAt) return size >= offset ? 'same' : 'different';
    // It has none of the bytes read.
    if (size <= startAt) return 'different';
    const until = sum.upTo(size);
    // What lies between a known point and the end of a short copy is not proven: it must be little, beside much that is.
    if (
      !until ||
      (size < offset && Math.max(size - until.at, Math.min(size - startAt, HEAD_BYTES)) > until.at - startAt)
    )
      return 'different';
    this.#sum = { at: startAt, sum: 0, until };
    return 'more';
  }

  /** A copy of a deleted file that is still open has its unread bytes, too, as far as the copy goes. */
  #hasEndOf(held: number | undefined, fd: number, size: number): boolean {
    if (held === undefined) return true;
    const end = Math.min(size, this.#fileSystem.fstat(held).size);
    const theirs = tailOf(readBefore(this.#fileSystem, held, end, TAIL_BYTES));
    return theirs.crc === tailOf(readBefore(this.#fileSystem, fd, end, TAIL_BYTES)).crc;
  }
}

const LF = 10;
/** How many points are kept: one for each of the last reads, and ever fewer before them. */
const MAX_POINTS = 64;
/** Of a file that is not read at the moment. */
const KEPT_POINTS = 8;

export class ContentSum {
  /** Ascending; the last one is of all that was read. Empty where that is not known. */
  readonly #points: ContentPoint[];

  /** `sum` is that of everything before `at`, undefined where it is not known; `earlier` are points before it. */
  constructor(at: number, sum: number | undefined, earlier: readonly ContentPoint[] = []) {
    this.#points = sum === undefined ? [] : [...earlier, { at, sum }];
  }

  /** Adds the bytes that came next, by their number and sum. */
  add(length: number, sum: number): void {
    const last = this.#points.at(-1);
    if (last) addPoint(this.#points, { at: last.at + length, sum: addSums(last.sum, sum) }, MAX_POINTS);
  }

  /** Ascending. */
  get points(): readonly ContentPoint[] {
    return this.#points;
  }

  upTo(position: number): ContentPoint | undefined {
    return this.#points.findLast(({ at }) => at <= position);
  }

  /** Forgets most points: the file is not read at the moment. */
  trim(): void {
    thinPoints(this.#points, KEPT_POINTS);
  }
}

/**
 * The checksums of lines that were read, in parts: smaller ones where they end the file, and its last lines apart. A copy that was made
 * before the read ends in one of these, and a footer that is written over begins there.
 */
export function sumRead(
  bytes: Buffer,
  offset: number,
  isAtEnd: boolean,
): { readonly length: number; readonly sum: number }[] {
  const partBytes = isAtEnd ? LAST_PART_BYTES : PART_BYTES;
  // A counter in the first line leaves all others as they were.
  const cuts = offset === 0 ? [bytes.indexOf(LF) + 1] : [];
  if (isAtEnd) cuts.push(...lastLines(bytes));
  const ends = [...new Set([...cuts.filter((at) => at > 0 && at < bytes.length), bytes.length])].sort((a, b) => a - b);
  return ends.flatMap((end, n) =>
    sumParts(bytes.subarray(ends[n - 1] ?? 0, end), offset + (ends[n - 1] ?? 0), partBytes),
  );
}

/** Where the last lines begin: each of the last four, then ever fewer. */
function lastLines(bytes: Buffer): number[] {
  const starts: number[] = [];
  for (let n = 1, end = bytes.length; n <= LAST_LINES && end > 1; n += 1) {
    end = bytes.lastIndexOf(LF, end - 2) + 1;
    if (end === 0 || bytes.length - end > LAST_PART_BYTES) break;
    if (n <= 4 || (n & (n - 1)) === 0) starts.push(end);
  }
  return starts;
}

/** The checksums of the bytes, in parts of `partBytes`. */
export function sumParts(
  bytes: Buffer,
  offset: number,
  partBytes: number,
): { readonly length: number; readonly sum: number }[] {
  const parts = [];
  for (let at = 0; at < bytes.length; at += partBytes) {
    const part = bytes.subarray(at, at + partBytes);
    parts.push({ length: part.length, sum: contentSum(part, offset + at) });
  }
  return parts;
}
