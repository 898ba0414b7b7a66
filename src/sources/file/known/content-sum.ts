/**
 * Checksums of what was read of a stream, up to its position and some before: they tell a copy of the file from one that only begins
 * alike, also a copy that was made before the last read.
 */
import { addPoint, addSums, type ContentPoint, thinPoints } from '../../../core/sums.ts';
import { contentSum } from '../../../kernel/content-sum.ts';

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

  upTo(position: number): ContentPoint | undefined {
    return this.#points.findLast(({ at }) => at <= position);
  }

  /** Forgets most points: the file is not read at the moment. */
  trim(): void {
    thinPoints(this.#points, KEPT_POINTS);
  }
}

/** The checksums of the bytes, in parts of `partBytes`. */
export function sumParts(bytes: Buffer, offset: number, partBytes: number): { readonly length: number; readonly sum: number }[] {
  const parts = [];
  for (let at = 0; at < bytes.length; at += partBytes) {
    const part = bytes.subarray(at, at + partBytes);
    parts.push({ length: part.length, sum: contentSum(part, offset + at) });
  }
  return parts;
}
