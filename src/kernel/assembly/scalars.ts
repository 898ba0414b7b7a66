/** Spaces, numbers and literals of JSON: where each ends. Reads only; every scan ends at the line's newline. */

/** Skips spaces, tabs and CRs, but not the newline that ends the line. */
export function skipSpaces(p: usize): usize {
  while (true) {
    const c = <u32>load<u8>(p);
    if (c != 0x20 && c != 0x09 && c != 0x0d) return p;
    p++;
  }
}

/** A bit for each of the 16 bytes at `p` that is no digit, and all bits from 16 on. */
export function digitEnds(p: usize): u32 {
  const v = i8x16.sub(v128.load(p), i8x16.splat(0x30));
  return <u32>i8x16.bitmask(i8x16.gt_u(v, i8x16.splat(9))) | 0xffff0000;
}

/** Counts the digits at `p`. */
function digits(p: usize): usize {
  let n: usize = 0;
  while (true) {
    const run = <usize>ctz<u32>(digitEnds(p + n));
    n += run;
    if (run < 16) return n;
  }
}

/** Behind the number at `p`, or 0. */
export function numberEnd(p: usize): usize {
  if (load<u8>(p) == 0x2d) p++;
  if (load<u8>(p) == 0x30) {
    p++;
  } else {
    const n = digits(p);
    if (n == 0) return 0;
    p += n;
  }
  let c = <u32>load<u8>(p);
  if (c == 0x2e) {
    const n = digits(p + 1);
    if (n == 0) return 0;
    p += n + 1;
    c = <u32>load<u8>(p);
  }
  if ((c | 0x20) == 0x65) {
    c = <u32>load<u8>(p + 1);
    p += c == 0x2b || c == 0x2d ? 2 : 1;
    const n = digits(p);
    if (n == 0) return 0;
    p += n;
  }
  return p;
}

export const TRUE: u32 = 0x65757274;
export const NULL: u32 = 0x6c6c756e;
/** The first four letters of `false`. */
export const FALS: u32 = 0x736c6166;

/** Behind `true`, `false` or `null` at `p`, or 0. */
export function literalEnd(p: usize): usize {
  const word = load<u32>(p);
  if (word == TRUE || word == NULL) return p + 4;
  if (word == FALS && load<u8>(p + 4) == 0x65) return p + 5;
  return 0;
}
