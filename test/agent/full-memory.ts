/** A sink whose service is away and whose memory is as full of files' batches as it gets, with the real parts from lane to disk. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AddressEncodings } from '../../src/core/requests.ts';
import { memoryOf, createSinkPipeline } from '../../src/agent/build/sink-pipeline.ts';
import { Accounting } from '../../src/batcher/accounting.ts';
import { type LaneOptions, SourceLane } from '../../src/batcher/fill/lane.ts';
import { DeletedFiles } from '../../src/batcher/keep/deleted-files.ts';
import { systemClock } from '../../src/core/time/clock.ts';
import { KERNEL_SLACK_BYTES } from '../../src/core/limits.ts';
import type { SendResult } from '../../src/core/sink.ts';
import { createKernel, type Kernel } from '../../src/kernel/kernel.ts';
import { decodeSpoolFile } from '../../src/state/spool/spool-file.ts';
import { openState } from '../../src/state/database/store.ts';
import { Histograms } from '../../src/telemetry/delivery-stats.ts';
import { MemoryLog } from '../support/memory-log.ts';
import type { SinkSizes } from '../support/memory-grid.ts';
import { sinkConfig } from '../support/sink-config.ts';
import { settleTurns, until } from '../support/until.ts';

const MAX_LINE_BYTES = 16 * 1024;
const READ_BYTES = 256 * 1024;
const AWAY: SendResult = {
  outcome: { kind: 'retry', reason: 'network', detail: 'connection refused' },
  status: 0,
  elapsedMs: 1,
};
const HOUR_MS = 3_600_000;

/** For the largest sink. Made once: the memory of many kernels is freed late. */
const shared = createKernel(72 * 2 ** 20);
const arena = shared.reserve(71 * 2 ** 20);

/** The kernel with all of its memory to give out anew: one sink at a time. */
function freshKernel(): Kernel {
  let free = 0;
  return {
    ...shared,
    reserve(bytes) {
      const region = { at: arena.at + free, bytes: arena.bytes.subarray(free, free + bytes) };
      if (region.bytes.length < bytes) throw new Error(`the arena has no ${bytes} bytes left`);
      // Behind each the kernel may overwrite.
      free = Math.ceil((free + bytes + KERNEL_SLACK_BYTES) / 64) * 64;
      return region;
    },
  };
}

/** One stream that is offered to the sink, block by block. */
export interface Feed {
  readonly stream: string;
  readonly bytes: number;
  /** Bytes that the sink took. */
  taken: number;
  readonly done: Promise<void>;
}

export function openFullMemory(folder: string, sizes: SinkSizes) {
  const { memoryBytes, batchBytes, concurrency } = sizes;
  const log = new MemoryLog();
  const state = openState({ folder, sinksOf: () => ['store'], log });
  const base = sinkConfig('http://127.0.0.1:9');
  const config = sinkConfig('http://127.0.0.1:9', {
    concurrency,
    batch: { maxBytes: batchBytes, maxEvents: 10_000, maxAgeMs: HOUR_MS, closesEarly: false },
    // Each request fails once, and waits from then on.
    retry: { initialBackoffMs: HOUR_MS, maxBackoffMs: HOUR_MS, maxElapsedMs: Infinity },
    buffer: { ...base.buffer, maxMemoryBytes: memoryBytes },
  });
  const { slots, slotBytes, requests } = memoryOf(config);
  const kernel = freshKernel();
  const accounting = new Accounting('app');
  const pipeline = createSinkPipeline({
    folder,
    encodings: new AddressEncodings(),
    config,
    sink: { id: 'store', send: () => Promise.resolve(AWAY), close: () => Promise.resolve() },
    kernel,
    state,
    clock: systemClock,
    log,
    histograms: { requestSeconds: new Histograms([]), batchEvents: new Histograms([]), batchBytes: new Histograms([]) },
    random: () => 1,
    accounts: { accountingOf: () => accounting },
    letters: { keep: () => Promise.reject(new Error('nothing is refused here')) },
  });
  const deletedFiles = new DeletedFiles(new Map([['store', pipeline]]));
  const routes = [{ sink: 'store', dataset: 'logs', batcher: pipeline.batcher }];
  const laneOf = (options: Pick<LaneOptions, 'isTracked' | 'deleted'>): SourceLane =>
    new SourceLane({
      accounting: new Accounting('app'),
      routes,
      streams: state.streams,
      ...options,
    });
  const lanes = {
    files: laneOf({ isTracked: true, deleted: deletedFiles.streams }),
    deleted: laneOf({ isTracked: true }),
    live: laneOf({ isTracked: false }),
  };
  let mostBytes = 0;
  const windows = {
    files: kernel.reserve(READ_BYTES),
    deleted: kernel.reserve(READ_BYTES),
    live: kernel.reserve(READ_BYTES),
  };
  const shape = { format: 'text', wrapFields: {}, fields: {} } as const;

  /** Offers a stream of at least so many bytes. */
  function feed(kind: keyof typeof lanes, wantedBytes: number): Feed {
    const stream = state.streams.mint('app', `/log/${kind}`).id;
    const lineBytes = Math.min(MAX_LINE_BYTES, batchBytes / 8);
    const window = windows[kind];
    const perBlock = Math.floor(READ_BYTES / lineBytes);
    const line = Buffer.from(`${'x'.repeat(lineBytes - 1)}\n`);
    const blocks = Math.ceil(wantedBytes / (perBlock * lineBytes));
    for (let n = 0; n < perBlock; n++) window.bytes.set(line, n * lineBytes);
    const offer = async (): Promise<void> => {
      for (let n = 0; n < blocks; n++) {
        await lanes[kind].accept({
          stream,
          shape,
          window,
          start: 0,
          end: perBlock * lineBytes,
          offset: fed.taken,
          readAtMs: 1,
        });
        fed.taken += perBlock * lineBytes;
        mostBytes = Math.max(mostBytes, pipeline.budget.usedBytes);
      }
    };
    const fed = { stream, bytes: blocks * perBlock * lineBytes, taken: 0, done: Promise.resolve() };
    fed.done = offer();
    return fed;
  }

  return {
    slots,
    slotBytes,
    requests,
    hasSlot: () => pipeline.budget.hasSlot(),
    feed,
    /** The most that the sink held at once so far. */
    mostBytes: () => mostBytes,
    /** Resolves once the reader of files waits for the service, and nothing moves any more. */
    async stalled(): Promise<void> {
      await until('the reader of files waits', async () => {
        await settleTurns(10);
        return lanes.files.waiting !== undefined && pipeline.delivery.stats.retries.get('network') === requests;
      });
    },
    /** The stream's file is deleted. */
    remove: (stream: string) => deletedFiles.keep(stream),
    /** No more comes of deleted files now. */
    flush: () => deletedFiles.flush(),
    closeLive: () => pipeline.batcher.open.closeWhere(({ canBeRebuilt }) => !canBeRebuilt),
    /** How far each stream is in the disk buffer, without a gap. */
    spooled(): Map<string, number> {
      const spool = join(folder, 'spool', 'store');
      const names = existsSync(spool) ? readdirSync(spool).filter((name) => name.endsWith('.batch')) : [];
      const ranges = new Map<string, { from: number; to: number }[]>();
      for (const name of names) {
        const content = decodeSpoolFile(readFileSync(join(spool, name)));
        if (!content.ok) throw new Error(`${name}: ${content.reason}`);
        for (const { stream, from, to } of content.header.spans)
          ranges.set(stream, [...(ranges.get(stream) ?? []), { from, to }]);
      }
      const reached = (list: readonly { from: number; to: number }[]): number =>
        list.toSorted((a, b) => a.from - b.from).reduce((at, { from, to }) => (from <= at ? Math.max(at, to) : at), 0);
      return new Map([...ranges].map(([stream, list]) => [stream, reached(list)]));
    },
    async close(): Promise<void> {
      pipeline.budget.close('all');
      await pipeline.buffer.stop();
      await pipeline.delivery.stop();
      await pipeline.buffer.finish();
      state.close();
      await pipeline.buffer.store.removed();
    },
  };
}
