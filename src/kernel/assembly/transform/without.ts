/** Copies an object without the members that names with dots lead to. */
import { copyOver } from '../utf8';
import { canonicalEnd, closeKeys, forgetKeys, keyBit, noteKey, openKeys, staysInPlace } from './canonical';
import { isEqual, isEscaped, skipSpaces, stringEnd, valueEnd } from './scan';

/** The names: address and length of each, u32. */
let names: usize = 0;

export function useNames(at: usize): void {
  names = at;
}

/** Copies `[from, to)`; returns its end. */
export function copy(o: usize, from: usize, to: usize): usize {
  copyOver(o, from, to - from);
  return o + (to - from);
}

/** Results for the last object copied: something was left out; printing it would change other bytes; only its values can decide. */
export let hasRemoved: bool = false;
export let isOdd: bool = false;
export let isUnsure: bool = false;

export function beginWithout(): void {
  forgetKeys();
  hasRemoved = false;
  isOdd = false;
  isUnsure = false;
}

const MOST_DEPTH: u32 = 64;

/**
 * Copies the object at `p` without the members that the names in `active` lead to; all agree with the path here in their first `used`
 * bytes, with the dot. Returns the end of the copy.
 */
export function copyWithout(o: usize, p: usize, used: usize, active: u32, depth: u32): usize {
  if (depth == MOST_DEPTH) isUnsure = true;
  if (isUnsure) return o;
  store<u8>(o++, 0x7b);
  const mark = openKeys();
  let seen: u64 = 0;
  let isFirst = true;
  p++;
  while (true) {
    if (<u32>load<u8>(p) <= 0x20) {
      isOdd = true;
      p = skipSpaces(p);
    }
    if (load<u8>(p) == 0x7d) break;
    const key = p + 1;
    const end = stringEnd(key);
    const keyLength = end - key;
    const bit = keyLength ? keyBit(key, keyLength) : 0;
    if (isEscaped || keyLength == 0 || !noteKey(mark, seen, bit, key, keyLength)) {
      isUnsure = true;
      return o;
    }
    seen |= bit;
    if (!staysInPlace(key)) isOdd = true;
    let value = end + 2;
    if (load<u8>(end + 1) != 0x3a || <u32>load<u8>(value) <= 0x20) {
      isOdd = true;
      value = skipSpaces(skipSpaces(end + 1) + 1);
    }
    const lead = leadOf(key, keyLength, used, active);
    if (lead == HERE) {
      hasRemoved = true;
      p = valueEnd(value);
    } else {
      if (!isFirst) store<u8>(o++, 0x2c);
      isFirst = false;
      if (lead && load<u8>(value) == 0x7b) {
        o = copy(o, p, value);
        o = copyWithout(o, value, used + keyLength + 1, lead, depth + 1);
        if (isUnsure) return o;
        p = valueEnd(value);
      } else {
        const behind: usize = isOdd ? 0 : canonicalEnd(value, depth);
        if (behind == 0) isOdd = true;
        const stop = behind ? behind : valueEnd(value);
        o = copy(o, p, stop);
        p = stop;
      }
    }
    if (<u32>load<u8>(p) <= 0x20) {
      isOdd = true;
      p = skipSpaces(p);
    }
    if (load<u8>(p) == 0x2c) p++;
  }
  closeKeys(mark);
  store<u8>(o, 0x7d);
  return o + 1;
}

/** A name ends here. */
const HERE: u32 = 0xffffffff;

/** Which of the names lead below the key; HERE where it is one. */
function leadOf(key: usize, keyLength: usize, used: usize, active: u32): u32 {
  let below: u32 = 0;
  while (active) {
    const i = ctz<u32>(active);
    active &= active - 1;
    const name = <usize>load<u32>(names + ((<usize>i) << 3)) + used;
    const rest = <usize>load<u32>(names + ((<usize>i) << 3), 4) - used;
    if (rest < keyLength || !isEqual(name, key, keyLength)) continue;
    if (rest == keyLength) return HERE;
    if (load<u8>(name + keyLength) == 0x2e) below |= 1 << i;
  }
  return below;
}
