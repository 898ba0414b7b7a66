/**
 * Deflate (RFC 1951) for bodies of events: matches found with one look-up per place, and a Huffman code of its own for each block. A block
 * that does not shrink is stored, so that the output is never more than a few bytes longer than the input.
 */
import { findMatches, forgetPlaces } from './compress/matches';
import { BLOCK_BYTES, END, INPUT, OUTPUT, SEGMENT_BYTES } from './compress/memory';
import { fillByte, output, put, waiting, waitingBits, writeFrom } from './deflate/bits';
import { putBlock } from './deflate/block';
import { makeCodes, putCodes } from './deflate/codes';
import { countSymbols } from './deflate/symbols';

export { END, INPUT, OUTPUT, SEGMENT_BYTES };

const WINDOW_BYTES: usize = 32768;
const MAX_STORED_BYTES: usize = 65535;

/** Another stream begins. */
export function begin(): void {
  writeFrom(OUTPUT, 0, 0);
}

/** Deflates the `length` bytes at `INPUT` as the next of the stream; returns how many bytes of it there are at `OUTPUT`. */
export function deflate(length: usize, isLast: bool): usize {
  writeFrom(OUTPUT, waiting, waitingBits);
  forgetPlaces();
  const end = INPUT + length;
  let from = INPUT;
  do {
    const to = min(from + BLOCK_BYTES, end);
    deflateBlock(from, to, isLast && to == end);
    from = to;
  } while (from < end);
  if (isLast) fillByte();
  return output - OUTPUT;
}

function deflateBlock(from: usize, end: usize, isLast: bool): void {
  findMatches(from, end, WINDOW_BYTES);
  countSymbols();
  if (from == end || makeCodes() >> 3 >= <u64>(end - from)) {
    putStored(from, end, isLast);
    return;
  }
  put(<u64>isLast | (2 << 1), 3);
  putCodes();
  putBlock();
}

function putStored(from: usize, end: usize, isLast: bool): void {
  do {
    const length = min(end - from, MAX_STORED_BYTES);
    put(<u64>(isLast && from + length == end), 3);
    fillByte();
    put(<u64>length | ((<u64>(length ^ 0xffff)) << 16), 32);
    memory.copy(output, from, length);
    writeFrom(output + length, 0, 0);
    from += length;
  } while (from < end);
}
