/**
 * The keys whose values may be an event's time: where in the object that was looked at last their values stand. A key that comes
 * again counts with its last value that is a string or a number.
 */
import { readLeading, readValue } from './time/time';

/** The mark of such a key. The key's place in the table of keys is its place here: they come first. */
export const TIME_KEY: u64 = 1 << 61;

/** Of each key the address of its value, u32. */
let values: usize = 0;
/** Values from this key on are text that may begin with a time. */
let leadingFrom: u32 = 0;
/** A bit for each key whose value was found. */
let found: u32 = 0;

export function setUpTimeKeys(at: usize): void {
  values = at;
}

export function useTimeKeys(leading: u32): void {
  leadingFrom = leading;
}

/** Another object is looked at. */
export function beginTimes(): void {
  found = 0;
}

export function noteTimeValue(key: u32, p: usize): void {
  store<u32>(values + (key << 2), p);
  found |= 1 << key;
}

/** The key whose value stands at `p`, or -1. */
export function keyOfValue(p: usize): i32 {
  for (let key: u32 = 0; found >> key; key++) {
    if ((found >> key) & 1 && <usize>load<u32>(values + (key << 2)) == p) return key;
  }
  return -1;
}

/** Reads the first of the values that is a time. */
export function readTimeOfKeys(): bool {
  for (let key: u32 = 0; found >> key; key++) {
    if (((found >> key) & 1) == 0) continue;
    const p = <usize>load<u32>(values + (key << 2));
    if (key < leadingFrom ? readValue(p) : load<u8>(p) == 0x22 && readLeading(p + 1)) return true;
  }
  return false;
}
