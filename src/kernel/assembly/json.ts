/**
 * The strict RFC 8259 grammar over one line: whether it is one JSON object, and which known keys that has at top level.
 * Reads only; every scan ends at the line's newline, which no token may hold.
 */
import { END, index, makeIndex, passTo } from './index';
import { filter, findKey, filterBit, foundKey } from './keys';
import { digitEnds, FALS, literalEnd, NULL, numberEnd, skipSpaces, TRUE } from './scalars';
import { careMask, wholeText } from './text';
import { beginTimes, noteTimeObject, noteTimeScalar, TIME_KEY } from './time-keys';
import { sequence } from './utf8';

/** Results for the last accepted object: the marks of its known keys, whether it is empty, its invalid UTF-8. */
export let present: u64 = 0;
export let isEmpty: bool = true;
/** How many U+FFFD its repair takes, and by how many bytes it grows. */
export let repairs: i32 = 0;
export let growth: usize = 0;

/** Begins another object: nothing of it is repaired or noted yet. */
export function beginShape(): void {
  repairs = 0;
  growth = 0;
  beginTimes();
}

/** It has that shape. */
export function acceptShape(marks: u64): void {
  present = marks;
  isEmpty = false;
}

/** One byte an open container: its closing character. */
let stack: usize = 0;
let maxDepth: u32 = 0;

/** Characters that may follow a backslash: `"` and `/`, and from 40 on `\ b f n r t`. */
const ESCAPES_LOW: u64 = ((<u64>1) << 0x22) | ((<u64>1) << 0x2f);
const ESCAPES_HIGH: u64 =
  ((<u64>1) << 0x1c) |
  ((<u64>1) << 0x22) |
  ((<u64>1) << 0x26) |
  ((<u64>1) << 0x2e) |
  ((<u64>1) << 0x32) |
  ((<u64>1) << 0x34);

export function setUpJson(stackAt: usize, depth: u32): void {
  stack = stackAt;
  maxDepth = depth;
}

function isHex(p: usize): bool {
  const c = <u32>load<u8>(p);
  return c - 0x30 < 10 || (c | 0x20) - 0x61 < 6;
}

/** From inside a string to its closing quote, or 0. */
export function stringEnd(p: usize): usize {
  while (true) {
    const v = v128.load(p);
    const care = careMask(v);
    if (care == 0) {
      p += 16;
      continue;
    }
    if (i8x16.bitmask(v)) {
      const n = wholeText(v, care);
      if (n) {
        p += n;
        continue;
      }
    }
    p += ctz<i32>(care);
    let c = <u32>load<u8>(p);
    if (c == 0x22) return p;
    if (c == 0x5c) {
      c = <u32>load<u8>(p + 1);
      if (c == 0x75) {
        if (!(isHex(p + 2) && isHex(p + 3) && isHex(p + 4) && isHex(p + 5))) return 0;
        p += 6;
        continue;
      }
      if (c > 0x7f || (((c < 64 ? ESCAPES_LOW : ESCAPES_HIGH) >> <u64>(c & 63)) & 1) == 0) return 0;
      p += 2;
      continue;
    }
    if (c < 0x20) return 0;
    do {
      const n = sequence(p);
      if (n > 0) {
        p += n;
      } else {
        p += -n;
        repairs++;
        growth += 3 + n;
      }
    } while (load<u8>(p) >= 0x80);
  }
}

/** Where the string that `closeString` looked at ends: its closing quote, or 0 when it breaks the grammar. */
let closing: usize = 0;

/**
 * Closes a string that has escapes or non-ASCII bytes, or whose end is not indexed yet: its opening quote is at `p` and the next index
 * entry is not its closing quote. Returns the index place after the string.
 */
function closeString(at: usize, p: usize): usize {
  if (<usize>load<u32>(at) == END) {
    makeIndex(p);
    at = index;
    closing = load<u32>(at, 4);
    if (load<u8>(closing) == 0x22) return at + 8;
  }
  closing = stringEnd(p + 1);
  return passTo(at, closing + 1);
}

/** Notes the value of the key that was found last. */
function noteTime(p: usize): void {
  p = skipSpaces(p);
  const c = <u32>load<u8>(p);
  if (c == 0x22 || c == 0x2d || c - 0x30 < 10) noteTimeScalar(foundKey, p);
  else if (c == 0x7b) noteTimeObject(foundKey, p);
}

/** The expected token: a member's key, a value, or the token after a value. */
const KEY = 0;
const VALUE = 1;
const BEHIND = 2;

/**
 * Returns the end of the object whose `{` is at `p`, or 0 when it breaks the grammar or is nested deeper than allowed.
 * Sets `present`, `isEmpty`, `repairs` and `growth`.
 *
 * `at` is always the place of the first index entry that is not before `p`: where `p` is a quote, its own, and the next
 * one is the quote that closes it unless something interrupts. Punctuation is compared several bytes at a time (`word`).
 */
export function objectEnd(p: usize): usize {
  const known = filter;
  let depth: u32 = 1;
  let closer: u32 = 0x7d;
  let found: u64 = 0;
  beginShape();
  makeIndex(p);
  let at = index;
  let c = <u32>load<u8>(++p);
  if (c <= 0x20) {
    p = skipSpaces(p);
    at = passTo(at, p);
    c = load<u8>(p);
  }
  isEmpty = c == closer;
  if (c != 0x22 && !isEmpty) return 0;
  while (true) {
    // Here `p` is at a key's quote (in an object), at a value (in a list), or at the closer of an empty container.
    let next = c == closer ? BEHIND : closer == 0x7d ? KEY : VALUE;
    // First the common case: compact members with an unknown key and a plain value, followed by another.
    // No calls in this loop, so that everything stays in registers; other members leave it and are handled below.
    while (next == KEY) {
      let end = <usize>load<u32>(at, 4);
      let word = load<u32>(end);
      if ((word & 0xffff) != 0x3a22) break;
      if ((known >> filterBit(p + 1, end)) & 1) break;
      p = end + 2;
      at += 8;
      c = (word >> 16) & 0xff;
      next = VALUE;
      if (c == 0x22) {
        end = <usize>load<u32>(at, 4);
        if (load<u8>(end) != 0x22) break;
        p = end + 1;
        at += 8;
      } else if (c - 0x30 < 10) {
        const other = digitEnds(p);
        let length = ctz<u32>(other);
        if (c == 0x30 && length > 1) break;
        if (load<u8>(p + length) == 0x2e) {
          const fraction = ctz<u32>(other >> (length + 1));
          if (fraction == 0) break;
          length += 1 + fraction;
        }
        if (length > 15) break;
        c = load<u8>(p + length);
        if ((c | 0x20) == 0x65) break;
        p += length;
      } else {
        word = load<u32>(p);
        if (word == TRUE || word == NULL) p += 4;
        else if (word == FALS && load<u8>(p + 4) == 0x65) p += 5;
        else break;
      }
      next = BEHIND;
      if (load<u16>(p) != 0x222c) break;
      p++;
      next = KEY;
    }
    if (next == KEY) {
      const key = p + 1;
      p = load<u32>(at, 4);
      const plain = load<u8>(p) == 0x22;
      if (plain) {
        at += 8;
      } else {
        at = closeString(at, key - 1);
        p = closing;
        if (p == 0) return 0;
      }
      const mark = depth == 1 ? findKey(key, p, plain) : 0;
      found |= mark;
      if (load<u8>(++p) != 0x3a) {
        p = skipSpaces(p);
        if (load<u8>(p) != 0x3a) return 0;
      }
      c = load<u8>(++p);
      if (mark & TIME_KEY) noteTime(p);
    }
    if (next != BEHIND) {
      if (c <= 0x20) p = skipSpaces(p);
      at = passTo(at, p);
      c = load<u8>(p);
      if (c == 0x22) {
        const open = p;
        p = load<u32>(at, 4);
        if (load<u8>(p) == 0x22) {
          at += 8;
        } else {
          at = closeString(at, open);
          p = closing;
          if (p == 0) return 0;
        }
        p++;
      } else if (c - 0x30 < 10 || c == 0x2d) {
        p = numberEnd(p);
        if (p == 0) return 0;
      } else if ((c | 0x20) == 0x7b) {
        // `{` or `[`: its closer is two on.
        if (depth == maxDepth) return 0;
        store<u8>(stack + depth, closer);
        depth++;
        closer = c + 2;
        c = load<u8>(++p);
        if (c <= 0x20) {
          p = skipSpaces(p);
          at = passTo(at, p);
          c = load<u8>(p);
        }
        if (closer == 0x7d && c != 0x22 && c != closer) return 0;
        continue;
      } else {
        p = literalEnd(p);
        if (p == 0) return 0;
      }
    }
    // Behind a value: closers, then a comma and what comes next.
    while (true) {
      c = load<u8>(p);
      if (c <= 0x20) {
        p = skipSpaces(p);
        at = passTo(at, p);
        c = load<u8>(p);
      }
      if (c != closer) break;
      p++;
      depth--;
      if (depth == 0) {
        present = found;
        return p;
      }
      closer = load<u8>(stack + depth);
    }
    if (c != 0x2c) return 0;
    c = load<u8>(++p);
    if (c <= 0x20) {
      p = skipSpaces(p);
      at = passTo(at, p);
      c = load<u8>(p);
    }
    // A closer must not follow a comma.
    if (closer == 0x7d ? c != 0x22 : c == closer) return 0;
  }
  // Never reached: the compiler does not see it.
  return 0;
}
