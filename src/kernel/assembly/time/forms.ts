/**
 * Matches date and clock against the table of forms (core/time/forms.ts), which JavaScript lays out as programs
 * (../../times/form-image.ts). time.ts reads the parts after the seconds.
 */
import { daysOf, isWeekday, monthOf } from '../calendar';
import { pair, someDigits } from '../digits';

/** The last form found; a year of 0 is to be inferred. */
export let year: u32 = 0;
export let month: u32 = 0;
export let day: u32 = 0;
/** Seconds since midnight. */
export let clock: u32 = 0;
/** The further parts it needs: the bits below. */
export let needs: u32 = 0;

export const NEEDS_FRACTION: u32 = 1;
export const NEEDS_LEVEL: u32 = 2;
export const NEEDS_YEAR: u32 = 4;
export const IS_UTC: u32 = 8;
const IS_SLOW_LOG: u32 = 16;

/** Where a form is looked for: some need the place of a line, or of a slow query log. */
export const IN_LINE: u32 = IS_SLOW_LOG;
export const IN_VALUE: u32 = IS_SLOW_LOG | NEEDS_LEVEL;
export const IN_SLOW_LOG: u32 = 0;

/** Steps of a program; any other is a byte of text. form-image.ts has the same numbers. */
const END: u32 = 0;
const YEAR: u32 = 1;
const SHORT_YEAR: u32 = 2;
const MONTH: u32 = 3;
const MONTH_NAME: u32 = 4;
const WEEKDAY: u32 = 5;
const DAY: u32 = 6;
const SOME_DAY: u32 = 7;
const PADDED_DAY: u32 = 8;
const CLOCK: u32 = 14;
const LEVEL_LETTER: u32 = 15;
const T: u32 = 16;

/**
 * u16 for 9 × 128 beginnings, by count of digits and the character after them: the list of the forms that begin so, or 0; then lists and
 * programs.
 */
let image: usize = 0;

export function setUpForms(at: usize): void {
  image = at;
}

/** The number of the four digits at `p`, or 10,000 and more. */
export function fourDigits(p: usize): u32 {
  const high = pair(p);
  const low = pair(p + 2);
  return high > 99 || low > 99 ? 10_000 : high * 100 + low;
}

/** Behind one digit or two at `p`, whose number is `number`; or 0. */
let number: u32 = 0;
function someEnd(p: usize): usize {
  const first = <u32>load<u8>(p) - 0x30;
  if (first > 9) return 0;
  const second = <u32>load<u8>(p, 1) - 0x30;
  number = second > 9 ? first : first * 10 + second;
  return second > 9 ? p + 1 : p + 2;
}

/** Behind `16:08:49` at `p`, or 0. The hour may be ` 8` or `8`. */
function clockEnd(p: usize): usize {
  p = someEnd(load<u8>(p) == 0x20 ? p + 1 : p);
  if (p == 0) return 0;
  const hour = number;
  const minute = pair(p + 1);
  const second = pair(p + 4);
  if (load<u8>(p) != 0x3a || load<u8>(p, 3) != 0x3a || hour > 23 || minute > 59 || second > 59) return 0;
  clock = hour * 3600 + minute * 60 + second;
  return p + 6;
}

/** Behind what the program at `step` finds at `p`, or 0. */
function run(step: usize, p: usize): usize {
  year = 0;
  while (true) {
    const code = <u32>load<u8>(step++);
    switch (code) {
      case END:
        return month - 1 < 12 && day - 1 < daysOf(year ? year : 2000, month) ? p : 0;
      case YEAR:
        year = fourDigits(p);
        if (year - 1 > 9998) return 0;
        p += 4;
        break;
      case SHORT_YEAR:
        year = pair(p);
        if (year > 99) return 0;
        year += year < 69 ? 2000 : 1900;
        p += 2;
        break;
      case MONTH:
        month = pair(p);
        p += 2;
        break;
      case MONTH_NAME:
        month = monthOf(p);
        p += 3;
        break;
      case WEEKDAY:
        if (!isWeekday(p)) return 0;
        p += 3;
        break;
      case DAY:
        day = pair(p);
        p += 2;
        break;
      case PADDED_DAY:
        if (load<u8>(p) == 0x20) p++;
      // Goes on as without the space.
      case SOME_DAY:
        p = someEnd(p);
        if (p == 0) return 0;
        day = number;
        break;
      case CLOCK:
        p = clockEnd(p);
        if (p == 0) return 0;
        break;
      case LEVEL_LETTER: {
        const c = <u32>load<u8>(p++);
        if (c != 0x49 && c != 0x57 && c != 0x45 && c != 0x46) return 0;
        break;
      }
      case T:
        if ((load<u8>(p++) | 0x20) != 0x74) return 0;
        break;
      default:
        if (<u32>load<u8>(p++) != code) return 0;
    }
  }
}

/** Behind `2026-11-22T16:08:49` or the same with a space at `p`, the most common forms, without their programs; or 0. */
function isoEnd(p: usize): usize {
  const between = <u32>load<u8>(p, 10);
  if (
    load<u8>(p, 7) != 0x2d ||
    (between != 0x20 && between != 0x54) ||
    load<u8>(p, 13) != 0x3a ||
    load<u8>(p, 16) != 0x3a
  )
    return 0;
  year = fourDigits(p);
  month = pair(p + 5);
  day = pair(p + 8);
  const hour = pair(p + 11);
  const minute = pair(p + 14);
  const second = pair(p + 17);
  if (year - 1 > 9998 || month - 1 > 11 || day - 1 >= daysOf(year, month) || hour > 23 || minute > 59 || second > 59)
    return 0;
  clock = hour * 3600 + minute * 60 + second;
  needs = 0;
  return p + 19;
}

/** The last call of `formEnd` changed the state here. */
export let hasTried: bool = false;

/** Behind the date and clock at `p`, or 0. `place`: the forms that are not looked for there. */
export function formEnd(p: usize, place: u32): usize {
  hasTried = false;
  const digits = someDigits(p);
  const next = <u32>load<u8>(p + digits);
  if (next > 127) return 0;
  const list = <usize>load<u16>(image + (((digits << 7) + <usize>next) << 1));
  if (list == 0) return 0;
  hasTried = true;
  if (digits == 4 && next == 0x2d) {
    const end = isoEnd(p);
    if (end) return end;
  }
  let entry = image + list;
  let program = <usize>load<u16>(entry);
  while (program) {
    needs = load<u8>(image + program);
    const end: usize = needs & place ? 0 : run(image + program + 1, p);
    if (end) return end;
    entry += 2;
    program = load<u16>(entry);
  }
  return 0;
}
