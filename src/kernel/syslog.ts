/**
 * The typed door to the syslog loops (assembly/syslog/syslog.ts): received bytes to events, one call for as many messages as
 * there are. What the loops leave to JavaScript they name, one message at a time; nothing is skipped or guessed.
 */
import type { Region } from '../core/block.ts';
import { FACILITIES, SEVERITIES } from '../core/syslog-priority.ts';
import { timeText } from './reference.ts';
import { checkRange } from './range.ts';

/** The result of one call. The object is reused by the next call. */
export interface SyslogResult {
  /** Where it stopped in the input: before the first message, or entry, that is not used up. */
  at: number;
  /** Output bytes written, and their events. */
  written: number;
  events: number;
  /**
   * `input`: every whole message is used up. `slow`: the message that `message()` gives is used up without an event, and is the
   * caller's to read. `output`: the next event may not fit (a bound, not its exact size). `time`: see `learnTime`.
   */
  stop: 'input' | 'slow' | 'output' | 'time';
}

/** The loops as one source uses them: with its own receipt times and its own times of senders. */
export interface SyslogLoops {
  /** Wall clock of the receipt, milliseconds, for all calls from now on. Cached times hold for a second of it. */
  receive(nowMs: number): void;
  /**
   * The messages of a stream in `input.bytes[start, end)` to events, each ended by `suffix`, at `output.bytes[at, limit)`.
   * `framing` says whether the stream's last message was counted, and is kept up to date. Stops before a message that is
   * not whole. The byte after the input must be writable.
   */
  stream(
    suffix: Buffer,
    framing: { isCounting: boolean },
    input: Region,
    start: number,
    end: number,
    output: Region,
    at: number,
    limit: number,
  ): SyslogResult;
  /** The same for the entries of a table from `start` on. The byte after each message must be writable. */
  table(table: MessageTable, start: number, output: Region, at: number, limit: number): SyslogResult;
  /** The last message that was read, without its framing; valid until the next call. */
  message(): Buffer;
  /** The suffix that held for it. */
  suffix(): Buffer;
  /** The time that the last call stopped for: `Oct 11 22:14:15`, `2026-10-11T22:14:15` or `2026-10-11 22:14:15`. */
  unknownTime(): string;
  /** That time, as `2026-10-11T22:14:15` in UTC; undefined makes messages with it slow. */
  learnTime(value: string | undefined): void;
}

/** Messages that lie anywhere in the kernel's memory, in their order, and the suffixes of their events. */
export interface MessageTable {
  readonly region: Region;
  /** Entries so far. */
  readonly count: number;
  readonly isFull: boolean;
  clear(): void;
  /** `address` is the kernel's. A datagram that begins with an octet count that fits is taken without it. */
  addDatagram(address: number, length: number): void;
  /** A message of a stream. */
  addFramed(address: number, length: number): void;
  /** The end of the events of the messages after it. */
  addSuffix(address: number, length: number): void;
}

const ENTRY_BYTES = 8;
const SUFFIX_MARK = 0x8000_0000;
const FRAMED_MARK = 0x4000_0000;
/** Bytes of a suffix, at most. */
export const MAX_SUFFIX_BYTES = 1024;

/** What kernel.wasm exports for it; assembly/syslog/syslog.ts says what each does. */
export interface SyslogExports {
  setUpSyslog(results: number, words: number, priorities: number, scratch: number): void;
  useSyslogSource(times: number, now: number, nowSecond: number, longest: number, json: number, charset: number): void;
  useSyslogSuffix(at: number, length: number): void;
  syslogStream(p: number, end: number, to: number, most: number, counting: number): void;
  syslogTable(p: number, end: number, to: number, most: number): void;
}

const JSON_MODES = ['none', 'cee', 'all'];
const STOPS = ['input', 'slow', 'output', 'time'] as const;
/** In the order of assembly/syslog/words.ts; each but the first and the last closes the value before it. */
const WORDS = ['{"_time":"', '","message":"', '","host":"', '","appname":"', '","procid":"', '","msgid":"', ',"structured_data":'];
const WORD_BYTES = 32;
const PRIORITY_BYTES = 96;
const PRIORITIES = 192;
/** assembly/syslog/data.ts: the JSON of 4 KiB of structured data, and two tables of names. */
const SCRATCH_BYTES = 8 * 4096 + 16 * 32;
const WORDS_BYTES = WORDS.length * WORD_BYTES + PRIORITIES * PRIORITY_BYTES;
const TIMES = 64;
const TIME_BYTES = 64;
const TIME_ANSWER = 32;
const NOW_BYTES = 32;

/**
 * Makes the loops of one source. Messages of more than `longest` bytes are slow, those that may be JSON which is wanted, and those that
 * are no UTF-8 where they are in another charset then (`hasCharset`).
 */
export type SyslogFactory = (longest: number, json?: 'none' | 'cee' | 'all', hasCharset?: boolean) => SyslogLoops;

/** `memory` is the whole of the kernel's, `resultsAt` twelve u32 of it. */
export function createSyslogFactory(
  exports: SyslogExports,
  memory: Buffer,
  resultsAt: number,
  reserve: (bytes: number) => Region,
): SyslogFactory {
  const results = new Uint32Array(memory.buffer, memory.byteOffset + resultsAt, 12);
  let isSetUp = false;
  /** Whose times are loaded. */
  let loaded: object | undefined;

  function setUp(): void {
    isSetUp = true;
    const { at, bytes } = reserve(WORDS_BYTES + SCRATCH_BYTES);
    WORDS.forEach((word, index) => putEntry(bytes, index * WORD_BYTES, WORD_BYTES, word));
    const prioritiesAt = WORDS.length * WORD_BYTES;
    for (let priority = 0; priority < PRIORITIES; priority += 1)
      putEntry(bytes, prioritiesAt + priority * PRIORITY_BYTES, PRIORITY_BYTES, membersOf(priority));
    exports.setUpSyslog(resultsAt, at, at + prioritiesAt, at + WORDS_BYTES);
  }

  return (longest, json = 'none', hasCharset = false) => {
    if (!isSetUp) setUp();
    const { at: timesAt, bytes: own } = reserve(TIMES * TIME_BYTES + NOW_BYTES + MAX_SUFFIX_BYTES);
    const times = own.subarray(0, TIMES * TIME_BYTES);
    const now = times.length;
    const ownSuffix = now + NOW_BYTES;
    const result: SyslogResult = { at: 0, written: 0, events: 0, stop: 'input' };
    let receivedAtMs = Number.NaN;
    /** Whole seconds of it. */
    let second = 0;
    let suffixThere: Buffer | undefined;

    function prepare(output: Region, at: number, limit: number): void {
      checkRange(output, at, limit);
      if (loaded === result) return;
      loaded = result;
      exports.useSyslogSource(timesAt, timesAt + now, second, longest, JSON_MODES.indexOf(json), hasCharset ? 1 : 0);
    }

    function read(to: number): SyslogResult {
      result.written = results[1]! - to;
      result.events = results[2]!;
      result.stop = STOPS[results[3]!]!;
      return result;
    }

    return {
      receive(nowMs) {
        if (nowMs === receivedAtMs) return;
        if (Math.floor(nowMs / 1000) !== second) {
          second = Math.floor(nowMs / 1000);
          times.fill(0);
          // It is told with the times.
          if (loaded === result) loaded = undefined;
        }
        receivedAtMs = nowMs;
        own.write(timeText(nowMs), now, 'latin1');
      },

      stream(suffix, framing, input, start, end, output, at, limit) {
        checkRange(input, start, end);
        prepare(output, at, limit);
        if (suffix !== suffixThere) {
          if (suffix.length > MAX_SUFFIX_BYTES) throw new RangeError(`kernel: a suffix of ${suffix.length} bytes`);
          own.set(suffix, ownSuffix);
          suffixThere = suffix;
        }
        exports.useSyslogSuffix(timesAt + ownSuffix, suffix.length);
        exports.syslogStream(input.at + start, input.at + end, output.at + at, output.at + limit, framing.isCounting ? 1 : 0);
        framing.isCounting = results[6] === 1;
        result.at = results[0]! - input.at;
        return read(output.at + at);
      },

      table({ region, count }, start, output, at, limit) {
        prepare(output, at, limit);
        exports.syslogTable(region.at + start * ENTRY_BYTES, region.at + count * ENTRY_BYTES, output.at + at, output.at + limit);
        result.at = (results[0]! - region.at) / ENTRY_BYTES;
        return read(output.at + at);
      },

      message: () => memory.subarray(results[4], results[5]),
      suffix: () => memory.subarray(results[7], results[7]! + results[8]!),
      unknownTime: () => memory.toString('latin1', results[9], results[9]! + results[10]!),

      learnTime(value) {
        const key = results[9]!;
        const entry = results[11]!;
        memory.fill(0, entry, entry + TIME_BYTES);
        memory.copy(memory, entry, key, key + results[10]!);
        if (value !== undefined) memory.write(value, entry + TIME_ANSWER, 'latin1');
      },
    };
  };
}

/** A table of as many entries as fit the region. */
export function createMessageTable(region: Region): MessageTable {
  const { bytes } = region;
  const capacity = Math.floor(bytes.length / ENTRY_BYTES);
  let count = 0;
  function add(address: number, length: number): void {
    if (count === capacity) throw new RangeError(`kernel: a table of ${capacity} entries is full`);
    bytes.writeUInt32LE(address, count * ENTRY_BYTES);
    bytes.writeUInt32LE(length, count * ENTRY_BYTES + 4);
    count += 1;
  }
  return {
    region,
    get count() {
      return count;
    },
    get isFull() {
      return count === capacity;
    },
    clear() {
      count = 0;
    },
    addDatagram: add,
    addFramed: (address, length) => add(address, length + FRAMED_MARK),
    addSuffix: (address, length) => add(address, length + SUFFIX_MARK),
  };
}

/** Bytes of a table. */
export function tableBytes(entries: number): number {
  return entries * ENTRY_BYTES;
}

/** Writes an entry of the fixed words: the text, and its length in the last byte. */
function putEntry(table: Buffer, at: number, size: number, text: string): void {
  table.write(text, at, 'latin1');
  table[at + size - 1] = text.length;
}

function membersOf(priority: number): string {
  const facility = priority >> 3;
  const severity = priority & 7;
  const names = `"facility":"${FACILITIES[facility]}","severity":"${SEVERITIES[severity]}"`;
  return `",${names},"facility_code":${facility},"severity_code":${severity}`;
}
