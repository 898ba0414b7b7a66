/**
 * One process of the agent around a file source: real files, a real state database, real batches and their restoring, but no
 * service and no timers. What would be sent is noted by its key. Ended by `kill`, after which another one may start.
 */
import { join } from 'node:path';
import { type Batch, keyOf } from '../../../src/batcher/batch.ts';
import type { Delivery } from '../../../src/batcher/send/delivery.ts';
import { SourceLane } from '../../../src/batcher/fill/lane.ts';
import { streamStoreFor } from '../../../src/batcher/keep/deleted-files.ts';
import { restoreBatches } from '../../../src/batcher/keep/restore.ts';
import { InFlightBatch } from '../../../src/batcher/send/in-flight-batch.ts';
import type { RequestPart } from '../../../src/core/requests.ts';
import type { FileConfig } from '../../../src/sources/file/file-type.ts';
import type { Region } from '../../../src/core/block.ts';
import type { FileSystem } from '../../../src/sources/file/scan/file-system.ts';
import { createFileSource } from '../../../src/sources/file/source.ts';
import { loadShaping } from '../../../src/sources/framing/line-shaping.ts';
import { openState } from '../../../src/state/database/store.ts';
import { bodyOf, kernel, makeRig } from '../../batcher/blocks.ts';
import { MemoryLog } from '../../support/memory-log.ts';
import { SteppedClock } from '../../support/stepped-clock.ts';
import { fileSourceConfig } from '../../support/source-config.ts';
import type { StepClock } from './tail-rig.ts';

const MAX_BYTES = 4096;

/** Kernel memory is given out once: every process gets that of the one before. */
const regions: Region[] = [];
function reserver(): (bytes: number) => Region {
  let next = 0;
  return (bytes) => {
    const known = regions[next];
    if (known && known.bytes.length !== bytes) throw new Error('processes must reserve the same, in the same order');
    return (regions[next++] ??= kernel.reserve(bytes));
  };
}

/** Something that is sent: the messages of its events, in their order. */
export interface Sent {
  readonly key: string;
  readonly messages: readonly string[];
}

export interface ProcessOptions {
  /** With the folders `logs` and `data`. */
  readonly folder: string;
  readonly clock: StepClock;
  readonly fileSystem: FileSystem;
  readonly config: Partial<Pick<FileConfig, 'multiline' | 'format'>>;
  /** Called with every batch, or with each part still to be sent of one that was split. */
  readonly sent: (sent: Sent) => void;
}

export interface AgentProcess {
  readonly log: MemoryLog;
  readonly lostBytes: number;
  /** Batches that are not settled, oldest first. */
  readonly held: readonly Batch[];
  /** Reads to the end of the files, then commits and sends. */
  poll(): Promise<void>;
  /** The service has stored all of the batch. */
  settle(batch: Batch): void;
  /** The service refused the batch as too large, and then stored the first `stored` of its halves. */
  split(batch: Batch, stored: 0 | 1): void;
  kill(): Promise<void>;
}

export async function startProcess({
  folder,
  clock,
  fileSystem,
  config: rules,
  sent,
}: ProcessOptions): Promise<AgentProcess> {
  const log = new MemoryLog();
  const state = openState({ folder: join(folder, 'data'), sinksOf: () => ['store'], log });
  const { batcher, accounting, budget, sealed } = makeRig({ maxBytes: MAX_BYTES, maxEvents: 3, slots: 30 });
  const lane = new SourceLane({
    accounting,
    routes: [{ sink: 'store', dataset: 'logs', batcher }],
    isTracked: true,
    deleted: new Set(),
    streams: state.streams,
  });
  const config = fileSourceConfig(join(folder, 'logs/*.log'), rules);
  const reserve = reserver();
  const context = {
    lane,
    streams: streamStoreFor(state, new Map(), new Set()),
    clock,
    log,
    hostname: 'h',
    reserve,
    once: false,
  };
  const source = createFileSource(config, context, { fileSystem, shaping: await loadShaping(config) });
  const held: Batch[] = [];
  const send = (batch: Batch, parts: readonly RequestPart[] = []): void => {
    const messages = messagesOf(batch);
    if (messages.length !== batch.events)
      throw new Error(`${messages.length} events in a batch that is said to have ${batch.events}`);
    const whole = [{ first: 0, count: messages.length, key: batch.key }];
    for (const { first, count, key } of parts.length > 0 ? parts : whole)
      sent({ key, messages: messages.slice(first, first + count) });
    held.push(batch);
  };
  await source.open();
  await restoreBatches({
    batches: state.ledger.unsettled(),
    log,
    slot: reserve(MAX_BYTES + 64),
    target: () => ({ batcher, delivery: { enqueue: send } as unknown as Delivery, budget }),
    source: () => ({ source, accounting }),
    clock: new SteppedClock(),
    retryMs: 1000,
    stopping: new AbortController().signal,
    state,
  });
  return {
    log,
    held,
    get lostBytes() {
      return source.stats.lostBytes;
    },
    async poll() {
      await source.pollOnce();
      batcher.open.flush();
      for (const batch of sealed.splice(0)) {
        // The rig counts from 1 in every process.
        Object.assign(batch, {
          id: state.ledger.nextId(),
          key: keyOf(batch.owner, batch.dataset, batch.spans, state.run),
        });
        state.commit([batch.toStored()]);
        send(batch);
      }
    },
    settle(batch) {
      held.splice(held.indexOf(batch), 1);
      state.ledger.settle(batch.toStored());
    },
    split(batch, stored) {
      const inFlight = new InFlightBatch(batch);
      inFlight.split('size');
      if (stored === 1) inFlight.finish('stored');
      state.commitParts(batch.id, inFlight.parts);
    },
    async kill() {
      await source.stop();
      state.close();
    },
  };
}

export function messagesOf(batch: Batch): string[] {
  const lines = bodyOf(batch).toString().split('\n');
  return lines.filter((line) => line !== '').map((line) => (JSON.parse(line) as { message: string }).message);
}
