/** Finds the fields of an entry, and what the loop asks of them. */

const LF: u32 = 0x0a;
/** `__CURSOR`, and `=s=`, `;i=` as the low bytes of a word. */
const CURSOR_NAME: u64 = 0x524f535255435f5f;
const SEQUENCE_IS: u32 = 0x3d733d;
const NUMBER_IS: u32 = 0x3d693b;
/** From an entry's beginning: its sequence, and its number in it. */
export const SEQUENCE_AT: usize = 11;
const NUMBER_AT: usize = 46;
const SLOTS_BYTES: usize = 96;

/** An entry of 32 bytes for each length of a name: the name of that length, and its slot in the last byte. */
let names: usize = 0;
/** Where each field of the entry begins and ends; 0 where it has none, and in the first. */
let slots: usize = 0;
/** It has a field twice. */
export let isRepeated: bool = false;
/** The bytes are no entry. */
export let isGarbage: bool = false;
export let entryNumber: u64 = 0;

export function setUpEntry(namesAt: usize, slotsAt: usize): void {
  names = namesAt;
  slots = slotsAt;
}

/** The newline or, with `orEquals`, the `=` at or after `p`; one must follow. */
function find(p: usize, orEquals: bool): usize {
  const other = i8x16.splat(orEquals ? 0x3d : 0x0a);
  while (true) {
    const v = v128.load(p);
    const found = i8x16.bitmask(v128.or(i8x16.eq(v, i8x16.splat(0x0a)), i8x16.eq(v, other)));
    if (found) return p + <usize>ctz<i32>(found);
    p += 16;
  }
}

/** The slot of the name; 0 for any other. */
function slotOf(p: usize, length: usize): usize {
  const entry = names + (length << 5);
  return length < 31 && isEqual(p, length, entry, length) ? load<u8>(entry, 31) : 0;
}

/** Finds number and fields of the entry at `p`. Returns the address behind it, or 0 where it is not whole. `end` holds a newline. */
export function readEntry(p: usize, end: usize): usize {
  const begin = p;
  isRepeated = false;
  isGarbage = end - p > 8 && load<u64>(p) != CURSOR_NAME;
  memory.fill(slots, 0, SLOTS_BYTES);
  while (p < end && !isGarbage) {
    if (<u32>load<u8>(p) == LF) {
      isGarbage =
        (load<u32>(begin, 8) & 0xffffff) != SEQUENCE_IS ||
        (load<u32>(begin, 43) & 0xffffff) != NUMBER_IS ||
        !readNumber(begin);
      return isGarbage ? 0 : p + 1;
    }
    const nameEnd = find(p, true);
    let from = nameEnd + 1;
    if (from > end) return 0;
    let size: u64 = 0;
    if (<u32>load<u8>(nameEnd) == LF) {
      // The value may hold anything: its length comes before it.
      from += 8;
      if (from > end) return 0;
      size = load<u64>(nameEnd, 1);
    } else size = <u64>(find(from, false) - from);
    if (size >= <u64>(end - from)) return 0;
    const to = from + <usize>size;
    isGarbage = <u32>load<u8>(to) != LF;
    const slot = slotOf(p, nameEnd - p);
    if (slot) {
      if (at(slot)) isRepeated = true;
      store<u32>(slots + (slot << 3), <u32>from);
      store<u32>(slots + (slot << 3), <u32>to, 4);
    }
    p = to + 1;
  }
  return 0;
}

/** Puts the hexadecimal number of the entry at `p` into `entryNumber`; false unless it has one that is exact in a double. */
function readNumber(p: usize): bool {
  entryNumber = 0;
  let digits = 0;
  for (p += NUMBER_AT; digits < 14; digits++, p++) {
    const c = <u32>load<u8>(p);
    const digit = c - 0x30 < 10 ? c - 0x30 : (c | 0x20) - 0x57;
    if (digit > 15) break;
    entryNumber = (entryNumber << 4) | <u64>digit;
  }
  return digits > 0 && digits < 14;
}

export function at(slot: usize): usize {
  return load<u32>(slots + (slot << 3));
}

export function endOf(slot: usize): usize {
  return load<u32>(slots + (slot << 3), 4);
}

/** The number of one or two digits in the slot, or 255. */
export function smallNumber(slot: usize): u32 {
  const p = at(slot);
  const tens = <u32>load<u8>(p) - 0x30;
  const ones = <u32>load<u8>(p + 1) - 0x30;
  const length = endOf(slot) - p;
  if (p == 0 || length - 1 > 1 || tens > 9 || (length == 2 && ones > 9)) return 255;
  return length == 1 ? tens : tens * 10 + ones;
}

export function isEqual(p: usize, length: usize, other: usize, otherLength: usize): bool {
  if (length != otherLength) return false;
  for (let i: usize = 0; i < length; i++) if (load<u8>(p + i) != load<u8>(other + i)) return false;
  return true;
}
