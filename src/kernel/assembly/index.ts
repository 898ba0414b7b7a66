/**
 * An index of the bytes in an object's line that end or interrupt a string: `"`, `\`, controls, and the first of each
 * run of bytes that are not ASCII. It is built 64 bytes at a time without a branch per byte, so that the grammar finds
 * the end of a string without scanning to it. It covers a stretch of the line; the next stretch gets a new one.
 */

/** Bytes that one index covers at least, unless the line ends. Short enough for the index to stay in the first cache. */
const STRETCH_BYTES: usize = 1024;

/** u32 addresses in ascending order, then `END`. Room for a stretch of nothing else, and 16 more. */
export let index: usize = 0;
/** The address of a NUL: where an index ends it reads as a byte that is no quote. */
export let END: usize = 0;

export function setUpIndex(at: usize): void {
  END = at;
  index = at + 16;
}

function bits(a: v128, b: v128, c: v128, d: v128): u64 {
  const low = <u32>i8x16.bitmask(a) | ((<u32>i8x16.bitmask(b)) << 16);
  const high = <u32>i8x16.bitmask(c) | ((<u32>i8x16.bitmask(d)) << 16);
  return <u64>low | ((<u64>high) << 32);
}

function care(v: v128): v128 {
  const special = v128.or(i8x16.eq(v, i8x16.splat(0x22)), i8x16.eq(v, i8x16.splat(0x5c)));
  return v128.or(i8x16.lt_s(v, i8x16.splat(0x20)), special);
}

function newline(v: v128): v128 {
  return i8x16.eq(v, i8x16.splat(0x0a));
}

/** Indexes the line from `p` on. */
export function makeIndex(p: usize): void {
  let to = index;
  const stop = p + STRETCH_BYTES;
  while (p < stop) {
    const a = v128.load(p);
    const b = v128.load(p, 16);
    const c = v128.load(p, 32);
    const d = v128.load(p, 48);
    let found = bits(care(a), care(b), care(c), care(d));
    if (i8x16.bitmask(v128.or(v128.or(a, b), v128.or(c, d)))) {
      const high = bits(a, b, c, d);
      found &= ~(high & (high << 1));
    }
    const ends = v128.any_true(v128.or(v128.or(newline(a), newline(b)), v128.or(newline(c), newline(d))));
    if (ends) {
      const lines = bits(newline(a), newline(b), newline(c), newline(d));
      found &= lines ^ (lines - 1);
    }
    // Always eight at a time; the next ones overwrite the surplus.
    const next = to + ((<usize>popcnt<u64>(found)) << 2);
    do {
      store<u32>(to, p + <usize>ctz<u64>(found));
      found &= found - 1;
      store<u32>(to, p + <usize>ctz<u64>(found), 4);
      found &= found - 1;
      store<u32>(to, p + <usize>ctz<u64>(found), 8);
      found &= found - 1;
      store<u32>(to, p + <usize>ctz<u64>(found), 12);
      found &= found - 1;
      store<u32>(to, p + <usize>ctz<u64>(found), 16);
      found &= found - 1;
      store<u32>(to, p + <usize>ctz<u64>(found), 20);
      found &= found - 1;
      store<u32>(to, p + <usize>ctz<u64>(found), 24);
      found &= found - 1;
      store<u32>(to, p + <usize>ctz<u64>(found), 28);
      found &= found - 1;
      to += 32;
    } while (to < next);
    to = next;
    if (ends) break;
    p += 64;
  }
  store<u32>(to, END);
  store<u32>(to, END, 4);
}

/** The place of the first entry, from `at` on, that is not before `p`; or of `END`. */
export function passTo(at: usize, p: usize): usize {
  while (true) {
    const entry = <usize>load<u32>(at);
    if (entry >= p || entry == END) return at;
    at += 4;
  }
}
