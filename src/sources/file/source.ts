/**
 * The file source: puts finder, tracker and reader together. A poll is: find the files, match them to streams, read each a
 * fair share, close and forget what is done. Scanning and reading go on side by side, so that a rotation is seen while the
 * reader waits for the sinks.
 */
import type { EventShape, Lane, Span } from '../../core/block.ts';
import { codeOf } from '../../core/errors.ts';
import { newStats, type Source, type SourceContext, type SourceStats } from '../../core/source.ts';
import type { FileSourceConfig } from '../../config/model.ts';
import { LOOK_EVERY_MS } from '../../core/limits.ts';
import { windowBytes } from '../byte-window.ts';
import { LineWindow } from '../line-window.ts';
import { type FileStat, type FileSystem, nodeFileSystem } from './file-system.ts';
import { Finder } from './finder.ts';
import { Generations } from './generations.ts';
import { Hints } from './hints.ts';
import { Notices } from './notices.ts';
import { Reader } from './reader.ts';
import { positionAtEnd, recognizeFiles } from './recognize.ts';
import type { Registry } from './registry.ts';
import { SpanReader } from './span-reader.ts';
import { lagOf, stateOf, type TrackedFile } from './tracked-file.ts';
import { Tracker } from './tracker.ts';
import { Turns } from './turns.ts';

export interface FileSource extends Source {
  /** One scan, then one turn for every file that has something to read. For tests and `--once`. */
  pollOnce(): Promise<{ readonly moreToRead: boolean }>;
  /** Looks at all files once, without reading. */
  scanOnce(): Promise<void>;
  /** One turn for every file that has something to read. */
  readRound(): Promise<void>;
  /** Why a path is or is not read, where, and how far behind. */
  explain(path: string): FileExplanation;
}

export interface FileExplanation {
  readonly path: string;
  readonly patterns: string;
  /** The rest is undefined when the file is not followed. */
  readonly state?: string;
  readonly stream?: string | undefined;
  readonly firstPath?: string;
  readonly currentPath?: string;
  readonly device?: string;
  readonly inode?: string;
  readonly offset?: number;
  readonly size?: number;
  readonly lagBytes?: number;
  readonly lastError?: string | undefined;
}

/** Milliseconds of reading after which timers, sockets and other sources get a turn. */
const YIELD_EVERY_MS = 10;

/** Makes the source; nothing is looked at before `open`. */
export function createFileSource(config: FileSourceConfig, context: SourceContext, fileSystem: FileSystem = nodeFileSystem): FileSource {
  const { streams, clock, log } = context;
  const notices = new Notices(log, clock);
  const finder = new Finder({ include: config.include, exclude: config.exclude, fileSystem, clock, notices });
  const shapeOf = (path: string): EventShape => ({
    format: config.format,
    wrapFields: { host: context.hostname, file: path },
    fields: config.fields,
  });
  const counters = newStats();
  const generations = new Generations({
    source: config.id,
    fileSystem,
    streams,
    clock,
    notices,
    stats: counters,
    once: context.once,
    partialTimeoutMs: config.partialTimeoutMs,
    shapeOf,
    isMatched: (path) => finder.matches(path),
    isExcluded: (path) => finder.isExcluded(path),
  });
  const { descriptors, registry } = generations;
  const { queue, files } = registry;
  const { ignoreOlderMs, stableInodes } = config;
  const tracker = new Tracker({ fileSystem, streams, clock, notices, stats: counters, generations, ignoreOlderMs, stableInodes });
  const window = new LineWindow(context.reserve(windowBytes(config.maxEventBytes)), config);
  const turns = new Turns();
  const reader = new Reader({ window, fileSystem, generations, lane: context.lane, streams, clock, stats: counters, turns });
  const spanReader = new SpanReader({ window, fileSystem, registry, clock, turns });
  const stopping = new AbortController();
  let yieldedAtMs = 0;
  const isStopping = (): boolean => stopping.signal.aborted;
  /** Ends the reader's wait for something to read. */
  let wakeReader: (() => void) | undefined;
  let running: Promise<void> = Promise.resolve();

  async function open(): Promise<void> {
    const records = streams.list(config.id);
    const isFirstRun = streams.hasStarted ? !streams.hasStarted(config.id) && records.length === 0 : records.length === 0;
    const found = await finder.find();
    const recognized = await recognizeFiles({ records, found, tracker, generations, fileSystem, stableInodes });
    if (isFirstRun && config.startAt === 'end') {
      for (const each of [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1))) {
        if (registry.in(each.stat)) continue;
        skipPresent(generations.track(each), each.stat);
      }
    }
    await tracker.scan(found, yieldToOthers);
    log.info(
      { source: config.id, files: files.size, recognized },
      found.size === 0 ? 'no file matches yet, looking again at every scan' : 'following files',
    );
  }

  /** A file that cannot be read now is read from its beginning later: its present end is not known. */
  function skipPresent(file: TrackedFile, stat: FileStat): void {
    if (!descriptors.open(file)) return;
    try {
      positionAtEnd(file, stat, fileSystem, file.fd!, config.maxEventBytes);
      generations.name(file);
      descriptors.close(file);
    } catch (error) {
      descriptors.fail(file, error);
    }
  }

  async function scanOnce(): Promise<void> {
    await tracker.scan(await finder.find(), yieldToOthers);
    wakeReader?.();
  }

  /** One turn for each file in the queue. */
  async function readRound(): Promise<void> {
    for (let turns = queue.size; turns > 0 && !isStopping(); turns -= 1) {
      const file = registry.next(config.order);
      if (!file) return;
      queue.delete(file);
      await reader.turn(file);
      await yieldToOthers();
    }
  }

  /** Reads do not wait, so other work gets its turn here. */
  async function yieldToOthers(): Promise<void> {
    if (performance.now() - yieldedAtMs < YIELD_EVERY_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    yieldedAtMs = performance.now();
  }

  async function pollOnce(): Promise<{ readonly moreToRead: boolean }> {
    await scanOnce();
    await readRound();
    return { moreToRead: queue.size > 0 };
  }

  async function readAllOnce(): Promise<void> {
    await scanOnce();
    while (generations.copies.decide()) await yieldToOthers();
    for (const file of files) {
      file.finalAt = Infinity;
      file.stopAt = file.size;
      queue.add(file);
    }
    while (queue.size > 0 && !isStopping()) await readRound();
  }

  async function scanUntilStopped(): Promise<void> {
    const hints = new Hints({ folders: finder.roots, scanIntervalMs: config.scanIntervalMs, clock, log });
    try {
      await hints.start();
      while (!isStopping()) {
        await hints.wait(files.size, stopping.signal);
        if (!isStopping()) await scanOnce();
      }
    } finally {
      await hints.close();
    }
  }

  /** Where scans are far apart, what cannot wait for them is looked at in between. */
  async function lookUntilStopped(): Promise<void> {
    while (config.scanIntervalMs > LOOK_EVERY_MS && !isStopping()) {
      await clock.sleep(LOOK_EVERY_MS, stopping.signal);
      if (isStopping()) return;
      tracker.look();
      wakeReader?.();
    }
  }

  async function readUntilStopped(): Promise<void> {
    while (!isStopping()) {
      if (queue.size > 0) await readRound();
      else await new Promise<void>((resolve) => (wakeReader = resolve));
    }
  }

  async function run(): Promise<void> {
    try {
      if (context.once) await readAllOnce();
      else await Promise.all([scanUntilStopped(), lookUntilStopped(), readUntilStopped().finally(() => stopping.abort())]);
    } catch (error) {
      // The lane gave up waiting at shutdown; positions were not moved.
      if (codeOf(error) !== 'E_STOPPED') throw error;
    }
  }

  return {
    id: config.id,
    kind: 'file',
    stats: liveStats(counters, registry),
    open,
    run: () => (running = run()),
    async stop() {
      stopping.abort();
      wakeReader?.();
      await running.catch(() => undefined);
      for (const file of files) descriptors.close(file);
    },
    reread: (span: Span, lane: Lane) => spanReader.reread(span, lane),
    readSpan: (span) => spanReader.readSpan(span),
    pollOnce,
    scanOnce,
    readRound,
    explain(path) {
      const file = registry.byPath(path);
      const patterns = finder.explain(path);
      if (!file) return { path, patterns };
      const { stream, firstPath, path: currentPath, offset, size } = file;
      const { device, inode } = file.identity;
      return {
        path,
        patterns,
        state: stateOf(file),
        stream,
        firstPath,
        currentPath,
        device,
        inode,
        offset,
        size,
        lagBytes: lagOf(file),
        lastError: file.failure?.reason,
      };
    },
  };
}

/** The counters, with what is true now computed when it is asked for. */
function liveStats(counters: SourceStats, registry: Registry): SourceStats {
  return Object.defineProperties(counters, {
    lagBytes: { enumerable: true, get: () => registry.lagBytes },
    files: {
      enumerable: true,
      get() {
        const states: Record<string, number> = { active: 0, idle: 0, rotated: 0, deleted: 0, failed: 0 };
        for (const file of registry.files) states[stateOf(file)]! += 1;
        return states;
      },
    },
  });
}
