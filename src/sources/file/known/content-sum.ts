/**
 * Checksums of a stream's bytes, up to its position and some before: they distinguish a copy of the file from one that only begins alike,
 * also a copy that was made before the last read.
 */
import { addPoint, addSums, type ContentPoint, thinPoints } from '../../../core/sums.ts';
import { contentSum } from '../../../kernel/content-sum.ts';
import { LAST_LINES, LAST_PART_BYTES, PART_BYTES } from '../limits.ts';

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
