/**
 * Parses headers of RFC 5424, and those of RFC 3164 with the time as most senders write it, host and tag. JavaScript holds a table of other
 * times and their surroundings (sources/syslog/message/header-forms.ts) and has the rest of such a header read here.
 */
import { monthOf } from '../calendar';
import { countDigits, isDigit } from '../digits';
import { fourDigits } from '../time/forms';
import {
  characters,
  isSpace,
  isWideSpace,
  MAX_NAME,
  PID_HIGH,
  PID_LOW,
  TAG_HIGH,
  TAG_LOW,
  wordEnd,
  wordStop,
  blankEnd,
  endOfHost,
  isNumber,
} from './characters';
import { readData, dataEnd } from './data';
import { isDeviceForm, isHandedOver, mayBeZone, shortLevelEnd } from './heads';
import { levelEnd } from '../time/head';
import { ANSWER, fractionEnd, isBsdForm, isIsoForm, isKnown, timeEntry, timestampEnd } from './time';

/** The result for a message: everything below is set; JavaScript must find its time; must first resolve it; must read structured data, which begins at `messageAt`. */
export const READ: u32 = 0;
export const SLOW: u32 = 1;
export const TIME_UNKNOWN: u32 = 2;
export const SLOW_DATA: u32 = 3;

export let priority: u32 = 0;
/** The time's bytes; without one the caller takes the time of receipt (0). */
export let timeAt: usize = 0;
export let timeEnd: usize = 0;
/** The time of RFC 5424 is nil or invalid: JavaScript must decide. */
export let hasOddTime: bool = false;
/** A time without a zone: its 19 bytes are at `timeAt`, and its fraction, with the point, is `[fractionAt, timeEnd)`. */
export let fractionAt: usize = 0;
/** Values begin at their `…At`, and are absent where that is 0. */
export let hostAt: usize = 0;
export let hostEnd: usize = 0;
export let appAt: usize = 0;
export let appEnd: usize = 0;
export let pidAt: usize = 0;
export let pidEnd: usize = 0;
export let msgidAt: usize = 0;
export let msgidEnd: usize = 0;
export let hasData: bool = false;
export let messageAt: usize = 0;
/** An unknown time: its 15 or 19 bytes, and the entry of the table for it. */
export let unknownAt: usize = 0;
export let unknownLength: usize = 0;
export let unknownEntry: usize = 0;

/** The beginnings of `NetScreen`, `logger` and of a year. */
const NETS: u32 = 0x5374_654e;
const LOGG: u32 = 0x6767_6f6c;
const TWENTY: u16 = 0x3032;

/** For a message that begins with its time. */
const DEFAULT_PRIORITY: u32 = 13;

/** Reads the message `[p, end)`. */
export function readHeader(p: usize, end: usize): u32 {
  timeAt = fractionAt = hostAt = appAt = pidAt = msgidAt = 0;
  hasData = hasOddTime = false;
  if (load<u8>(p) != 0x3c) {
    priority = DEFAULT_PRIORITY;
    return end - p > 15 && monthOf(p) ? readBsd(p, end) : SLOW;
  }
  let value: u32 = 0;
  let at = p + 1;
  while (<u32>load<u8>(at) - 0x30 < 10 && at - p < 4) value = value * 10 + <u32>load<u8>(at++) - 0x30;
  if (at == p + 1 || at >= end || load<u8>(at) != 0x3e || value > 191) return SLOW;
  priority = value;
  p = at + 1;
  const first = p < end ? <u32>load<u8>(p) : 0;
  if (first - 0x30 < 10) {
    if (first == 0x31 && load<u8>(p, 1) == 0x20) return readRfc5424(p + 2, end);
    return load<u8>(p, 4) == 0x2d ? readIso(p, end) : SLOW;
  }
  if (first == 0x20 || first == 0x2a || first == 0x2e) return SLOW;
  if (end - p > 15 && monthOf(p)) return readBsd(p, end);
  if (end - p < 3 || !monthOf(p)) return isHandedOver(p) ? SLOW : readTag(p, end, true);
  return SLOW;
}

/** The value at `p` up to the next space, which must come before `end`: its end, or 0 when it is empty or the last. */
function fieldEnd(p: usize, end: usize): usize {
  const from = p;
  const space = i8x16.splat(0x20);
  while (p < end) {
    const mask = i8x16.bitmask(i8x16.eq(v128.load(p), space));
    if (mask) {
      p += <usize>ctz<i32>(mask);
      return p < end && p > from ? p : 0;
    }
    p += 16;
  }
  return 0;
}

/** Behind the value at `p` and its space, or 0. Sets `valueAt`: 0 for a nil one. */
let valueAt: usize = 0;
function nextValue(p: usize, end: usize): usize {
  const to = fieldEnd(p, end);
  valueAt = to - p == 1 && load<u8>(p) == 0x2d ? 0 : p;
  return to ? to + 1 : 0;
}

function readRfc5424(p: usize, end: usize): u32 {
  const from = p;
  p = nextValue(from, end);
  if (p == 0) return SLOW;
  timeAt = valueAt;
  timeEnd = p - 1;
  hasOddTime = valueAt != 0 && timestampEnd(from, timeEnd) != timeEnd;
  if (hasOddTime && (fourDigits(from) > 9999 || load<u8>(from, 4) != 0x2d || !isDigit(from + 5))) return SLOW;
  p = nextValue(p, end);
  if (p == 0) return SLOW;
  hostAt = valueAt;
  hostEnd = p - 1;
  p = nextValue(p, end);
  if (p == 0) return SLOW;
  appAt = valueAt;
  appEnd = p - 1;
  p = nextValue(p, end);
  if (p == 0) return SLOW;
  pidAt = valueAt;
  pidEnd = p - 1;
  p = nextValue(p, end);
  if (p == 0) return SLOW;
  msgidAt = valueAt;
  msgidEnd = p - 1;
  messageAt = p;
  if (p >= end) return SLOW_DATA;
  const c = <u32>load<u8>(p);
  if (c == 0x2d) {
    p++;
  } else {
    if (c != 0x5b || !readData(p, end)) return SLOW_DATA;
    hasData = true;
    p = dataEnd;
  }
  if (p < end) {
    if (load<u8>(p) != 0x20) return SLOW_DATA;
    p++;
    if (end - p >= 3 && (load<u32>(p) & 0xffffff) == 0xbfbbef) p += 3;
  }
  messageAt = p;
  return READ;
}

/** An RFC 3339 time, as rsyslog forwards it, or one without a zone. */
function readIso(p: usize, end: usize): u32 {
  const to = fieldEnd(p, end);
  if (to == 0) return SLOW;
  if (timestampEnd(p, to) == to) {
    timeAt = p;
    timeEnd = to;
    return readHost(to + 1, end, false);
  }
  if (end - p < 20 || !isIsoForm(p)) return SLOW;
  const found = lookUp(p, 19, end);
  if (found != READ) return found;
  return mayBeZone(timeEnd + 1, end) ? SLOW : readHost(timeEnd + 1, end, false);
}

function readBsd(p: usize, end: usize): u32 {
  if (!isBsdForm(p)) return SLOW;
  const found = lookUp(p, 15, end);
  if (found != READ) return found;
  p = timeEnd + 1;
  // A year or the name of a zone may follow the clock.
  const century = <u32>load<u16>(p);
  if (century == 0x3931 || century == 0x3032) {
    if (<u32>load<u8>(p, 2) - 0x30 < 10 && <u32>load<u8>(p, 3) - 0x30 < 10) {
      // Not the beginning of an IPv6 address.
      const behind = load<u8>(p, 4) == 0x3a ? p + 5 : p + 4;
      const next = <u32>load<u8>(behind);
      if (behind >= end || next == 0x20 || (behind == p + 5 && (next == 0x22 || next == 0x0a || next == 0x0d)))
        return SLOW;
    }
  }
  return mayBeZone(p, end) ? SLOW : readHost(p, end, false);
}

/** The time of `length` bytes at `p` from the table, and its fraction, up to a space. */
function lookUp(p: usize, length: usize, end: usize): u32 {
  const entry = timeEntry(p, length);
  if (!isKnown(entry, p, length)) {
    unknownAt = p;
    unknownLength = length;
    unknownEntry = entry;
    return TIME_UNKNOWN;
  }
  if (load<u8>(entry, ANSWER) == 0) return SLOW;
  timeAt = entry + ANSWER;
  p += length;
  fractionAt = p;
  const c = <u32>load<u8>(p);
  if (c == 0x2e || c == 0x2c) p = fractionEnd(p);
  if (p == 0 || p >= end || load<u8>(p) != 0x20) return SLOW;
  timeEnd = p;
  return READ;
}

/** Reads the host and tag after a time; each may be missing. `isRest`: JavaScript has already looked for device-specific parts. */
function readHost(p: usize, end: usize, isRest: bool): u32 {
  if (p < end && load<u8>(p) == 0x20) {
    // One blank more: a host only in front of a tag.
    if (p + 2 < end && load<u16>(p, 1) == 0x203a) return readTag(blankEnd(p + 3, end), end, false);
    const to = endOfHost(p + 1, end);
    if (to) readMarkedTag(to + 1, end);
    if (appAt == 0) return readTag(p, end, false);
    hostAt = p + 1;
    hostEnd = to;
    return READ;
  }
  if (p + 1 < end && load<u16>(p) == 0x203a) return readTag(blankEnd(p + 2, end), end, false);
  const to = endOfHost(p, end);
  if (!isRest && isDeviceForm(p, wordStop, end)) return SLOW;
  if (to) {
    hostAt = p;
    hostEnd = to;
    p = to + 1;
    // `host : %ASA-6-…`, as some firewalls write it.
    if (p + 1 < end && load<u16>(p) == 0x203a) p = blankEnd(p + 2, end);
  }
  return readMarkedTag(p, end);
}

/** Reads a tag that a level may precede: `notice mcpd[12]:` of F5, `In(182) vmkernel:` of ESXi. */
function readMarkedTag(p: usize, end: usize): u32 {
  readTag(p, end, false);
  if (appAt) return READ;
  const level = levelEnd(p);
  if (level && load<u8>(p) > 0x60 && load<u8>(level) == 0x20 && level < end) {
    readTag(level + 1, end, false);
    if (pidAt || (appAt && load<u32>(level, 1) == LOGG)) return READ;
    appAt = 0;
  }
  const behind = shortLevelEnd(p, end);
  return readTag(behind ? behind : p, end, false);
}

/** Reads `name:`, `name[12]:` or `name[12]`, or no tag at all. `mayHaveTime`: a time may follow the name. */
export function readTag(p: usize, end: usize, mayHaveTime: bool): u32 {
  messageAt = p;
  let at = wordEnd(p, end, TAG_LOW, TAG_HIGH);
  if (at == p || at == end || characters > MAX_NAME) return mayHaveTime && characters > MAX_NAME ? SLOW : READ;
  const nameEnd = at;
  const c = <u32>load<u8>(at++);
  // A host in front of a device's header.
  if (mayHaveTime && c == 0x20 && isHandedOver(at)) return SLOW;
  if (c == 0x5b) {
    const pid = at;
    at = wordEnd(at, end, PID_LOW, PID_HIGH);
    if (at == end || load<u8>(at) != 0x5d || characters > MAX_NAME) return READ;
    if (at > pid) {
      pidAt = pid;
      pidEnd = at;
    }
    at++;
    if (at < end && load<u8>(at) == 0x3a) at++;
  } else {
    if (c != 0x3a || (at < end && !isSpace(load<u8>(at)) && !isWideSpace(at, end))) return READ;
    if (mayHaveTime && at + 3 < end && load<u8>(at) == 0x20) {
      const next = <u32>load<u8>(at, 1);
      if (
        next == 0x2a ||
        next == 0x2e ||
        next == 0x25 ||
        load<u16>(at, 1) == TWENTY ||
        isNumber(at + 1) ||
        monthOf(at + 1) ||
        load<u32>(at, 1) == NETS
      )
        return SLOW;
    }
  }
  // `29: …` is the number of a message.
  if (c == 0x3a && p + countDigits(p) == nameEnd) return READ;
  appAt = p;
  appEnd = nameEnd;
  if (at < end && load<u8>(at) == 0x20) at++;
  messageAt = at;
  return READ;
}

/** Reads the rest `[p, end)` of a header, after a time that JavaScript read. */
export function readRest(p: usize, end: usize, mayHaveHost: bool): void {
  timeAt = fractionAt = hostAt = appAt = pidAt = msgidAt = 0;
  hasData = hasOddTime = false;
  if (mayHaveHost) readHost(p, end, true);
  else readTag(p, end, false);
}
