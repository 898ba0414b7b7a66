/**
 * Finds a line's own time: at the beginning of its text, or in the value of a key. Consecutive lines mostly share theirs up to
 * the second, so it compares with the last one first. The result is RFC 3339 in UTC, with the digits that the source has.
 */
import { daysOf, daysSince1970 } from '../calendar';
import { countDigits, isDigit, someDigits } from '../digits';
import {
  clock,
  day,
  formEnd,
  fourDigits,
  hasTried,
  IN_LINE,
  IN_SLOW_LOG,
  IN_VALUE,
  IS_UTC,
  month,
  needs,
  year,
} from './forms';
import { NEEDS_FRACTION, NEEDS_LEVEL, NEEDS_YEAR } from './forms';
import {
  AUDIT,
  beginPieces,
  isOpening,
  levelEnd,
  MOST_PIECES,
  pieceEnd,
  placeBehindKey,
  placeKind,
  SLOW_LOG,
  VALUE,
} from './head';
import { counted, countEnd, MOST_FRACTION, readNanos, setFraction, setLatest, setUpShown, show } from './shown';
import { isAlphanumeric, named, offset, zoneEnd } from './written-zone';
import { DAY, inferredInstant, inferredNamed, localInstant, namedInstant, NEVER, setReadAt } from './zone';
import { forgetNames } from './zone-names';

/** The bytes before the fraction of the last time, and a mask of them: 32 each. */
let key: usize = 0;
let mask: usize = 0;
/** Length of `key`, 0 for none; whether it was a whole value, not the beginning of a text. */
let keyLength: usize = 0;
let keyIsWhole: bool = false;
/** Its second since 1970 by the clock on the wall; with its instant once a line without a zone needed that. */
let wall: i64 = 0;
let needsYear: bool = false;
let local: i64 = 0;
let isLocalKnown: bool = false;

/** Takes 128 bytes. */
export function setUpTime(at: usize): void {
  setUpShown(at);
  key = at + 64;
  mask = at + 96;
}

/** Call it before another zone is in use, and with each read: a time without zone or year depends on both. */
export function forgetTimes(readAtMs: i64): void {
  setReadAt(readAtMs);
  setLatest(readAtMs / 1000 + DAY);
  keyLength = 0;
  forgetNames();
}

/** Remembers the bytes `[from, to)`. */
function remember(from: usize, to: usize, isWhole: bool): void {
  keyLength = to - from;
  if (keyLength > 32) {
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

const NOON: i64 = 43_200;

/**
 * Returns the end of AM or PM at `p`, or 0. Sets how many seconds the clock is ahead of the written one; NEVER if it is not a twelve-hour
 * clock.
 */
let ahead: i64 = 0;
function meridiemEnd(p: usize): usize {
  if (load<u8>(p) == 0x20) p++;
  const half = <u32>load<u8>(p) | 0x20;
  if (half != 0x61 && half != 0x70) return 0;
  let q: usize = p + 2;
  if ((load<u8>(p, 1) | 0x20) != 0x6d) {
    if (load<u8>(p, 1) != 0x2e || (load<u8>(p, 2) | 0x20) != 0x6d || load<u8>(p, 3) != 0x2e) return 0;
    q = p + 4;
  }
  if (isAlphanumeric(load<u8>(q))) return 0;
  const hour = clock / 3600;
  if (hour - 1 > 11) ahead = NEVER;
  else if (half == 0x70) ahead = hour == 12 ? 0 : NOON;
  else ahead = hour == 12 ? -NOON : 0;
  return q;
}

/** Behind the year at `p` of a form that has none, a space before it; or 0. Sets `written`. */
let written: u32 = 0;
function yearEnd(p: usize): usize {
  if (load<u8>(p) != 0x20) return 0;
  written = fourDigits(p + 1);
  const q = p + 5;
  if (written > 9999) return 0;
  if (needs & NEEDS_YEAR) return q;
  if (written - 1900 > 199) return 0;
  const c = <u32>load<u8>(q);
  if (isAlphanumeric(c)) return 0;
  // Not the beginning of a name or of an IPv6 address.
  const next = <u32>load<u8>(q, 1);
  if (c == 0x2e || c == 0x5f || c == 0x2d) return isAlphanumeric(next) ? 0 : q;
  return c != 0x3a || next == 0x20 || next == 0x0a || next == 0x0d || next == 0x22 ? q : 0;
}

/** The second since 1970 of the date and clock that were found, in the configured zone. */
function localOf(): i64 {
  if (!isLocalKnown) {
    local = needsYear ? inferredInstant(month, day, clock, true, 0) : localInstant(wall);
    isLocalKnown = true;
  }
  return local;
}

/** The same in the zone that was found. */
function instantOf(from: usize, end: usize, inYear: u32): i64 {
  const hasZone = from != end || (needs & IS_UTC) != 0;
  if (!hasZone && inYear == 0 && ahead == 0) return localOf();
  if (needsYear && inYear == 0) {
    const ofDay = <i64>clock + ahead;
    if (named) return inferredNamed(named, month, day, ofDay);
    return inferredInstant(month, day, ofDay, !hasZone, offset);
  }
  const second = (inYear ? <i64>daysSince1970(inYear, month, day) * DAY + <i64>clock : wall) + ahead;
  if (named) return namedInstant(named, second);
  return hasZone ? second - offset : localInstant(second);
}

/** Behind the time whose clock ends at `p`, or 0. */
function finish(p: usize): usize {
  let c = <u32>load<u8>(p);
  let digits: usize = 0;
  if (c == 0x2e || c == 0x2c) digits = countDigits(p + 1);
  // Some write milliseconds after a colon.
  else if (c == 0x3a && someDigits(p + 1) == 3) digits = 3;
  setFraction(p + 1, min(digits, MOST_FRACTION));
  if (digits) p += 1 + digits;
  ahead = 0;
  c = load<u8>(p);
  const next = <u32>load<u8>(p, 1);
  // The most common ends at once: UTC, and a word in small letters.
  if (needs == 0) {
    if (c == 0x5a && !needsYear && next != 0x5b) return isAlphanumeric(next) || !show(wall) ? 0 : p + 1;
    if (c == 0x20 && next - 0x61 < 26 && next != 0x61 && next != 0x70) return show(localOf()) ? p : 0;
  }
  c = (c == 0x20 ? next : c) | 0x20;
  if (c == 0x61 || c == 0x70) {
    const q = meridiemEnd(p);
    if (q) {
      if (ahead == NEVER) return 0;
      p = q;
      if (digits == 0 && load<u8>(p) == 0x2e) {
        digits = countDigits(p + 1);
        setFraction(p + 1, min(digits, MOST_FRACTION));
        if (digits) p += 1 + digits;
      }
    }
  }
  let from = p;
  let q = zoneEnd(p);
  if (q == 0) return 0;
  let inYear: u32 = 0;
  if (needsYear) {
    const behind = yearEnd(q);
    if (behind) {
      inYear = written;
      if (inYear == 0 || day > daysOf(inYear, month)) return 0;
      if (q == from) {
        from = behind;
        q = zoneEnd(from);
        if (q == 0) return 0;
      } else q = behind;
    } else if (needs & NEEDS_YEAR) return 0;
  }
  if (isAlphanumeric(load<u8>(q))) return 0;
  if (needs & (NEEDS_FRACTION | NEEDS_LEVEL)) {
    if (needs & NEEDS_FRACTION && digits < 3) return 0;
    if (needs & NEEDS_LEVEL && (load<u8>(q) != 0x20 || levelEnd(q + 1) == 0)) return 0;
  }
  return show(instantOf(from, q, inYear)) ? q : 0;
}

/** Returns the end of the time at `p`, which follows `from`; 0 without a known form, REFUSED if its time is invalid. */
const REFUSED: usize = 1;
function timeEnd(from: usize, p: usize, isWhole: bool, place: u32): usize {
  const q = formEnd(p, place);
  // The remembered time belongs to what `formEnd` sets.
  if (hasTried) keyLength = 0;
  if (q == 0) return 0;
  remember(from, q, isWhole);
  needsYear = year == 0;
  isLocalKnown = false;
  if (!needsYear) wall = <i64>daysSince1970(year, month, day) * DAY + <i64>clock;
  const end = finish(q);
  return end ? end : REFUSED;
}

/** Whether the time at `p`, after a key, is valid. */
function readBehindKey(from: usize, p: usize): bool {
  if (placeKind == AUDIT) {
    const digits = countDigits(p);
    if (
      digits - 9 > 1 ||
      load<u8>(p + digits) != 0x2e ||
      countDigits(p + digits + 1) != 3 ||
      load<u8>(p + digits + 4) != 0x3a
    )
      return false;
    countEnd(p);
    return show(counted);
  }
  if (placeKind == VALUE) {
    const end = countEnd(p);
    if (end) {
      const c = <u32>load<u8>(end);
      return (c == 0x20 || c == 0x22 || c == 0x09 || c == 0x0a || c == 0x0d) && show(counted);
    }
  }
  return timeEnd(from, p, false, placeKind == SLOW_LOG ? IN_SLOW_LOG : IN_VALUE) > REFUSED;
}

/** Whether the text at `p` begins with a time that is taken. */
export function readLeading(p: usize): bool {
  if (keyLength && !keyIsWhole && isKept(p)) return finish(p + keyLength) != 0;
  const behindKey = placeBehindKey(p);
  if (behindKey) return readBehindKey(p, behindKey);
  beginPieces();
  let at = p;
  let n: u32 = 0;
  while (true) {
    let end = timeEnd(p, at, false, IN_LINE);
    if (end == 0 && isOpening(load<u8>(at))) end = timeEnd(p, at + 1, false, IN_LINE);
    if (end) return end != REFUSED;
    const next = n == MOST_PIECES ? at : pieceEnd(at, n++ != 0);
    if (next == at) return false;
    at = next;
  }
  // Never reached: the compiler does not see it.
  return false;
}

/** Whether the string at `p`, after its quote, is a valid time; `isText`: not as a count. */
function readString(p: usize, isText: bool): bool {
  if (keyLength && keyIsWhole && isKept(p)) {
    const end = finish(p + keyLength);
    return end != 0 && load<u8>(end) == 0x22;
  }
  if (!isText && isDigit(p)) {
    const end = countEnd(p);
    if (end && load<u8>(end) == 0x22) return show(counted);
  }
  const end = timeEnd(p, p, true, IN_VALUE);
  return end > REFUSED && load<u8>(end) == 0x22;
}

/** Whether the number or string at `p` is a valid time. `isText`: a date and clock alone; `isPair`: seconds, then nanoseconds. */
export function readValue(p: usize, isText: bool, isPair: bool): bool {
  const c = <u32>load<u8>(p);
  if (c == 0x22) return !isPair && readString(p + 1, isText);
  if (isText || c - 0x30 > 9) return false;
  const end = countEnd(p);
  // An exponent would make it another number.
  if (end == 0 || load<u8>(end) == 0x2e || (load<u8>(end) | 0x20) == 0x65) return false;
  if (isPair) {
    if (end - p > 10) return false;
    readNanos(end);
  }
  return show(counted);
}
