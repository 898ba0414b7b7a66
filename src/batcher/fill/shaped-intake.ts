/**
 * Shapes the events of a block and puts them into open batches, one chunk at a time. Other sources may fill the same batches while a
 * chunk waits for memory or for a script.
 */
import { MAX_OUTCOME_RUNS } from '../limits.ts';
import type { Block } from '../../core/block.ts';
import type { Shaped, Shaper } from '../../core/shaping.ts';
import type { Batch } from '../batch.ts';
import type { BatchQueue } from '../queue.ts';
import { ONCE } from '../span.ts';
import type { Intake } from './intake.ts';
import type { OpenBatches } from './open-batches.ts';
import { type ShapedChunk, sumsOf } from './shape-chunk.ts';

/** What puts shaped events into batches. */
interface ShapedTarget {
  readonly open: OpenBatches;
  readonly queue: BatchQueue;
  /** Those that made the events: a reload may replace them while the events wait for memory. */
  readonly shapes: { digestOf(block: Block, from: number, to: number, shaper: Shaper): string };
  readonly shaper: Shaper;
}

export async function takeShaped(
  target: ShapedTarget,
  intake: Intake,
  chunks: Iterable<ShapedChunk> | AsyncIterable<ShapedChunk>,
): Promise<void> {
  let { firstEvent } = intake;
  for await (const chunk of chunks) {
    await placeChunk(target, intake, chunk, firstEvent);
    firstEvent += chunk.events;
  }
}

async function placeChunk(target: ShapedTarget, intake: Intake, chunk: ShapedChunk, firstEvent: number): Promise<void> {
  const { open, queue } = target;
  const { shaped } = chunk;
  // Of an event of which nothing is left to send, the transform decided.
  const refusal = shaped.sent[0] === 0 ? undefined : intake.block.single?.refusal;
  let from = 0;
  let unreported = { counts: chunk.counts, errors: shaped.errors };
  const add = (batch: Batch, to: number): void => {
    addEvents(target, intake, chunk, batch, from, to, firstEvent);
    intake.taken(firstEvent + to, unreported.counts, unreported.errors);
    unreported = { counts: { replaced: 0, unknownZones: 0 }, errors: 0 };
    from = to;
  };
  // An event that is not to be sent gets a batch of its own; events taken before it must be committed no later than it.
  if (refusal !== undefined) open.close(intake);
  do {
    const position = chunk.positionOf(from);
    const base = startOf(shaped, from);
    const isLarge = refusal !== undefined || isTooLarge(chunk, from, open.limits);
    if (isLarge) {
      open.close(intake);
      const body = Buffer.from(shaped.bytes.subarray(base, shaped.ends[from]));
      const batch = await open.takeLarge(intake, body, position);
      add(batch, from + 1);
      batch.refusal = refusal;
      queue.close(batch);
      continue;
    }
    let batch: Batch | undefined;
    // Look the batch up in the turn that fills it: another intake may close it in between.
    while (!(batch = open.take(intake))) await open.wait(intake, position);
    const { limits } = open;
    const to = fitting(chunk, from, limits.maxBytes - batch.payload.bytes, limits.maxEvents - batch.events);
    const isFull = to < chunk.events;
    if (to > from || chunk.events === 0) {
      const written = shaped.bytes.copy(batch.payload.body, batch.payload.bytes, base, startOf(shaped, to));
      open.sum(batch, written);
      add(batch, to);
    }
    const isHeavy = batch.withheld.bytes >= limits.maxBytes || (batch.outcomes?.runCount ?? 0) >= MAX_OUTCOME_RUNS;
    if (isFull || isHeavy || batch.payload.bytes >= limits.maxBytes || batch.events >= limits.maxEvents)
      open.close(intake);
  } while (from < chunk.events);
}

function addEvents(
  { queue, shapes, shaper }: ShapedTarget,
  { block, accounting }: Intake,
  chunk: ShapedChunk,
  batch: Batch,
  from: number,
  to: number,
  firstEvent: number,
): void {
  const { shaped } = chunk;
  const start = chunk.positionOf(from);
  const end = to === chunk.events ? chunk.end : chunk.positionOf(to);
  const written = startOf(shaped, to) - startOf(shaped, from);
  const { sent, outcomes } = sumsOf(shaped, from, to);
  const withheld = shaped.withheld
    .filter(({ event }) => event >= from && event < to)
    .map((each) => ({ ...each, event: batch.accepted + each.event - from }));
  const digest = shapes.digestOf(block, start, end, shaper) + (shaped.isRepeatable ? '' : ONCE);
  batch.extend(accounting, block, digest, start, end - start, to - from, written, firstEvent + from, {
    sent,
    outcomes,
  });
  if (withheld.length > 0) queue.budget.takeAnyway(batch.withheld.add(withheld));
}

/** Offset of an event's first byte in the shaped bytes. */
function startOf({ ends }: Shaped, event: number): number {
  return event === 0 ? 0 : ends[event - 1]!;
}

function isTooLarge(
  { shaped, events }: ShapedChunk,
  event: number,
  limits: { maxBytes: number; maxEvents: number },
): boolean {
  if (event >= events) return false;
  return shaped.ends[event]! - startOf(shaped, event) > limits.maxBytes || shaped.sent[event]! > limits.maxEvents;
}

/** End of the range of events from `from` on that fits. */
function fitting({ shaped, events }: ShapedChunk, from: number, freeBytes: number, freeEvents: number): number {
  const base = startOf(shaped, from);
  const { all } = shaped;
  if (all && from === 0 && all.sent <= freeEvents && (shaped.ends.at(-1) ?? 0) <= freeBytes) return events;
  let sent = 0;
  for (let event = from; event < events; event++) {
    sent += shaped.sent[event]!;
    if (shaped.ends[event]! - base > freeBytes || sent > freeEvents) return event;
  }
  return events;
}
