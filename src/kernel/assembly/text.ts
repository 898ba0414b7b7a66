/**
 * Text as the inside of a JSON string: escapes by RFC 8259, invalid UTF-8 becomes U+FFFD, the trailing CR goes.
 * Sixteen bytes a step; only bytes that need care leave the straight path.
 */
import { putReplacement, sequence, wellFormed } from './utf8';

/** The end of the line that `escapeLine` finished, after its newline; 0 when the output was full. */
export let lineEnd: usize = 0;
/** Where it stopped in its input then. */
export let stoppedAt: usize = 0;
/** How many U+FFFD `escapeLine` wrote for invalid UTF-8; the caller sets it to 0. */
export let replaced: u32 = 0;
/** Newlines before this address are inside of an event, which is lines joined; 0 where each ends one. */
let lastBreak: usize = 0;

/** Says where the event's last line ends: at its newline, or the CR before it. */
export function setLastBreak(at: usize): void {
  lastBreak = at;
}

/** Letters of the short escapes of 08…0D, the lowest byte for 08; 0B has none. */
const SHORT_ESCAPES: u64 = 0x72_66_00_6e_74_62;

/** A bit for each of the 16 bytes at `p` that is `"`, `\`, a control or not ASCII (those two are below 20 when signed). */
export function careMask(v: v128): i32 {
  return i8x16.bitmask(
    v128.or(i8x16.lt_s(v, i8x16.splat(0x20)), v128.or(i8x16.eq(v, i8x16.splat(0x22)), i8x16.eq(v, i8x16.splat(0x5c)))),
  );
}

/**
 * How many of 16 bytes, some of them not ASCII, can be copied as they are; 0 when each has to be checked.
 * `care` is their mask.
 */
export function wholeText(v: v128, care: i32): usize {
  const special = ctz<i32>((care & ~i8x16.bitmask(v)) | 0x10000);
  const n = wellFormed(v);
  return n < <usize>special ? n : special;
}

/** The letter of a control's short escape, or 0. */
function shortEscape(c: u32): u32 {
  return c - 8 < 6 ? <u32>(SHORT_ESCAPES >> ((<u64>(c - 8)) << 3)) & 0xff : 0;
}

/** Writes a control's escape at `o`; returns its end. */
export function putControl(o: usize, c: u32): usize {
  const short = shortEscape(c);
  if (short) {
    store<u16>(o, 0x5c | (short << 8));
    return o + 2;
  }
  store<u32>(o, 0x3030755c);
  const low = c & 15;
  store<u16>(o, (0x30 + (c >> 4)) | ((low < 10 ? 0x30 + low : 0x57 + low) << 8), 4);
  return o + 6;
}

/**
 * Escapes the line at `p` to `o`, through its newline or until the output is past `safe`; `lineEnd` and `stoppedAt` say which. Returns the
 * output's end. Writes at most 32 bytes past `safe` that count, and 16 more that do not.
 */
export function escapeLine(p: usize, o: usize, safe: usize): usize {
  while (o <= safe) {
    const v = v128.load(p);
    v128.store(o, v);
    const care = careMask(v);
    if (care == 0) {
      p += 16;
      o += 16;
      continue;
    }
    if (i8x16.bitmask(v)) {
      const n = wholeText(v, care);
      if (n) {
        p += n;
        o += n;
        continue;
      }
    }
    const k = <usize>ctz<i32>(care);
    p += k;
    o += k;
    let c = <u32>load<u8>(p);
    if (c >= 0x80) {
      do {
        const n = sequence(p);
        if (n > 0) {
          store<u32>(o, load<u32>(p));
          p += n;
          o += n;
        } else {
          putReplacement(o);
          replaced++;
          p += -n;
          o += 3;
        }
        c = <u32>load<u8>(p);
      } while (c >= 0x80 && o <= safe);
      continue;
    }
    if (c >= 0x20) {
      store<u16>(o, 0x5c | (c << 8));
      p += 1;
      o += 2;
      continue;
    }
    if (c == 0x0a && p >= lastBreak) {
      lineEnd = p + 1;
      return o;
    }
    if (c == 0x0d && load<u8>(p + 1) == 0x0a) {
      if (p >= lastBreak) {
        lineEnd = p + 2;
        return o;
      }
      p += 1;
      continue;
    }
    o = putControl(o, c);
    p += 1;
  }
  lineEnd = 0;
  stoppedAt = p;
  return o;
}

/** Bytes that `escapeLine` would write from `p` to the line's end. */
export function measureLine(p: usize): usize {
  let size: usize = 0;
  while (true) {
    const care = careMask(v128.load(p));
    if (care == 0) {
      p += 16;
      size += 16;
      continue;
    }
    const k = <usize>ctz<i32>(care);
    p += k;
    size += k;
    const c = <u32>load<u8>(p);
    if (c >= 0x80) {
      const n = sequence(p);
      p += n > 0 ? n : -n;
      size += n > 0 ? <usize>n : 3;
      continue;
    }
    const isBreak = c == 0x0a || (c == 0x0d && load<u8>(p + 1) == 0x0a);
    if (isBreak && p >= lastBreak) return size;
    if (isBreak && c == 0x0d) {
      p += 1;
      continue;
    }
    size += <usize>(c >= 0x20 || shortEscape(c) ? 2 : 6);
    p += 1;
  }
}

/** Behind the empty lines at `p`; `end` where there is nothing else. */
export function skipBreaks(p: usize, end: usize): usize {
  while (p < end) {
    const c = <u32>load<u8>(p);
    if (c == 0x0a) p++;
    else if (c == 0x0d && load<u8>(p + 1) == 0x0a) p += 2;
    else break;
  }
  return p;
}

/** Where the last line before `end` that is not empty ends. There is one after `p`. */
export function textEnd(p: usize, end: usize): usize {
  while (end > p && load<u8>(end - 1) == 0x0a) {
    end--;
    if (end > p && load<u8>(end - 1) == 0x0d) end--;
  }
  return end;
}
