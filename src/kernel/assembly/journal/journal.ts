/**
 * The loop over a journal's entries, as `journalctl --output=export` prints them: one call turns whole entries into NDJSON events.
 * Owns no memory: the wrapper (../../journal.ts) gives every address. The loop writes to the input for moments and restores it; input
 * and output must each have 64 bytes of slack.
 */
import * as entry from './entry';
import { at, lengthOf } from './entry';
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

/** The words, 48 bytes each with their length in the last one: severities and facilities follow them. */
const WORD_TIMED: usize = 0;
const WORD_MESSAGE: usize = 1;
const WORD_UNTIMED: usize = 2;
const WORD_HOST: usize = 3;
const WORD_APPNAME: usize = 4;
const WORD_PROCID: usize = 5;
const WORD_UNIT: usize = 6;
const SEVERITIES: usize = 7;
const FACILITIES: usize = 15;
/** What an event may take beside its values. */
const FIXED_BYTES: usize = 512;

/** More bytes of values beside the message are JavaScript's. */
const MAX_OTHER_BYTES: usize = 4096;

const OWN_LEFT_OUT: u32 = 1;

let results: usize = 0;
let words: usize = 0;

export function setUpJournal(resultsAt: usize, namesAt: usize, wordsAt: usize, slotsAt: usize): void {
  results = resultsAt;
  words = wordsAt;
  entry.setUpEntry(namesAt, slotsAt);
}

/** Writes a word at `o`, and returns the address behind it. */
function putWord(o: usize, word: usize): usize {
  const from = words + word * 48;
  copyOver(o, from, 48);
  return o + <usize>load<u8>(from, 47);
}

function putValue(o: usize, slot: usize, word: usize): usize {
  return at(slot) ? putText(at(slot), at(slot) + lengthOf(slot), putWord(o, word)) : o;
}

/** Whether the slot holds microseconds since 1970 which are taken for a time: they are shown then. */
function readTime(slot: usize): bool {
  return at(slot) != 0 && lengthOf(slot) == 16 && countEnd(at(slot)) == at(slot) + 16 && show(counted);
}

function putEvent(o: usize): usize {
  const isTimed = readTime(entry.SENT) || readTime(entry.RECEIVED);
  if (isTimed) o = putWord(putTime(putWord(o, WORD_TIMED)), WORD_MESSAGE);
  else o = putWord(o, WORD_UNTIMED);
  clearRepaired();
  o = putText(at(entry.MESSAGE), at(entry.MESSAGE) + lengthOf(entry.MESSAGE), o);
  o = putValue(o, entry.HOST, WORD_HOST);
  o = putValue(o, at(entry.IDENTIFIER) ? entry.IDENTIFIER : entry.COMMAND, WORD_APPNAME);
  o = putValue(o, at(entry.SYSLOG_PID) ? entry.SYSLOG_PID : entry.PID, WORD_PROCID);
  o = putValue(o, entry.UNIT, WORD_UNIT);
  store<u8>(o++, 0x22);
  const severity = entry.smallNumber(entry.PRIORITY);
  if (severity < 8) o = putWord(o, SEVERITIES + severity);
  const facility = entry.smallNumber(entry.FACILITY);
  if (facility < 24) o = putWord(o, FACILITIES + facility);
  store<u16>(o, 0x0a7d);
  return o + 2;
}

/**
 * Entries in `[p, stop)` to events at `[o, limit)`, and for each an entry of 16 bytes in the table at `[table, tableEnd)`: the position
 * behind it (f64) and where it ends (u32). At `c`: 32 bytes of the sequence whose entries are wanted; f64 the number from which on, and before which, and the last second that is
 * a time; u32 the longest message, how the agent's own entries are taken, the address and length of its unit, whether all entries are slow, whether those with objects are, and whether
 * other sequences are passed over. Results, u32 each: addresses reached in the input and in the output, events, why it stopped, the last entry that was consumed (from, to).
 */
export function journalEntries(p: usize, stop: usize, o: usize, limit: usize, table: usize, tableEnd: usize, c: usize): void {
  const sequenceLow = v128.load(c);
  const sequenceHigh = v128.load(c, 16);
  let first = load<f64>(c, 32);
  const behind = load<f64>(c, 40);
  const longest = <usize>load<u32>(c, 56);
  const own = load<u32>(c, 60);
  const unitAt = <usize>load<u32>(c, 64);
  const unitLength = <usize>load<u32>(c, 68);
  const slowAll = load<u32>(c, 72) != 0;
  const slowObjects = load<u32>(c, 76) != 0;
  const passes = load<u32>(c, 80) != 0;
  const before = latest;
  setLatest(<i64>load<f64>(c, 48));
  entry.setEnd(stop);
  const sentinel = load<u8>(stop);
  store<u8>(stop, 0x0a);
  let lastFrom: usize = 0;
  let lastTo: usize = 0;
  let events: u32 = 0;
  let why = STOP_INPUT;
  while (p < stop) {
    const next = entry.readEntry(p);
    if (entry.isGarbage) why = STOP_GARBAGE;
    if (next == 0) break;
    const number = <f64>entry.entryNumber;
    const other = v128.or(
      v128.xor(v128.load(p + entry.SEQUENCE_AT), sequenceLow),
      v128.xor(v128.load(p + entry.SEQUENCE_AT, 16), sequenceHigh),
    );
    const isOther = v128.any_true(other);
    if (isOther && !passes) why = STOP_SEQUENCE;
    else if (!isOther && number >= behind) why = STOP_END;
    if (why) break;
    const isOwn = own != 0 && at(entry.UNIT) != 0 && entry.isEqual(at(entry.UNIT), lengthOf(entry.UNIT), unitAt, unitLength);
    if (!isOther && number >= first && !(isOwn && own == OWN_LEFT_OUT)) {
      const others = entry.otherBytes();
      const length = lengthOf(entry.MESSAGE);
      let isSlow = entry.isRepeated;
      if (slowAll || isOwn || at(entry.CUT) != 0 || at(entry.MESSAGE) == 0 || length > longest || others > MAX_OTHER_BYTES) isSlow = true;
      else if (slowObjects && entry.mayBeObject(at(entry.MESSAGE), at(entry.MESSAGE) + length)) isSlow = true;
      if (!isSlow) {
        const isTooLong = o + (length + others) * 6 + FIXED_BYTES > limit;
        if (table + 16 > tableEnd || (isTooLong && events)) {
          why = STOP_OUTPUT;
          break;
        }
        isSlow = isTooLong;
      }
      const to = isSlow ? o : putEvent(o);
      // U+FFFD is longer than the bytes it replaces.
      if (isSlow || (repaired && length * 3 > longest)) why = STOP_SLOW;
      else {
        o = to;
        first = number + 1;
        store<f64>(table, number + 1);
        store<u32>(table, <u32>o, 8);
        table += 16;
        events++;
      }
    }
    lastFrom = p;
    lastTo = next;
    p = next;
    if (why) break;
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
