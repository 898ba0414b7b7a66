/**
 * Matches a line's key against the known keys, which the template holds as bytes (UTF-8; a lone surrogate as its three bytes). A line's key
 * is compared after its escapes are decoded and its invalid UTF-8 is repaired.
 */
import { putReplacement, sequence } from './utf8';

/** The table: `count` entries of 16 bytes, address and length of the key (u32 each), then its mark (u64). */
let keysAt: usize = 0;
let keyCount: u32 = 0;
let longestKey: usize = 0;
/** A bit for each `(3 * length + first byte) % 64` that a known key has: most other keys end here. */
export let filter: u64 = 0;
let scratch: usize = 0;
/** The place in the table of the key that was found last. */
export let foundKey: u32 = 0;

export function setUpKeys(scratchAt: usize): void {
  scratch = scratchAt;
}

export function useKeys(at: usize, count: u32, longest: usize, bits: u64): void {
  keysAt = at;
  keyCount = count;
  longestKey = longest;
  filter = bits;
}

/** The bit of the filter for the key between `from` and its closing quote at `to`. */
export function filterBit(from: usize, to: usize): u64 {
  return <u64>(3 * (to - from) + <usize>load<u8>(from)) & 63;
}

/** The mark of the key between `from` and its closing quote at `to`, or 0. `isPlain`: ASCII without escapes. */
export function findKey(from: usize, to: usize, isPlain: bool): u64 {
  if (!isPlain) return findDecoded(from, to);
  const length = to - from;
  if (((filter >> filterBit(from, to)) & 1) == 0) return 0;
  return lookUp(from, length);
}

function lookUp(from: usize, length: usize): u64 {
  for (let i: u32 = 0, entry = keysAt; i < keyCount; i++, entry += 16) {
    if (<usize>load<u32>(entry, 4) == length && equal(from, <usize>load<u32>(entry), length)) {
      foundKey = i;
      return load<u64>(entry, 8);
    }
  }
  return 0;
}

function equal(a: usize, b: usize, length: usize): bool {
  for (let i: usize = 0; i < length; i++) if (load<u8>(a + i) != load<u8>(b + i)) return false;
  return true;
}

function hexValue(p: usize): u32 {
  const c = <u32>load<u8>(p);
  return c < 0x3a ? c - 0x30 : (c | 0x20) - 0x57;
}

/** The code unit of the four hex digits at `p`. */
function unit(p: usize): u32 {
  return (hexValue(p) << 12) | (hexValue(p + 1) << 8) | (hexValue(p + 2) << 4) | hexValue(p + 3);
}

/** Writes a code point (or a lone surrogate) as UTF-8; returns its end. */
function putPoint(o: usize, c: u32): usize {
  if (c < 0x80) {
    store<u8>(o, c);
    return o + 1;
  }
  if (c < 0x800) {
    store<u8>(o, 0xc0 | (c >> 6));
    store<u8>(o, 0x80 | (c & 0x3f), 1);
    return o + 2;
  }
  if (c < 0x10000) {
    store<u8>(o, 0xe0 | (c >> 12));
    store<u8>(o, 0x80 | ((c >> 6) & 0x3f), 1);
    store<u8>(o, 0x80 | (c & 0x3f), 2);
    return o + 3;
  }
  store<u8>(o, 0xf0 | (c >> 18));
  store<u8>(o, 0x80 | ((c >> 12) & 0x3f), 1);
  store<u8>(o, 0x80 | ((c >> 6) & 0x3f), 2);
  store<u8>(o, 0x80 | (c & 0x3f), 3);
  return o + 4;
}

/** The character of a short escape. */
function unescape(c: u32): u32 {
  if (c == 0x62) return 0x08;
  if (c == 0x66) return 0x0c;
  if (c == 0x6e) return 0x0a;
  if (c == 0x72) return 0x0d;
  if (c == 0x74) return 0x09;
  return c;
}

function findDecoded(from: usize, to: usize): u64 {
  let o = scratch;
  const most = scratch + longestKey;
  while (from < to) {
    if (o > most) return 0;
    const c = <u32>load<u8>(from);
    if (c == 0x5c) {
      const e = <u32>load<u8>(from + 1);
      if (e != 0x75) {
        o = putPoint(o, unescape(e));
        from += 2;
        continue;
      }
      let point = unit(from + 2);
      from += 6;
      if ((point & 0xfc00) == 0xd800 && load<u16>(from) == 0x755c) {
        const low = unit(from + 2);
        if ((low & 0xfc00) == 0xdc00) {
          point = 0x10000 + ((point & 0x3ff) << 10) + (low & 0x3ff);
          from += 6;
        }
      }
      o = putPoint(o, point);
    } else if (c < 0x80) {
      store<u8>(o++, c);
      from++;
    } else {
      const n = sequence(from);
      if (n > 0) {
        store<u32>(o, load<u32>(from));
        o += n;
        from += n;
      } else {
        putReplacement(o);
        o += 3;
        from += -n;
      }
    }
  }
  return lookUp(scratch, o - scratch);
}
