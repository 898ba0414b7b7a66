/** What one sink consists of: its memory, its batcher, its delivery, and the sink itself, wired together. */
import { Batcher } from '../batcher/batcher.ts';
import { Delivery } from '../batcher/delivery.ts';
import { Room } from '../batcher/room.ts';
import type { IngestSinkConfig } from '../config/model.ts';
import type { Clock } from '../core/clock.ts';
import { KERNEL_SLACK_BYTES } from '../core/limits.ts';
import type { Log } from '../core/log.ts';
import type { DeadLetter, Sink } from '../core/sink.ts';
import type { Kernel } from '../kernel/kernel.ts';
import type { State } from '../state/store.ts';
import type { SinkHistograms } from '../telemetry/metrics.ts';

export interface SinkRoom {
  readonly config: IngestSinkConfig;
  readonly sink: Sink;
  readonly room: Room;
  readonly batcher: Batcher;
  readonly delivery: Delivery;
}

export interface SinkRoomOptions {
  readonly config: IngestSinkConfig;
  readonly sink: Sink;
  readonly kernel: Kernel;
  readonly state: State;
  readonly clock: Clock;
  readonly log: Log;
  readonly histograms: SinkHistograms;
  /** Told when a dataset is paused. */
  paused(dataset: string): void;
  /** Keeps dead letters durably (state/dead-letters). */
  bury(name: string, letters: readonly DeadLetter[]): Promise<void>;
}

/** Bytes of one slot: a full batch, and what the kernel may overwrite. */
export function slotBytesOf(config: IngestSinkConfig): number {
  return config.batch.maxBytes + KERNEL_SLACK_BYTES;
}

/** How many slots the sink's memory holds: at least two, so that one can fill while the other is sent. */
export function slotCountOf(config: IngestSinkConfig): number {
  return Math.max(2, Math.floor(config.buffer.maxMemoryBytes / slotBytesOf(config)));
}

export function createSinkRoom(options: SinkRoomOptions): SinkRoom {
  const { config, sink, kernel, state, clock, log, histograms } = options;
  const slotBytes = slotBytesOf(config);
  const slots = Array.from({ length: slotCountOf(config) }, () => kernel.reserve(slotBytes));
  const room = new Room(Math.max(config.buffer.maxMemoryBytes, 2 * slotBytes), slotBytes, slots);
  const delivery = new Delivery(
    {
      sink,
      room,
      concurrency: config.concurrency,
      compression: config.compression,
      retry: config.retry,
      clock,
      log,
      random: Math.random,
      commit: (batches) => state.commit(batches),
      settle: (batch) => state.settle(batch),
      commitParts: (batch, parts) => state.commitParts(batch, parts),
      bury: (name, letters) => options.bury(name, letters),
      paused: (dataset) => options.paused(dataset),
    },
    {
      request: (id, seconds) => histograms.requestSeconds.observe(id, seconds),
      batch: (id, events, bytes) => {
        histograms.batchEvents.observe(id, events);
        histograms.batchBytes.observe(id, bytes);
      },
    },
  );
  const batcher = new Batcher({
    sink: config.id,
    kernel,
    room,
    clock,
    limits: config.batch,
    timestampField: config.timestampField,
    nextBatchId: () => state.nextBatchId(),
    wantsMore: () => delivery.wantsMore(),
    seal: (batch) => delivery.seal(batch),
  });
  return { config, sink, room, batcher, delivery };
}
