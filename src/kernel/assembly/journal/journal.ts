/**
 * The loop over a journal's entries, as `journalctl --output=export` prints them: one call turns whole entries into NDJSON events.
 * Owns no memory: the wrapper (../../journal.ts) gives every address. The loop writes to the input for moments and restores it; input
 * and output must each have 64 bytes of slack.
 */
import * as entry from './entry';
import { at, endOf } from './entry';
import { clearRepaired, putText, repaired } from '../syslog/text';
import { countEnd, counted, latest, putTime, setLatest, show } from '../time/shown';
import { copyOver } from '../utf8';

/** All whole entries were consumed. */
const STOP_INPUT: u32 = 0;
/** An entry was consumed without an event: JavaScript makes it. */
const STOP_SLOW: u32 = 1;
/** The next event may not fit, or the table is full. */
const STOP_OUTPUT: u32 = 2;
/** The next entry is of another sequence. */
const STOP_SEQUENCE: u32 = 3;
/** What comes next is no entry. */
const STOP_GARBAGE: u32 = 4;
/** The next entry is behind those that are wanted. */
const STOP_END: u32 = 5;

/** Slots, in the order of FIELDS in ../../journal.ts. */
const RECEIVED: usize = 1;
const SENT: usize = 2;
const PRIORITY: usize = 3;
const FACILITY: usize = 4;
const MESSAGE: usize = 5;
const UNIT: usize = 11;

/** Words, 64 bytes each, with their length in byte 47: of the time, of each member (its slots in bytes 48 and 49), and those of codes. */
const TIME: usize = 0;
const MEMBERS: usize = 1;
const SEVERITIES: usize = 6;
const FACILITIES: usize = 14;
/** What an event may take beside its values. */
const FIXED_BYTES: usize = 512;

/** More bytes of values beside the message are JavaScript's. */
const MAX_OTHER_BYTES: usize = 4096;

let results: usize = 0;
let words: usize = 0;

export function setUpJournal(resultsAt: usize, namesAt: usize, wordsAt: usize, slotsAt: usize): void {
  results = resultsAt;
  words = wordsAt;
  entry.setUpEntry(namesAt, slotsAt);
}

/** Writes a word at `o`, and returns the address behind it. */
function putWord(o: usize, word: usize): usize {
  const from = words + (word << 6);
  copyOver(o, from, 48);
  return o + <usize>load<u8>(from, 47);
}

function putCode(o: usize, slot: usize, word: usize, count: u32): usize {
  const code = entry.smallNumber(slot);
  return code < count ? putWord(o, word + code) : o;
}

/** The slot that a member's value is in. */
function slotOf(word: usize): usize {
  const first = <usize>load<u8>(words + (word << 6), 48);
  return at(first) ? first : <usize>load<u8>(words + (word << 6), 49);
}

/** Whether the slot holds microseconds since 1970 which are taken for a time: they are shown then. */
function readTime(slot: usize): bool {
  return endOf(slot) - at(slot) == 16 && countEnd(at(slot)) == endOf(slot) && show(counted);
}

function putEvent(begin: usize): usize {
  let o = begin;
  if (readTime(SENT) || readTime(RECEIVED)) {
    o = putTime(putWord(o, TIME));
    store<u8>(o++, 0x22);
  }
  clearRepaired();
  for (let word = MEMBERS; word < SEVERITIES; word++) {
    const slot = slotOf(word);
    if (at(slot) == 0) continue;
    o = putText(at(slot), endOf(slot), putWord(o, word));
    store<u8>(o++, 0x22);
  }
  o = putCode(putCode(o, PRIORITY, SEVERITIES, 8), FACILITY, FACILITIES, 24);
  // Without a time the event begins with a member's comma.
  store<u8>(begin, 0x7b);
  store<u16>(o, 0x0a7d);
  return o + 2;
}

function mayBeObject(p: usize, to: usize): bool {
  while (p < to && <u32>load<u8>(p) <= 0x20) p++;
  return p < to && <u32>load<u8>(p) == 0x7b;
}

/**
 * Entries in `[p, stop)` to events at `[o, limit)`, and for each an entry of 16 bytes in the table at `[table, tableEnd)`: the position
 * behind it (f64) and where it ends (u32). At `c`: 32 bytes of the sequence whose entries are wanted; f64 the number from which on, and before
 * which, and the last second that is a time; u32 the longest message, address and length of the agent's own unit, whose entries are slow, and whether
 * entries with objects are (1), or all (2). Results, u32 each: addresses reached in the input and in the output, events, why it stopped, the last entry that
 * was consumed (from, to).
 */
export function journalEntries(
  p: usize,
  stop: usize,
  o: usize,
  limit: usize,
  table: usize,
  tableEnd: usize,
  c: usize,
): void {
  let first = load<f64>(c, 32);
  const behind = load<f64>(c, 40);
  const longest = <usize>load<u32>(c, 56);
  const slow = load<u32>(c, 68);
  const before = latest;
  setLatest(<i64>load<f64>(c, 48));
  const sentinel = load<u8>(stop);
  store<u8>(stop, 0x0a);
  let lastFrom: usize = 0;
  let lastTo: usize = 0;
  let events: u32 = 0;
  let why = STOP_INPUT;
  while (p < stop && why == STOP_INPUT) {
    const next = entry.readEntry(p, stop);
    const number = <f64>entry.entryNumber;
    if (entry.isGarbage) why = STOP_GARBAGE;
    else if (next && !entry.isEqual(p + entry.SEQUENCE_AT, 32, c, 32)) why = STOP_SEQUENCE;
    else if (next && number >= behind) why = STOP_END;
    if (why || next == 0) break;
    if (number >= first) {
      const length = endOf(MESSAGE) - at(MESSAGE);
      let all: usize = 0;
      for (let word = MEMBERS; word < SEVERITIES; word++) all += endOf(slotOf(word)) - at(slotOf(word));
      let isSlow =
        entry.isRepeated || slow == 2 || at(MESSAGE) == 0 || length > longest || all - length > MAX_OTHER_BYTES;
      if (at(UNIT) && entry.isEqual(at(UNIT), endOf(UNIT) - at(UNIT), load<u32>(c, 60), load<u32>(c, 64)))
        isSlow = true;
      if (slow == 1 && mayBeObject(at(MESSAGE), endOf(MESSAGE))) isSlow = true;
      const isTooLong = o + all * 6 + FIXED_BYTES > limit;
      if (!isSlow && (table == tableEnd || (isTooLong && events))) {
        why = STOP_OUTPUT;
        break;
      }
      const to = isSlow || isTooLong ? o : putEvent(o);
      // U+FFFD is longer than the bytes it replaces.
      if (to == o || (repaired && length * 3 > longest)) why = STOP_SLOW;
      else {
        o = to;
        first = number + 1;
        store<f64>(table, first);
        store<u32>(table, <u32>o, 8);
        table += 16;
        events++;
      }
    }
    lastFrom = p;
    lastTo = next;
    p = next;
  }
  store<u8>(stop, sentinel);
  setLatest(before);
  store<u32>(results, <u32>p);
  store<u32>(results, <u32>o, 4);
  store<u32>(results, events, 8);
  store<u32>(results, why, 12);
  store<u32>(results, <u32>lastFrom, 16);
  store<u32>(results, <u32>lastTo, 20);
}
