/**
 * Checksums by which bytes are recognised: the tail before a position, and content sums (kernel/content-sum.ts) without their bytes: the
 * sum over a stretch of a stream is that of its parts, added.
 */
import { crc32 } from 'node:zlib';
import type { Tail } from './block.ts';
import { TAIL_BYTES } from './limits.ts';

/** Sums are whole numbers below this; they and their sums are exact in a double. */
export const CONTENT_SUM_MODULUS = 2 ** 52;

/** The sum of two stretches of a stream, from that of each. */
export function addSums(a: number, b: number): number {
  return (a + b) % CONTENT_SUM_MODULUS;
}

/** The sum of a stretch without one of its parts. */
export function subtractSums(whole: number, part: number): number {
  return (whole - part + CONTENT_SUM_MODULUS) % CONTENT_SUM_MODULUS;
}

/** A place with the content sum of a stream up to it: such points identify a copy that ends before the read position. */
export interface ContentPoint {
  readonly at: number;
  /** Content sum of the bytes from the stream's beginning to `at`. */
  readonly sum: number;
}

/**
 * Appends a point to the others, of which at most `most` (3 or more) are kept: first and last, and between them ever fewer away from the
 * end.
 */
export function addPoint(points: ContentPoint[], point: ContentPoint, most: number): void {
  points.push(point);
  thinPoints(points, most);
}

/** Takes out of the points, which are ascending, those that are missed least until there are at most `most`. */
export function thinPoints(points: ContentPoint[], most: number): void {
  while (points.length > most) points.splice(leastMissed(points), 1);
}

/** The point without which the gap between its neighbours is smallest beside its distance from the end. */
function leastMissed(points: readonly ContentPoint[]): number {
  const end = points.at(-1)!.at + 1;
  let least = Infinity;
  let found = 1;
  for (let index = 1; index < points.length - 1; index += 1) {
    const missed = (points[index + 1]!.at - points[index - 1]!.at) / (end - points[index]!.at);
    if (missed >= least) continue;
    least = missed;
    found = index;
  }
  return found;
}

export const NO_TAIL: Tail = { length: 0, crc: 0 };

/** Length and checksum of the last of these bytes, which end at the position; made alike wherever they are taken, as they are compared. */
export function tailOf(bytes: Buffer): Tail {
  const last = bytes.subarray(Math.max(0, bytes.length - TAIL_BYTES));
  return last.length === 0 ? NO_TAIL : { length: last.length, crc: crc32(last) };
}
