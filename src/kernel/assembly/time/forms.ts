/** How programs write date and clock. Fraction and zone are read in time.ts, where the year of `Sun Nov 22 16:08:49 2026` is, too. */
import { daysOf, isWeekday, monthOf } from '../calendar';
import { isDigit, pair } from '../digits';

/** Of the form that was found last; a year of 0 is to be inferred. */
export let year: u32 = 0;
export let month: u32 = 0;
export let day: u32 = 0;
/** Seconds since midnight. */
export let clock: u32 = 0;
/** The year stands behind the clock. */
export let yearFollows: bool = false;

export function setYear(value: u32): void {
  year = value;
}

/** The number of the four digits at `p`, or 10,000 and more. */
export function fourDigits(p: usize): u32 {
  const high = pair(p);
  const low = pair(p + 2);
  return high > 99 || low > 99 ? 10_000 : high * 100 + low;
}

/** Behind `16:08:49` at `p`, or 0. */
function clockEnd(p: usize): usize {
  const hour = pair(p);
  const minute = pair(p + 3);
  const second = pair(p + 6);
  if (load<u8>(p, 2) != 0x3a || load<u8>(p, 5) != 0x3a || hour > 23 || minute > 59 || second > 59) return 0;
  clock = hour * 3600 + minute * 60 + second;
  return p + 8;
}

/** Whether month and day may be those of the year, or of some year. */
function isDate(): bool {
  return year < 10_000 && month - 1 < 12 && day - 1 < daysOf(year ? year : 2000, month);
}

/** `2026-11-22T16:08:49` or `2026/11/22 16:08:49`. */
function yearFirstEnd(p: usize, separator: u32): usize {
  const between = <u32>load<u8>(p, 10);
  if (load<u8>(p, 7) != separator || (between != 0x20 && (between | 0x20) != 0x74)) return 0;
  year = fourDigits(p);
  month = pair(p + 5);
  day = pair(p + 8);
  return year && isDate() ? clockEnd(p + 11) : 0;
}

/** `22/Nov/2026:16:08:49`, also with `-` or spaces, and a space before the clock. */
function dayFirstEnd(p: usize): usize {
  if (isDigit(p + 1)) {
    day = pair(p);
    p += 2;
  } else {
    day = <u32>load<u8>(p) - 0x30;
    p += 1;
  }
  const separator = <u32>load<u8>(p);
  if (separator != 0x2f && separator != 0x20 && separator != 0x2d) return 0;
  month = monthOf(p + 1);
  if (month == 0 || load<u8>(p, 4) != separator) return 0;
  year = fourDigits(p + 5);
  const between = <u32>load<u8>(p, 9);
  if ((between != 0x3a && between != 0x20) || year == 0 || !isDate()) return 0;
  return clockEnd(p + 10);
}

/** Behind the month of `Nov 22 16:08:49`, whose day may be ` 2`. */
function monthFirstEnd(p: usize): usize {
  if (load<u8>(p, 3) != 0x20 || load<u8>(p, 6) != 0x20) return 0;
  day = load<u8>(p, 4) == 0x20 ? (isDigit(p + 5) ? <u32>load<u8>(p, 5) - 0x30 : 0) : pair(p + 4);
  year = 0;
  return isDate() ? clockEnd(p + 7) : 0;
}

/** `I1122 16:08:49` of klog and glog, or `I20261122 16:08:49`. */
function klogEnd(p: usize): usize {
  year = 0;
  if (load<u8>(p, 5) != 0x20) {
    year = fourDigits(p + 1);
    p += 4;
    if (load<u8>(p, 5) != 0x20 || year == 0) return 0;
  }
  month = pair(p + 1);
  day = pair(p + 3);
  return isDate() ? clockEnd(p + 6) : 0;
}

/** Behind the date and clock at `p`, or 0. */
export function formEnd(p: usize): usize {
  yearFollows = false;
  const c = <u32>load<u8>(p);
  if (c - 0x30 < 10) {
    const separator = <u32>load<u8>(p, 4);
    return separator == 0x2d || separator == 0x2f ? yearFirstEnd(p, separator) : dayFirstEnd(p);
  }
  // No capital letter.
  if (c - 0x41 > 25) return 0;
  if (isDigit(p + 1)) return c == 0x49 || c == 0x57 || c == 0x45 || c == 0x46 ? klogEnd(p) : 0;
  month = monthOf(p);
  if (month) return monthFirstEnd(p);
  if (!isWeekday(p)) return 0;
  if (load<u8>(p, 3) == 0x2c) return load<u8>(p, 4) == 0x20 && isDigit(p + 5) ? dayFirstEnd(p + 5) : 0;
  month = monthOf(p + 4);
  if (month == 0 || load<u8>(p, 3) != 0x20) return 0;
  yearFollows = true;
  return monthFirstEnd(p + 4);
}
