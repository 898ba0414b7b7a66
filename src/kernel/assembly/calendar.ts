/** The Gregorian calendar: names of months, days since 1970. */

const JAN: u32 = 0x6e614a;
const FEB: u32 = 0x626546;
const MAR: u32 = 0x72614d;
const APR: u32 = 0x727041;
const MAY: u32 = 0x79614d;
const JUN: u32 = 0x6e754a;
const JUL: u32 = 0x6c754a;
const AUG: u32 = 0x677541;
const SEP: u32 = 0x706553;
const OCT: u32 = 0x74634f;
const NOV: u32 = 0x766f4e;
const DEC: u32 = 0x636544;

const MON: u32 = 0x6e6f4d;
const TUE: u32 = 0x657554;
const WED: u32 = 0x646557;
const THU: u32 = 0x756854;
const FRI: u32 = 0x697246;
const SAT: u32 = 0x746153;
const SUN: u32 = 0x6e7553;

/** 1…12 for the three letters of a month's name at `p`, else 0. */
export function monthOf(p: usize): u32 {
  const name = load<u32>(p) & 0xffffff;
  if (name == JAN) return 1;
  if (name == FEB) return 2;
  if (name == MAR) return 3;
  if (name == APR) return 4;
  if (name == MAY) return 5;
  if (name == JUN) return 6;
  if (name == JUL) return 7;
  if (name == AUG) return 8;
  if (name == SEP) return 9;
  if (name == OCT) return 10;
  if (name == NOV) return 11;
  return name == DEC ? 12 : 0;
}

/** Whether the three letters at `p` name a day of the week. */
export function isWeekday(p: usize): bool {
  const name = load<u32>(p) & 0xffffff;
  return name == MON || name == TUE || name == WED || name == THU || name == FRI || name == SAT || name == SUN;
}

export function daysOf(year: u32, month: u32): u32 {
  if (month == 2) return (year & 3) == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

/** Days from 1970-01-01 to a date of the years 0 to 9999. Years begin in March, so that a leap day is a year's last. */
export function daysSince1970(year: u32, month: u32, day: u32): i32 {
  const shifted = <i32>year + 400 - (month <= 2 ? 1 : 0);
  const era = shifted / 400;
  const ofEra = shifted - era * 400;
  const ofYear = (153 * (<i32>month + (month > 2 ? -3 : 9)) + 2) / 5 + <i32>day - 1;
  return (era - 1) * 146097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719468;
}

/** Year, month and day of a date since 1970, as `year << 16 | month << 8 | day`. */
export function dateOf(days: i32): u32 {
  const shifted = days + 719468;
  const era = shifted / 146097;
  const ofEra = shifted - era * 146097;
  const year = (ofEra - ofEra / 1460 + ofEra / 36524 - ofEra / 146096) / 365;
  const ofYear = ofEra - (365 * year + year / 4 - year / 100);
  const month = (5 * ofYear + 2) / 153;
  const day = ofYear - (153 * month + 2) / 5 + 1;
  const named = month < 10 ? month + 3 : month - 9;
  return ((<u32>(year + era * 400 + (named <= 2 ? 1 : 0))) << 16) | ((<u32>named) << 8) | <u32>day;
}
