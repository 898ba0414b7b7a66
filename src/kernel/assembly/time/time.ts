/**
 * Finds a line's own time: at the beginning of its text, or in the value of a key. Consecutive lines mostly share theirs up to
 * the second, so it compares with the last one first. The result is RFC 3339 in UTC, with the digits that the source has.
 */
import { dateOf, daysOf, daysSince1970 } from '../calendar';
import { countDigits, isDigit, pair } from '../digits';
import { clock, day, formEnd, fourDigits, month, setYear, year, yearFollows } from './forms';
import { skipHead } from './head';
import { DAY, inferredInstant, localInstant, NEVER, setReadAt } from './zone';

/** 2000-01-01: earlier times are not taken for times. */
const EARLIEST: i64 = 946_684_800;
const MOST_FRACTION: usize = 9;

/** The last time as text up to the second, 19 bytes, and a point; behind it room for a fraction that is put together, 32 bytes. */
let text: usize = 0;
/** Where the digits of its fraction stand. */
let fractionAt: usize = 0;
let fractionLength: usize = 0;
/** What stood before the fraction of the last time, and a mask of those bytes: 32 each. */
let key: usize = 0;
let mask: usize = 0;
/** Of that, 0 for none; whether it was a whole value, not the beginning of a text. */
let keyLength: usize = 0;
let keyIsWhole: bool = false;
/** Its second since 1970 by the clock on the wall; with its instant once a line without a zone needed that. */
let wall: i64 = 0;
let needsYear: bool = false;
let local: i64 = 0;
let isLocalKnown: bool = false;
/** The second that `text` shows. */
let shown: i64 = NEVER;
let latest: i64 = 0;

/** Bytes of the time that was read last, up to 30. */
export let timeLength: usize = 0;

/** Takes 128 bytes. */
export function setUpTime(at: usize): void {
  text = at;
  store<u8>(text, 0x2e, 19);
  key = at + 64;
  mask = at + 96;
}

/** Call it before another zone is in use, and with each read: a time without zone or year depends on both. */
export function forgetTimes(readAtMs: i64): void {
  setReadAt(readAtMs);
  latest = readAtMs / 1000 + DAY;
  keyLength = 0;
  shown = NEVER;
}

function isAlphanumeric(c: u32): bool {
  return c - 0x30 < 10 || (c | 0x20) - 0x61 < 26;
}

function put2(p: usize, value: u32): void {
  store<u16>(p, 0x3030 + value / 10 + ((value % 10) << 8));
}

/** Shows the second in `text`; false where no such time is taken. */
function show(second: i64): bool {
  if (second == shown) return true;
  if (second < EARLIEST || second > latest) return false;
  const days = <i32>(second / DAY);
  const ofDay = <u32>(second - <i64>days * DAY);
  const date = dateOf(days);
  put2(text, (date >> 16) / 100);
  put2(text + 2, (date >> 16) % 100);
  store<u8>(text, 0x2d, 4);
  put2(text + 5, (date >> 8) & 0xff);
  store<u8>(text, 0x2d, 7);
  put2(text + 8, date & 0xff);
  store<u8>(text, 0x54, 10);
  put2(text + 11, ofDay / 3600);
  store<u8>(text, 0x3a, 13);
  put2(text + 14, (ofDay / 60) % 60);
  store<u8>(text, 0x3a, 16);
  put2(text + 17, ofDay % 60);
  shown = second;
  return true;
}

/** The fraction has so many digits, at `p`. */
function setFraction(p: usize, digits: usize): void {
  fractionAt = p;
  fractionLength = digits;
  timeLength = digits ? 21 + digits : 20;
}

/** Remembers what stands in `[from, to)`. */
function remember(from: usize, to: usize, isWhole: bool): void {
  keyLength = to - from;
  if (keyLength > 32 || yearFollows) {
    keyLength = 0;
    return;
  }
  keyIsWhole = isWhole;
  memory.copy(key, from, keyLength);
  memory.fill(mask, 0xff, keyLength);
  memory.fill(mask + keyLength, 0, 32 - keyLength);
}

function isKept(p: usize): bool {
  const low = v128.and(v128.xor(v128.load(p), v128.load(key)), v128.load(mask));
  const high = v128.and(v128.xor(v128.load(p, 16), v128.load(key, 16)), v128.load(mask, 16));
  return !v128.any_true(v128.or(low, high));
}

/** Of the zone that `zoneEnd` found, in seconds. */
let offset: i64 = 0;

/** Behind the offset whose sign stands at `p`: `+01:00`, `+0100`, and unless `isLong` `+01`; or 0. */
function offsetEnd(p: usize, isLong: bool): usize {
  const hours = pair(p + 1);
  if (hours > 23) return 0;
  let minutes: u32 = 0;
  let q = p + 3;
  if (isDigit(q)) {
    minutes = pair(q);
    q += 2;
  } else if (load<u8>(q) == 0x3a && isDigit(q + 1)) {
    minutes = pair(q + 1);
    q += 3;
  } else if (isLong) return 0;
  if (minutes > 59 || isAlphanumeric(load<u8>(q))) return 0;
  offset = <i64>(hours * 3600 + minutes * 60);
  if (load<u8>(p) == 0x2d) offset = -offset;
  return q;
}

/** ` UTC` and the like, the space included; CST, IST and others mean different zones. */
const UTC: u32 = 0x435455;
const GMT: u32 = 0x544d47;
const WET: u32 = 0x544557;
const CET: u32 = 0x544543;
const EET: u32 = 0x544545;
const MSK: u32 = 0x4b534d;
const WEST: u32 = 0x54534557;
const CEST: u32 = 0x54534543;
const EEST: u32 = 0x54534545;

/** Behind the zone's name at `p`, or 0. */
function nameEnd(p: usize): usize {
  const word = load<u32>(p);
  const short = word & 0xffffff;
  let hours: i64 = 0;
  let q = p + 3;
  if (short == UTC || short == GMT || short == WET) hours = 0;
  else if (short == CET) hours = 1;
  else if (short == EET) hours = 2;
  else if (short == MSK) hours = 3;
  else {
    q++;
    if (word == WEST) hours = 1;
    else if (word == CEST) hours = 2;
    else if (word == EEST) hours = 3;
    else return 0;
  }
  if (isAlphanumeric(load<u8>(q))) return 0;
  offset = hours * 3600;
  return q;
}

/** Behind the zone at `p`; `p` itself where there is none, 0 where it is no zone that there could be. */
function zoneEnd(p: usize): usize {
  const c = <u32>load<u8>(p);
  if ((c | 0x20) == 0x7a) {
    offset = 0;
    return p + 1;
  }
  if (c == 0x2b || c == 0x2d) return isDigit(p + 1) ? offsetEnd(p, false) : p;
  if (c != 0x20) return p;
  const next = <u32>load<u8>(p, 1);
  const q = next == 0x2b || next == 0x2d ? offsetEnd(p + 1, true) : next - 0x41 < 26 ? nameEnd(p + 1) : 0;
  return q ? q : p;
}

/** The second since 1970 of the date and clock that were found. */
function instant(hasZone: bool): i64 {
  if (hasZone) return needsYear ? inferredInstant(month, day, clock, false, offset) : wall - offset;
  if (!isLocalKnown) {
    local = needsYear ? inferredInstant(month, day, clock, true, 0) : localInstant(wall);
    isLocalKnown = true;
  }
  return local;
}

/** Behind the time whose clock ends at `p`, or 0. */
function finish(p: usize): usize {
  const c = <u32>load<u8>(p);
  const digits = c == 0x2e || c == 0x2c ? countDigits(p + 1) : 0;
  setFraction(p + 1, min(digits, MOST_FRACTION));
  if (digits) p += 1 + digits;
  let q = zoneEnd(p);
  if (q == 0) return 0;
  const hasZone = q != p;
  if (yearFollows) {
    if (load<u8>(q) != 0x20) return 0;
    const found = fourDigits(q + 1);
    if (found == 0 || found > 9999 || day > daysOf(found, month)) return 0;
    setYear(found);
    needsYear = false;
    isLocalKnown = false;
    wall = <i64>daysSince1970(found, month, day) * DAY + <i64>clock;
    q += 5;
  }
  return isAlphanumeric(load<u8>(q)) || !show(instant(hasZone)) ? 0 : q;
}

/** Behind the time at `p`, which follows `from`; or 0. */
function timeEnd(from: usize, p: usize, isWhole: bool): usize {
  const q = formEnd(p);
  if (q == 0) {
    // The remembered time belongs to the globals of its form.
    keyLength = 0;
    return 0;
  }
  remember(from, q, isWhole);
  needsYear = year == 0;
  isLocalKnown = false;
  if (!needsYear) wall = <i64>daysSince1970(year, month, day) * DAY + <i64>clock;
  return finish(q);
}

/** Whether the text at `p` begins with a time that is taken. */
export function readLeading(p: usize): bool {
  if (keyLength && !keyIsWhole && isKept(p)) return finish(p + keyLength) != 0;
  return timeEnd(p, skipHead(p), false) != 0;
}

/** Whether the string at `p`, behind its quote, is a time that is taken. */
function readString(p: usize): bool {
  if (keyLength && keyIsWhole && isKept(p)) {
    const end = finish(p + keyLength);
    return end != 0 && load<u8>(end) == 0x22;
  }
  if (isDigit(p)) {
    const end = countEnd(p);
    if (end) return load<u8>(end) == 0x22 && show(counted);
  }
  const end = timeEnd(p, p, true);
  return end != 0 && load<u8>(end) == 0x22;
}

/** The second of the count that `countEnd` found. */
let counted: i64 = 0;

/** Behind the count of seconds, ms, µs or ns since 1970 at `p`, by its magnitude; 0 where it is none. Sets its fraction. */
function countEnd(p: usize): usize {
  const digits = countDigits(p);
  const behind = p + digits;
  // With fewer it would be before 2000.
  if (digits < 9 || digits > 19) return 0;
  const tail: usize = digits <= 10 ? 0 : digits <= 13 ? 3 : digits <= 16 ? 6 : 9;
  let value: i64 = 0;
  for (let at = p; at < behind - tail; at++) value = value * 10 + <i64>(<u32>load<u8>(at) - 0x30);
  counted = value;
  setFraction(behind - tail, tail);
  let end = behind;
  if (load<u8>(behind) == 0x2e && isDigit(behind + 1)) {
    const more = countDigits(behind + 1);
    v128.store(text, v128.load(behind - tail), 32);
    v128.store(text + 32 + tail, v128.load(behind + 1));
    setFraction(text + 32, min(tail + more, MOST_FRACTION));
    end = behind + 1 + more;
  }
  return end;
}

/** Whether the number or string at `p` is a time that is taken. */
export function readValue(p: usize): bool {
  const c = <u32>load<u8>(p);
  if (c == 0x22) return readString(p + 1);
  if (c - 0x30 > 9) return false;
  const end = countEnd(p);
  // An exponent would make it another number.
  return end != 0 && load<u8>(end) != 0x2e && (load<u8>(end) | 0x20) != 0x65 && show(counted);
}

/** Copies the time to `o`, up to 36 bytes in all, and returns the address behind what counts. What was read must still stand there. */
export function putTime(o: usize): usize {
  v128.store(o, v128.load(text));
  store<u32>(o, load<u32>(text, 16), 16);
  if (fractionLength) v128.store(o, v128.load(fractionAt), 20);
  const end = o + timeLength;
  store<u8>(end - 1, 0x5a);
  return end;
}
