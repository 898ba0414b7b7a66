/**
 * The loop over a block's lines: one call turns whole lines into NDJSON events. A line that is whole a JSON object
 * passes through with fields spliced in, any other is wrapped as text. Owns no memory: the wrapper (../kernel.ts) lays
 * it out and gives every address. Input must end in a newline; input and output must each have 64 bytes of slack.
 */
import { growth, isEmpty, objectEnd, present, repairs, setUpJson } from './json';
import { setUpIndex } from './index';
import { setUpKeys, useKeys } from './keys';
import { skipSpaces } from './scalars';
import { learnShape, setUpShapes, shapeEnd } from './shapes';
import { escapeLine, lineEnd, measureLine, replaced, setLastBreak, skipBreaks, stoppedAt, textEnd } from './text';
import { readTimeOfKeys, useTimeKeys } from './time-keys';
import { putTime, timeLength } from './time/shown';
import { readLeading } from './time/time';
import { beginZones, isUnknown, wantedAt, wantedLength } from './time/written-zone';
import { copyOver, copyRepaired } from './utf8';

/** `{"_time":"…","message":"`: always this long, and 64 bytes may be read. */
const PREFIX_BYTES: usize = 47;
/** `"_time":"…"` inside the prefix. */
const TIME_BYTES: usize = 34;
/** Lengths of the prefix before the time, and of the time. */
const OPENING_BYTES: usize = 10;
const READ_TIME_BYTES: usize = 24;
/** The mark of `_time` and of the timestamp field. */
const TIME_MARK: u64 = 1 << 62;
/** The most bytes that a step of `escapeLine` writes past its bound. */
const STEP_BYTES: usize = 32;

const STOP_INPUT: u32 = 0;
const STOP_OUTPUT: u32 = 1;
const STOP_EVENTS: u32 = 2;
const STOP_TOO_LARGE: u32 = 3;
/** JavaScript must look up a zone. */
const STOP_ZONE: u32 = 4;

let results: usize = 0;
let prefix: usize = 0;
let suffixAt: usize = 0;
let suffixLength: usize = 0;
/** All fields joined, each with its comma before it. */
let fieldsAt: usize = 0;
let fieldsLength: usize = 0;
/** The same one by one: `fieldCount` lengths (u32), field i having mark `1 << i`. */
let fieldLengths: usize = 0;
let fieldCount: u32 = 0;
let fieldMarks: u64 = 0;
let addsTime: bool = false;
/** Events have the time that they carry themselves, where they carry one. */
let readsTimes: bool = false;
/** The current event carries one. */
let isTimed: bool = false;

export function setUp(
  resultsAt: usize,
  prefixAt: usize,
  scratchAt: usize,
  stackAt: usize,
  maxDepth: u32,
  indexAt: usize,
  shapesAt: usize,
): void {
  results = resultsAt;
  prefix = prefixAt;
  setUpKeys(scratchAt);
  setUpJson(stackAt, maxDepth);
  setUpIndex(indexAt);
  setUpShapes(shapesAt);
}

/** Takes the template at `t` into use; template.ts says how it is laid out. */
export function useTemplate(t: usize): void {
  suffixAt = load<u32>(t);
  suffixLength = load<u32>(t, 4);
  fieldsAt = load<u32>(t, 8);
  fieldsLength = load<u32>(t, 12);
  fieldLengths = load<u32>(t, 16);
  fieldCount = load<u32>(t, 20);
  addsTime = load<u32>(t, 24) != 0;
  fieldMarks = ((<u64>1) << (<u64>fieldCount)) - 1;
  readsTimes = load<u32>(t, 48) != 0;
  useTimeKeys(load<u32>(t, 52), load<u32>(t, 56), load<u32>(t, 60));
  useKeys(load<u32>(t, 28), load<u32>(t, 32), load<u32>(t, 36), load<u64>(t, 40));
}

/** Bytes that the fields (and `_time`) take which the object has not. */
function spliceLength(marks: u64): usize {
  let length = fieldsLength;
  if (marks & fieldMarks) {
    for (let i: u32 = 0; i < fieldCount; i++) {
      if ((marks >> <u64>i) & 1) length -= <usize>load<u32>(fieldLengths + (i << 2));
    }
  }
  if (!addsTime || marks & TIME_MARK) return length;
  return length + TIME_BYTES + 1 + (isTimed ? timeLength - READ_TIME_BYTES : 0);
}

/** Writes those fields at `o`, each with a comma before it; returns the end. */
function splice(o: usize, marks: u64): usize {
  if ((marks & fieldMarks) == 0) {
    copyOver(o, fieldsAt, fieldsLength);
    o += fieldsLength;
  } else {
    for (let i: u32 = 0, at = fieldsAt; i < fieldCount; i++) {
      const length = <usize>load<u32>(fieldLengths + (i << 2));
      if (((marks >> <u64>i) & 1) == 0) {
        copyOver(o, at, length);
        o += length;
      }
      at += length;
    }
  }
  if (addsTime && (marks & TIME_MARK) == 0) {
    store<u8>(o, 0x2c);
    copyOver(o + 1, prefix + 1, TIME_BYTES);
    o += TIME_BYTES + 1;
    if (isTimed) {
      o = putTime(o - READ_TIME_BYTES - 1);
      store<u8>(o++, 0x22);
    }
  }
  return o;
}

/** Writes the prefix of a line's text; returns its end. */
function putPrefix(o: usize): usize {
  if (!isTimed) {
    copyOver(o, prefix, PREFIX_BYTES);
    return o + PREFIX_BYTES;
  }
  v128.store(o, v128.load(prefix));
  o = putTime(o + OPENING_BYTES);
  v128.store(o, v128.load(prefix + OPENING_BYTES + READ_TIME_BYTES));
  return o + PREFIX_BYTES - OPENING_BYTES - READ_TIME_BYTES;
}

/**
 * Wraps the lines at `[p, end)` as events at `[out, limit)`; `base` is where the output's region starts. `passes`: JSON objects pass
 * through. `ends`: the addresses, u32 each, where events of joined lines end, the last one `end`; 0 when each line is an event. Results,
 * u32 each: address reached in the input and in the output, events, skipped ones, why it stopped, U+FFFD written for invalid UTF-8, events
 * whose time precedes an unknown zone, and the address and length of the name of a zone to look up.
 */
export function wrap(
  p: usize,
  end: usize,
  out: usize,
  base: usize,
  limit: usize,
  maxEvents: u32,
  passes: bool,
  ends: usize,
): void {
  let events: u32 = 0;
  let skipped: u32 = 0;
  let unknownZones: u32 = 0;
  let stop = STOP_INPUT;
  const reserve = suffixLength + STEP_BYTES;
  const safe = limit > reserve ? limit - reserve : 0;
  let begin = p;
  let lastBreak: usize = 0;
  setLastBreak(0);
  replaced = 0;
  while (p < end) {
    begin = p;
    if (ends) {
      const eventEnd = <usize>load<u32>(ends);
      p = skipBreaks(p, eventEnd);
      if (p == eventEnd) {
        ends += 4;
        skipped++;
        continue;
      }
      lastBreak = textEnd(p, eventEnd);
      setLastBreak(lastBreak);
    }
    const first = <u32>load<u8>(p);
    if (first == 0x0a || (first == 0x0d && load<u8>(p + 1) == 0x0a)) {
      p += first == 0x0a ? 1 : 2;
      skipped++;
      continue;
    }
    if (events == maxEvents) {
      stop = STOP_EVENTS;
      break;
    }
    if (passes) {
      let start = first > 0x20 ? p : skipSpaces(p);
      // A byte order mark in the middle: files that were put together.
      if (first == 0xef && load<u8>(p + 1) == 0xbb && load<u8>(p + 2) == 0xbf) start = skipSpaces(p + 3);
      if (load<u8>(start) == 0x7b) {
        let close = shapeEnd(start);
        if (close == 0) {
          close = objectEnd(start);
          if (close && !isEmpty) learnShape(start, close, present);
        }
        const next = close ? skipSpaces(close) : 0;
        if (next && load<u8>(next) == 0x0a && next >= lastBreak) {
          const marks = present;
          const seeksTime = readsTimes && addsTime && (marks & TIME_MARK) == 0;
          isTimed = seeksTime && readTimeOfKeys();
          if (seeksTime && wantedAt) {
            stop = STOP_ZONE;
            break;
          }
          const added = spliceLength(marks);
          const bare: usize = isEmpty && added ? 1 : 0;
          const body = close - 1 - start;
          const size = body + growth + added - bare + 2;
          if (out + size > limit) {
            stop = size > limit - base ? STOP_TOO_LARGE : STOP_OUTPUT;
            break;
          }
          let o = out + body;
          if (repairs) {
            o = copyRepaired(out, start, close - 1);
            replaced += repairs;
          } else copyOver(out, start, body);
          if (bare) {
            // No member before the first field: its comma is overwritten by the bytes before it.
            const kept = load<u8>(o - 1);
            o = splice(o - 1, marks);
            store<u8>(o - added, kept);
          } else if (added) {
            o = splice(o, marks);
          }
          if (seeksTime && !isTimed && isUnknown) unknownZones++;
          store<u16>(o, 0x0a7d);
          out += size;
          p = next + 1;
          if (ends) {
            p = <usize>load<u32>(ends);
            ends += 4;
          }
          events++;
          continue;
        }
      }
    }
    // Text. Straight on while there is plenty of room; near its end the line's rest is measured first.
    let o = out;
    let rest = p;
    const before = replaced;
    lineEnd = 0;
    beginZones();
    isTimed = readsTimes && readLeading(p);
    if (readsTimes && wantedAt) {
      stop = STOP_ZONE;
      break;
    }
    const prefixBytes = isTimed ? PREFIX_BYTES - READ_TIME_BYTES + timeLength : PREFIX_BYTES;
    if (out + prefixBytes <= safe) {
      o = escapeLine(p, putPrefix(out), safe);
      rest = stoppedAt;
    }
    if (lineEnd == 0) {
      const begun = o != out;
      const size = (begun ? o - out : prefixBytes) + measureLine(rest) + suffixLength;
      if (out + size > limit) {
        stop = size > limit - base ? STOP_TOO_LARGE : STOP_OUTPUT;
        replaced = before;
        break;
      }
      if (!begun) o = putPrefix(out);
      o = escapeLine(rest, o, usize.MAX_VALUE);
    }
    if (readsTimes && !isTimed && isUnknown) unknownZones++;
    copyOver(o, suffixAt, suffixLength);
    out = o + suffixLength;
    p = lineEnd;
    if (ends) {
      p = <usize>load<u32>(ends);
      ends += 4;
    }
    events++;
  }
  if (stop != STOP_INPUT) p = begin;
  store<u32>(results, <u32>p);
  store<u32>(results, <u32>out, 4);
  store<u32>(results, events, 8);
  store<u32>(results, skipped, 12);
  store<u32>(results, stop, 16);
  store<u32>(results, replaced, 20);
  store<u32>(results, unknownZones, 24);
  store<u32>(results, <u32>wantedAt, 28);
  store<u32>(results, <u32>wantedLength, 32);
}

/** Newlines in `[p, end)`. */
export function count(p: usize, end: usize): u32 {
  let lines: u32 = 0;
  while (p + 16 <= end) {
    lines += popcnt<i32>(i8x16.bitmask(i8x16.eq(v128.load(p), i8x16.splat(0x0a))));
    p += 16;
  }
  while (p < end) lines += load<u8>(p++) == 0x0a ? 1 : 0;
  return lines;
}

export { journalEntries, setUpJournal } from './journal/journal';
export { forgetShapes } from './shapes';
export { setRead, setUpTimes } from './time-set-up';
export {
  setUpSyslog,
  syslogHeader,
  syslogStream,
  syslogTable,
  useSyslogSource,
  useSyslogSuffix,
} from './syslog/syslog';
