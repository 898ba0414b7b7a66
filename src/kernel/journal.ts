/**
 * The typed door to the loop over a journal's entries (assembly/journal/journal.ts): what `journalctl --output=export` prints to events, one
 * call for as many entries as there are. What the loop leaves to JavaScript it names, one entry at a time; nothing is skipped or guessed.
 */
import type { Region } from '../core/block.ts';
import { FACILITIES, SEVERITIES } from '../core/syslog-priority.ts';
import { putEntry } from './syslog.ts';
import { checkRange } from './layout.ts';

/** What kernel.wasm exports for it. */
export interface JournalExports {
  setUpJournal(results: number, names: number, words: number, slots: number): void;
  journalEntries(
    p: number,
    end: number,
    to: number,
    limit: number,
    table: number,
    tableEnd: number,
    context: number,
  ): void;
}

/** Which entries become events, and how. */
export interface JournalWish {
  /** 32 hex digits: the loop stops before an entry of another sequence. */
  readonly sequence: string;
  /** Numbers of entries in it: from this one on, and before that one. */
  readonly from: number;
  readonly before: number;
  /** Wall clock of the read, milliseconds: a time more than a day ahead of it is not taken. */
  readonly readAtMs: number;
}

/** The result of one call. */
export interface JournalResult {
  /** Where it stopped in the input: before the first entry that is not used up. */
  readonly at: number;
  /** Output bytes written. */
  readonly written: number;
  /**
   * `input`: every whole entry is used up. `slow`: the last one is used up without an event, and is the caller's to read. `output`: the next
   * event may not fit. `sequence`: the next entry is of another one. `garbage`: what comes next is no entry. `end`: it is behind the wish.
   */
  readonly stop: (typeof STOPS)[number];
  /** The last entry that was used up, in the input; below 0 without one. */
  readonly lastFrom: number;
  readonly lastTo: number;
}

/** How one source reads its journal. */
export interface JournalOptions {
  /** Bytes of the longest message that the loop reads. */
  readonly longest: number;
  /** The unit whose entries are slow. */
  readonly unit?: string | undefined;
  /** All entries are slow, or those whose message may be a JSON object. */
  readonly slow: 'none' | 'objects' | 'all';
}

export interface JournalLoop {
  /** The byte after the input must be writable. */
  read(wish: JournalWish, input: Region, start: number, end: number, output: Region, at: number): JournalResult;
  /** Of each event, where it ends in the output, and the number behind its entry. `read` appends; the caller empties them. */
  readonly ends: number[];
  readonly positions: number[];
}

/** Makes the loop of one source in memory from `reserve`, which that source owns. */
export type JournalFactory = (options: JournalOptions, reserve: (bytes: number) => Region) => JournalLoop;

const STOPS = ['input', 'slow', 'output', 'sequence', 'garbage', 'end'] as const;
const SLOWS = ['none', 'objects', 'all'];
/** The members of an event that are text: the field that each is made of, and the one in its place where an entry lacks that. */
export const MEMBERS: readonly (readonly [key: string, ...fields: string[]])[] = [
  ['message', 'MESSAGE'],
  ['host', '_HOSTNAME'],
  ['appname', 'SYSLOG_IDENTIFIER', '_COMM'],
  ['procid', 'SYSLOG_PID', '_PID'],
  ['unit', '_SYSTEMD_UNIT'],
];
/** In the order of the slots in assembly/journal/journal.ts; no two have the same length. */
export const FIELDS = [
  '__REALTIME_TIMESTAMP',
  '_SOURCE_REALTIME_TIMESTAMP',
  'PRIORITY',
  'SYSLOG_FACILITY',
  ...MEMBERS.flatMap(([, ...names]) => names),
];
const WORDS = [
  '{"_time":"',
  ...MEMBERS.map(([key]) => `,"${key}":"`),
  ...SEVERITIES.map((name, code) => `,"severity":"${name}","severity_code":${code}`),
  ...FACILITIES.map((name, code) => `,"facility":"${name}","facility_code":${code}`),
];
const NAME_BYTES = 32;
const WORDS_AT = 31 * NAME_BYTES;
const WORD_BYTES = 64;
const SLOTS_AT = WORDS_AT + WORDS.length * WORD_BYTES;
const TABLES_BYTES = SLOTS_AT + 8 * (FIELDS.length + 1);
const ENTRY_BYTES = 16;
/** Events of one call. */
const MAX_EVENTS = 2048;
const UNIT_AT = 128;
const MAX_UNIT_BYTES = 256;
const DAY_MS = 86_400_000;
/** Kernel memory that a loop takes, with what all loops share. */
export const JOURNAL_KERNEL_BYTES = TABLES_BYTES + UNIT_AT + MAX_UNIT_BYTES + MAX_EVENTS * ENTRY_BYTES + 1024;

/** `memory` is the whole of the kernel's, `resultsAt` six u32 of it. */
export function createJournalFactory(
  exports: JournalExports,
  memory: Buffer,
  resultsAt: number,
  reserveTables: (bytes: number) => Region,
): JournalFactory {
  const results = new Uint32Array(memory.buffer, memory.byteOffset + resultsAt, 6);
  let isSetUp = false;

  function setUp(): void {
    isSetUp = true;
    const { at, bytes } = reserveTables(TABLES_BYTES);
    FIELDS.forEach((name, n) => {
      bytes.write(name, name.length * NAME_BYTES, 'latin1');
      bytes[name.length * NAME_BYTES + NAME_BYTES - 1] = n + 1;
    });
    WORDS.forEach((word, n) => putEntry(bytes, WORDS_AT + n * WORD_BYTES, 48, word));
    const slots = MEMBERS.map(([, ...names]) => names.map((name) => FIELDS.indexOf(name) + 1));
    slots.forEach((each, n) => bytes.set(each, WORDS_AT + (n + 1) * WORD_BYTES + 48));
    exports.setUpJournal(resultsAt, at, at + WORDS_AT, at + SLOTS_AT);
  }

  return ({ longest, unit = '', slow }, reserve) => {
    if (!isSetUp) setUp();
    const { at: contextAt, bytes: context } = reserve(UNIT_AT + MAX_UNIT_BYTES);
    const table = reserve(MAX_EVENTS * ENTRY_BYTES);
    const unitBytes = context.write(unit, UNIT_AT);
    [longest, contextAt + UNIT_AT, unitBytes, SLOWS.indexOf(slow)].forEach((value, n) =>
      context.writeUInt32LE(value, 56 + 4 * n),
    );
    const ends: number[] = [];
    const positions: number[] = [];
    return {
      ends,
      positions,
      read({ sequence, from, before, readAtMs }, input, start, end, output, at) {
        checkRange(input, start, end);
        context.write(sequence, 'latin1');
        [from, before, Math.floor((readAtMs + DAY_MS) / 1000)].forEach((value, n) =>
          context.writeDoubleLE(value, 32 + 8 * n),
        );
        const [to, limit, tableEnd] = [output.at + at, output.at + output.bytes.length, table.at + table.bytes.length];
        exports.journalEntries(input.at + start, input.at + end, to, limit, table.at, tableEnd, contextAt);
        for (let n = 0; n < results[2]! * ENTRY_BYTES; n += ENTRY_BYTES) {
          positions.push(table.bytes.readDoubleLE(n));
          ends.push(table.bytes.readUInt32LE(n + 8) - output.at);
        }
        const [lastFrom, lastTo] = [results[4]! - input.at, results[5]! - input.at];
        return { at: results[0]! - input.at, written: results[1]! - to, stop: STOPS[results[3]!]!, lastFrom, lastTo };
      },
    };
  };
}
