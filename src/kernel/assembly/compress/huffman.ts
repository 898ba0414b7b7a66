/**
 * The lengths of a Huffman code: sorted by frequency, the tree in the place of its frequencies (Moffat and Katajainen), and where a
 * code is longer than allowed, shorter ones make room. The code is complete: some formats allow no other.
 */
import { HUFFMAN_TABLES } from './memory';

/** u32 each, of up to 512 symbols: frequency and symbol, and the tree. */
const SORTED: usize = HUFFMAN_TABLES;
const SCRATCH: usize = SORTED + 2048;
const TREE: usize = SCRATCH + 2048;
/** u32 each, by a digit of the frequency or the length of a code. */
const COUNTS: usize = TREE + 2048;

/** Greater ones count as this: two digits to sort by. */
const MAX_FREQUENCY: u32 = 0xffff;
const SYMBOL_BITS: u32 = 9;

function get(table: usize, at: usize): u32 {
  return load<u32>(table + (at << 2));
}

function set(table: usize, at: usize, value: u32): void {
  store<u32>(table + (at << 2), value);
}

/** Adds one to a u32 of a table. */
export function count(table: usize, at: usize): void {
  set(table, at, get(table, at) + 1);
}

/** A code for frequencies (u32) of at least two symbols: writes the length of each (u8), at most `limit` and 0 where it does not occur. */
export function makeLengths(frequencies: usize, lengths: usize, symbols: usize, limit: u32): void {
  memory.fill(lengths, 0, symbols);
  const n = sortSymbols(frequencies, symbols);
  makeTree(n);
  countLengths(n, limit);
  keepLimit(limit);
  let at: usize = 0;
  for (let length = limit; length > 0; length--)
    for (let left = get(COUNTS, length); left > 0; left--)
      store<u8>(lengths + <usize>(get(SORTED, at++) & ((1 << SYMBOL_BITS) - 1)), <u8>length);
}

/** Those that occur, rarest first; returns how many there are. */
function sortSymbols(frequencies: usize, symbols: usize): usize {
  let n: usize = 0;
  for (let symbol: usize = 0; symbol < symbols; symbol++) {
    const frequency = min(get(frequencies, symbol), MAX_FREQUENCY);
    if (frequency) set(SORTED, n++, (frequency << SYMBOL_BITS) | <u32>symbol);
  }
  sortByDigit(SORTED, SCRATCH, n, SYMBOL_BITS);
  sortByDigit(SCRATCH, SORTED, n, SYMBOL_BITS + 8);
  return n;
}

function sortByDigit(from: usize, to: usize, n: usize, shift: u32): void {
  memory.fill(COUNTS, 0, 1024);
  for (let i: usize = 0; i < n; i++) count(COUNTS, (get(from, i) >> shift) & 0xff);
  let before: u32 = 0;
  for (let digit: usize = 0; digit < 256; digit++) {
    const many = get(COUNTS, digit);
    set(COUNTS, digit, before);
    before += many;
  }
  for (let i: usize = 0; i < n; i++) {
    const digit = (get(from, i) >> shift) & 0xff;
    set(to, get(COUNTS, digit), get(from, i));
    count(COUNTS, digit);
  }
}

/** Stores the depth of each of the n - 1 inner nodes in the tree; the root's, 0, comes last. */
function makeTree(n: usize): void {
  for (let i: usize = 0; i < n; i++) set(TREE, i, get(SORTED, i) >> SYMBOL_BITS);
  set(TREE, 0, get(TREE, 0) + get(TREE, 1));
  let node: usize = 0;
  let leaf: usize = 2;
  for (let made: usize = 1; made < n - 1; made++) {
    let weight: u32 = 0;
    for (let child = 0; child < 2; child++) {
      if (leaf < n && (node >= made || get(TREE, leaf) <= get(TREE, node))) weight += get(TREE, leaf++);
      else {
        weight += get(TREE, node);
        // From now on a node holds who its parent is.
        set(TREE, node++, <u32>made);
      }
    }
    set(TREE, made, weight);
  }
  set(TREE, n - 2, 0);
  for (let i = <isize>n - 3; i >= 0; i--) set(TREE, i, get(TREE, get(TREE, i)) + 1);
}

/** How many codes of each length there are, those that are too long counted as the longest that are allowed. */
function countLengths(n: usize, limit: u32): void {
  memory.fill(COUNTS, 0, 64);
  let node = <isize>n - 2;
  let depth: u32 = 0;
  for (let open: u32 = 1; open > 0; depth++) {
    let inner: u32 = 0;
    for (; node >= 0 && get(TREE, node) == depth; node--) inner++;
    const length = min(depth, limit);
    set(COUNTS, length, get(COUNTS, length) + open - inner);
    open = 2 * inner;
  }
}

/** Makes the code complete again: for each that was too long, a shorter one becomes two of the next length. */
function keepLimit(limit: u32): void {
  let taken: u32 = 0;
  for (let length: u32 = 1; length <= limit; length++) taken += get(COUNTS, length) << (limit - length);
  for (; taken > (<u32>1) << limit; taken--) {
    let length = limit - 1;
    while (get(COUNTS, length) == 0) length--;
    set(COUNTS, length, get(COUNTS, length) - 1);
    set(COUNTS, length + 1, get(COUNTS, length + 1) + 2);
    set(COUNTS, limit, get(COUNTS, limit) - 1);
  }
}
