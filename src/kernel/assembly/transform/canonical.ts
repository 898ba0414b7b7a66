/**
 * Whether a value's bytes are those that printing it anew gives (`writeJson` of src/shaping/rows/values/json.ts): then they can be copied where
 * a pipeline prints. Says no where it is not sure: the event is then shaped by its values.
 */
import { isEqual, isEscaped, stringEnd } from './scan';

const MOST_DEPTH: u32 = 64;
/** Digits that a double holds whatever they are. */
const SURE_DIGITS: usize = 15;
/** From 1e-6 on numbers are printed without an exponent. */
const PLAIN_ZEROS: usize = 6;

/** Keys of the objects that are open: address and length of each, u32. */
let keys: usize = 0;
let keysEnd: usize = 0;
let top: usize = 0;

export function setUpCanonical(at: usize, bytes: usize): void {
  keys = at;
  keysEnd = at + bytes;
}

export function forgetKeys(): void {
  top = keys;
}

/** To be given to `closeKeys` at the object's end. */
export function openKeys(): usize {
  return top;
}

export function closeKeys(mark: usize): void {
  top = mark;
}

/** The bit of a key among those of an object: two with different bits are different. */
export function keyBit(from: usize, length: usize): u64 {
  return (<u64>1) << ((<u64>load<u8>(from) + 7 * <u64>load<u8>(from + length - 1) + 5 * <u64>length) & 63);
}

/** Notes a key of the object since `mark`. False when it is there twice, or when there is no room. `seen`: the bits of those before it. */
export function noteKey(mark: usize, seen: u64, bit: u64, from: usize, length: usize): bool {
  if (seen & bit) {
    for (let at = mark; at < top; at += 8) {
      if (<usize>load<u32>(at, 4) == length && isEqual(<usize>load<u32>(at), from, length)) return false;
    }
  }
  if (top == keysEnd) return false;
  store<u32>(top, <u32>from);
  store<u32>(top, <u32>length, 4);
  top += 8;
  return true;
}

/** Keys that look like numbers change their places when they are printed. */
export function staysInPlace(keyFrom: usize): bool {
  return <u32>load<u8>(keyFrom) - 0x30 > 9;
}

function digitsEnd(p: usize): usize {
  while (<u32>load<u8>(p) - 0x30 < 10) p++;
  return p;
}

/** Behind the number at `p`, or 0. */
function numberEnd(p: usize): usize {
  const isNegative = load<u8>(p) == 0x2d;
  if (isNegative) p++;
  const whole = digitsEnd(p);
  let c = <u32>load<u8>(whole);
  if (c != 0x2e) return (c | 0x20) == 0x65 || (isNegative && load<u8>(p) == 0x30) ? 0 : whole;
  const end = digitsEnd(whole + 1);
  c = <u32>load<u8>(end);
  if ((c | 0x20) == 0x65 || load<u8>(end - 1) == 0x30 || end - p - 1 > SURE_DIGITS) return 0;
  if (load<u8>(p) != 0x30) return end;
  let zeros = whole + 1;
  while (load<u8>(zeros) == 0x30) zeros++;
  return zeros - whole - 1 < PLAIN_ZEROS ? end : 0;
}

/** Escapes that have no shorter form: `\" \\ \b \f \n \r \t`. */
function areEscapesShort(p: usize, end: usize): bool {
  while (p < end) {
    if (load<u8>(p) != 0x5c) {
      p++;
      continue;
    }
    const c = <u32>load<u8>(p + 1);
    if (c != 0x22 && c != 0x5c && c != 0x62 && c != 0x66 && c != 0x6e && c != 0x72 && c != 0x74) return false;
    p += 2;
  }
  return true;
}

/** Behind the value at `p`, or 0. */
export function canonicalEnd(p: usize, depth: u32 = 0): usize {
  const c = <u32>load<u8>(p);
  if (c == 0x22) {
    const end = stringEnd(p + 1);
    return isEscaped && !areEscapesShort(p + 1, end) ? 0 : end + 1;
  }
  if (c == 0x74 || c == 0x6e) return p + 4;
  if (c == 0x66) return p + 5;
  if (c != 0x7b && c != 0x5b) return numberEnd(p);
  if (depth == MOST_DEPTH) return 0;
  if (load<u8>(++p) == c + 2) return p + 1;
  const mark = openKeys();
  let seen: u64 = 0;
  while (true) {
    if (c == 0x7b) {
      if (load<u8>(p) != 0x22) return 0;
      const end = stringEnd(++p);
      if (isEscaped || end == p || !staysInPlace(p)) return 0;
      const bit = keyBit(p, end - p);
      if (!noteKey(mark, seen, bit, p, end - p)) return 0;
      seen |= bit;
      if (load<u8>(end + 1) != 0x3a) return 0;
      p = end + 2;
    }
    p = canonicalEnd(p, depth + 1);
    if (p == 0) return 0;
    const next = <u32>load<u8>(p++);
    if (next == c + 2) {
      closeKeys(mark);
      return p;
    }
    if (next != 0x2c) return 0;
  }
}
