/**
 * Finds repeats (LZ77): a block becomes sequences, each a run of literals and then a match, a copy of the bytes at a distance
 * before it. Each place costs one look-up, at where its six bytes were seen last, and the first match is taken. Mispredicted
 * branches cost most of the time, so there are few of them per match, and no search for better matches.
 */
import { INPUT, LITERALS, PLACES, PLACES_BYTES, PLACES_LOG, SEQUENCES } from './memory';

/** Where the last block's sequences end, and its literals, of which those behind the last match belong to no sequence. */
export let sequencesEnd: usize = 0;
export let literalsEnd: usize = 0;

/** Matches end this far before the block does, so that no bytes behind it are hashed. */
const TAIL_BYTES: usize = 16;
/** After as many places without a match, every second one is looked at, then every third. */
const PATIENCE_LOG: usize = 5;

/** Forgets all places: what follows is another segment. */
export function forgetPlaces(): void {
  memory.fill(PLACES, 0, PLACES_BYTES);
}

/** Where the place of the six bytes at `p` is kept. */
function placeOf(bytes: u64): usize {
  return PLACES + ((<usize>(((bytes << 16) * 0xcf1bbcdcb7a56463) >> (64 - PLACES_LOG))) << 2);
}

/** A run of literals and the match behind it as one number: 20 bits, 20 bits and the distance. */
function packed(run: usize, length: usize, distance: usize): u64 {
  return <u64>run | ((<u64>length) << 20) | ((<u64>distance) << 40);
}

/** Finds the matches of `[from, end)`, at most `window` bytes back and within the segment. An empty place is 0, which is always further. */
export function findMatches(from: usize, end: usize, window: usize): void {
  let sequence = SEQUENCES;
  let literal = LITERALS;
  let done = from;
  let p = from == INPUT ? from + 1 : from;
  const last = end - from > TAIL_BYTES ? end - TAIL_BYTES : from;
  let patience: usize = 1 << PATIENCE_LOG;
  while (p < last) {
    const bytes = load<u64>(p);
    const place = placeOf(bytes);
    let earlier = <usize>load<u32>(place);
    store<u32>(place, <u32>p);
    if (load<u32>(earlier) != <u32>bytes || p - earlier > window) {
      p += patience++ >> PATIENCE_LOG;
      continue;
    }
    let stop = p + 4;
    const distance = p - earlier;
    while (p > done && earlier > INPUT && load<u8>(p - 1) == load<u8>(earlier - 1)) {
      p--;
      earlier--;
    }
    while (stop < end) {
      const differs = load<u64>(stop) ^ load<u64>(stop - distance);
      if (differs) {
        stop += <usize>ctz<u64>(differs) >> 3;
        break;
      }
      stop += 8;
    }
    if (stop > end) stop = end;
    const run = p - done;
    v128.store(literal, v128.load(done));
    if (run > 16) memory.copy(literal + 16, done + 16, run - 16);
    literal += run;
    store<u64>(sequence, packed(run, stop - p, distance));
    sequence += 8;
    done = p = stop;
    patience = 1 << PATIENCE_LOG;
    store<u32>(placeOf(load<u64>(p - 2)), <u32>(p - 2));
  }
  memory.copy(literal, done, end - done);
  literalsEnd = literal + (end - done);
  sequencesEnd = sequence;
}
