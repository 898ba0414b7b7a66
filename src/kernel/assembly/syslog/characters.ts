/** Which characters hosts and tags are made of, and where a word of them ends. */
import { countDigits } from '../digits';
import { levelEnd } from '../time/head';
import { sequence } from '../utf8';

/** A bit for each character, for those below 64 and those from 64 to 127. */
const HOST_LOW: u64 = 0x07ff_6000_0000_0000;
const HOST_HIGH: u64 = 0x07ff_fffe_87ff_fffe;
/** Everything but white space and `[]:"'{}=,;<>|\`. */
export const TAG_LOW: u64 = 0x83ff_ef7a_ffff_c1ff;
export const TAG_HIGH: u64 = 0xc7ff_ffff_c7ff_ffff;

/** Everything but white space and `[]`. */
export const PID_LOW: u64 = 0xffff_fffe_ffff_c1ff;
export const PID_HIGH: u64 = 0xffff_ffff_d7ff_ffff;

function isOf(c: u32, low: u64, high: u64): bool {
  return c < 128 && ((c < 64 ? low : high) >> <u64>(c & 63)) & 1 ? true : false;
}

export function isSpace(c: u32): bool {
  return c == 0x20 || c - 9 < 5;
}

/** A name of a tag, or a process id, has at most so many characters, counted as JavaScript does. */
export const MAX_NAME: usize = 128;
export let characters: usize = 0;

/** Whether `p` is at white space beyond ASCII, as `\s` of a regular expression. */
export function isWideSpace(p: usize, end: usize): bool {
  const three = load<u32>(p) & 0xffffff;
  if ((three & 0xffff) == 0xa0c2) return p + 2 <= end;
  if (p + 3 > end) return false;
  if (three == 0x809ae1 || three == 0x8080e3 || three == 0xbfbbef || three == 0x9f81e2) return true;
  const last = three >> 16;
  return (three & 0xffff) == 0x80e2 && (last - 0x80 < 11 || last == 0xa8 || last == 0xa9 || last == 0xaf);
}

/** Behind the characters at `p` that are of these below 128, and no white space beyond. Sets `characters`. */
export function wordEnd(p: usize, end: usize, low: u64, high: u64): usize {
  let from = p;
  characters = 0;
  while (true) {
    while (p < end && isOf(load<u8>(p), low, high)) p++;
    characters += p - from;
    if (p >= end || load<u8>(p) < 128 || isWideSpace(p, end)) return min(p, end);
    const n = sequence(p);
    p += abs(n);
    from = p;
    characters += n == 4 ? 2 : 1;
  }
  // Never reached: the compiler does not see it.
  return end;
}

/** `slot` */
const SLOT: u32 = 0x746f_6c73;

/** Where the word ended that was looked at last. */
export let wordStop: usize = 0;

/** Behind the host at `p`, or 0: a word that is no level. */
export function endOfHost(p: usize, end: usize): usize {
  wordStop = p;
  const first = <u32>load<u8>(p);
  if (p >= end || first == 0x2d || first == 0x2e || first == 0x2f) return 0;
  let at = p;
  while (at < end && isOf(load<u8>(at), HOST_LOW, HOST_HIGH)) at++;
  const hasSlash = at < end && load<u8>(at) == 0x2f;
  if (hasSlash) while (at < end && (isOf(load<u8>(at), HOST_LOW, HOST_HIGH) || load<u8>(at) == 0x2f)) at++;
  wordStop = at;
  if (at == p || at == end || load<u8>(at) != 0x20 || load<u8>(at - 1) == 0x3a || (at - p < 9 && levelEnd(p) == at))
    return 0;
  // `slot1/bigip`, and a context of a firewall: `fw/admin : %ASA-6-…`.
  const isContext = at + 2 < end && load<u16>(at, 1) == 0x203a;
  return !hasSlash || isContext || load<u32>(p) == SLOT ? at : 0;
}

/** Behind the blank at `p`, if there is one. */
export function blankEnd(p: usize, end: usize): usize {
  return p < end && load<u8>(p) == 0x20 ? p + 1 : p;
}

/** Whether `p` is at the number of a message: `29: `. */
export function isNumber(p: usize): bool {
  const digits = countDigits(p);
  return digits != 0 && load<u16>(p + digits) == 0x203a;
}
