/**
 * A checksum of stretches of a stream that adds up: the sum of `[a, c)` is that of `[a, b)` plus that of `[b, c)`, so that spans, whole
 * files and their remainders follow from each other without their bytes. Each byte counts by its offset in the stream: as part of the
 * little-endian word at an offset that 4 divides, times the word's weight in its page of 4 KiB, times the page's. All is modulo 2^64; the
 * low 52 bits are returned, exact in a double and still additive. A change of a single byte always changes the sum, for every factor is
 * odd.
 */

const PAGE_BYTES: u64 = 4096;

/** Where the weights of a page's words are. */
let weights: usize = 0;

/** Writes the weights to `[at, at + 4096)`. */
export function setUp(at: usize): void {
  weights = at;
  let state: u64 = 0;
  for (let word: u32 = 0; word < <u32>PAGE_BYTES; word += 4) {
    state += 0x9e3779b97f4a7c15;
    store<u32>(at + word, <u32>(mix(state) >> 32) | 1);
  }
}

/** The sum of `[p, end)`, which begins at `offset` in its stream. */
export function sum(p: usize, end: usize, offset: f64): f64 {
  let at = <u64>offset;
  let total: u64 = 0;
  while (p < end) {
    const inPage = at % PAGE_BYTES;
    const stop = <usize>min<u64>(<u64>end, <u64>p + PAGE_BYTES - inPage);
    total += sumInPage(p, stop, <usize>inPage) * (mix(at / PAGE_BYTES + 1) | 1);
    at += <u64>(stop - p);
    p = stop;
  }
  return <f64>(total & 0xfffffffffffff);
}

/** `at` is the place of `p` in the page. */
function sumInPage(p: usize, end: usize, at: usize): u64 {
  const aligned = min(end, p + ((0 - at) & 3));
  const total = sumOfBytes(p, aligned, at);
  let weight = weights + at + (aligned - p);
  p = aligned;
  // Four sums that do not wait for each other.
  let a = i64x2.splat(0);
  let b = i64x2.splat(0);
  let c = i64x2.splat(0);
  let d = i64x2.splat(0);
  for (; p + 32 <= end; p += 32, weight += 32) {
    const first = v128.load(p);
    const second = v128.load(p, 16);
    const firstWeights = v128.load(weight);
    const secondWeights = v128.load(weight, 16);
    a = i64x2.add(a, i64x2.extmul_low_i32x4_u(first, firstWeights));
    b = i64x2.add(b, i64x2.extmul_high_i32x4_u(first, firstWeights));
    c = i64x2.add(c, i64x2.extmul_low_i32x4_u(second, secondWeights));
    d = i64x2.add(d, i64x2.extmul_high_i32x4_u(second, secondWeights));
  }
  a = i64x2.add(i64x2.add(a, b), i64x2.add(c, d));
  return total + i64x2.extract_lane(a, 0) + i64x2.extract_lane(a, 1) + sumOfBytes(p, end, weight - weights);
}

function sumOfBytes(p: usize, end: usize, at: usize): u64 {
  let total: u64 = 0;
  for (; p < end; p++, at++)
    total += ((<u64>load<u8>(p)) << ((<u64>(at & 3)) << 3)) * <u64>load<u32>(weights + (at & ~3));
  return total;
}

/** The finalizer of splitmix64: numbers without a pattern from numbers that count up. */
function mix(z: u64): u64 {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}
