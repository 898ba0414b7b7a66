/** Finds the fields of an entry, and what the loop asks of them. */

const LF: u32 = 0x0a;
/** `__CURSOR`, and `=s=`, `;i=` as the low bytes of a word. */
const CURSOR_NAME: u64 = 0x524f535255435f5f;
const SEQUENCE_IS: u32 = 0x3d733d;
const NUMBER_IS: u32 = 0x3d693b;
/** From an entry's beginning: its sequence, and its number in it. */
export const SEQUENCE_AT: usize = 11;
const NUMBER_AT: usize = 46;

/** In the order of the names in ../../journal.ts. */
export const RECEIVED: usize = 1;
export const SENT: usize = 2;
export const MESSAGE: usize = 3;
export const HOST: usize = 4;
export const IDENTIFIER: usize = 5;
export const COMMAND: usize = 6;
export const SYSLOG_PID: usize = 7;
export const PID: usize = 8;
export const PRIORITY: usize = 9;
export const FACILITY: usize = 10;
export const UNIT: usize = 11;
/** A part of entries that were cut. */
export const CUT: usize = 12;
const SLOT_COUNT: usize = 13;

/** An entry of 32 bytes for each length of a name: the name of that length, and its slot in the last byte. */
let names: usize = 0;
/** Where each field of the entry begins and ends; 0 where it has none. */
let slots: usize = 0;
/** It has a field twice. */
export let isRepeated: bool = false;
/** The bytes are no entry. */
export let isGarbage: bool = false;
let end: usize = 0;

export function setUpEntry(namesAt: usize, slotsAt: usize): void {
  names = namesAt;
  slots = slotsAt;
}

/** Entries end before `stop`, which holds a newline. */
export function setEnd(stop: usize): void {
  end = stop;
  isGarbage = false;
}

/** The newline or, with `orEquals`, the `=` at or after `p`. `end` holds a newline. */
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
  if (length > 30) return 0;
  const entry = names + (length << 5);
  for (let i: usize = 0; i < length; i++) if (load<u8>(p + i) != load<u8>(entry + i)) return 0;
  return load<u8>(entry, 31);
}

/** Finds number and fields of the entry at `p`. Returns the address behind it, or 0 where it is not whole. */
export function readEntry(p: usize): usize {
  const begin = p;
  isGarbage = end - p > 8 && load<u64>(p) != CURSOR_NAME;
  if (isGarbage) return 0;
  memory.fill(slots, 0, SLOT_COUNT << 3);
  isRepeated = false;
  while (p < end) {
    if (<u32>load<u8>(p) == LF) {
      isGarbage = (load<u32>(begin, 8) & 0xffffff) != SEQUENCE_IS || (load<u32>(begin, 43) & 0xffffff) != NUMBER_IS || !readNumber(begin);
      return isGarbage ? 0 : p + 1;
    }
    const nameEnd = find(p, true);
    if (nameEnd >= end) return 0;
    let from = nameEnd + 1;
    let to: usize;
    if (<u32>load<u8>(nameEnd) == LF) {
      // The value may hold anything: its length comes before it.
      if (nameEnd + 9 > end) return 0;
      from = nameEnd + 9;
      const size = load<u64>(nameEnd, 1);
      if (size >= <u64>(end - from)) return 0;
      to = from + <usize>size;
      if (<u32>load<u8>(to) != LF) {
        isGarbage = true;
        return 0;
      }
    } else {
      to = find(from, false);
      if (to >= end) return 0;
    }
    const slot = slotOf(p, nameEnd - p) << 3;
    if (slot) {
      if (load<u32>(slots + slot)) isRepeated = true;
      store<u32>(slots + slot, <u32>from);
      store<u32>(slots + slot, <u32>to, 4);
    }
    p = to + 1;
  }
  return 0;
}

export let entryNumber: u64 = 0;

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

export function lengthOf(slot: usize): usize {
  return <usize>load<u32>(slots + (slot << 3), 4) - at(slot);
}

/** The number of one or two digits in the slot, or 255. */
export function smallNumber(slot: usize): u32 {
  const length = lengthOf(slot);
  if (at(slot) == 0 || length - 1 > 1) return 255;
  let value: u32 = 0;
  for (let i: usize = 0; i < length; i++) {
    const digit = <u32>load<u8>(at(slot) + i) - 0x30;
    if (digit > 9) return 255;
    value = value * 10 + digit;
  }
  return value;
}

export function isEqual(p: usize, length: usize, other: usize, otherLength: usize): bool {
  if (length != otherLength) return false;
  for (let i: usize = 0; i < length; i++) if (load<u8>(p + i) != load<u8>(other + i)) return false;
  return true;
}

/** Bytes of the values beside the message. */
export function otherBytes(): usize {
  return lengthOf(HOST) + lengthOf(IDENTIFIER) + lengthOf(COMMAND) + lengthOf(SYSLOG_PID) + lengthOf(PID) + lengthOf(UNIT);
}

export function mayBeObject(p: usize, to: usize): bool {
  while (p < to && <u32>load<u8>(p) <= 0x20) p++;
  return p < to && <u32>load<u8>(p) == 0x7b;
}
