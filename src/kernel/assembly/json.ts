/**
 * The strict RFC 8259 grammar over one line: is this whole a JSON object, and which of the keys that matter does it
 * have at top level. Reads only; every scan ends at the line's newline, which no token may hold.
 */
import { findKey } from './keys';
import { careMask } from './text';
import { sequence } from './utf8';

/** Of the last object that was accepted: the marks of its known keys, whether it has members, its invalid UTF-8. */
export let present: u64 = 0;
export let isEmpty: bool = true;
/** How many U+FFFD its repair takes, and by how many bytes it grows. */
export let repairs: i32 = 0;
export let growth: usize = 0;

/** One byte an open container: its closing character. */
let stack: usize = 0;
let maxDepth: u32 = 0;

/** Characters that may follow a backslash: `"` and `/`, and from 40 on `\ b f n r t`. */
const ESCAPES_LOW: u64 = ((<u64>1) << 0x22) | ((<u64>1) << 0x2f);
const ESCAPES_HIGH: u64 =
  ((<u64>1) << 0x1c) | ((<u64>1) << 0x22) | ((<u64>1) << 0x26) | ((<u64>1) << 0x2e) | ((<u64>1) << 0x32) | ((<u64>1) << 0x34);

export function setUpJson(stackAt: usize, depth: u32): void {
  stack = stackAt;
  maxDepth = depth;
}

/** Behind spaces, tabs and CRs. A newline ends the line and is none of them. */
export function skipSpaces(p: usize): usize {
  while (true) {
    const c = <u32>load<u8>(p);
    if (c != 0x20 && c != 0x09 && c != 0x0d) return p;
    p++;
  }
}

function isHex(p: usize): bool {
  const c = <u32>load<u8>(p);
  return c - 0x30 < 10 || (c | 0x20) - 0x61 < 6;
}

/** From inside a string to its closing quote, or 0. */
function stringEnd(p: usize): usize {
  while (true) {
    const care = careMask(v128.load(p));
    if (care == 0) {
      p += 16;
      continue;
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

/** How many digits stand at `p`. */
function digits(p: usize): usize {
  let n: usize = 0;
  while (true) {
    const v = i8x16.sub(v128.load(p), i8x16.splat(0x30));
    const other = i8x16.bitmask(i8x16.gt_u(v, i8x16.splat(9)));
    if (other) return n + ctz<i32>(other);
    n += 16;
    p += 16;
  }
}

/** Behind the number at `p`, or 0. */
function numberEnd(p: usize): usize {
  if (load<u8>(p) == 0x2d) p++;
  if (load<u8>(p) == 0x30) {
    p++;
  } else {
    const n = digits(p);
    if (n == 0) return 0;
    p += n;
  }
  let c = <u32>load<u8>(p);
  if (c == 0x2e) {
    const n = digits(p + 1);
    if (n == 0) return 0;
    p += n + 1;
    c = <u32>load<u8>(p);
  }
  if ((c | 0x20) == 0x65) {
    c = <u32>load<u8>(p + 1);
    p += c == 0x2b || c == 0x2d ? 2 : 1;
    const n = digits(p);
    if (n == 0) return 0;
    p += n;
  }
  return p;
}

/** Behind `true`, `false` or `null` at `p`, or 0. */
function literalEnd(p: usize): usize {
  const word = load<u32>(p);
  if (word == 0x65757274 || word == 0x6c6c756e) return p + 4;
  if (word == 0x736c6166 && load<u8>(p + 4) == 0x65) return p + 5;
  return 0;
}

/**
 * Behind the object whose `{` stands at `p`, or 0 when it breaks the grammar or is nested deeper than allowed.
 * Sets `present`, `isEmpty`, `repairs` and `growth`.
 */
export function objectEnd(p: usize): usize {
  let depth: u32 = 1;
  let closer: u32 = 0x7d;
  let found: u64 = 0;
  let members: bool = false;
  repairs = 0;
  growth = 0;
  if (load<u8>(++p) <= 0x20) p = skipSpaces(p);
  let descended = load<u8>(p) == 0x7d;
  while (true) {
    if (!descended) {
      if (closer == 0x7d) {
        if (load<u8>(p) != 0x22) return 0;
        const key = ++p;
        const care = careMask(v128.load(p));
        p += ctz<i32>(care | 0x10000);
        const short = load<u8>(p) == 0x22 && care != 0;
        if (!short) {
          p = stringEnd(p);
          if (p == 0) return 0;
        }
        if (depth == 1) {
          found |= findKey(key, p, short);
          members = true;
        }
        if (load<u8>(++p) != 0x3a) {
          p = skipSpaces(p);
          if (load<u8>(p) != 0x3a) return 0;
        }
        if (load<u8>(++p) <= 0x20) p = skipSpaces(p);
      }
      const c = <u32>load<u8>(p);
      if (c == 0x22) {
        p++;
        const care = careMask(v128.load(p));
        p += ctz<i32>(care | 0x10000);
        if (load<u8>(p) != 0x22 || care == 0) {
          p = stringEnd(p);
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
        if (load<u8>(++p) <= 0x20) p = skipSpaces(p);
        if (load<u8>(p) != closer) continue;
      } else {
        p = literalEnd(p);
        if (p == 0) return 0;
      }
    }
    descended = false;
    // Behind a value: a comma and the next one, or closers.
    while (true) {
      let c = <u32>load<u8>(p);
      if (c <= 0x20) {
        p = skipSpaces(p);
        c = <u32>load<u8>(p);
      }
      if (c == 0x2c) {
        if (load<u8>(++p) <= 0x20) p = skipSpaces(p);
        break;
      }
      if (c != closer) return 0;
      p++;
      depth--;
      if (depth == 0) {
        present = found;
        isEmpty = !members;
        return p;
      }
      closer = load<u8>(stack + depth);
    }
  }
}
