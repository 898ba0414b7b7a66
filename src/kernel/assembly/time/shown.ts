/** The time that was read last: as the text of its second, which consecutive lines mostly share, and the place of its fraction. Counts of seconds become one, too. */
import { dateOf } from '../calendar';
import { countDigits, isDigit } from '../digits';
import { skipSpaces } from '../scalars';
import { DAY, NEVER } from './zone';

/** 2000-01-01: earlier times are not taken for times. */
const EARLIEST: i64 = 946_684_800;
export const MOST_FRACTION: usize = 9;

/** The last time as text up to the second, 19 bytes, and a point; 32 bytes follow for a fraction that is put together. */
let text: usize = 0;
/** Where the digits of its fraction are. */
let fractionAt: usize = 0;
let fractionLength: usize = 0;
/** The second that `text` shows. */
let shown: i64 = NEVER;
/** The last second that is taken. */
export let latest: i64 = 0;

/** Bytes of the time that was read last, up to 30. */
export let timeLength: usize = 0;

/** Takes 64 bytes. */
export function setUpShown(at: usize): void {
  text = at;
  store<u8>(text, 0x2e, 19);
}

export function setLatest(second: i64): void {
  latest = second;
  shown = NEVER;
}

function put2(p: usize, value: u32): void {
  store<u16>(p, 0x3030 + value / 10 + ((value % 10) << 8));
}

/** Shows the second in `text`; false where no such time is taken. */
export function show(second: i64): bool {
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
export function setFraction(p: usize, digits: usize): void {
  fractionAt = p;
  fractionLength = digits;
  timeLength = digits ? 21 + digits : 20;
}

/** The second of the count that `countEnd` found. */
export let counted: i64 = 0;

/** Returns the end of the count of seconds, ms, µs or ns since 1970 at `p`, by its magnitude, or 0. Sets its fraction. */
export function countEnd(p: usize): usize {
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

/** `"nanoOfSecond"`. */
const NANO_LOW: u64 = 0x53664f6f6e616e22;
const NANO_HIGH: u64 = 0x22646e6f636553;

/** Sets the fraction of the seconds before `p` to the nanoseconds after their key, if that key comes next. */
export function readNanos(p: usize): void {
  p = skipSpaces(p);
  if (load<u8>(p) != 0x2c) return;
  p = skipSpaces(p + 1);
  if (load<u64>(p) != NANO_LOW || (load<u64>(p, 7) & 0xffffffffffffff) != NANO_HIGH) return;
  p = skipSpaces(p + 14);
  if (load<u8>(p) != 0x3a) return;
  p = skipSpaces(p + 1);
  const digits = countDigits(p);
  if (digits - 1 > 8) return;
  v128.store(text, i8x16.splat(0x30), 32);
  memory.copy(text + 32 + 9 - digits, p, digits);
  setFraction(text + 32, MOST_FRACTION);
}

/** Copies the time to `o`, up to 36 bytes in all; returns the end of those that count. The bytes read must not have moved. */
export function putTime(o: usize): usize {
  v128.store(o, v128.load(text));
  store<u32>(o, load<u32>(text, 16), 16);
  if (fractionLength) v128.store(o, v128.load(fractionAt), 20);
  const end = o + timeLength;
  store<u8>(end - 1, 0x5a);
  return end;
}
