/**
 * The keys whose values may be an event's time, and where their values are in the last object. Of a repeated key the last string or number
 * counts.
 */
import { skipSpaces } from './scalars';
import { readLeading, readValue } from './time/time';
import { beginZones, wantedAt } from './time/written-zone';

/** The mark of such a key. The key's place in the table of keys is its place here: they come first. */
export const TIME_KEY: u64 = 1 << 61;

/** The address of each key's value, u32. */
let values: usize = 0;
/** Values from this key on are text that may begin with a time. */
let leadingFrom: u32 = 0;
/** A bit for each key whose value was found. */
let found: u32 = 0;

export function setUpTimeKeys(at: usize): void {
  values = at;
}

/** A bit for each key that counts with a date and clock alone, or an object with `$date`; and for each that has an object with `epochSecond`. */
let texts: u32 = 0;
let pairs: u32 = 0;

export function useTimeKeys(leading: u32, ofTexts: u32, ofPairs: u32): void {
  leadingFrom = leading;
  texts = ofTexts;
  pairs = ofPairs;
}

/** Another object is looked at. */
export function beginTimes(): void {
  found = 0;
}

/** `"$date"` and `"epochSecond"`. */
const DATE: u64 = 0x22657461642422;
const EPOCH_LOW: u64 = 0x655368636f706522;
const EPOCH_HIGH: u64 = 0x22646e6f6365;

/** Notes the object's first value at `p` where the key takes such objects. */
export function noteTimeObject(key: u32, p: usize): void {
  const isText = ((texts >> key) & 1) != 0;
  if (!isText && ((pairs >> key) & 1) == 0) return;
  p = skipSpaces(p + 1);
  if (isText) {
    if ((load<u64>(p) & 0xffffffffffffff) != DATE) return;
  } else if (load<u64>(p) != EPOCH_LOW || (load<u64>(p, 7) & 0xffffffffffff) != EPOCH_HIGH) return;
  p = skipSpaces(p + (isText ? 7 : 13));
  if (load<u8>(p) != 0x3a) return;
  p = skipSpaces(p + 1);
  const c = <u32>load<u8>(p);
  if (isText ? c == 0x22 : c - 0x30 < 10) noteTimeValue(key, p);
}

/** Notes a string or number; of a key that has objects with `epochSecond`, those alone count. */
export function noteTimeScalar(key: u32, p: usize): void {
  if (((pairs >> key) & 1) == 0) noteTimeValue(key, p);
}

export function noteTimeValue(key: u32, p: usize): void {
  store<u32>(values + (key << 2), p);
  found |= 1 << key;
}

/** The key whose value is at `p`, or -1. */
export function keyOfValue(p: usize): i32 {
  for (let key: u32 = 0; found >> key; key++) {
    if ((found >> key) & 1 && <usize>load<u32>(values + (key << 2)) == p) return key;
  }
  return -1;
}

/** Reads the first of the values that is a time; none where a zone is to be looked up first. */
export function readTimeOfKeys(): bool {
  beginZones();
  for (let key: u32 = 0; found >> key; key++) {
    if (((found >> key) & 1) == 0) continue;
    const p = <usize>load<u32>(values + (key << 2));
    const isText = ((texts >> key) & 1) != 0;
    const isPair = ((pairs >> key) & 1) != 0;
    if (key < leadingFrom ? readValue(p, isText, isPair) : load<u8>(p) == 0x22 && readLeading(p + 1)) return true;
    if (wantedAt) return false;
  }
  return false;
}
