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

/** Where keys may begin that are wanted, and a newline, in the 16 bytes at `p`; more than that where `start` is not the whole byte. */
function keysAt(p: usize, quotes: v128, mask: v128, start: v128): v128 {
  return v128.and(i8x16.eq(v128.load(p), quotes), i8x16.eq(v128.and(v128.load(p, 1), mask), start));
}

/** The names begin with `first` or `second`. False where only all of the members of the event at `p` can tell. */
export function findWanted(p: usize, first: u8, second: u8): bool {
  memory.fill(found, 0, 4 * MOST_SLOTS);
  const begin = ++p;
  // No bracket opens before it: each byte is looked at once, however often a name comes.
  let looked = begin;
  // One comparison for both: by the bits that they have in common.
  const mask = i8x16.splat(~(first ^ second));
  const start = i8x16.splat(first & ~(first ^ second));
  const quotes = i8x16.splat(0x22);
  const newline = i8x16.splat(0x0a);
  const backslash = i8x16.splat(0x5c);
  let escapes = i8x16.splat(0);
  while (true) {
    const a = v128.load(p);
    const b = v128.load(p, 16);
    const c = v128.load(p, 32);
    const d = v128.load(p, 48);
    const keysA = keysAt(p, quotes, mask, start);
    const keysB = keysAt(p + 16, quotes, mask, start);
    const keysC = keysAt(p + 32, quotes, mask, start);
    const keysD = keysAt(p + 48, quotes, mask, start);
    const endsA = i8x16.eq(a, newline);
    const endsB = i8x16.eq(b, newline);
    const endsC = i8x16.eq(c, newline);
    const endsD = i8x16.eq(d, newline);
    escapes = v128.or(
      v128.or(escapes, v128.or(i8x16.eq(a, backslash), i8x16.eq(b, backslash))),
      v128.or(i8x16.eq(c, backslash), i8x16.eq(d, backslash)),
    );
    const keys = v128.or(v128.or(keysA, keysB), v128.or(keysC, keysD));
    const ends = v128.or(v128.or(endsA, endsB), v128.or(endsC, endsD));
    if (v128.any_true(v128.or(keys, ends))) {
      const end = bits(endsA, endsB, endsC, endsD);
      let found = bits(keysA, keysB, keysC, keysD);
      // Those before the newline, or all.
      found &= end ^ (end - 1);
      while (found) {
        const at = p + <usize>ctz<u64>(found);
        found &= found - 1;
        if (!noteKey(at)) continue;
        if (load<u8>(at - 1) == 0x5c || holdsOpening(looked, at)) return false;
        looked = at;
      }
      if (end) {
        behindEvent = p + <usize>ctz<u64>(end) + 1;
        return !v128.any_true(escapes) || !holdsNumericEscape(begin, behindEvent);
      }
    }
    p += 64;
  }
  // Never reached: the compiler does not see it.
  return false;
}

/** A bit for each byte of the four that is not 0. */
function bits(a: v128, b: v128, c: v128, d: v128): u64 {
  const low = <u32>i8x16.bitmask(a) | ((<u32>i8x16.bitmask(b)) << 16);
  const high = <u32>i8x16.bitmask(c) | ((<u32>i8x16.bitmask(d)) << 16);
  return <u64>low | ((<u64>high) << 32);
}

/** A bracket that opens an object or a list, or is in a text. */
function holdsOpening(p: usize, end: usize): bool {
  for (; p < end; p += 16) {
    const found = <u32>i8x16.bitmask(i8x16.eq(v128.or(v128.load(p), i8x16.splat(0x20)), i8x16.splat(0x7b)));
    if (end - p < 16 ? found & ((1 << (<u32>(end - p))) - 1) : found) return true;
  }
  return false;
}

/** A name may be spelled with `\u`. */
function holdsNumericEscape(p: usize, end: usize): bool {
  for (; p < end; p++) if (load<u8>(p) == 0x5c && load<u8>(++p) == 0x75) return true;
  return false;
}
