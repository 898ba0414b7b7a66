/**
 * The loop over syslog messages: one call turns received bytes into NDJSON events. Owns no memory: the wrapper
 * (../../syslog.ts) gives every address. The loop writes to the input for moments and restores it; input and output must
 * each have 64 bytes of slack.
 */
import { copyOver } from '../utf8';
import { dataAt, dataLength, setUpData } from './data';
import {
  behindFrame,
  datagramFrame,
  frameAt,
  frameEnd,
  isCounting,
  nextFrame,
  setCounting,
  setFrame,
  skipTrailers,
} from './frame';
import * as header from './header';
import { useHeads } from './heads';
import { clearRepaired, putText, repaired } from './text';
import { setReceipt, useTimes } from './time';
import {
  APPNAME,
  HOST,
  MESSAGE,
  MSGID,
  PROCID,
  STRUCTURED_DATA,
  TIME,
  putPriority,
  putWord,
  setUpWords,
} from './words';

/** All whole messages were consumed. */
const STOP_INPUT: u32 = 0;
/** A message was consumed without an event: JavaScript must parse it. */
const STOP_SLOW: u32 = 1;
/** The next event may not fit. */
const STOP_OUTPUT: u32 = 2;
/** JavaScript must resolve the next message's time. */
const STOP_TIME: u32 = 3;

/** The most bytes that an event takes besides its values: words, priority, times. */
const FIXED_BYTES: usize = 512;
/** In a length: not a message, but the suffix of the events after it. */
const SUFFIX_MARK: u32 = 0x80000000;
/** In a length: a message of a stream, which has no octet count any more. */
const FRAMED_MARK: u32 = 0x40000000;
const LENGTH_MASK: u32 = 0x3fffffff;

let results: usize = 0;
/** The time of receipt: 24 bytes. */
let now: usize = 0;
/** The suffix of each event: `,"peer":"…"}` and a newline. */
let suffixAt: usize = 0;
let suffixLength: usize = 0;
let maxBytes: usize = 0;
let jsonMode: u32 = 0;
/** JavaScript takes messages that are not UTF-8: they are in another charset. */
let hasCharset: bool = false;
/** Where the next event goes, up to where events may go, and how many there are. */
let out: usize = 0;
let limit: usize = 0;
let events: u32 = 0;

export function setUpSyslog(resultsAt: usize, wordsAt: usize, prioritiesAt: usize, scratchAt: usize): void {
  results = resultsAt;
  setUpWords(wordsAt, prioritiesAt);
  setUpData(scratchAt);
}

/**
 * Sets a source's times and its time of receipt, as text and in seconds since 1970, and the beginnings of headers that JavaScript reads.
 * These messages are left to JavaScript: those of more than `longest` bytes; those that may be JSON after a cookie (`json` 1), with and
 * without it (2), or all (3); and with a `charset` those with invalid UTF-8.
 */
export function useSyslogSource(
  timesAt: usize,
  nowAt: usize,
  headsAt: usize,
  nowSecond: f64,
  longest: usize,
  json: u32,
  charset: bool,
): void {
  useTimes(timesAt);
  useHeads(headsAt);
  setReceipt(nowAt, <i64>nowSecond);
  jsonMode = json;
  hasCharset = charset;
  now = nowAt;
  maxBytes = longest;
}

export function useSyslogSuffix(at: usize, length: usize): void {
  suffixAt = at;
  suffixLength = length;
}

/**
 * The messages of a stream in `[p, end)` to events at `[to, most)`. Ends before a message that is not whole. Results, u32
 * each: where it stopped in the input and in the output, events, why, the last message looked at (from, to), whether
 * the last message was counted, the suffix (address, length), and the time asked for
 * (address, length, its entry).
 */
export function syslogStream(p: usize, end: usize, to: usize, most: usize, counting: bool): void {
  out = to;
  limit = most;
  events = 0;
  setCounting(counting);
  let stop = STOP_INPUT;
  while (stop == STOP_INPUT) {
    p = skipTrailers(p, end);
    const before = isCounting;
    if (p == end || !nextFrame(p, end)) break;
    stop = putEvent();
    if (stop > STOP_SLOW) setCounting(before);
    else p = behindFrame;
  }
  tell(p, stop);
}

/**
 * The same for the entries of a table in `[p, end)`: address and length (u32 each) of a datagram, unless a mark in the length
 * says otherwise.
 */
export function syslogTable(p: usize, end: usize, to: usize, most: usize): void {
  out = to;
  limit = most;
  events = 0;
  let stop = STOP_INPUT;
  while (p < end) {
    const from = <usize>load<u32>(p);
    const length = load<u32>(p, 4);
    const behind = from + <usize>(length & LENGTH_MASK);
    if (length & SUFFIX_MARK) {
      useSyslogSuffix(from, behind - from);
    } else {
      if (length & FRAMED_MARK) setFrame(from, behind);
      else datagramFrame(from, behind);
      stop = putEvent();
      if (stop > STOP_SLOW) break;
    }
    p += 8;
    if (stop) break;
  }
  tell(p, stop);
}

function tell(p: usize, stop: u32): void {
  store<u32>(results, <u32>p);
  store<u32>(results, <u32>out, 4);
  store<u32>(results, events, 8);
  store<u32>(results, stop, 12);
  store<u32>(results, <u32>frameAt, 16);
  store<u32>(results, <u32>frameEnd, 20);
  store<u32>(results, isCounting ? 1 : 0, 24);
  store<u32>(results, <u32>suffixAt, 28);
  store<u32>(results, <u32>suffixLength, 32);
  store<u32>(results, <u32>header.unknownAt, 36);
  store<u32>(results, <u32>header.unknownLength, 40);
  store<u32>(results, <u32>header.unknownEntry, 44);
}

/**
 * Reads a header for JavaScript: that of the message `[p, end)`, or after a time that JavaScript read the host and tag (`part` 1) or the
 * tag alone (2). Results, u32 each, at `at`: priority, where the message begins, then from and to of the time, of its fraction, of host,
 * appname, procid, msgid and the JSON of structured data. Absent is 0. A nil or invalid time is given as sent, with a fraction of 1.
 */
export function syslogHeader(p: usize, end: usize, part: u32, at: usize): u32 {
  let found = header.READ;
  if (part) header.readRest(p, end, part == 1);
  else found = header.readHeader(p, end);
  if (found == header.TIME_UNKNOWN) tell(p, STOP_TIME);
  store<u32>(at, header.priority);
  store<u32>(at, <u32>header.messageAt, 4);
  putRange(at + 8, header.timeAt, header.fractionAt ? header.timeAt + 19 : header.timeEnd);
  putRange(at + 16, header.hasOddTime ? 1 : header.fractionAt, header.timeEnd);
  putRange(at + 24, header.hostAt, header.hostEnd);
  putRange(at + 32, header.appAt, header.appEnd);
  putRange(at + 40, header.pidAt, header.pidEnd);
  putRange(at + 48, header.msgidAt, header.msgidEnd);
  putRange(at + 56, header.hasData ? dataAt() : 0, dataAt() + dataLength);
  return found;
}

function putRange(at: usize, from: usize, to: usize): void {
  store<u32>(at, <u32>from);
  store<u32>(at, <u32>to, 4);
}

/** Writes the event of the frame, unless something else must happen first. An empty frame is no event. */
function putEvent(): u32 {
  const length = frameEnd - frameAt;
  if (length == 0) return STOP_INPUT;
  if (length > maxBytes) return STOP_SLOW;
  if (out + length * 6 + suffixLength + FIXED_BYTES > limit) return STOP_OUTPUT;
  clearRepaired();
  const found = header.readHeader(frameAt, frameEnd);
  if (found == header.TIME_UNKNOWN) return STOP_TIME;
  if (found != header.READ || header.hasOddTime) return STOP_SLOW;
  if (jsonMode && mayBeJson(header.messageAt, frameEnd)) return STOP_SLOW;
  let o = putTime(putWord(out, TIME));
  o = putWord(o, MESSAGE);
  o = putText(header.messageAt, frameEnd, o);
  // U+FFFD is longer than the bytes it replaces: the event may no longer fit.
  if (repaired && length * 3 > maxBytes) return STOP_SLOW;
  if (header.hostAt) o = putText(header.hostAt, header.hostEnd, putWord(o, HOST));
  if (header.appAt) o = putText(header.appAt, header.appEnd, putWord(o, APPNAME));
  if (header.pidAt) o = putText(header.pidAt, header.pidEnd, putWord(o, PROCID));
  if (header.msgidAt) o = putText(header.msgidAt, header.msgidEnd, putWord(o, MSGID));
  o = putPriority(o, header.priority);
  if (header.hasData) {
    o = putWord(o, STRUCTURED_DATA);
    copyOver(o, dataAt(), dataLength);
    o += dataLength;
  }
  if (repaired && hasCharset) return STOP_SLOW;
  copyOver(o, suffixAt, suffixLength);
  out = o + suffixLength;
  events++;
  return STOP_INPUT;
}

function mayBeJson(p: usize, end: usize): bool {
  if (jsonMode == 3) return true;
  while (p < end && load<u8>(p) == 0x20) p++;
  if (p == end) return false;
  const c = <u32>load<u8>(p);
  return c == 0x40 || (jsonMode == 2 && (c == 0x7b || c == 0x09 || c == 0x0a || c == 0x0d));
}

function putTime(o: usize): usize {
  const at = header.timeAt;
  if (at == 0) {
    copyOver(o, now, 24);
    return o + 24;
  }
  if (header.fractionAt == 0) {
    copyOver(o, at, header.timeEnd - at);
    return o + (header.timeEnd - at);
  }
  copyOver(o, at, 19);
  o += 19;
  const length = header.timeEnd - header.fractionAt;
  if (length) {
    v128.store(o, v128.load(header.fractionAt));
    store<u8>(o, 0x2e);
    o += length;
  }
  store<u8>(o, 0x5a);
  return o + 1;
}
