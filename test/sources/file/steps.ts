/**
 * Scenarios of the file source as text: `write a.log one two; drain; mv a.log a.log.1; reads one two`. A step ends at a `;` or a newline, a
 * word at a space, unless it is in double quotes. `${value}` is a text or bytes as they are, or a list of words. A line that begins with
 * `//` is a comment.
 */
import * as fs from 'node:fs';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { expect } from 'vitest';
import type { FileSystem } from '../../../src/sources/file/scan/file-system.ts';
import type { FileSource } from '../../../src/sources/file/source.ts';
import type { MemoryStreamStore } from '../../support/stream-store.ts';
import type { LaneDouble } from '../lane-double.ts';

export type Value = string | number | Uint8Array | readonly string[];

/** Who writes the files of a test, and by which clock: see `file-times.ts`. */
export interface FileTimes {
  readonly fileSystem: FileSystem;
  /** The wall clock of what reads the files. */
  readonly nowMs: () => number;
  readonly append: (path: string, content: string | Uint8Array) => void;
  readonly copy: (path: string, to: string) => void;
  readonly truncate: (path: string, bytes?: number) => void;
  /** Files made from now on are younger than the present ones. */
  readonly pass: (ms: number) => void;
}

/** Where a scenario's files are. */
export interface Folder {
  readonly times?: FileTimes | undefined;
  path(name: string): string;
}

/** What a scenario of a source is played on; a `TailRig` is one. */
export interface Played extends Folder {
  readonly source: FileSource;
  readonly lane: LaneDouble;
  readonly streams: MemoryStreamStore;
  readonly texts: string[];
  readonly events: string[];
  readonly byFile: Record<string, string[]>;
  start(changes?: { once?: boolean }): Promise<unknown>;
  drain(): Promise<void>;
  pass(seconds: number, step?: number): Promise<void>;
  commit(): void;
  bornNow(): void;
  readonly beforeCalls: { clear(): void };
  fail(call: string, name?: string, code?: string): void;
  reread(from: number, to: number): Promise<{ readonly end: number; readonly lane: LaneDouble }>;
  said(pattern: RegExp): unknown[];
}

/** A word of a step; `value` where it is all of a `${…}`. */
export interface Word {
  readonly text: string;
  readonly value?: Value;
}

/** Each word is a line; one that ends in `…` has no newline yet. */
function contentOf(words: readonly Word[]): Buffer {
  const pieces = words.map(({ text, value }) => {
    if (value === undefined) return text.endsWith('…') ? text.slice(0, -1) : `${text}\n`;
    return Array.isArray(value) ? value.map((line) => `${line}\n`).join('') : (value as string | Uint8Array);
  });
  return Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)));
}

export const linesOf = (words: readonly Word[]): string[] =>
  words.flatMap(({ text, value }) => (Array.isArray(value) ? (value as string[]) : [text]));

/** A compressed file that is not being written: its time is long ago. */
export function writeStill(path: string, bytes: Buffer): void {
  fs.writeFileSync(path, bytes);
  fs.utimesSync(path, new Date('2020-01-01'), new Date('2020-01-01'));
}

const pack = (name: string, bytes: Buffer): Buffer =>
  name.endsWith('.zst') ? zstdCompressSync(bytes) : gzipSync(bytes);

/** What `gzip` does: the plain file goes. */
function compress(path: string): void {
  writeStill(`${path}.gz`, gzipSync(fs.readFileSync(path)));
  fs.rmSync(path);
}

/** What logrotate does with `copytruncate`. */
export function copyTruncate(path: string): void {
  for (let n = 3; n > 0; n -= 1) if (fs.existsSync(`${path}.${n}`)) fs.renameSync(`${path}.${n}`, `${path}.${n + 1}`);
  fs.copyFileSync(path, `${path}.1`);
  fs.truncateSync(path, 0);
}

/** Whether the last `reuse` got the inode. */
export const reused = new WeakMap<Folder, boolean>();

/** Deletes `gone` and writes `name`, again and again, until it has its inode; false on a file system that numbers files without end. */
function reuse(gone: string, name: string, content: Buffer): boolean {
  const { ino } = fs.statSync(gone);
  fs.unlinkSync(gone);
  fs.writeFileSync(name, content);
  for (let tries = 0; tries < 2000 && fs.statSync(name).ino !== ino; tries += 1) {
    fs.unlinkSync(name);
    fs.writeFileSync(name, content);
  }
  return fs.statSync(name).ino === ino;
}

/** What began with `hold`. */
const background = new WeakMap<Played, Promise<unknown>>();

/** A verb: what it does with the words behind it. `step`: all of them, to name what fails. */
export type Act<Rig> = (rig: Rig, step: string, words: readonly Word[], ...texts: string[]) => unknown;
export type Acts<Rig> = Readonly<Record<string, Act<Rig>>>;

export const fileActs: Acts<Folder> = {
  write: (rig, _, words, name) => fs.writeFileSync(rig.path(name), contentOf(words.slice(1))),
  append: (rig, _, words, name) => (rig.times?.append ?? fs.appendFileSync)(rig.path(name), contentOf(words.slice(1))),
  mv: (rig, _, _words, from, to) => fs.renameSync(rig.path(from), rig.path(to)),
  cp: (rig, _, _words, from, to) => (rig.times?.copy ?? fs.copyFileSync)(rig.path(from), rig.path(to)),
  rm: (rig, _, _words, name) => fs.rmSync(rig.path(name)),
  cut: (rig, _, _words, name, bytes = '0') => (rig.times?.truncate ?? fs.truncateSync)(rig.path(name), Number(bytes)),
  mkdir: (rig, _, _words, name) => fs.mkdirSync(rig.path(name)),
  link: (rig, _, _words, target, name) => fs.symlinkSync(target, rig.path(name)),
  copytruncate: (rig, _, _words, name) => copyTruncate(rig.path(name)),
  still: (rig, _, words, name) => writeStill(rig.path(name), contentOf(words.slice(1))),
  old: (rig, _, _words, name) => fs.utimesSync(rig.path(name), 0, 0),
  pack: (rig, _, words, name) => writeStill(rig.path(name), pack(name, contentOf(words.slice(1)))),
  'pack+': (rig, _, words, name) =>
    writeStill(rig.path(name), Buffer.concat([fs.readFileSync(rig.path(name)), pack(name, contentOf(words.slice(1)))])),
  reuse: (rig, _, words, gone, name) =>
    reused.set(rig, reuse(rig.path(gone), rig.path(name), contentOf(words.slice(2)))),
  compress: (rig, _, _words, name) => compress(rig.path(name)),
};

const sourceActs: Acts<Played> = {
  ...fileActs,
  born: (rig) => rig.bornNow(),
  // By the files' own times.
  later: (rig, _, _words, ms) => rig.times!.pass(Number(ms)),
  // The source. `start` again is a restart after a kill.
  start: (rig, _, _words, once) => rig.start(once === 'once' ? { once: true } : {}),
  stop: (rig) => rig.source.stop(),
  run: (rig) => rig.source.run(),
  drain: (rig) => rig.drain(),
  poll: (rig) => rig.source.pollOnce(),
  scan: (rig) => rig.source.scanOnce(),
  // Begins to read while the lane takes nothing, and waits until a block is there.
  hold: async (rig) => {
    rig.lane.hold();
    background.set(rig, rig.source.pollOnce());
    await rig.lane.until(({ waiting }) => waiting === 1);
  },
  release: async (rig) => {
    rig.lane.release();
    await background.get(rig);
  },
  // The lane takes nothing any more, as at a stop.
  'give-up': async (rig, step) => {
    rig.lane.giveUp();
    await expect(background.get(rig), step).rejects.toThrow();
  },
  // These calls fail from now on, for paths that end so, until `mend`.
  fail: (rig, _, _words, call, name, code) => rig.fail(call, name, code),
  mend: (rig) => rig.beforeCalls.clear(),
  pass: (rig, _, _words, seconds, each = '1') => rig.pass(Number(seconds), Number(each)),
  commit: (rig) => rig.commit(),
  // Assertions about everything since the last start. `-any`: in any order.
  reads: (rig, step, words) => expect(rig.texts, step).toEqual(linesOf(words)),
  'reads-any': (rig, step, words) => expect(rig.texts.toSorted(), step).toEqual(linesOf(words).toSorted()),
  'reads-after': (rig, step, words, count) =>
    expect(rig.texts.slice(Number(count)), step).toEqual(linesOf(words.slice(1))),
  'reads-nothing': (rig, step) => expect(rig.texts, step).toEqual([]),
  events: (rig, step, words) => expect(rig.events, step).toEqual(linesOf(words)),
  'events-any': (rig, step, words) => expect(rig.events.toSorted(), step).toEqual(linesOf(words).toSorted()),
  'no-events': (rig, step) => expect(rig.events, step).toEqual([]),
  // The same of JSON, by its `message`.
  messages: (rig, step, words) =>
    expect(
      rig.events.map((text) => (JSON.parse(text) as { message: string }).message),
      step,
    ).toEqual(linesOf(words)),
  // Each block: the streams, named A, B … as they come, with the bytes that it has of each.
  spans: (rig, step, _, ...blocks) => expect(spansOf(rig.lane), step).toEqual(blocks),
  // Reads `from-to` of the first stream again: these events, or it cannot be read to its end any more, or not at all.
  reread: async (rig, step, words) => {
    const [from, to] = words[0]!.text.split('-').map(Number) as [number, number];
    const { end, lane } = await rig.reread(from, to);
    expect(end, step).toBe(words.length > 1 ? to : from);
    if (words.length > 1) expect(lane.events, step).toEqual(linesOf(words.slice(1)));
  },
  unread: async (rig, step, _, range) => {
    const [from, to] = range.split('-').map(Number) as [number, number];
    const { end, lane } = await rig.reread(from, to);
    expect([end, ...lane.events], step).toEqual([from]);
  },
  // What the last block has of the files behind its first: `from-to`.
  continued: (rig, step, _, ...ranges) => {
    const spans = ranges.map((range) => ({ from: Number(range.split('-')[0]), to: Number(range.split('-')[1]) }));
    expect(rig.lane.blocks.at(-1), step).toMatchObject({ continued: spans });
  },
  last: (rig, step, _, text) => expect(rig.texts.at(-1), step).toBe(text),
  count: (rig, step, _, count) => expect(rig.texts, step).toHaveLength(Number(count)),
  files: (rig, step, words) => expect(Object.keys(rig.byFile), step).toEqual(linesOf(words)),
  'by-file': (rig, step, words) => expect(rig.byFile, step).toEqual(byFile(words)),
  streams: (rig, step, _, count) =>
    expect(new Set(rig.lane.blocks.map(({ stream }) => stream)).size, step).toBe(Number(count)),
  known: (rig, step, words) =>
    expect(
      rig.streams.list('app').map(({ path }) => path),
      step,
    ).toEqual(linesOf(words).map((name) => rig.path(name))),
  forgotten: (rig, step, _, count) => expect(rig.streams.forgotten, step).toHaveLength(Number(count)),
  lost: (rig, step, _, bytes) => {
    expect(rig.source.stats.lostBytes, step).toBe(Number(bytes));
    // Lost bytes come after the accepted ones; a bare sum could be of any bytes.
    for (const { stream, from, reason } of rig.streams.losses)
      if (from !== null && reason !== 'cut_off')
        expect(from, `${step}: ${reason}`).toBeGreaterThanOrEqual(rig.streams.records.get(stream)?.resumeAt ?? from);
  },
  lag: (rig, step, _, bytes) => expect(rig.source.stats.lagBytes, step).toBe(Number(bytes)),
  stats: (rig, step, _, ...pairs) => {
    const { files, ...stats } = rig.source.stats;
    const expected = Object.fromEntries(pairs.map((pair) => [pair.split('=')[0], Number(pair.split('=')[1])]));
    expect({ ...stats, ...files }, step).toMatchObject(expected);
  },
  said: (rig, step, _, count, ...pattern) =>
    expect(rig.said(new RegExp(pattern.join(' '))), step).toHaveLength(Number(count)),
};

function spansOf({ blocks }: LaneDouble): string[] {
  const names = new Map<string, string>();
  const nameOf = (stream: string): string =>
    names.get(stream) ?? names.set(stream, String.fromCharCode(65 + names.size)).get(stream)!;
  return blocks.map(({ stream, offset, length, continued = [] }) =>
    [{ stream, from: offset, to: offset + length }, ...continued]
      .map(({ stream: id, from, to }) => `${nameOf(id)}${from}-${to}`)
      .join('+'),
  );
}

/** `a.log one two + b.log *`: each file with its lines; `*` matches any. */
function byFile(words: readonly Word[]): Record<string, unknown> {
  const ends = [
    ...words.flatMap(({ text, value }, at) => (value === undefined && text === '+' ? [at] : [])),
    words.length,
  ];
  const files = ends.map((end, n) => words.slice(n === 0 ? 0 : ends[n - 1]! + 1, end));
  return Object.fromEntries(
    files.map(([name, ...lines]) => [name!.text, lines[0]?.text === '*' ? expect.anything() : linesOf(lines)]),
  );
}

/** The steps of a scenario: text, or text with values. */
export type Script = string | { readonly strings: readonly string[]; readonly values: readonly Value[] };

export const steps = (strings: readonly string[], ...values: Value[]): Script => ({ strings, values });

/** Plays the steps on a source, one after the other. */
export const playSteps = (rig: Played, script: Script): Promise<void> => playWith(sourceActs, rig, script);

/** The same with other verbs. */
export async function playWith<Rig>(acts: Acts<Rig>, rig: Rig, script: Script): Promise<void> {
  const { strings, values } = typeof script === 'string' ? { strings: [script], values: [] } : script;
  const text = strings.reduce((all, part, n) => `${all}\u{f000}${n - 1}\u{f001}${part}`);
  for (const step of text.match(/(?:"[^"]*"|[^;\n"])+/g) ?? []) {
    const words = [...step.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => wordOf(quoted ?? word, values));
    const [verb, ...rest] = words;
    if (verb === undefined || verb.text.startsWith('//')) continue;
    const act = acts[verb.text];
    if (act === undefined) throw new Error(`no step is called ${verb.text}: ${step}`);
    await act(rig, words.map(({ text }) => text).join(' '), rest, ...rest.map(({ text }) => text));
  }
}

function wordOf(text: string, values: readonly Value[]): Word {
  const whole = /^\u{f000}(\d+)\u{f001}$/u.exec(text);
  const filled = text.replaceAll(/\u{f000}(\d+)\u{f001}/gu, (_, n: string) => String(values[Number(n)]));
  return whole ? { text: filled, value: values[Number(whole[1])]! } : { text: filled };
}
