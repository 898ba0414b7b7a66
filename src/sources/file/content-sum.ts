/**
 * The checksum of everything that was read of a stream, and of its last beginnings: by it a copy of the file is told from one
 * that only begins alike, also when the copy was made a moment before the last bytes were read.
 */
import { type ContentPoint, thinPoints } from '../../core/content-point.ts';
import { addSums } from '../../core/sums.ts';
import { contentSum } from '../../kernel/content-sum.ts';

/** Bytes that were summed up and not added yet. */
export interface MeasuredBytes {
  /** Their own content sum. */
  readonly sum: number;
  readonly points: readonly ContentPoint[];
}

/** How far apart the last points are, at most, … */
const STEP_BYTES = 64 * 1024;
/** … and how many are kept: all of the last part of the file, and ever fewer before it. */
const MAX_POINTS = 64;

export class ContentSum {
  /** Ascending; the last one is of all that was read. Empty where that is not known. */
  #points: readonly ContentPoint[];

  /** `sum` is that of everything before `at`, undefined where it is not known; `earlier` are points before it. */
  constructor(at: number, sum: number | undefined, earlier: readonly ContentPoint[] = []) {
    this.#points = sum === undefined ? [] : [...earlier, { at, sum }];
  }

  /** Sums up the bytes that come next, at `offset` in the stream; `add` them once they were accepted. */
  measure(bytes: Buffer, offset: number): MeasuredBytes {
    const last = this.#points.at(-1);
    if (!last) return { sum: contentSum(bytes, offset), points: [] };
    const points: ContentPoint[] = [];
    let sum = 0;
    for (let start = 0; start < bytes.length; start += STEP_BYTES) {
      const part = bytes.subarray(start, start + STEP_BYTES);
      sum = addSums(sum, contentSum(part, offset + start));
      points.push({ at: offset + start + part.length, sum: addSums(last.sum, sum) });
    }
    return { sum, points };
  }

  add({ points }: MeasuredBytes): void {
    this.#points = thinPoints([...this.#points, ...points], MAX_POINTS);
  }

  /** Adds bytes of which only length and sum are known. */
  addSummed(length: number, sum: number): void {
    const last = this.#points.at(-1);
    if (last) this.add({ sum, points: [{ at: last.at + length, sum: addSums(last.sum, sum) }] });
  }

  /** The last known point that is not beyond `position`. */
  upTo(position: number): ContentPoint | undefined {
    return this.#points.findLast(({ at }) => at <= position);
  }

  /** Forgets all but the last point: the file is not read at the moment. */
  trim(): void {
    this.#points = this.#points.slice(-1);
  }
}
