/**
 * Times: RFC 3339 ones are checked, must not be before 1900 or more than a day ahead of the receipt, and keep their digits. `Oct 11 22:14:15` needs a year and a zone and `2026-10-11T22:14:15`
 * a zone, which only JavaScript knows. A table caches its answers, so that it is asked once for each second that
 * senders name.
 */

import { daysOf, daysSince1970 } from '../calendar';
import { isDigit, pair } from '../digits';

/** 64 entries of 64 bytes: the time's 15 or 19 bytes and zeros, then its 19 bytes of RFC 3339, or a 0. */
let times: usize = 0;

/** 1900-01-01, and a day after the receipt, in seconds since 1970: times outside are JavaScript's (sources/syslog/message/sent-time.ts). */
const EARLIEST: i64 = -2_208_988_800;
const DAY: i64 = 86_400;
let latest: i64 = 0;
/** The time of receipt as text. */
let now: usize = 0;

export function setReceipt(at: usize, second: i64): void {
  now = at;
  latest = second + DAY;
}

/** Offset of an entry's answer. */
export const ANSWER: usize = 32;

export function useTimes(at: usize): void {
  times = at;
}

/** Returns the end of the fraction whose point is at `p`: up to nine digits, else 0. */
export function fractionEnd(p: usize): usize {
  let n: usize = 1;
  while (n < 11 && isDigit(p + n)) n++;
  return n == 1 || n == 11 ? 0 : p + n;
}

/** Behind the RFC 3339 time at `p`, as RFC 5424 wants it, on a date that exists and in the bounds, or 0. Ends before `end`, which is 0 or a space. */
export function timestampEnd(p: usize, end: usize): usize {
  if (end - p < 20) return 0;
  // The date of the receipt needs no look at the calendar.
  const isToday = load<u64>(p) == load<u64>(now) && load<u16>(p, 8) == load<u16>(now, 8);
  if (!isToday && !isDate(p)) return 0;
  if (load<u8>(p, 10) != 0x54 || load<u8>(p, 13) != 0x3a || load<u8>(p, 16) != 0x3a) return 0;
  if (pair(p + 11) > 23 || pair(p + 14) > 59 || pair(p + 17) > 59) return 0;
  const from = p;
  p += 19;
  let c = <u32>load<u8>(p);
  if (c == 0x2e) {
    p = fractionEnd(p);
    if (p == 0) return 0;
    c = load<u8>(p);
  }
  if (c == 0x5a) return p < end && (isToday || isTaken(from, 0)) ? p + 1 : 0;
  if (c != 0x2b && c != 0x2d) return 0;
  const hours = pair(p + 1);
  const minutes = pair(p + 4);
  if (end < p + 6 || load<u8>(p, 3) != 0x3a || hours > 23 || minutes > 59) return 0;
  const offset = <i64>(hours * 3600 + minutes * 60);
  return (c == 0x2b ? isToday || isTaken(from, offset) : isTaken(from, -offset)) ? p + 6 : 0;
}

function yearOf(p: usize): u32 {
  const century = pair(p);
  const rest = pair(p + 2);
  return century > 99 || rest > 99 ? 0 : century * 100 + rest;
}

/** Whether the date at `p` exists. */
function isDate(p: usize): bool {
  const year = yearOf(p);
  const month = pair(p + 5);
  if (year == 0 || load<u8>(p, 4) != 0x2d || load<u8>(p, 7) != 0x2d) return false;
  return month - 1 < 12 && pair(p + 8) - 1 < daysOf(year, month);
}

/** Whether the date and clock at `p`, which are valid, with this offset in seconds, are in the bounds. */
function isTaken(p: usize, offset: i64): bool {
  const days = <i64>daysSince1970(yearOf(p), pair(p + 5), pair(p + 8));
  const second = days * DAY + <i64>(pair(p + 11) * 3600 + pair(p + 14) * 60 + pair(p + 17)) - offset;
  return second >= EARLIEST && second <= latest;
}

/** Whether the date and clock at `p` have the form of RFC 3164, the month not looked at. */
export function isBsdForm(p: usize): bool {
  if (load<u8>(p, 3) != 0x20 || load<u8>(p, 6) != 0x20 || load<u8>(p, 9) != 0x3a || load<u8>(p, 12) != 0x3a)
    return false;
  const tens = <u32>load<u8>(p, 4);
  if (tens != 0x20 && tens - 0x30 > 9) return false;
  return isDigit(p + 5) && pair(p + 7) < 100 && pair(p + 10) < 100 && pair(p + 13) < 100;
}

/** Whether the date and clock at `p` have the form of ISO 8601, with a `T` or a space, the numbers not looked at. */
export function isIsoForm(p: usize): bool {
  const middle = <u32>load<u8>(p, 10);
  if (middle != 0x54 && middle != 0x20) return false;
  if (load<u8>(p, 4) != 0x2d || load<u8>(p, 7) != 0x2d || load<u8>(p, 13) != 0x3a || load<u8>(p, 16) != 0x3a)
    return false;
  if (pair(p) > 99 || pair(p + 2) > 99 || pair(p + 5) > 99 || pair(p + 8) > 99) return false;
  return pair(p + 11) < 100 && pair(p + 14) < 100 && pair(p + 17) < 100;
}

/** The entry of the time of `length` bytes at `p`; `isKnown` tells whether it is its own. */
export function timeEntry(p: usize, length: usize): usize {
  const clock = load<u64>(p + length - 8) ^ ((<u64>load<u32>(p + length - 12)) << 5);
  return times + ((<usize>((clock * 0x9e3779b97f4a7c15) >> 58)) << 6);
}

export function isKnown(entry: usize, p: usize, length: usize): bool {
  const low = v128.load(p);
  const lowKey = length == 15 ? i8x16.replace_lane(low, 15, 0) : low;
  const highKey = length == 15 ? i64x2(0, 0) : i64x2(<i64>(load<u32>(p, 16) & 0xffffff), 0);
  const differs = v128.or(v128.xor(lowKey, v128.load(entry)), v128.xor(highKey, v128.load(entry, 16)));
  return !v128.any_true(differs);
}
