/** What one sink consists of: its memory, its batcher, its delivery, and the sink itself, wired together. */
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Batcher } from '../../batcher/fill/batcher.ts';
import type { Accounts } from '../../batcher/accounting.ts';
import { type AddressEncodings, EncodingChoice } from '../../core/requests.ts';
import { Delivery } from '../../batcher/send/delivery.ts';
import { BatchQueue, type PauseWatcher, type QueueSettings } from '../../batcher/queue.ts';
import { DiskBuffer } from '../../batcher/keep/disk-buffer.ts';
import { Keeper, type LetterStore, Positions } from '../../batcher/store.ts';
import { SpoolStore } from '../../batcher/keep/spool-store.ts';
import type { MemoryBudget } from '../../batcher/memory-budget.ts';
import type { SinkConfig } from '../../config/model.ts';
import type { Region } from '../../core/block.ts';
import { type Clock, whenAborted } from '../../core/time/clock.ts';
import type { Log } from '../../core/log.ts';
import type { BodyForm, Sink } from '../../core/sink.ts';
import { divideMemory, type SinkMemory } from '../../core/sink-memory.ts';
import type { Kernel } from '../../kernel/kernel.ts';
import { sinkTypeOf } from '../../sinks/registry.ts';
import { Spool } from '../../state/spool/spool.ts';
import type { State } from '../../state/database/store.ts';
import { Histograms } from '../../telemetry/delivery-stats.ts';
import type { SinkHistograms } from '../../telemetry/metrics.ts';
import { SlotMemory } from './slot-memory.ts';
import { createSwappableSink, type SwappableSink } from './swappable-sink.ts';

const COMMIT_EVERY_MS = 4;

export interface SinkPipeline {
  /** The configuration in force; `inputs` is empty once a reload removed the sink, until it is drained. */
  readonly config: SinkConfig;
  readonly sink: SwappableSink;
  readonly budget: MemoryBudget;
  readonly batcher: Batcher;
  /** Batches that are neither open nor settled. */
  readonly queue: BatchQueue;
  readonly keeper: Keeper;
  readonly delivery: Delivery;
  readonly buffer: DiskBuffer;
  readonly spool: Spool;
  /** Reserves the memory that a changed configuration needs. Throws `TailraceError` `E_KERNEL_MEMORY`, with nothing reserved. */
  prepare(next: SinkConfig): void;
  /** Gives back the prepared memory. */
  cancel(): void;
  /**
   * Takes a changed configuration into force. Batches that are closed, the open ones included, keep body, form and key; those after them
   * are made as it says. Memory and requests that are in use go on to their end.
   */
  reconfigure(next: SinkConfig): void;
  /** Gives its memory back; nothing may be held any more. */
  readonly release: () => void;
}

export interface SinkPipelineOptions {
  /** The data folder. */
  readonly folder: string;
  readonly accounts: Accounts;
  readonly config: SinkConfig;
  /** In place of the one that the configuration describes; a test gives its own. */
  readonly sink?: Sink;
  readonly kernel: Kernel;
  /** Shared by all sinks of the process. */
  readonly encodings: AddressEncodings;
  /** Where events are made before they are shaped; undefined where none are. */
  readonly shapingScratch?: Region | undefined;
  readonly state: State;
  readonly clock: Clock;
  readonly log: Log;
  readonly histograms: SinkHistograms;
  /** From 0 to 1, for jitter; `Math.random` by default. */
  readonly random?: () => number;
  /** Is told when a dataset is paused. */
  readonly watcher?: PauseWatcher | undefined;
  readonly letters: LetterStore;
}

export function createSinkHistograms(): SinkHistograms {
  return {
    requestSeconds: new Histograms([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]),
    batchEvents: new Histograms([1, 10, 100, 500, 1000, 2500, 5000, 10_000]),
    batchBytes: new Histograms([1024, 16_384, 65_536, 262_144, 524_288, 1_048_576, 4_194_304, 10_485_760]),
  };
}

export function memoryOf({ buffer, batch, concurrency }: SinkConfig): SinkMemory {
  return divideMemory(buffer.maxMemoryBytes, batch.maxBytes, concurrency);
}

export function createSinkPipeline(options: SinkPipelineOptions): SinkPipeline {
  const { kernel, state, clock, log, histograms } = options;
  let { config } = options;
  const type = sinkTypeOf(config);
  const formOf = (each: SinkConfig): BodyForm | undefined => type.forms?.formOf(each);
  /** What the batcher makes events for. */
  const shapeOf = (each: SinkConfig) => {
    const body = formOf(each);
    return { timestampField: each.timestampField, form: body && { name: type.forms!.nameOf(body), body } };
  };
  const sink = createSwappableSink(options.sink ?? type.create(config, clock, log), type.forms);
  const memory = new SlotMemory(kernel, memoryOf(config));
  const { budget } = memory;
  const spool = new Spool(join(options.folder, 'spool', config.id), log);
  const positions = new Positions(state);
  const store = new SpoolStore(spool, budget, positions, state);
  const settingsOf = (each: SinkConfig): QueueSettings => ({
    concurrency: memoryOf(each).requests,
    form: formOf(each),
    retry: each.retry,
    policy: {
      maxBytes: each.buffer.disk.maxBytes,
      whenFull: each.buffer.whenFull,
      spillFiles: each.buffer.disk.files,
      writesAtOnce: each.buffer.sync === 'always',
    },
  });
  const queue = new BatchQueue({
    ids: state.ledger,
    budget,
    settings: settingsOf(config),
    run: state.run,
  });
  queue.workers.watcher = options.watcher;
  const keeper = new Keeper({
    ...{ sink: config.id, queue, letters: options.letters, clock, log },
    stores: { positions, spool: store },
    commitEveryMs: COMMIT_EVERY_MS,
  });
  const delivery = new Delivery({
    ...{ sink, queue, keeper, histograms, clock, log },
    encoding: new EncodingChoice({ sink, encodings: options.encodings, compression: config.compression, clock, log }),
    facts: Object.keys(type.facts ?? {}),
    random: options.random ?? Math.random,
  });
  const buffer = new DiskBuffer({
    ...{ sink: config.id, delivery, store, keeper, clock, log, ledger: state.ledger, accounts: options.accounts },
  });
  const batcher = new Batcher({
    ...{ sink: config.id, kernel, queue, clock },
    limits: config.batch,
    ...(options.shapingScratch ? { scratch: options.shapingScratch } : {}),
    ...shapeOf(config),
    sumsLive: config.compression === 'none',
  });
  return {
    get config() {
      return config;
    },
    ...{ sink, budget, batcher, queue, keeper, delivery, buffer, spool },
    prepare: (next) => memory.prepare(memoryOf(next)),
    cancel: () => memory.cancel(),
    reconfigure(next) {
      if (!isDeepStrictEqual(transportOf(config), transportOf(next))) sink.swap(type.create(next, clock, log));
      config = next;
      const { batch: limits, compression } = next;
      batcher.reconfigure({ limits, sumsLive: compression === 'none', ...shapeOf(next) });
      queue.settings = settingsOf(next);
      memory.divide(memoryOf(next));
      delivery.reconfigure(compression);
    },
    release: () => memory.release(),
  };
}

/** What the sink itself is made from. */
function transportOf({
  inputs: _inputs,
  batch: _batch,
  retry: _retry,
  buffer: _buffer,
  transform: _transform,
  ...rest
}: SinkConfig) {
  return rest;
}

/** Resolves when the sink holds nothing, or when `signal` aborts; sooner as `Delivery.drain` says. */
export async function drainSink(
  { buffer, delivery }: SinkPipeline,
  signal: AbortSignal,
  patienceMs?: number,
): Promise<void> {
  await Promise.race([buffer.writer.work.idle(), whenAborted(signal)]);
  await delivery.drain(signal, patienceMs);
}
