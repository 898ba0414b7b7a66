/**
 * The typed door to the syslog loops (assembly/syslog/syslog.ts): received bytes to events, one call for as many messages as
 * there are. What the loops leave to JavaScript they name, one message at a time; nothing is skipped or guessed.
 */
import type { Region } from '../core/block.ts';
import { FACILITIES, SEVERITIES } from '../core/syslog-priority.ts';
import { timeText } from '../core/time/clock.ts';
import { ENTRY_BYTES, type MessageTable } from './message-table.ts';
import { checkRange } from './layout.ts';

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
  /**
   * Reads the header of a message for the caller, in the kernel's memory: the whole, or, after a time that the caller read, host and tag
   * (`rest`) or the tag alone. The byte after it must be writable.
   */
  header(message: Buffer, part?: 'whole' | 'rest' | 'tag'): SyslogHeader;
  /** The last message that was read, without its framing; valid until the next call. */
  message(): Buffer;
  /** The suffix that held for it. */
  suffix(): Buffer;
  /** The time that the last call stopped for: `Oct 11 22:14:15`, `2026-10-11T22:14:15` or `2026-10-11 22:14:15`. */
  unknownTime(): string;
  /** That time, as `2026-10-11T22:14:15` in UTC; undefined makes messages with it slow. */
  learnTime(value: string | undefined): void;
}

/** The parts of a header; absent ones are undefined. */
export interface SyslogHeader {
  /**
   * `slow`: no header that it knows; `time`: see `learnTime`, then ask again; `data`: at `messageAt` is structured data of RFC 5424 that it
   * leaves to JavaScript, or something invalid.
   */
  readonly found: 'read' | 'slow' | 'time' | 'data';
  readonly priority: number;
  /** RFC 3339 with its digits as sent; an invalid or refused time of RFC 5424 is odd. */
  readonly time: string | undefined;
  readonly isTimeOdd: boolean;
  readonly host: string | undefined;
  readonly appname: string | undefined;
  readonly procid: string | undefined;
  readonly msgid: string | undefined;
  /** JSON. */
  readonly structuredData: string | undefined;
  /** Offset in the message. */
  readonly messageAt: number;
}

/** Bytes of a suffix, at most. */
export const MAX_SUFFIX_BYTES = 1024;

/** What kernel.wasm exports for it; assembly/syslog/syslog.ts says what each does. */
export interface SyslogExports {
  setUpSyslog(results: number, words: number, priorities: number, scratch: number): void;
  useSyslogSource(
    times: number,
    now: number,
    heads: number,
    nowSecond: number,
    longest: number,
    json: number,
    charset: number,
  ): void;
  useSyslogSuffix(at: number, length: number): void;
  syslogHeader(p: number, end: number, part: number, at: number): number;
  syslogStream(p: number, end: number, to: number, most: number, counting: number): void;
  syslogTable(p: number, end: number, to: number, most: number): void;
}

const JSON_MODES = ['none', 'cee', 'all', 'every'];
const PARTS = ['whole', 'rest', 'tag'];
const FOUND = ['read', 'slow', 'time', 'data'] as const;
const STOPS = ['input', 'slow', 'output', 'time'] as const;
/** In the order of assembly/syslog/words.ts; each but the first and the last closes the value before it. */
const WORDS = [
  '{"_time":"',
  '","message":"',
  '","host":"',
  '","appname":"',
  '","procid":"',
  '","msgid":"',
  ',"structured_data":',
];
const WORD_BYTES = 32;
const PRIORITY_BYTES = 96;
const PRIORITIES = 192;
/** assembly/syslog/data.ts: the JSON of 4 KiB of structured data, and two tables of names. */
const SCRATCH_BYTES = 8 * 4096 + 16 * 32;
const WORDS_BYTES = WORDS.length * WORD_BYTES + PRIORITIES * PRIORITY_BYTES;
const HEADER_BYTES = 64;
const TIMES = 64;
const TIME_BYTES = 64;
const TIME_ANSWER = 32;
const NOW_BYTES = 32;
const MAX_HEADS = 32;
const HEADS_BYTES = 8 * (MAX_HEADS + 1);

/**
 * Makes the loops of one source. Slow messages are those of more than `longest` bytes, those that may be JSON and are wanted as such
 * (`every`: all), those with invalid UTF-8 that another charset may explain (`hasCharset`), and those that begin as one of `heads` does
 * after their priority.
 */
export type SyslogFactory = (
  longest: number,
  json?: 'none' | 'cee' | 'all' | 'every',
  hasCharset?: boolean,
  heads?: readonly string[],
) => SyslogLoops;

/** `memory` is the whole of the kernel's, `resultsAt` twelve u32 of it. */
export function createSyslogFactory(
  exports: SyslogExports,
  memory: Buffer,
  resultsAt: number,
  reserve: (bytes: number) => Region,
): SyslogFactory {
  const results = new Uint32Array(memory.buffer, memory.byteOffset + resultsAt, 12);
  let header: Uint32Array | undefined;
  /** Whose times are loaded. */
  let loaded: object | undefined;

  function setUp(): void {
    const { at, bytes } = reserve(HEADER_BYTES + WORDS_BYTES + SCRATCH_BYTES);
    header = new Uint32Array(memory.buffer, bytes.byteOffset, HEADER_BYTES / 4);
    const [wordsAt, prioritiesAt] = [HEADER_BYTES, HEADER_BYTES + WORDS.length * WORD_BYTES];
    WORDS.forEach((word, index) => putEntry(bytes, wordsAt + index * WORD_BYTES, WORD_BYTES, word));
    for (let priority = 0; priority < PRIORITIES; priority += 1)
      putEntry(bytes, prioritiesAt + priority * PRIORITY_BYTES, PRIORITY_BYTES, membersOf(priority));
    exports.setUpSyslog(resultsAt, at + wordsAt, at + prioritiesAt, at + HEADER_BYTES + WORDS_BYTES);
  }

  /** A range of the header. */
  function textAt(n: number): string | undefined {
    const from = header![n]!;
    return from === 0 ? undefined : memory.toString('utf8', from, header![n + 1]);
  }

  return (longest, json = 'none', hasCharset = false, heads = []) => {
    if (header === undefined) setUp();
    const { at: timesAt, bytes: own } = reserve(TIMES * TIME_BYTES + NOW_BYTES + HEADS_BYTES + MAX_SUFFIX_BYTES);
    const times = own.subarray(0, TIMES * TIME_BYTES);
    const now = times.length;
    const headsAt = now + NOW_BYTES;
    const ownSuffix = headsAt + HEADS_BYTES;
    putHeads(own.subarray(headsAt, ownSuffix), heads);
    const result: SyslogResult = { at: 0, written: 0, events: 0, stop: 'input' };
    let receivedAtMs = Number.NaN;
    /** Whole seconds of it. */
    let second = 0;
    let suffixThere: Buffer | undefined;

    function prepare(output: Region, at: number, limit: number): void {
      checkRange(output, at, limit);
      load();
    }

    function load(): void {
      if (loaded === result) return;
      loaded = result;
      exports.useSyslogSource(
        timesAt,
        timesAt + now,
        timesAt + headsAt,
        second,
        longest,
        JSON_MODES.indexOf(json),
        hasCharset ? 1 : 0,
      );
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
          // Loaded with the times.
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
        exports.syslogStream(
          input.at + start,
          input.at + end,
          output.at + at,
          output.at + limit,
          framing.isCounting ? 1 : 0,
        );
        framing.isCounting = results[6] === 1;
        result.at = results[0]! - input.at;
        return read(output.at + at);
      },

      table({ region, count }, start, output, at, limit) {
        prepare(output, at, limit);
        exports.syslogTable(
          region.at + start * ENTRY_BYTES,
          region.at + count * ENTRY_BYTES,
          output.at + at,
          output.at + limit,
        );
        result.at = (results[0]! - region.at) / ENTRY_BYTES;
        return read(output.at + at);
      },

      header(message, part = 'whole') {
        const at = message.byteOffset - memory.byteOffset;
        if (message.buffer !== memory.buffer || at < 0) throw new RangeError('kernel: a message outside of its memory');
        load();
        const found =
          FOUND[
            exports.syslogHeader(at, at + message.length, PARTS.indexOf(part), header!.byteOffset - memory.byteOffset)
          ]!;
        const isTimeOdd = header![4] === 1;
        const [clock, fraction] = [textAt(2), isTimeOdd ? undefined : textAt(4)];
        return {
          found,
          priority: header![0]!,
          time: fraction === undefined ? clock : `${clock}${fraction && `.${fraction.slice(1)}`}Z`,
          isTimeOdd,
          host: textAt(6),
          appname: textAt(8),
          procid: textAt(10),
          msgid: textAt(12),
          structuredData: textAt(14),
          messageAt: header![1]! - at,
        };
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

/** Writes the first four characters of each beginning, and a mask of them. */
function putHeads(table: Buffer, heads: readonly string[]): void {
  if (heads.length > MAX_HEADS) throw new RangeError(`kernel: ${heads.length} beginnings of headers`);
  table.fill(0);
  heads.forEach((head, index) => {
    table.write(head.slice(0, 4), index * 8, 'latin1');
    table.fill(0xff, index * 8 + 4, index * 8 + 4 + Math.min(4, head.length));
  });
}

/** Writes an entry of the fixed words: the text, and its length in the last byte. */
export function putEntry(table: Buffer, at: number, size: number, text: string): void {
  table.write(text, at, 'latin1');
  table[at + size - 1] = text.length;
}

function membersOf(priority: number): string {
  const facility = priority >> 3;
  const severity = priority & 7;
  const names = `"facility":"${FACILITIES[facility]}","severity":"${SEVERITIES[severity]}"`;
  return `",${names},"facility_code":${facility},"severity_code":${severity}`;
}
