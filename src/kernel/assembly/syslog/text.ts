/**
 * A value's bytes as the inside of a JSON string. Unlike a line's (../text.ts) its end is an address: a newline inside is
 * text like any other.
 */
import { careMask, putControl, wholeText } from '../text';
import { putReplacement, sequence } from '../utf8';

/** Set when U+FFFD was written; the caller clears it. */
export let repaired: bool = false;

export function clearRepaired(): void {
  repaired = false;
}

/**
 * Writes `[p, end)` escaped at `o`; returns its end. The byte at `end` is a newline meanwhile, so that no step and no UTF-8 sequence goes
 * past it; it must be writable.
 */
export function putText(p: usize, end: usize, o: usize): usize {
  const behind = load<u8>(end);
  store<u8>(end, 0x0a);
  while (true) {
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
    if (p == end) break;
    const c = <u32>load<u8>(p);
    if (c >= 0x80) {
      const n = sequence(p);
      if (n > 0) {
        store<u32>(o, load<u32>(p));
        p += n;
        o += n;
      } else {
        putReplacement(o);
        repaired = true;
        p += -n;
        o += 3;
      }
      continue;
    }
    p += 1;
    if (c >= 0x20) {
      store<u16>(o, 0x5c | (c << 8));
      o += 2;
    } else {
      o = putControl(o, c);
    }
  }
  store<u8>(end, behind);
  return o;
}
