/** Abbreviations and IANA names, which JavaScript lays out (../../times/zone-table.ts). */

/** In place of an offset: it names no one zone; it is no abbreviation. */
export const UNKNOWN: i64 = i64.MIN_VALUE;
export const NONE: i64 = i64.MAX_VALUE;

/** 256 entries of 16 bytes, by the hash of the word, with the next free one where that is taken: up to 8 letters (0 for none), and its offset, i64. */
let abbreviations: usize = 0;
/** Zones of 64 bytes and a table of offsets (zone.ts): u32 the length of its name (0 for none), how many offsets (0 for no such zone); from byte 8 the name. */
let zones: usize = 0;
const MOST_ZONES = 8;
export const ZONE_BYTES: usize = 64 + 256 * 16;

export function setUpNames(abbreviationsAt: usize, zonesAt: usize): void {
  abbreviations = abbreviationsAt;
  zones = zonesAt;
}

/** The word that was looked up last, and what it means: the lines of a program have few. */
let lastWord: u64 = 0;
let lastOffset: i64 = NONE;

export function forgetNames(): void {
  lastWord = 0;
  lastOffset = NONE;
}

/** Its offset in seconds, UNKNOWN or NONE. */
export function abbreviation(word: u64): i64 {
  if (word == lastWord) return lastOffset;
  lastWord = word;
  lastOffset = NONE;
  let at = <usize>((word * 0x9e3779b97f4a7c15) >> 56);
  let there = load<u64>(abbreviations + (at << 4));
  while (there != 0 && there != word) {
    at = (at + 1) & 255;
    there = load<u64>(abbreviations + (at << 4));
  }
  if (there) lastOffset = load<i64>(abbreviations + (at << 4), 8);
  return lastOffset;
}

/** The address of the zone of that name, or 0. */
export function findZone(name: usize, length: usize): usize {
  for (let n = 0; n < MOST_ZONES; n++) {
    const zone = zones + <usize>n * ZONE_BYTES;
    if (<usize>load<u32>(zone) == length && isEqual(zone + 8, name, length)) return zone;
  }
  return 0;
}

function isEqual(a: usize, b: usize, length: usize): bool {
  for (let i: usize = 0; i < length; i++) if (load<u8>(a + i) != load<u8>(b + i)) return false;
  return true;
}
