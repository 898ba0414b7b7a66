/** Recognizes headers of devices that JavaScript reads (sources/syslog/message/header-forms.ts): the kernel would take them for text. */
import { isDigit } from '../digits';

/** Beginnings of headers that JavaScript reads, eight bytes each: four characters, and a mask of them; a mask of 0 ends them. */
let heads: usize = 0;

export function useHeads(at: usize): void {
  heads = at;
}

/** Whether a header of the table begins at `p`. */
export function isHandedOver(p: usize): bool {
  for (let head = heads; load<u32>(head, 4); head += 8)
    if ((load<u32>(p) & load<u32>(head, 4)) == load<u32>(head)) return true;
  return false;
}

function isUpper(c: u32): bool {
  return c - 0x41 < 26;
}

/** Whether `p`, after a clock, may be at AM, PM, an offset or the name of a zone. */
export function mayBeZone(p: usize, end: usize): bool {
  if (p >= end) return false;
  const first = <u32>load<u8>(p);
  const second = <u32>load<u8>(p, 1);
  const isSigned = second == 0x2b || second == 0x2d;
  if (first == 0x2b || first == 0x2d) return isDigit(p + 1);
  if (first == 0x28 || first == 0x5b) return isSigned || isUpper(second);
  let at = p;
  while (at < end && at - p < 6 && isUpper(load<u8>(at))) at++;
  if (at == p) return false;
  if (at == end) return at - p < 6;
  const c = <u32>load<u8>(at);
  if (c == 0x3a || (c == 0x20 && at - p < 6) || (c == 0x2e && at - p == 2 && second == 0x4d)) return true;
  // `Europe/Berlin`.
  while (at < end && (<u32>load<u8>(at) | 0x20) - 0x61 < 26) at++;
  return at < end && load<u8>(at) == 0x2f;
}

const MESSAGE_: u64 = 0x2065_6761_7373_654d;

/**
 * Whether more than a host and a tag follows a time, at `p` up to the end of its first word and on: brackets, commas of Ubiquiti's,
 * `Message forwarded from`.
 */
export function isDeviceForm(p: usize, stop: usize, end: usize): bool {
  const first = <u32>load<u8>(p);
  if (p + 16 > end) return false;
  if (first == 0x5b || (first == 0x28 && load<u8>(p, 1) == 0x22) || load<u64>(p) == MESSAGE_) return true;
  return stop + 13 < end && (load<u8>(stop) == 0x2c || load<u8>(stop, 13) == 0x2c);
}

/** Behind `In(182) ` at `p`, or 0. */
export function shortLevelEnd(p: usize, end: usize): usize {
  if (p + 6 > end || !isUpper(load<u8>(p)) || <u32>load<u8>(p, 1) - 0x61 > 25 || load<u8>(p, 2) != 0x28) return 0;
  let at = p + 3;
  while (at - p < 6 && isDigit(at)) at++;
  return at > p + 3 && at + 1 < end && load<u16>(at) == 0x2029 ? at + 2 : 0;
}
