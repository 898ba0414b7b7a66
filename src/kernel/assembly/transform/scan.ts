/** Finds where tokens of valid JSON end. 64 bytes of slack follow the input. */

/** The string that `stringEnd` looked at last has a backslash. */
export let isEscaped: bool = false;

/** The closing quote of the string whose first byte, after its quote, is at `p`. */
export function stringEnd(p: usize): usize {
  isEscaped = false;
  while (true) {
    const v = v128.load(p);
    const found = i8x16.bitmask(v128.or(i8x16.eq(v, i8x16.splat(0x22)), i8x16.eq(v, i8x16.splat(0x5c))));
    if (found == 0) {
      p += 16;
      continue;
    }
    p += <usize>ctz<i32>(found);
    if (load<u8>(p) == 0x22) return p;
    isEscaped = true;
    p += 2;
  }
}

/** Behind spaces and line ends. */
export function skipSpaces(p: usize): usize {
  while (<u32>load<u8>(p) <= 0x20) p++;
  return p;
}

/** Behind the number or literal at `p`. */
export function scalarEnd(p: usize): usize {
  while (true) {
    const v = v128.load(p);
    // `]` and `}` differ in one bit.
    const closers = i8x16.eq(v128.or(v, i8x16.splat(0x20)), i8x16.splat(0x7d));
    const ends = v128.or(v128.or(i8x16.eq(v, i8x16.splat(0x2c)), closers), i8x16.lt_u(v, i8x16.splat(0x21)));
    const found = i8x16.bitmask(ends);
    if (found) return p + <usize>ctz<i32>(found);
    p += 16;
  }
}

/** Behind the object or list at `p`. */
function nestedEnd(p: usize): usize {
  let depth: u32 = 0;
  while (true) {
    const v = v128.load(p);
    const folded = v128.or(v, i8x16.splat(0x20));
    const brackets = v128.or(i8x16.eq(folded, i8x16.splat(0x7b)), i8x16.eq(folded, i8x16.splat(0x7d)));
    let found = i8x16.bitmask(v128.or(brackets, i8x16.eq(v, i8x16.splat(0x22))));
    const block = p;
    p += 16;
    while (found) {
      const at = block + <usize>ctz<i32>(found);
      const c = <u32>load<u8>(at);
      if (c == 0x22) {
        p = stringEnd(at + 1) + 1;
        // Still in this block: clear the matches before `p`.
        if (p < block + 16) {
          found &= -1 << (<i32>(p - block));
          p = block + 16;
          continue;
        }
        break;
      }
      found &= found - 1;
      if ((c | 0x20) == 0x7b) depth++;
      else if (--depth == 0) return at + 1;
    }
  }
  // Never reached: the compiler does not see it.
  return 0;
}

/** Behind the value at `p`. */
export function valueEnd(p: usize): usize {
  const c = <u32>load<u8>(p);
  if (c == 0x22) return stringEnd(p + 1) + 1;
  return (c | 0x20) == 0x7b ? nestedEnd(p) : scalarEnd(p);
}

export function isEqual(a: usize, b: usize, length: usize): bool {
  while (length >= 8) {
    if (load<u64>(a) != load<u64>(b)) return false;
    a += 8;
    b += 8;
    length -= 8;
  }
  while (length > 0) {
    if (load<u8>(a++) != load<u8>(b++)) return false;
    length--;
  }
  return true;
}
