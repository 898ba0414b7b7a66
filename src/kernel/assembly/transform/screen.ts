/**
 * Whether a JSON text may hold the texts of a screen (src/shaping/redact/screens.ts): if not, no detector finds anything in it. A numeric
 * escape may encode any character.
 */

/** A screen, u32 each: whether it looks for digits, how many texts, then address, length and folding of each. */
const TEXTS: usize = 8;
const TEXT_BYTES: usize = 12;
const LEAST_DIGITS: u32 = 13;

export function mayHold(screen: usize, p: usize, end: usize): bool {
  if (holdsEscape(p, end)) return true;
  const count = load<u32>(screen, 4);
  for (let i: u32 = 0, text = screen + TEXTS; i < count; i++, text += TEXT_BYTES) {
    if (holdsText(p, end, <usize>load<u32>(text), <usize>load<u32>(text, 4), <u8>load<u32>(text, 8))) return true;
  }
  return load<u32>(screen) != 0 && holdsDigits(p, end);
}

/** A bit for each of the 16 bytes at `p` that is before `end`. */
function inside(p: usize, end: usize): u32 {
  return end - p < 16 ? (1 << (<u32>(end - p))) - 1 : 0xffff;
}

/** `\u`. */
function holdsEscape(p: usize, end: usize): bool {
  for (; p < end; p += 16) {
    const found = v128.and(i8x16.eq(v128.load(p), i8x16.splat(0x5c)), i8x16.eq(v128.load(p, 1), i8x16.splat(0x75)));
    if (<u32>i8x16.bitmask(found) & inside(p, end)) return true;
  }
  return false;
}

/** `fold` is 0x20 for a text in lower case that matches any case, else 0. */
function holdsText(p: usize, end: usize, text: usize, length: usize, fold: u8): bool {
  const first = i8x16.splat(load<u8>(text));
  const second = i8x16.splat(load<u8>(text + 1));
  const folding = i8x16.splat(fold);
  for (; p < end; p += 16) {
    let found = i8x16.eq(v128.or(v128.load(p), folding), first);
    if (length > 1) found = v128.and(found, i8x16.eq(v128.or(v128.load(p, 1), folding), second));
    let bits = <u32>i8x16.bitmask(found) & inside(p, end);
    while (bits) {
      const at = p + <usize>ctz<u32>(bits);
      bits &= bits - 1;
      if (at + length <= end && isText(at, text, length, fold)) return true;
    }
  }
  return false;
}

function isText(at: usize, text: usize, length: usize, fold: u8): bool {
  for (let i: usize = 0; i < length; i++) if ((load<u8>(at + i) | fold) != load<u8>(text + i)) return false;
  return true;
}

/** A bit for each of the 16 bytes at `p` that is a digit, a blank or a hyphen. */
function digitsAt(p: usize): u32 {
  const v = v128.load(p);
  const digits = i8x16.lt_u(i8x16.sub(v, i8x16.splat(0x30)), i8x16.splat(10));
  return <u32>i8x16.bitmask(v128.or(digits, v128.or(i8x16.eq(v, i8x16.splat(0x20)), i8x16.eq(v, i8x16.splat(0x2d)))));
}

function isAmongDigits(p: usize): bool {
  const c = <u32>load<u8>(p);
  return c - 0x30 < 10 || c == 0x20 || c == 0x2d;
}

function holdsDigits(p: usize, end: usize): bool {
  const begin = p;
  /** How many digits come right before `p`. */
  let before: u32 = 0;
  while (p < end) {
    const bits = digitsAt(p) & inside(p, end);
    let runs = bits & (bits >> 1);
    runs &= runs >> 2;
    runs &= runs >> 4;
    runs &= runs >> 5;
    const leading = ctz<u32>(~bits);
    if (runs == 0 && (leading == 0 || before + leading < LEAST_DIGITS)) {
      before = bits == 0xffff ? before + 16 : clz<u32>(~(bits << 16));
      p += 16;
      continue;
    }
    let from = runs && before + leading < LEAST_DIGITS ? p + <usize>ctz<u32>(runs) : p;
    while (from > begin && isAmongDigits(from - 1)) from--;
    let digits: u32 = 0;
    for (; from < end && isAmongDigits(from); from++) digits += <u32>load<u8>(from) - 0x30 < 10 ? 1 : 0;
    if (digits >= LEAST_DIGITS) return true;
    p = from;
    before = 0;
  }
  return false;
}
