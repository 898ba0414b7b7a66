/**
 * Structured data of RFC 5424 as JSON, written to scratch memory because an event's message comes before it. Only plain
 * cases: names of ASCII, each once, none that is a number (JavaScript would put it first).
 */
import { putText } from './text';

let scratch: usize = 0;
/** Bytes written there. */
export let dataLength: usize = 0;
/** Behind the last element. */
export let dataEnd: usize = 0;

/** JavaScript takes longer structured data. The scratch holds six times as much, and the brackets. */
const MAX_DATA_BYTES: usize = 4096;
const MAX_NAMES: usize = 32;
/** Tables of addresses and ends: names of the elements, and of the parameters of the current element. */
let ids: usize = 0;
let names: usize = 0;

/** `at` has room for 8 × MAX_DATA_BYTES, then for two times MAX_NAMES of 8 bytes. */
export function setUpData(at: usize): void {
  ids = at;
  names = at + 8 * MAX_NAMES;
  scratch = at + 16 * MAX_NAMES;
}

/** Returns the end of the name at `p`, which is before `end`; 0 if it is empty, not ASCII or a number. */
function nameEnd(p: usize, end: usize): usize {
  const from = p;
  let digits = true;
  while (p < end) {
    const c = <u32>load<u8>(p);
    if (c <= 0x20 || c == 0x3d || c == 0x5d || c == 0x22) break;
    if (c > 0x7f || c == 0x5c) return 0;
    digits = digits && c - 0x30 < 10;
    p++;
  }
  return digits || p == end ? 0 : p;
}

/** Notes the name `[p, end)` as number `count` of the table; false when it is there already, or the table is full. */
function note(table: usize, count: usize, p: usize, end: usize): bool {
  if (count == MAX_NAMES) return false;
  for (let i: usize = 0; i < count; i++) {
    const other = <usize>load<u32>(table + (i << 3));
    if (<usize>load<u32>(table + (i << 3), 4) - other == end - p && equal(p, other, end - p)) return false;
  }
  store<u32>(table + (count << 3), <u32>p);
  store<u32>(table + (count << 3), <u32>end, 4);
  return true;
}

function equal(a: usize, b: usize, length: usize): bool {
  for (let i: usize = 0; i < length; i++) if (load<u8>(a + i) != load<u8>(b + i)) return false;
  return true;
}

function copy(p: usize, end: usize, o: usize): usize {
  while (p < end) store<u8>(o++, load<u8>(p++));
  return o;
}

/** Finds the quote that ends the value at `p`, or returns 0. A backslash escapes the next byte. */
function quoteEnd(p: usize, end: usize): usize {
  while (p < end) {
    const v = v128.load(p);
    const mask = i8x16.bitmask(v128.or(i8x16.eq(v, i8x16.splat(0x22)), i8x16.eq(v, i8x16.splat(0x5c))));
    if (mask == 0) {
      p += 16;
      continue;
    }
    p += <usize>ctz<i32>(mask);
    if (p >= end) return 0;
    if (load<u8>(p) == 0x22) return p;
    p += 2;
  }
  return 0;
}

/** Writes the value `[p, end)` with its own escapes (`\"`, `\\` and `\]`) undone and JSON's in their place. */
function putValue(p: usize, end: usize, o: usize): usize {
  while (true) {
    let at = p;
    while (at < end && load<u8>(at) != 0x5c) at++;
    o = putText(p, at, o);
    if (at == end) return o;
    const next = at + 1 < end ? <u32>load<u8>(at, 1) : 0;
    if (next == 0x5d) {
      store<u8>(o++, 0x5d);
      p = at + 2;
    } else {
      store<u16>(o, next == 0x22 ? 0x225c : 0x5c5c);
      o += 2;
      p = at + (next == 0x22 || next == 0x5c ? 2 : 1);
    }
  }
}

/** Writes the elements at `p` to the scratch; false when JavaScript must parse them. Sets `dataLength` and `dataEnd`. */
export function readData(p: usize, end: usize): bool {
  const most = p + MAX_DATA_BYTES;
  if (end > most) end = most;
  let o = scratch;
  let elements: usize = 0;
  store<u8>(o++, 0x7b);
  while (p < end && load<u8>(p) == 0x5b) {
    const idEnd = nameEnd(++p, end);
    if (idEnd == 0 || !note(ids, elements, p, idEnd)) return false;
    if (elements++) store<u8>(o++, 0x2c);
    store<u8>(o++, 0x22);
    o = copy(p, idEnd, o);
    store<u32>(o, 0x7b3a22);
    o += 3;
    p = idEnd;
    let parameters: usize = 0;
    while (load<u8>(p) == 0x20 && p < end) {
      while (p < end && load<u8>(p) == 0x20) p++;
      if (p == end || load<u8>(p) == 0x5d) break;
      const behind = nameEnd(p, end);
      if (behind == 0 || behind + 1 >= end || load<u16>(behind) != 0x223d || !note(names, parameters, p, behind))
        return false;
      const close = quoteEnd(behind + 2, end);
      if (close == 0) return false;
      if (parameters++) store<u8>(o++, 0x2c);
      store<u8>(o++, 0x22);
      o = copy(p, behind, o);
      store<u32>(o, 0x223a22);
      o = putValue(behind + 2, close, o + 3);
      store<u8>(o++, 0x22);
      p = close + 1;
    }
    if (p >= end || load<u8>(p) != 0x5d) return false;
    store<u8>(o++, 0x7d);
    p++;
  }
  if (p == most) return false;
  store<u8>(o++, 0x7d);
  dataLength = o - scratch;
  dataEnd = p;
  return true;
}

/** Where it was written. */
export function dataAt(): usize {
  return scratch;
}
