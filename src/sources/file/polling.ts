/**
 * When to scan and when to read. Scanning, reading, and reading deleted files go on side by side: a rotation is seen while
 * the reader waits for the sinks, and what has no name any more waits for the disk alone.
 */
import type { FileConfig } from './file-type.ts';
import type { Lane } from '../../core/block.ts';
import type { Clock, StepDeadline } from '../../core/time/clock.ts';
import { codeOf } from '../../core/errors.ts';
import { LOOK_EVERY_MS, CHECK_PAUSE_MS_PER_FILE, NAMES_CHECK_MS } from './limits.ts';
import type { Rescue } from '../../core/source.ts';
import { type CompressedReader, takeCompressed } from './compressed/compressed-reader.ts';
import type { Finder } from './scan/finder.ts';
import { type FileSystem, statIfAny } from './scan/file-system.ts';
import { FolderWatches } from './watch/folder-watches.ts';
import type { WatchedFolder } from './watch/folder-watch.ts';
import type { Notices } from './scan/notices.ts';
import { finishDeleted, type FinishOptions } from './read/finish-deleted.ts';
import type { TailReader } from './read/reader.ts';
import { ScanPace, untilNextCheckMs } from './watch/scan-pace.ts';
import type { RotationChain } from './known/rotation-chain.ts';
import type { TrackedFile } from './known/tracked-file.ts';
import type { ChangeHandler } from './act/change-handler.ts';
import type { Tracker } from './act/tracker.ts';

export interface PollingOptions extends FinishOptions {
  readonly config: FileConfig;
  readonly fileSystem: FileSystem;
  readonly finder: Finder;
  /** Of the scans. */
  readonly deadline: StepDeadline;
  readonly tracker: Tracker;
  readonly handler: ChangeHandler;
  readonly chain: RotationChain;
  readonly reader: TailReader;
  readonly lane: Lane;
  /** Reads deleted files; undefined where these wait with all others. */
  readonly unlinkedReader: TailReader | undefined;
  readonly rescue: Rescue | undefined;
  /** Reads compressed files; undefined where these are left out. */
  readonly compressedReader: CompressedReader | undefined;
  readonly notices: Notices;
  readonly clock: Clock;
}

/** Milliseconds of reading after which timers, sockets and other sources get a turn. */
const YIELD_EVERY_MS = 10;

export class Polling {
  readonly #options: PollingOptions;
  readonly #stopping = new AbortController();
  /** End the readers' waits for something to read. */
  readonly #wakers = new Set<() => void>();
  #running: Promise<void> = Promise.resolve();
  /** Files are followed: before that, a scan would follow what `start_at` leaves out. */
  #hasRun = false;
  #yieldedAtMs = 0;

  constructor(options: PollingOptions) {
    this.#options = options;
  }

  async scanOnce(): Promise<void> {
    const { tracker, finder, compressedReader, notices, rescue } = this.#options;
    // Record known content before the scan: files that vanish during it cannot be read later.
    compressedReader?.known.note();
    const found = await finder.find();
    const compressed = takeCompressed(found);
    await tracker.scan(found, this.#scanPause);
    compressedReader?.see(compressed);
    const [left] = compressedReader ? [] : compressed.keys();
    const text = 'compressed files are left out; `read_compressed: true` reads them';
    if (left !== undefined) notices.trouble('info', 'read_compressed', { path: left, files: compressed.size }, text);
    // What was read of files that are gone, be they followed yet or not, is in a batch that is not full yet.
    rescue?.flush();
    this.#wake();
  }

  async compressedRound(): Promise<void> {
    await this.#options.compressedReader?.readRound();
  }

  /** One turn for each file that has something to read. */
  async readRound(): Promise<void> {
    const { knownFiles, reader, config, lane } = this.#options;
    const { queue } = knownFiles;
    for (let turns = queue.size; turns > 0 && !this.#isStopping; turns -= 1) {
      const file = knownFiles.next(config.order);
      if (!file) break;
      queue.delete(file);
      await reader.turn(file);
      await this.yieldToOthers();
    }
    if (queue.size === 0) lane.rest?.();
  }

  /** The same for deleted files. */
  async unlinkedRound(): Promise<void> {
    const { knownFiles, unlinkedReader } = this.#options;
    const { deleted } = knownFiles;
    for (const file of [...deleted]) {
      deleted.delete(file);
      // Its other turn ends by itself, and puts it back if there is more.
      if (!file.isBusy && !this.#isStopping) await unlinkedReader?.turn(file);
      await this.yieldToOthers();
    }
    if (deleted.size === 0) this.#options.rescue?.flush();
  }

  /** Reads do not wait, so other work gets its turn here. */
  readonly yieldToOthers = async (): Promise<void> => {
    if (performance.now() - this.#yieldedAtMs < YIELD_EVERY_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.#yieldedAtMs = performance.now();
  };

  readonly #scanPause = (): Promise<void> => {
    this.#options.deadline.progressed();
    return this.yieldToOthers();
  };

  /** Until `stop`, or under `--once` until all that was there is read. */
  run(once: boolean): Promise<void> {
    this.#hasRun = true;
    return (this.#running = this.#run(once));
  }

  /** Resolves once nothing is under way, and deleted files are read to their ends, as far as the lane takes them. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#options.compressedReader?.stop();
    this.#wake();
    await this.#running.catch(() => undefined);
    if (!this.#options.unlinkedReader) return;
    // What was deleted or cut off since the last scan.
    if (this.#hasRun) await this.scanOnce();
    await finishDeleted(this.#options, this.#options.unlinkedReader);
  }

  get #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  #wake(): void {
    for (const wake of this.#wakers) wake();
    this.#wakers.clear();
  }

  async #run(once: boolean): Promise<void> {
    const { knownFiles } = this.#options;
    try {
      if (once) return await this.#readAllOnce();
      const isDone = (): void => this.#stopping.abort();
      await Promise.all([
        this.#scanUntilStopped(),
        this.#checkUntilStopped(),
        this.#readUntilStopped(knownFiles.queue, () => this.readRound()).finally(isDone),
        this.#readUntilStopped(knownFiles.deleted, () => this.unlinkedRound()).finally(isDone),
        this.#readCompressedUntilStopped().finally(isDone),
      ]);
    } catch (error) {
      // The lane gave up waiting at shutdown; positions were not moved.
      if (codeOf(error) !== 'E_STOPPED') throw error;
    } finally {
      this.#wake();
    }
  }

  async #readAllOnce(): Promise<void> {
    const { knownFiles, copies, chain } = this.#options;
    await this.scanOnce();
    while (copies.decide()) await this.yieldToOthers();
    chain.link();
    for (const file of knownFiles.files) {
      file.flushLineAt = Infinity;
      file.readLimit = file.size;
      knownFiles.enqueue(file);
    }
    while (knownFiles.queue.size + knownFiles.deleted.size > 0 && !this.#isStopping) {
      await this.readRound();
      await this.unlinkedRound();
      copies.decide();
      chain.link();
    }
    await this.compressedRound();
  }

  async #scanUntilStopped(): Promise<void> {
    const { config, finder, deadline, handler, fileSystem, clock, notices, stats, knownFiles } = this.#options;
    const { scanIntervalMs, maxScanIntervalMs, readCompressed } = config;
    const concerns = (path: string): boolean =>
      knownFiles.leadingTo(path) !== undefined || finder.matches(path) || knownFiles.byPath(path) !== undefined;
    const watches = new FolderWatches({ fileSystem, clock, notices, concerns });
    // Only full scans take up compressed files.
    const pace = new ScanPace({
      scanIntervalMs,
      maxScanIntervalMs: readCompressed ? scanIntervalMs : maxScanIntervalMs,
    });
    let scannedMs = clock.monotonic();
    let nextMs = scannedMs + pace.intervalMs;
    /** Folders that come and go are worth no more of a processor than files are. */
    let restsUntilMs = -Infinity;
    try {
      watches.sync(finder.visited);
      if (!watches.isComplete) nextMs = scannedMs + scanIntervalMs;
      while (!this.#isStopping) {
        deadline.expect(nextMs);
        await watches.wait(nextMs, this.#stopping.signal);
        deadline.progressed();
        if (this.#isStopping) return;
        const beganMs = clock.monotonic();
        if (watches.takeScan()) nextMs = Math.min(nextMs, Math.max(beganMs, restsUntilMs));
        if (beganMs >= nextMs) {
          handler.takeChanged();
          await this.scanOnce();
          watches.compare(
            [...handler.takeChanged().files].map(({ disk }) => disk.path),
            scannedMs,
          );
          watches.sync(finder.visited);
          pace.scanned(watches.isComplete);
          scannedMs = beganMs;
          const endedMs = clock.monotonic();
          nextMs = endedMs + pace.intervalMs;
          restsUntilMs = endedMs + knownFiles.files.size * CHECK_PAUSE_MS_PER_FILE + NAMES_CHECK_MS;
        }
        for (const folder of watches.takeDue()) if (!(await this.#check(folder))) watches.addScan();
        const missed = watches.takeMissed();
        if (missed === 0) continue;
        stats.missedChanges = (stats.missedChanges ?? 0) + missed;
        pace.missed();
        nextMs = Math.min(nextMs, clock.monotonic() + pace.intervalMs);
      }
    } finally {
      deadline.end();
      watches.close();
    }
  }

  /** Checks what a folder's watch reported. False where only a full scan can sort it out. */
  async #check(folder: WatchedFolder): Promise<boolean> {
    const { finder, tracker, handler, fileSystem, clock, compressedReader, rescue } = this.#options;
    const check = folder.take(clock.monotonic());
    const mtimeMs = check.kind === 'names' ? NaN : (statIfAny(fileSystem, folder.path)?.mtimeMs ?? NaN);
    if (check.kind === 'entries' && !folder.hasChanged(mtimeMs)) return true;
    handler.takeChanged();
    if (check.kind === 'names') {
      if (!tracker.lookAt(check.names)) folder.addWhole();
      this.#wake();
      return true;
    }
    compressedReader?.known.note();
    const found = await finder.findIn(folder.path);
    if (!found) return false;
    takeCompressed(found);
    await tracker.scan(found, this.#scanPause, folder.path);
    rescue?.flush();
    folder.checked(clock.monotonic(), mtimeMs, found.size, handler.takeChanged().grownBytes);
    this.#wake();
    return true;
  }

  /** Where scans are far apart, checks open files that cannot wait for the next one. */
  async #checkUntilStopped(): Promise<void> {
    const { config, clock, tracker } = this.#options;
    while (config.maxScanIntervalMs > LOOK_EVERY_MS && !this.#isStopping) {
      // Idle files cost nothing: there is nothing open then.
      if (tracker.needsLooks) await clock.sleep(untilNextCheckMs(clock.monotonic()), this.#stopping.signal);
      else await this.#untilWoken();
      if (this.#isStopping) return;
      tracker.look();
      if (this.#options.knownFiles.hasWork) this.#wake();
    }
  }

  #untilWoken(): Promise<void> {
    return new Promise<void>((resolve) => this.#wakers.add(resolve));
  }

  async #readUntilStopped(queue: ReadonlySet<TrackedFile>, round: () => Promise<void>): Promise<void> {
    while (!this.#isStopping) {
      if (queue.size > 0) await round();
      else await this.#untilWoken();
    }
  }

  async #readCompressedUntilStopped(): Promise<void> {
    while (!this.#isStopping) {
      await this.compressedRound();
      if (!this.#isStopping) await this.#untilWoken();
    }
  }
}
