/**
 * Content sums (kernel/content-sum.ts) without their bytes: the sum over a stretch of a stream is that of its parts, added.
 */

/** Sums are whole numbers below this; they and their sums are exact in a double. */
export const CONTENT_SUM_MODULUS = 2 ** 52;

/** The sum of two stretches of a stream, from that of each. */
export function addSums(a: number, b: number): number {
  return (a + b) % CONTENT_SUM_MODULUS;
}

/** The sum of what is left of a stretch without a part of it. */
export function subtractSums(whole: number, part: number): number {
  return (whole - part + CONTENT_SUM_MODULUS) % CONTENT_SUM_MODULUS;
}
