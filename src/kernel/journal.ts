/**
 * The typed door to the loop over a journal's entries (assembly/journal/journal.ts): what `journalctl --output=export` prints to events, one
 * call for as many entries as there are. What the loop leaves to JavaScript it names, one entry at a time; nothing is skipped or guessed.
 */
import type { Region } from '../core/block.ts';
import { FACILITIES, SEVERITIES } from '../core/syslog-priority.ts';
import { checkRange } from './range.ts';

/** What kernel.wasm exports for it. */
export interface JournalExports {
  setUpJournal(results: number, names: number, words: number, slots: number): void;
  journalEntries(p: number, end: number, to: number, limit: number, table: number, tableEnd: number, context: number): void;
}

/** Which entries become events, and how. */
export interface JournalWish {
  /** 32 hex digits: entries of one sequence. */
  readonly sequence: string;
  /** Numbers of entries in it: from this one on, and before that one. */
  readonly from: number;
  readonly before: number;
  /** Entries of other sequences are passed over; else the loop stops before them. */
  readonly passesOthers: boolean;
  /** Wall clock of the read, milliseconds: a time more than a day ahead of it is not taken. */
  readonly readAtMs: number;
}

/** The result of one call. The object is reused by the next call. */
export interface JournalResult {
  /** Where it stopped in the input: before the first entry that is not used up. */
  at: number;
  /** Output bytes written, and their events; `ends` and `positions` tell of each where it ends in the output, and the number behind its entry. */
  written: number;
  events: number;
  /**
   * `input`: every whole entry is used up. `slow`: the last one is used up without an event, and is the caller's to read. `output`: the next
   * event may not fit. `sequence`: the next entry is of another one. `garbage`: what comes next is no entry. `end`: it is behind the wish.
   */
  stop: 'input' | 'slow' | 'output' | 'sequence' | 'garbage' | 'end';
  /** The last entry that was used up, in the input; both 0 where none was. */
  lastFrom: number;
  lastTo: number;
}

/** How one source reads its journal. */
export interface JournalOptions {
  /** Bytes of the longest message that the loop reads. */
  readonly longest: number;
  /** The unit whose entries are left out, or (`slow`) the caller's to read. */
  readonly own: { readonly unit: string; readonly as: 'left_out' | 'slow' } | undefined;
  /** All entries are slow, or those whose message may be a JSON object. */
  readonly slow: 'all' | 'objects' | 'none';
}

export interface JournalLoop {
  /** The byte after the input must be writable. Appends to `ends` and `positions`. */
  read(wish: JournalWish, input: Region, start: number, end: number, output: Region, at: number): JournalResult;
  readonly ends: number[];
  readonly positions: number[];
}

/** Makes the loop of one source. Reserves its memory. */
export type JournalFactory = (options: JournalOptions) => JournalLoop;

/** A field that a source puts into an entry of which it left something out: how many bytes its message had, if that was cut. No journal has one of this name. */
export const CUT_FIELD = '__TAILRACE_CUT';

const STOPS = ['input', 'slow', 'output', 'sequence', 'garbage', 'end'] as const;
/** In the order of assembly/journal/entry.ts; no two have the same length. */
const NAMES = [
  '__REALTIME_TIMESTAMP',
  '_SOURCE_REALTIME_TIMESTAMP',
  'MESSAGE',
  '_HOSTNAME',
  'SYSLOG_IDENTIFIER',
  '_COMM',
  'SYSLOG_PID',
  '_PID',
  'PRIORITY',
  'SYSLOG_FACILITY',
  '_SYSTEMD_UNIT',
  CUT_FIELD,
];
const WORDS = [
  '{"_time":"',
  '","message":"',
  '{"message":"',
  '","host":"',
  '","appname":"',
  '","procid":"',
  '","unit":"',
  ...SEVERITIES.map((name, code) => `,"severity":"${name}","severity_code":${code}`),
  ...FACILITIES.map((name, code) => `,"facility":"${name}","facility_code":${code}`),
];
const NAME_BYTES = 32;
const NAMES_BYTES = 31 * NAME_BYTES;
const WORD_BYTES = 48;
const WORDS_BYTES = WORDS.length * WORD_BYTES;
const SLOTS_BYTES = 8 * (NAMES.length + 1);
const ENTRY_BYTES = 16;
/** Events of one call. */
const MAX_EVENTS = 2048;
const CONTEXT_BYTES = 128;
const MAX_UNIT_BYTES = 256;
const DAY_MS = 86_400_000;
/** Kernel memory that a loop takes, with what all loops share. */
export const JOURNAL_KERNEL_BYTES =
  NAMES_BYTES + WORDS_BYTES + SLOTS_BYTES + CONTEXT_BYTES + MAX_UNIT_BYTES + MAX_EVENTS * ENTRY_BYTES + 1024;

/** `memory` is the whole of the kernel's, `resultsAt` six u32 of it. */
export function createJournalFactory(
  exports: JournalExports,
  memory: Buffer,
  resultsAt: number,
  reserve: (bytes: number) => Region,
): JournalFactory {
  const results = new Uint32Array(memory.buffer, memory.byteOffset + resultsAt, 6);
  let isSetUp = false;

  function setUp(): void {
    isSetUp = true;
    const { at, bytes } = reserve(NAMES_BYTES + WORDS_BYTES + SLOTS_BYTES);
    NAMES.forEach((name, index) => {
      bytes.write(name, name.length * NAME_BYTES, 'latin1');
      bytes[name.length * NAME_BYTES + NAME_BYTES - 1] = index + 1;
    });
    WORDS.forEach((word, index) => {
      bytes.write(word, NAMES_BYTES + index * WORD_BYTES, 'latin1');
      bytes[NAMES_BYTES + index * WORD_BYTES + WORD_BYTES - 1] = word.length;
    });
    exports.setUpJournal(resultsAt, at, at + NAMES_BYTES, at + NAMES_BYTES + WORDS_BYTES);
  }

  return ({ longest, own, slow }) => {
    if (!isSetUp) setUp();
    const context = reserve(CONTEXT_BYTES + MAX_UNIT_BYTES);
    const table = reserve(MAX_EVENTS * ENTRY_BYTES);
    const positionsThere = new Float64Array(memory.buffer, table.bytes.byteOffset, 2 * MAX_EVENTS);
    const endsThere = new Uint32Array(memory.buffer, table.bytes.byteOffset, 4 * MAX_EVENTS);
    const { bytes } = context;
    const unitBytes = own ? bytes.write(own.unit, CONTEXT_BYTES) : 0;
    const words = [longest, own ? ['left_out', 'slow'].indexOf(own.as) + 1 : 0, context.at + CONTEXT_BYTES, unitBytes];
    [...words, slow === 'all' ? 1 : 0, slow === 'objects' ? 1 : 0].forEach((value, n) => bytes.writeUInt32LE(value, 56 + 4 * n));
    const ends: number[] = [];
    const positions: number[] = [];
    const result: JournalResult = { at: 0, written: 0, events: 0, stop: 'input', lastFrom: 0, lastTo: 0 };
    return {
      ends,
      positions,
      read({ sequence, from, before, passesOthers, readAtMs }, input, start, end, output, at) {
        checkRange(input, start, end);
        bytes.write(sequence, 0, 'latin1');
        bytes.writeDoubleLE(from, 32);
        bytes.writeDoubleLE(before, 40);
        bytes.writeDoubleLE(Math.floor((readAtMs + DAY_MS) / 1000), 48);
        bytes.writeUInt32LE(passesOthers ? 1 : 0, 80);
        const to = output.at + at;
        exports.journalEntries(
          input.at + start,
          input.at + end,
          to,
          output.at + output.bytes.length,
          table.at,
          table.at + MAX_EVENTS * ENTRY_BYTES,
          context.at,
        );
        result.at = results[0]! - input.at;
        result.written = results[1]! - to;
        result.events = results[2]!;
        result.stop = STOPS[results[3]!]!;
        result.lastFrom = results[4]! && results[4] - input.at;
        result.lastTo = results[5]! && results[5] - input.at;
        for (let n = 0; n < result.events; n += 1) {
          positions.push(positionsThere[2 * n]!);
          ends.push(endsThere[4 * n + 2]! - output.at);
        }
        return result;
      },
    };
  };
}
