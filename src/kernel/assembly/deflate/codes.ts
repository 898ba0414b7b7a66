/**
 * The codes of a block: built from its counts, written before it in the short form of RFC 1951, 3.2.7, and laid out so that one look-up gives a
 * length with its extra bits.
 */
import { count, makeLengths } from '../compress/huffman';
import { put } from './bits';
import {
  DISTANCE_COUNTS,
  DISTANCE_SYMBOLS,
  END_OF_BLOCK,
  LITERAL_COUNTS,
  LITERAL_SYMBOLS,
  MAX_LENGTH,
  MIN_LENGTH,
  SYMBOLS_END,
  lengthBits,
  lengthSymbol,
} from './symbols';

const MAX_CODE_BITS: u32 = 15;
const HEADER_SYMBOLS: usize = 19;

/** u32 each: the bits, and their number above `CODE_BITS`. By symbol, and by the length of a match. */
export const LITERAL_CODES: usize = SYMBOLS_END;
export const DISTANCE_CODES: usize = LITERAL_CODES + 288 * 4;
export const LENGTH_CODES: usize = DISTANCE_CODES + 32 * 4;
const HEADER_CODES: usize = LENGTH_CODES + 260 * 4;
const HEADER_COUNTS: usize = HEADER_CODES + 20 * 4;
const NEXT_CODES: usize = HEADER_COUNTS + 20 * 4;
/** u8 each: distances follow on what is used of the literals when they are written. */
const LITERAL_LENGTHS: usize = NEXT_CODES + 16 * 4;
const DISTANCE_LENGTHS: usize = LITERAL_LENGTHS + 288 + 32;
const HEADER_LENGTHS: usize = DISTANCE_LENGTHS + 32;
/** u16 each: a symbol of the header and, above it, what its extra bits say. */
const HEADER: usize = HEADER_LENGTHS + 32;

export const CODE_BITS: u32 = 24;

let headerEnd: usize = 0;
let literals: usize = 0;
let distances: usize = 0;
let headerLengths: usize = 0;

/** Makes the codes for the counts of a block; returns the bits that it takes with them, all of it. */
export function makeCodes(): u64 {
  makeLengths(LITERAL_COUNTS, LITERAL_LENGTHS, LITERAL_SYMBOLS, MAX_CODE_BITS);
  makeLengths(DISTANCE_COUNTS, DISTANCE_LENGTHS, DISTANCE_SYMBOLS, MAX_CODE_BITS);
  let bits = makeHeader();
  for (let s: usize = 0; s < LITERAL_SYMBOLS; s++) {
    const behind: usize = s < 265 || s == 285 ? 0 : (s - 261) >> 2;
    bits += <u64>load<u32>(LITERAL_COUNTS + (s << 2)) * (<u64>load<u8>(LITERAL_LENGTHS + s) + behind);
  }
  for (let s: usize = 0; s < DISTANCE_SYMBOLS; s++) {
    const behind: usize = s < 4 ? 0 : (s >> 1) - 1;
    bits += <u64>load<u32>(DISTANCE_COUNTS + (s << 2)) * (<u64>load<u8>(DISTANCE_LENGTHS + s) + behind);
  }
  return bits;
}

/** Writes them, and makes what `LITERAL_CODES`, `DISTANCE_CODES` and `LENGTH_CODES` say. */
export function putCodes(): void {
  assign(LITERAL_LENGTHS, LITERAL_CODES, LITERAL_SYMBOLS);
  assign(DISTANCE_LENGTHS, DISTANCE_CODES, DISTANCE_SYMBOLS);
  for (let length = MIN_LENGTH; length <= MAX_LENGTH; length++) {
    const value = length - MIN_LENGTH;
    const bits = lengthBits(value);
    const code = load<u32>(LITERAL_CODES + (lengthSymbol(value, bits) << 2));
    store<u32>(LENGTH_CODES + (length << 2), (code | ((value & ((1 << bits) - 1)) << (code >> CODE_BITS))) + (bits << CODE_BITS));
  }
  putHeader();
}

/** Codes by RFC 1951, 3.2.2, each turned around: they are sent from their highest bit on. */
function assign(lengths: usize, codes: usize, symbols: usize): void {
  memory.fill(NEXT_CODES, 0, 16 * 4);
  for (let s: usize = 0; s < symbols; s++) if (load<u8>(lengths + s)) count(NEXT_CODES, load<u8>(lengths + s));
  let code: u32 = 0;
  for (let at = NEXT_CODES; at < NEXT_CODES + 16 * 4; at += 4) {
    const many = load<u32>(at);
    store<u32>(at, code);
    code = (code + many) << 1;
  }
  for (let s: usize = 0; s < symbols; s++) {
    const length = <u32>load<u8>(lengths + s);
    const next = NEXT_CODES + (length << 2);
    store<u32>(codes + (s << 2), length ? reversed(load<u32>(next), length) | (length << CODE_BITS) : 0);
    store<u32>(next, load<u32>(next) + 1);
  }
}

function reversed(code: u32, bits: u32): u32 {
  let turned: u32 = 0;
  for (; bits > 0; bits--, code >>= 1) turned = (turned << 1) | (code & 1);
  return turned;
}

/** The lengths of both codes in runs, and a code for those; returns the bits it takes. */
function makeHeader(): u64 {
  literals = LITERAL_SYMBOLS;
  while (literals > END_OF_BLOCK + 1 && !load<u8>(LITERAL_LENGTHS + literals - 1)) literals--;
  distances = DISTANCE_SYMBOLS;
  while (!load<u8>(DISTANCE_LENGTHS + distances - 1)) distances--;
  const end = LITERAL_LENGTHS + literals;
  memory.copy(end, DISTANCE_LENGTHS, distances);
  memory.fill(HEADER_COUNTS, 0, HEADER_SYMBOLS * 4);
  headerEnd = HEADER;
  for (let p = LITERAL_LENGTHS; p < end + distances;) {
    const length = load<u8>(p);
    let run: u32 = 1;
    while (p + run < end + distances && load<u8>(p + run) == length) run++;
    p += run;
    if (length) run = addRuns(addOne(length, run), 16, 3, 6);
    else run = addRuns(addRuns(run, 18, 11, 138), 17, 3, 10);
    while (run > 0) run = addOne(length, run);
  }
  memory.fill(end, 0, LITERAL_SYMBOLS - literals);
  makeLengths(HEADER_COUNTS, HEADER_LENGTHS, HEADER_SYMBOLS, 7);
  headerLengths = HEADER_SYMBOLS;
  while (headerLengths > 4 && !load<u8>(HEADER_LENGTHS + placeInHeader(headerLengths - 1))) headerLengths--;
  let bits: u64 = 17 + 3 * <u64>headerLengths;
  for (let s: usize = 0; s < HEADER_SYMBOLS; s++)
    bits += <u64>load<u32>(HEADER_COUNTS + (s << 2)) * (<u64>load<u8>(HEADER_LENGTHS + s) + bitsBehind(s));
  return bits;
}

function addOne(length: u32, run: u32): u32 {
  addToHeader(length, 0);
  return run - 1;
}

/** Takes runs of `least` to `most` off a run while it is that long; returns what is left. */
function addRuns(run: u32, symbol: u32, least: u32, most: u32): u32 {
  while (run >= least) {
    const part = min(run, most);
    addToHeader(symbol, part - least);
    run -= part;
  }
  return run;
}

function addToHeader(symbol: u32, value: u32): void {
  store<u16>(headerEnd, <u16>(symbol | (value << 8)));
  headerEnd += 2;
  count(HEADER_COUNTS, symbol);
}

function bitsBehind(symbol: usize): u64 {
  return symbol < 16 ? 0 : symbol == 16 ? 2 : symbol == 17 ? 3 : 7;
}

/** 16, 17, 18, 0, 8, 7, 9, 6, 10 and so on: the order in which the lengths of the header's own code are sent. */
function placeInHeader(n: usize): usize {
  if (n < 3) return 16 + n;
  if (n == 3) return 0;
  return n & 1 ? 7 - ((n - 5) >> 1) : 8 + ((n - 4) >> 1);
}

function putHeader(): void {
  assign(HEADER_LENGTHS, HEADER_CODES, HEADER_SYMBOLS);
  put(<u64>((literals - 257) | ((distances - 1) << 5) | ((headerLengths - 4) << 10)), 14);
  for (let n: usize = 0; n < headerLengths; n++) put(load<u8>(HEADER_LENGTHS + placeInHeader(n)), 3);
  for (let p = HEADER; p < headerEnd; p += 2) {
    const symbol = <usize>load<u8>(p);
    const code = load<u32>(HEADER_CODES + (symbol << 2));
    put(code & 0xffff, code >> CODE_BITS);
    put(load<u8>(p, 1), bitsBehind(symbol));
  }
}
