/**
 * The checksum of everything that was read of a stream, and of its last beginnings: by it a copy of the file is told from one
 * that only begins alike, also when the copy was made a moment before the last bytes were read.
 */
import { crc32 } from 'node:zlib';
import { type ContentPoint, thinPoints } from '../../core/content-point.ts';
import { combineCrc32, restOfCrc32 } from '../../core/crc.ts';

/** Bytes that were summed up and not added yet. */
export interface MeasuredBytes {
  /** Their own CRC-32. */
  readonly crc: number;
  readonly points: readonly ContentPoint[];
}

/** How far apart the last points are, at most, … */
const STEP_BYTES = 16 * 1024;
/** … and how many are kept: all of the last part of the file, and ever fewer before it. */
const MAX_POINTS = 64;

export class ContentSum {
  /** Ascending; the last one is of all that was read. Empty where that is not known. */
  #points: readonly ContentPoint[];

  /** `crc` is that of everything before `at`, undefined where it is not known; `earlier` are points before it. */
  constructor(at: number, crc: number | undefined, earlier: readonly ContentPoint[] = []) {
    this.#points = crc === undefined ? [] : [...earlier, { at, crc }];
  }

  /** Sums up the bytes that come next; `add` them once they were accepted. */
  measure(bytes: Buffer): MeasuredBytes {
    const last = this.#points.at(-1);
    if (!last) return { crc: crc32(bytes), points: [] };
    const points: ContentPoint[] = [];
    let { crc } = last;
    for (let start = 0; start < bytes.length; start += STEP_BYTES) {
      const part = bytes.subarray(start, start + STEP_BYTES);
      crc = crc32(part, crc);
      points.push({ at: last.at + start + part.length, crc });
    }
    return { crc: restOfCrc32(last.crc, crc, bytes.length), points };
  }

  add({ points }: MeasuredBytes): void {
    this.#points = thinPoints([...this.#points, ...points], MAX_POINTS);
  }

  /** Adds bytes of which only length and CRC-32 are known. */
  addSummed(length: number, crc: number): void {
    const last = this.#points.at(-1);
    if (last) this.add({ crc, points: [{ at: last.at + length, crc: combineCrc32(last.crc, crc, length) }] });
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
