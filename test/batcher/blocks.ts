/** Blocks, and a batcher with its memory, for the tests of the batcher's room. */
import { crc32 } from 'node:zlib';
import { test as base } from 'vitest';
import { type Batch, keyOf } from '../../src/batcher/batch.ts';
import { Batcher } from '../../src/batcher/fill/batcher.ts';
import { BatchQueue } from '../../src/batcher/queue.ts';
import { Accounting } from '../../src/batcher/accounting.ts';
import { MemoryBudget } from '../../src/batcher/memory-budget.ts';
import type { LaneOptions } from '../../src/batcher/fill/lane.ts';
import type { Block, EventShape } from '../../src/core/block.ts';
import { systemClock } from '../../src/core/time/clock.ts';
import { KERNEL_SLACK_BYTES } from '../../src/core/limits.ts';
import type { Shaper } from '../../src/core/shaping.ts';
import { createKernel } from '../../src/kernel/kernel.ts';
import { eventOf } from '../../src/kernel/reference.ts';
import { contentSum } from '../../src/kernel/content-sum.ts';
import { makeQueue } from './sink-rig.ts';

export const READ_AT_MS = 1_795_256_100_000;
export const shape: EventShape = { format: 'auto', wrapFields: { host: 'h' }, fields: { service: 'app' } };

const MiB = 1024 * 1024;
// One for all tests of a file: address space is given out once.
export const kernel = createKernel(512 * MiB);
const window = kernel.reserve(MiB);
let blocks = 0;

/** A block with these bytes (whole lines) of a stream. Only one is valid at a time. */
export function blockOf(bytes: Buffer, changes: Partial<Block> = {}): Block {
  window.bytes.set(bytes, 0);
  const end = bytes.length;
  // As from a file; other sources leave the checksum to the batch.
  const sum = blocks++ % 2 === 0 ? { sum: contentSum(bytes, changes.offset ?? 0) } : {};
  return { stream: 's1', shape, window, start: 0, end, offset: 0, readAtMs: READ_AT_MS, ...sum, ...changes };
}

/** The events that the lines of these bytes become, as the plain reference makes them. */
export function eventsOf(bytes: Buffer, of: EventShape = shape): Buffer[] {
  const events: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const newline = bytes.indexOf(10, at);
    const event = eventOf(bytes.subarray(at, newline), { shape: of, timestampField: undefined, readAtMs: READ_AT_MS });
    if (event) events.push(event);
    at = newline + 1;
  }
  return events;
}

export interface Rig {
  readonly batcher: Batcher;
  readonly budget: MemoryBudget;
  readonly accounting: Accounting;
  /** Closed batches, in order. */
  readonly sealed: Batch[];
  /** Milliseconds of every wait for room. */
  readonly waits: number[];
  /** Which kinds of batches are wanted: of files, of live sources. */
  wantsMore: { files: boolean; live: boolean };
  take(
    block: Block,
    options?: {
      dataset?: string;
      rereadable?: boolean;
      isTracked?: boolean;
      accounting?: Accounting;
      shaper?: Shaper | undefined;
    },
  ): Promise<void>;
}

/** Lists closed batches, and wants more as the test asks. */
class RigQueue extends BatchQueue {
  readonly #closed: Batch[];
  readonly #wanted: () => Rig['wantsMore'];

  constructor(budget: MemoryBudget, closed: Batch[], wanted: () => Rig['wantsMore']) {
    let id = 0;
    super({
      ids: { nextId: () => ++id },
      budget,
      settings: { ...makeQueue().settings },
      run: '',
    });
    this.#closed = closed;
    this.#wanted = wanted;
  }

  override close(batch: Batch): void {
    this.#closed.push(batch);
  }

  override wantsMore(_dataset: string, canBeRebuilt: boolean): boolean {
    return canBeRebuilt ? this.#wanted().files : this.#wanted().live;
  }
}

export function makeRig(
  limits: {
    maxBytes?: number;
    maxEvents?: number;
    maxAgeMs?: number;
    slots?: number;
    budget?: number;
    hasReserve?: boolean;
    closesEarly?: boolean;
  } = {},
): Rig {
  const { maxBytes = 64 * 1024, maxEvents = 10_000, maxAgeMs = 3_600_000, slots = 8 } = limits;
  const slotBytes = maxBytes + KERNEL_SLACK_BYTES;
  const budget = new MemoryBudget(
    limits.budget ?? slots * slotBytes,
    slotBytes,
    Array.from({ length: slots }, () => kernel.reserve(slotBytes)),
    limits.hasReserve === true ? kernel.reserve(slotBytes) : undefined,
  );
  const scratch = kernel.reserve(4096);
  const sealed: Batch[] = [];
  const accounting = new Accounting('app');
  const waits: number[] = [];
  const batcher = new Batcher({
    sink: 'store',
    kernel,
    clock: systemClock,
    queue: new RigQueue(budget, sealed, () => rig.wantsMore),
    limits: { maxBytes, maxEvents, maxAgeMs, closesEarly: limits.closesEarly ?? false },
    timestampField: undefined,
    scratch,
    sumsLive: true,
  });
  const rig: Rig = {
    batcher,
    budget,
    accounting,
    sealed,
    waits,
    wantsMore: { files: true, live: true },
    take: (
      block,
      { dataset = 'logs', rereadable = true, isTracked = rereadable, accounting: own = accounting, shaper } = {},
    ) =>
      batcher.take({
        accounting: own,
        block,
        dataset,
        isRereadable: () => rereadable,
        isTracked,
        start: block.start,
        end: block.end,
        firstEvent: own.accepted,
        shaper,
        taken: (next) => own.accept(next - own.accepted, 1),
        waited: (ms) => void waits.push(ms),
      }),
  };
  return rig;
}

/** The batch's NDJSON. */
export function bodyOf(batch: Batch): Buffer {
  return Buffer.from(batch.payload.body.subarray(0, batch.payload.bytes));
}

/** Checks the spans of any batches of streams whose bytes are known. Throws at the first difference. */
export function checkSpans(batches: readonly Batch[], streams: ReadonlyMap<string, Buffer>): void {
  const reached = new Map<string, number>();
  const keys = new Set<string>();
  for (const batch of batches) {
    const key = keyOf(batch.owner, batch.dataset, batch.spans);
    if (keys.has(key)) throw new Error(`two batches with the key ${key}`);
    keys.add(key);
    const events = batch.spans.reduce((sum, span) => sum + span.events, 0);
    if (events !== batch.events) throw new Error(`${events} events in spans, ${batch.events} in the batch`);
    for (const { stream, from, to, sum, tail, events: count } of batch.spans) {
      const bytes = streams.get(stream)!;
      if (from !== (reached.get(stream) ?? 0))
        throw new Error(`span of ${stream} begins at ${from}, not ${reached.get(stream) ?? 0}`);
      if (to <= from || to > bytes.length) throw new Error(`span of ${stream} ends at ${to} of ${bytes.length}`);
      reached.set(stream, to);
      if (sum !== contentSum(bytes.subarray(from, to), from)) throw new Error(`sum of ${stream} ${from}…${to}`);
      if (tail.length < 1 || tail.length > 64 || tail.crc !== crc32(bytes.subarray(to - tail.length, to)))
        throw new Error(`tail of ${stream} ${from}…${to}`);
      const lines = bytes.subarray(from, to);
      if (lines.at(-1) === 10 && eventsOf(lines).length !== count)
        throw new Error(`${count} events counted in ${stream} ${from}…${to}`);
    }
  }
  for (const [stream, bytes] of streams)
    if ((reached.get(stream) ?? 0) !== bytes.length)
      throw new Error(`spans of ${stream} end at ${reached.get(stream)} of ${bytes.length}`);
}

/** Tests that begin with a batcher as it is by default. */
export const test = base.extend('rig', () => makeRig());

/** Sinks that have nothing of any stream. */
export const NO_MARKS: LaneOptions['streams'] = { markOf: () => undefined };

/** What each sink, which is named by its number, has of every stream. */
export const marksAt = (committed: readonly (number | undefined)[]): LaneOptions['streams'] => ({
  markOf: (_, sink) => ({ committedTo: committed[Number(sink)] ?? 0 }),
});
