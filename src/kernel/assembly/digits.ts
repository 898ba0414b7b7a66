/** Digits of text as numbers. */

export function isDigit(p: usize): bool {
  return <u32>load<u8>(p) - 0x30 < 10;
}

/** The number of the two digits at `p`, or 255. */
export function pair(p: usize): u32 {
  const tens = <u32>load<u8>(p) - 0x30;
  const ones = <u32>load<u8>(p, 1) - 0x30;
  return tens > 9 || ones > 9 ? 255 : tens * 10 + ones;
}

/** Counts the leading digits among the eight bytes at `p`. */
export function someDigits(p: usize): usize {
  const x = load<u64>(p);
  // A digit becomes 76…7F; a byte over 7F may carry, but only into later bytes.
  const others = (((x ^ 0x3030303030303030) + 0x7676767676767676) | x) & 0x8080808080808080;
  return <usize>(ctz<u64>(others) >> 3);
}

/** Counts the digits at `p`. */
export function countDigits(p: usize): usize {
  let n: usize = 0;
  while (true) {
    const run = someDigits(p + n);
    n += run;
    if (run < 8) return n;
  }
}
