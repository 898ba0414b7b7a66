/** Numbers that depend on a seed alone (mulberry32), so that a run can be repeated. */

/** In [0, 1). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Whole, in [0, below). */
export function dice(seed: number): (below: number) => number {
  const random = randomFrom(seed);
  return (below) => Math.floor(random() * below);
}
