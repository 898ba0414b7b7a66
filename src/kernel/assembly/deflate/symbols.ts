/** Symbols of RFC 1951, 3.2.5: what lengths and distances become, and how often each occurs in a block. */
import { count } from '../compress/huffman';
import { ENCODER_TABLES, LITERALS, SEQUENCES } from '../compress/memory';
import { literalsEnd, sequencesEnd } from '../compress/matches';

export const LITERAL_SYMBOLS: usize = 286;
export const DISTANCE_SYMBOLS: usize = 30;
export const END_OF_BLOCK: usize = 256;
export const MIN_LENGTH: u32 = 3;
export const MAX_LENGTH: u32 = 258;

/** u32 each. */
export const LITERAL_COUNTS: usize = ENCODER_TABLES;
export const DISTANCE_COUNTS: usize = LITERAL_COUNTS + 288 * 4;
const LENGTH_COUNTS: usize = DISTANCE_COUNTS + 32 * 4;
export const SYMBOLS_END: usize = LENGTH_COUNTS + 260 * 4;

/** How many bits there are behind the symbol of a length, given less `MIN_LENGTH`, or of a distance, given less 1; they are the lowest of what is given. */
export function lengthBits(length: u32): u32 {
  return length == MAX_LENGTH - MIN_LENGTH ? 0 : 29 - clz<u32>(length | 4);
}

export function distanceBits(distance: u32): u32 {
  return 30 - clz<u32>(distance | 2);
}

/** The symbol itself, for so many bits. */
export function lengthSymbol(length: u32, bits: u32): usize {
  return length == MAX_LENGTH - MIN_LENGTH ? 285 : 257 + (bits << 2) + (length >> bits);
}

export function distanceSymbol(distance: u32, bits: u32): usize {
  return (bits << 1) + (distance >> bits);
}

/** Matches may be longer than deflate has lengths for: the length of the next part of one. No part is left that is too short. */
export function partOf(length: u32): u32 {
  if (length <= MAX_LENGTH) return length;
  return length < MAX_LENGTH + MIN_LENGTH ? length - MIN_LENGTH : MAX_LENGTH;
}

/** Counts the symbols of the block whose matches were found last. */
export function countSymbols(): void {
  memory.fill(LITERAL_COUNTS, 0, SYMBOLS_END - LITERAL_COUNTS);
  for (let p = LITERALS; p < literalsEnd; p++) count(LITERAL_COUNTS, load<u8>(p));
  for (let p = SEQUENCES; p < sequencesEnd; p += 8) {
    const sequence = load<u64>(p);
    let length = <u32>(sequence >> 20) & 0xfffff;
    const distance = <u32>(sequence >> 40) - 1;
    const symbol = distanceSymbol(distance, distanceBits(distance));
    while (length > 0) {
      const part = partOf(length);
      count(LENGTH_COUNTS, part);
      count(DISTANCE_COUNTS, symbol);
      length -= part;
    }
  }
  for (let length = MIN_LENGTH; length <= MAX_LENGTH; length++) {
    const value = length - MIN_LENGTH;
    const at = LITERAL_COUNTS + (lengthSymbol(value, lengthBits(value)) << 2);
    store<u32>(at, load<u32>(at) + load<u32>(LENGTH_COUNTS + (length << 2)));
  }
  count(LITERAL_COUNTS, END_OF_BLOCK);
  // A complete code needs two symbols.
  count(DISTANCE_COUNTS, 0);
  count(DISTANCE_COUNTS, 1);
}
