/**
 * A file source under test, stepped by hand: a temporary folder, a stepped clock, streams in memory, a recording lane, the log kept, and a
 * file system of which the Nth call of a kind can be made to fail.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, test as base } from 'vitest';
import type { FileConfig } from '../../../src/sources/file/file-type.ts';
import { BIRTH_SLACK_MS } from '../../../src/sources/file/limits.ts';
import type { Lane, Region } from '../../../src/core/block.ts';
import type { Clock } from '../../../src/core/time/clock.ts';
import type { Log } from '../../../src/core/log.ts';
import type { PrivateFiles, Rescue } from '../../../src/core/source.ts';
import { tailOf } from '../../../src/core/sums.ts';
import { type FileSystem, nodeFileSystem } from '../../../src/sources/file/scan/file-system.ts';
import { createFileSource, type FileSource } from '../../../src/sources/file/source.ts';
import { loadShaping } from '../../../src/sources/framing/line-shaping.ts';
import { fileSourceConfig } from '../../support/source-config.ts';
import { MemoryStreamStore } from '../../support/stream-store.ts';
import { LaneDouble, plainRegion } from '../lane-double.ts';
import { contentSum } from '../../../src/kernel/content-sum.ts';
import { SkippedTime } from './skipped-time.ts';
import { type FileTimes, playSteps, type Script, type Value } from './steps.ts';

/** A clock that moves only by `advance`. Sleepers wake when their time has come, or are aborted. */
export class StepClock implements Clock {
  #nowMs = 1000;
  #sleepers: { atMs: number; wake: () => void }[] = [];

  now(): number {
    return 1_700_000_000_000 + this.#nowMs;
  }

  monotonic(): number {
    return this.#nowMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      signal?.addEventListener('abort', () => resolve(), { once: true });
      this.#sleepers.push({ atMs: this.#nowMs + ms, wake: resolve });
    });
  }

  advance(ms: number): void {
    this.#nowMs += ms;
    const due = this.#sleepers.filter((sleeper) => sleeper.atMs <= this.#nowMs);
    this.#sleepers = this.#sleepers.filter((sleeper) => sleeper.atMs > this.#nowMs);
    for (const { wake } of due) wake();
  }
}

export interface LogLine {
  readonly level: string;
  readonly fields: Record<string, unknown>;
  readonly text: string;
}

/** A fresh folder, without links in its path, that goes when the test ends. `parent`: on another file system. */
export function makeFolder(parent = tmpdir()): string {
  const folder = realpathSync(mkdtempSync(join(parent, 'tailrace-file-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Any function of the file system may be replaced by one that fails. Nothing can be watched: the clock is stepped, the system's events are not. */
export function failingFileSystem(changes: (real: FileSystem) => Partial<FileSystem>): FileSystem {
  const { watch: _, ...unwatched } = nodeFileSystem;
  return { ...unwatched, ...changes(nodeFileSystem) };
}

/**
 * The real one, but each folder's time moves on: with a stepped clock, listings would be kept that were made in the same tick of the file
 * system as the next change.
 */
export const freshFolders = failingFileSystem((real) => ({
  stat(path) {
    const stat = real.stat(path);
    return stat?.kind === 'directory' ? { ...stat, mtimeMs: Number.NaN } : stat;
  },
}));

export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: made to fail`), { code });
}

export const CALLS = ['stat', 'readdir', 'open', 'fstat', 'peek', 'read', 'close'] as const;
export type Call = (typeof CALLS)[number];

/** What happens at each call of a file system. `of`: its path or descriptor. */
export interface Hooks {
  /** May throw, which fails the call. */
  readonly before?: (call: Call, of: string | number) => void;
  readonly after?: (call: Call, of: string | number, result: unknown) => void;
}

export function hooked({ before, after }: Hooks, real: FileSystem = freshFolders): FileSystem {
  const calls = CALLS.map((call) => {
    const act = (...given: [string | number]): unknown => {
      before?.(call, given[0]);
      const result: unknown = Reflect.apply(real[call], real, given);
      after?.(call, given[0], result);
      return result;
    };
    return [call, act];
  });
  return { ...real, ...(Object.fromEntries(calls) as Partial<FileSystem>) };
}

export interface RigOptions extends Partial<Omit<FileConfig, 'type'>> {
  /** What it reads, relative to its folder. */
  readonly glob?: string;
  readonly once?: boolean;
  readonly fileSystem?: FileSystem;
  /** Deleted files have a reader of their own, which offers their lines to this lane. */
  readonly rescueLane?: LaneDouble;
  readonly privateFiles?: PrivateFiles;
  /** Blocks go there, too; windows are in memory of its own. */
  readonly through?: { readonly lane: Lane; readonly reserve: (bytes: number) => Region };
  /** Wall clock of new streams; the system's, as that of the files. */
  readonly nowMs?: () => number;
  /** Makes the files, under times of their own, and brings the file system and the wall clock with it. */
  readonly times?: FileTimes;
}

export class TailRig {
  readonly folder: string;
  readonly clock = new StepClock();
  readonly streams: MemoryStreamStore;
  readonly log: LogLine[] = [];
  readonly lanes: LaneDouble[] = [];
  source!: FileSource;
  lane!: LaneDouble;
  readonly times: FileTimes | undefined;
  /** Asked at each call of its file system, unless `fileSystem` is an option. */
  readonly beforeCalls = new Set<NonNullable<Hooks['before']>>();
  readonly afterCalls = new Set<NonNullable<Hooks['after']>>();
  readonly #options: RigOptions;
  readonly #skipped = new SkippedTime();
  #committedBlocks = 0;

  /** Files that are made from now on are younger than the streams before, and older than those after. */
  bornNow(): void {
    this.#skipped.skip(2 * BIRTH_SLACK_MS, this.folder);
  }

  constructor(options: RigOptions = {}, folder = makeFolder()) {
    const { times, nowMs = times?.nowMs ?? (() => this.#skipped.now()), ...rest } = options;
    this.#options = times ? { fileSystem: times.fileSystem, ...rest } : rest;
    this.times = times;
    this.streams = new MemoryStreamStore(nowMs);
    this.folder = folder;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** A new source on the same folder and streams, as after a restart; the old one is left as a kill leaves it. */
  async start(changes: RigOptions = {}): Promise<this> {
    const hooks: Hooks = {
      before: (call, of) => this.beforeCalls.forEach((each) => each(call, of)),
      after: (call, of, result) => this.afterCalls.forEach((each) => each(call, of, result)),
    };
    const {
      glob = '*.log',
      once = false,
      fileSystem = hooked(hooks),
      rescueLane,
      privateFiles,
      through,
      ...rest
    } = { ...this.#options, ...changes };
    const config = fileSourceConfig(this.path(glob), rest);
    const write = (level: string) => (fields: object, text: string) =>
      void this.log.push({ level, fields: fields as Record<string, unknown>, text });
    const log: Log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
    this.lane = new LaneDouble();
    this.lanes.push(this.lane);
    this.#committedBlocks = 0;
    const { lane } = this;
    const both: Lane = {
      async accept(block) {
        await through?.lane.accept(block);
        await lane.accept(block);
      },
    };
    const source = createFileSource(
      config,
      {
        ...{
          lane: both,
          streams: this.streams,
          clock: this.clock,
          log,
          hostname: 'testhost',
          reserve: through?.reserve ?? plainRegion,
          once,
          privateFiles,
        },
        ...(rescueLane && {
          rescue: { lane: rescueLane, keep() {}, release() {}, flush() {}, isFull: false } satisfies Rescue,
        }),
      },
      { fileSystem: this.#skipped.of(fileSystem), shaping: await loadShaping(config) },
    );
    this.source = source;
    onTestFinished(() => source.stop());
    await source.open();
    return this;
  }

  /** Polls until there is nothing more to read, each time a second later. */
  async drain(): Promise<void> {
    for (let poll = 0; poll < 1000; poll += 1) {
      const { moreToRead } = await this.source.pollOnce();
      this.clock.advance(1000);
      if (!moreToRead) return;
    }
    throw new Error('the source never comes to an end');
  }

  /** Polls for `seconds` of the clock, every `step` seconds. */
  async pass(seconds: number, step = 1): Promise<void> {
    for (let second = 0; second < seconds; second += step) {
      this.clock.advance(step * 1000);
      await this.source.pollOnce();
    }
  }

  /** Commits the spans of everything the lane accepted so far. */
  commit(): void {
    for (const block of this.lane.blocks.slice(this.#committedBlocks)) {
      const bytes = block.own;
      this.streams.commit(
        block.stream,
        block.offset + block.length,
        block.single?.tail ?? tailOf(bytes),
        block.single?.sum ?? contentSum(bytes, block.offset),
        block.groups?.after,
      );
      for (const { stream, to, tail, sum } of block.continued ?? []) this.streams.commit(stream, to, tail, sum);
    }
    this.#committedBlocks = this.lane.blocks.length;
  }

  /** These calls fail from now on, for paths that end so and for every descriptor, until `beforeCalls` is cleared. */
  fail(call: string, name = '', code = 'EIO'): void {
    this.beforeCalls.add((each, of) => {
      if (each === call && (typeof of === 'number' || of.endsWith(name))) throw systemError(code);
    });
  }

  /** Acts once, when the file was found and is opened. */
  once(when: 'before' | 'after', name: string, act: () => void): void {
    const hooks = this[`${when}Calls`];
    const hook = (call: Call, of: string | number): void => {
      if (call === 'open' && of === this.path(name) && hooks.delete(hook)) act();
    };
    hooks.add(hook);
  }

  /** Reads a span of the first stream again; where the source came to, and what it handed over. */
  async reread(from: number, to: number): Promise<{ readonly end: number; readonly lane: LaneDouble }> {
    const [stream] = this.streams.records.keys();
    const lane = new LaneDouble();
    const span = { source: 'app', stream: stream!, from, to, events: 0, sum: 0, tail: { length: 0, crc: 0 } };
    return { end: await this.source.reread!(span, lane), lane };
  }

  /** Plays a scenario. */
  run(script: Script): Promise<void> {
    return playSteps(this, script);
  }

  /** The same, of the text that follows. */
  play(strings: readonly string[], ...values: Value[]): Promise<void> {
    return playSteps(this, { strings, values });
  }

  /** Every line since the last start. */
  get texts(): string[] {
    return this.lane.texts;
  }

  /** The same, but lines that are joined are one event. */
  get events(): string[] {
    return this.lane.events;
  }

  /** Lines since the last start, by their `file`. */
  get byFile(): Record<string, string[]> {
    const files: Record<string, string[]> = {};
    for (const block of this.lane.blocks) {
      const name = (block.shape.wrapFields['file'] as string).slice(this.folder.length + 1);
      (files[name] ??= []).push(...block.lines.map(String));
    }
    return files;
  }

  said(pattern: RegExp): LogLine[] {
    return this.log.filter((line) => pattern.test(line.text));
  }
}

/** A source that is open, on a folder of its own. */
export function startRig(options: RigOptions = {}): Promise<TailRig> {
  return new TailRig(options).start();
}

/** Tests that begin with a rig, or with one that is open. */
export const test = base.extend('rig', () => new TailRig()).extend('openRig', () => startRig());
