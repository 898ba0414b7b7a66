/**
 * Finds the members that conditions read without finding the others. Gives up where the bytes before a member do not tell alone that it is
 * the event's own: behind a bracket, which may open an object, and beside escapes, which may spell its name.
 */
import { found, MEMBER_BYTES, members, MOST_SLOTS, SLOT_BYTES, VALUE } from './members';
import { isEqual, skipSpaces } from './scan';

/** Behind the event's newline. */
export let behindEvent: usize = 0;

let slots: usize = 0;
let slotCount: u32 = 0;

export function useWanted(at: usize, names: u32): void {
  slots = at;
  slotCount = names;
}

/** True where the key at `p` is one that is wanted; its value is noted then. `p` is at a quote. */
function noteKey(p: usize): bool {
  for (let i: u32 = 0, slot = slots; i < slotCount; i++, slot += SLOT_BYTES) {
    const length = <usize>load<u32>(slot, 4);
    const behind = p + 1 + length;
    if (load<u8>(behind) != 0x22 || !isEqual(<usize>load<u32>(slot), p + 1, length)) continue;
    const colon = skipSpaces(behind + 1);
    // The text is a value.
    if (load<u8>(colon) != 0x3a) return false;
    const member = members + <usize>i * MEMBER_BYTES;
    store<u32>(member, <u32>skipSpaces(colon + 1), VALUE);
    store<u32>(found + ((<usize>i) << 2), <u32>member);
    return true;
  }
  return false;
}

/** The names begin with `first` or `second`. False where only all of the members of the event at `p` can tell. */
export function findWanted(p: usize, first: u8, second: u8): bool {
  memory.fill(found, 0, 4 * MOST_SLOTS);
  const begin = ++p;
  let isNested = false;
  let escapes = i8x16.splat(0);
  while (true) {
    const v = v128.load(p);
    const after = v128.load(p, 1);
    const starts = v128.or(i8x16.eq(after, i8x16.splat(first)), i8x16.eq(after, i8x16.splat(second)));
    const keys = v128.and(i8x16.eq(v, i8x16.splat(0x22)), starts);
    const newlines = i8x16.eq(v, i8x16.splat(0x0a));
    const brackets = i8x16.eq(v128.or(v, i8x16.splat(0x20)), i8x16.splat(0x7b));
    escapes = v128.or(escapes, i8x16.eq(v, i8x16.splat(0x5c)));
    if (v128.any_true(v128.or(v128.or(keys, newlines), brackets))) {
      const end = <u32>i8x16.bitmask(newlines);
      const opened = <u32>i8x16.bitmask(brackets);
      let bits = <u32>i8x16.bitmask(keys);
      if (end) bits &= (end & -end) - 1;
      while (bits) {
        const at = ctz<u32>(bits);
        bits &= bits - 1;
        if (!noteKey(p + <usize>at)) continue;
        if (isNested || (opened & ((1 << at) - 1)) != 0 || load<u8>(p + <usize>at - 1) == 0x5c) return false;
      }
      if (end) {
        behindEvent = p + <usize>ctz<u32>(end) + 1;
        return !v128.any_true(escapes) || !holdsNumericEscape(begin, behindEvent);
      }
      if (opened) isNested = true;
    }
    p += 16;
  }
  // Never reached: the compiler does not see it.
  return false;
}

/** A name may be spelled with `\u`. */
function holdsNumericEscape(p: usize, end: usize): bool {
  for (; p < end; p++) if (load<u8>(p) == 0x5c && load<u8>(++p) == 0x75) return true;
  return false;
}
