/** Finds the top-level members of the current event, and the program's field that each is. */
import { isEqual, isEscaped, skipSpaces, stringEnd, valueEnd } from './scan';

/** A member, u32 each: the key's opening quote, the value, its end, and the slot of its name or -1. */
export const VALUE: usize = 4;
export const BEHIND: usize = 8;
export const SLOT: usize = 12;
export const MEMBER_BYTES: usize = 16;
export const MOST_MEMBERS: u32 = 256;
/** A slot, u32 each: its name's address and length; edits.ts has the others. */
export const SLOT_BYTES: usize = 48;
export const MOST_SLOTS: u32 = 32;

export let members: usize = 0;
export let count: u32 = 0;
/** The closing brace. */
export let close: usize = 0;
/** A bit for each slot whose name occurs twice. */
export let repeated: u32 = 0;

/** By slot, u32: its last member, or 0. */
export let found: usize = 0;
let slots: usize = 0;
let slotCount: u32 = 0;
/** A bit for each `(3 * length + first byte) % 64` of a name. */
let filter: u64 = 0;

export function setUpMembers(membersAt: usize, foundAt: usize): void {
  members = membersAt;
  found = foundAt;
}

export function useSlots(at: usize, names: u32, bits: u64): void {
  slots = at;
  slotCount = names;
  filter = bits;
}

function slotOf(from: usize, length: usize): i32 {
  if (((filter >> ((3 * <u64>length + <u64>load<u8>(from)) & 63)) & 1) == 0) return -1;
  for (let i: u32 = 0, slot = slots; i < slotCount; i++, slot += SLOT_BYTES) {
    if (<usize>load<u32>(slot, 4) == length && isEqual(<usize>load<u32>(slot), from, length)) return <i32>i;
  }
  return -1;
}

/** Where the value of the slot begins, or 0. */
export function valueOf(slot: u32): usize {
  const member = <usize>load<u32>(found + (slot << 2));
  return member ? <usize>load<u32>(member, VALUE) : 0;
}

/** Finds the members of the object at `p`. False where a key has escapes, or where there are too many. */
export function scanMembers(p: usize): bool {
  memory.fill(found, 0, 4 * MOST_SLOTS);
  repeated = 0;
  count = 0;
  let member = members;
  if (load<u8>(++p) <= 0x20) p = skipSpaces(p);
  while (load<u8>(p) != 0x7d) {
    if (count++ == MOST_MEMBERS) return false;
    const end = stringEnd(p + 1);
    if (isEscaped) return false;
    const slot = slotOf(p + 1, end - p - 1);
    store<u32>(member, <u32>p);
    store<i32>(member, slot, SLOT);
    p = end + 1;
    if (load<u8>(p) != 0x3a) p = skipSpaces(p);
    if (load<u8>(++p) <= 0x20) p = skipSpaces(p);
    store<u32>(member, <u32>p, VALUE);
    p = valueEnd(p);
    store<u32>(member, <u32>p, BEHIND);
    if (slot >= 0) {
      const place = found + ((<usize>slot) << 2);
      if (load<u32>(place)) repeated |= 1 << (<u32>slot);
      store<u32>(place, <u32>member);
    }
    if (load<u8>(p) <= 0x20) p = skipSpaces(p);
    if (load<u8>(p) == 0x2c && load<u8>(++p) <= 0x20) p = skipSpaces(p);
    member += MEMBER_BYTES;
  }
  close = p;
  return true;
}
