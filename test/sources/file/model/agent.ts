/**
 * An agent for the model test: the real file source, lanes, batcher, delivery, disk buffer, state and restoring, wired as the agent wires
 * them, on a stepped clock. A kill leaves the disk and nothing else.
 */
import { fstatSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { AddressEncodings } from '../../../../src/core/requests.ts';
import { observeSources } from '../../../../src/agent/control/observe.ts';
import { restoreSinks } from '../../../../src/agent/build/restore-sinks.ts';
import { Components } from '../../../../src/agent/build/components.ts';
import { createSinkPipeline } from '../../../../src/agent/build/sink-pipeline.ts';
import { createSourcePipeline } from '../../../../src/agent/build/source-pipeline.ts';
import { stopComponents } from '../../../../src/agent/stop.ts';
import type { FileConfig } from '../../../../src/sources/file/file-type.ts';
import type { Region } from '../../../../src/core/block.ts';
import { APPEND_CHECK_MS } from '../../../../src/sources/file/limits.ts';
import type { Log } from '../../../../src/core/log.ts';
import type { Sink } from '../../../../src/core/sink.ts';
import { createKernel, type Kernel } from '../../../../src/kernel/kernel.ts';
import { type FileSystem, nodeFileSystem } from '../../../../src/sources/file/scan/file-system.ts';
import { createFileSource } from '../../../../src/sources/file/source.ts';
import type { FolderChanged } from '../../../../src/sources/file/scan/watch-folder.ts';
import { openDatabase } from '../../../../src/state/database/database.ts';
import { State } from '../../../../src/state/database/store.ts';
import { Histograms } from '../../../../src/telemetry/delivery-stats.ts';
import { findImbalance, type Observed } from '../../../../src/telemetry/observed.ts';
import { fileSourceConfig } from '../../../support/source-config.ts';
import { sinkConfig } from '../../../support/sink-config.ts';
import { SteppedClock } from '../../../support/stepped-clock.ts';
import type { Inodes } from './inodes.ts';
import type { ModelStore } from './store.ts';

const KiB = 1024;
const MEMORY_BYTES = 12 * KiB * KiB;
/** Batches wait for each other's commit so long, at most. */
const COMMIT_MS = 5;

/** By the agent's clock, for what takes no time. */
const DEADLINE_MS = 60_000;
/** Calls to the system before it comes to rest: the longest schedules make some thousand. */
const MAX_CALLS = 200_000;

/** One for all agents, as they come one after the other: to make and to collect one takes longer than most schedules. */
const shared = createKernel(MEMORY_BYTES);
/** By their size. */
const regions = new Map<number, Region[]>();

/** `checkAlive` throws once the agent is dead: what it had in hand is in memory that is the next one's. */
function nextKernel(checkAlive: () => void): Kernel {
  const taken = new Map<number, number>();
  const reserve = (bytes: number): Region => {
    const known = regions.get(bytes) ?? [];
    regions.set(bytes, known);
    const next = taken.get(bytes) ?? 0;
    taken.set(bytes, next + 1);
    return (known[next] ??= shared.reserve(bytes));
  };
  const wrap: Kernel['wrap'] = (...given) => {
    checkAlive();
    return shared.wrap(...given);
  };
  return { ...shared, reserve, wrap };
}

export interface ModelAgentOptions {
  /** The data folder. */
  readonly folder: string;
  readonly include: string;
  readonly readCompressed: boolean;
  readonly store: ModelStore;
  readonly inodes: Inodes;
}

export class ModelAgent {
  readonly log: string[] = [];
  readonly #options: ModelAgentOptions;
  readonly #clock = new SteppedClock();
  readonly #components = new Components();
  readonly #descriptors = new Set<number>();
  readonly #watches = new Set<FolderChanged>();
  readonly #database: DatabaseSync;
  readonly #state: State;
  readonly #death = Promise.withResolvers<void>();
  #running: Promise<void> = Promise.resolve();
  /** Calls and requests so far, and when it dies of them. */
  #calls = 0;
  #lastCall: number;
  #isDead = false;

  /** It dies when it has made `calls` calls to the system and requests, if nobody ends it before. */
  constructor(options: ModelAgentOptions, calls = Infinity) {
    this.#options = options;
    this.#lastCall = calls;
    const { folder } = options;
    this.#database = openDatabase(folder, this.#log).database;
    // Rows come in an order that was asked for, or in the wrong one.
    this.#database.exec('pragma reverse_unordered_selects = on');
    const lock = { release: () => {} };
    this.#state = new State(
      { folder, sinksOf: () => ['store'], log: this.#log },
      lock,
      this.#database,
      false,
      new Set(['app']),
    );
  }

  get lostBytes(): number {
    return this.#components.lostBytes;
  }

  /** Descriptors that are open now. */
  get openFiles(): number {
    return this.#descriptors.size;
  }

  holds(inode: number): boolean {
    return [...this.#descriptors].some((fd) => fstatSync(fd).ino === inode);
  }

  /** Batches that are not settled. */
  get heldBatches(): number {
    return [...this.#components.batches()].length;
  }

  /** The imbalance of the accounting; empty while it balances. */
  get imbalance(): string[] {
    const sources = observeSources(this.#components.sources, this.#components.formerAccounting, this.#components.sinks);
    return findImbalance({ sources } as unknown as Observed);
  }

  /** Resolves once it follows its files, or is dead. */
  async start(): Promise<void> {
    await Promise.race([this.#start(), this.#death.promise]);
    await this.rest();
  }

  dieAfter(calls: number): void {
    this.#lastCall = this.#calls + calls;
  }

  /** Lets time pass, and everything happen that happens then. Files are looked at every second. */
  async pass(seconds: number): Promise<void> {
    for (let second = 0; second < seconds && !this.#isDead; second += 1) {
      await this.#clock.advance(1000);
      await this.#work();
    }
  }

  /** The watches tell of these changes, and what they tell of is looked at. */
  async wake(changes: readonly Parameters<FolderChanged>[]): Promise<void> {
    for (const change of changes) for (const changed of this.#watches) changed(...change);
    await this.#clock.advance(APPEND_CHECK_MS);
    await this.#work();
  }

  /** Closes the open batches, and gives delivery some time. */
  async deliver(): Promise<void> {
    for (const { batcher } of this.#components.sinks.values()) batcher.open.flush();
    await this.#work();
  }

  save(): void {
    this.#state.save();
  }

  /** Stops as on SIGTERM, with no time to deliver anything. */
  async stop(): Promise<void> {
    const stopped = stopComponents(this.#components, AbortSignal.abort(), this.#log).then(() => true);
    for (let ms = 0; !(await Promise.race([stopped, this.#tick()])); ms += COMMIT_MS)
      if (ms > DEADLINE_MS) throw new Error('it never stops');
    await this.#running;
    this.#state.save();
    await this.kill();
  }

  /** Ends as with `kill -9`. Resolves once what it had asked the system for is done. */
  async kill(): Promise<void> {
    this.#die();
    await this.rest();
  }

  async #tick(): Promise<false> {
    await this.#clock.advance(COMMIT_MS);
    return false;
  }

  /** Lets everything go on, until only time would. */
  async #work(): Promise<void> {
    await this.rest();
    for (let calls = -1; calls !== this.#calls && !this.#isDead;) {
      calls = this.#calls;
      await this.#clock.advance(COMMIT_MS);
      await this.rest();
    }
  }

  /** Until nothing goes on but what waits for the clock or the service. */
  async rest(): Promise<void> {
    const begin = this.#calls;
    for (let quiet = 0, calls = -1; quiet < 4; quiet += 1) {
      if (this.#calls - begin > MAX_CALLS) throw new Error('it never comes to rest');
      await new Promise((resolve) => setImmediate(resolve));
      if (calls !== this.#calls) quiet = 0;
      calls = this.#calls;
    }
  }

  async #start(): Promise<void> {
    const { folder, store } = this.#options;
    const kernel = nextKernel(() => this.#checkAlive());
    const config = sinkConfig('http://127.0.0.1:9', {
      inputs: ['app'],
      batch: { maxBytes: 32 * KiB, maxEvents: 40, maxAgeMs: 3_600_000, closesEarly: false },
      concurrency: 2,
      retry: { initialBackoffMs: 2000, maxBackoffMs: 2000, maxElapsedMs: Infinity },
      buffer: {
        maxMemoryBytes: KiB * KiB,
        disk: { maxBytes: 1024 ** 3, files: false },
        sync: 'batch',
        whenFull: 'block',
      },
    });
    const common = { components: this.#components, kernel, state: this.#state, clock: this.#clock, log: this.#log };
    const sinkRoom = createSinkPipeline({
      ...common,
      folder,
      encodings: new AddressEncodings(),
      config,
      sink: this.#whileAlive(store.sink(() => this.#call())),
      histograms: {
        requestSeconds: new Histograms([]),
        batchEvents: new Histograms([]),
        batchBytes: new Histograms([]),
      },
      accounts: this.#components,
      random: () => 0.5,
      letters: { keep: () => Promise.reject(new Error('nothing is refused here')) },
    });
    this.#components.sinks.set('store', sinkRoom);
    const fileSystem = this.#fileSystem();
    const pipeline = await createSourcePipeline({
      ...common,
      config: fileSourceConfig(this.#options.include, { format: 'text', readCompressed: this.#options.readCompressed }),
      once: false,
      create: (config, context) => Promise.resolve(createFileSource(config as FileConfig, context, { fileSystem })),
    });
    this.#components.sources.set('app', pipeline);
    await sinkRoom.buffer.recover();
    await pipeline.source.open();
    await restoreSinks({ ...common, scratchBytes: 64 * KiB, stopping: new AbortController().signal });
    this.#running = pipeline.source.run().catch((error: unknown) => {
      if (!this.#isDead) throw error;
    });
  }

  /** The real one, with its descriptors counted, and dead after a kill. Each folder's time moves on, although the clock is stepped. */
  #fileSystem(): FileSystem {
    const alive =
      <A extends unknown[], R>(call: (...given: A) => R) =>
      (...given: A): R => {
        this.#call();
        return call(...given);
      };
    const compressed = new Set<number>();
    // Decompressors work beside everything else: what they read would have a kill come at another call each time.
    const peek = (fd: number, into: Buffer, position: number): number => {
      if (compressed.has(fd)) this.#checkAlive();
      else this.#call();
      return nodeFileSystem.peek(fd, into, position);
    };
    return {
      ...nodeFileSystem,
      // It tells when a schedule says so.
      watch: (_, changed) => {
        this.#call();
        this.#watches.add(changed);
        return { close: () => this.#watches.delete(changed) };
      },
      stat: alive((path: string) => {
        const stat = this.#options.inodes.of(nodeFileSystem.stat(path));
        return stat?.kind === 'directory' ? { ...stat, mtimeMs: Number.NaN } : stat;
      }),
      trace: (path, base) => {
        const trace = nodeFileSystem.trace(path, base);
        return { ...trace, end: this.#options.inodes.of(trace.end) };
      },
      readdir: alive((path: string) => nodeFileSystem.readdir(path)),
      fstat: alive((fd: number) => this.#options.inodes.of(nodeFileSystem.fstat(fd))),
      peek,
      // Never through the thread pool.
      read: peek,
      open: (path) => {
        const isCompressed = path.endsWith('.gz');
        if (isCompressed) this.#checkAlive();
        else this.#call();
        const fd = nodeFileSystem.open(path);
        this.#descriptors.add(fd);
        if (isCompressed) compressed.add(fd);
        return fd;
      },
      close: (fd) => {
        compressed.delete(fd);
        if (this.#descriptors.delete(fd)) nodeFileSystem.close(fd);
      },
    };
  }

  /** No answer reaches the dead: their windows are the next agent's by then. */
  #whileAlive(sink: Sink): Sink {
    const send: Sink['send'] = (request, signal) =>
      new Promise((resolve, reject) => {
        sink.send(request, signal).then(
          (result) => this.#isDead || resolve(result),
          (error: unknown) => this.#isDead || reject(error as Error),
        );
      });
    return { ...sink, send };
  }

  #call(): void {
    this.#calls += 1;
    if (this.#calls >= this.#lastCall) this.#die();
    this.#checkAlive();
  }

  #checkAlive(): void {
    if (this.#isDead) throw new Error('killed');
  }

  #die(): void {
    if (this.#isDead) return;
    this.#isDead = true;
    for (const fd of this.#descriptors) nodeFileSystem.close(fd);
    this.#descriptors.clear();
    this.#database.close();
    // Its disk buffer stays as it is, too.
    const never = (): Promise<never> => new Promise(() => {});
    for (const { spool } of this.#components.sinks.values())
      Object.assign(spool, { write: never, rewrite: never, remove: never });
    this.#death.resolve();
  }

  get #log(): Log {
    const write = (level: string) => (fields: object, text: string) => {
      if (!this.#isDead) this.log.push(`${level} ${text} ${JSON.stringify(fields)}`);
    };
    return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  }
}

/** Batches in the disk buffer's folder. */
export function spoolFolder(folder: string): string {
  return join(folder, 'spool', 'store');
}
