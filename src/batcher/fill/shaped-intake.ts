/**
 * Shapes the events of a block and puts them into open batches, one chunk at a time. Other sources may fill the same batches while a
 * chunk waits for memory or for a script.
 */
import { MAX_FATE_RUNS } from '../limits.ts';
import type { Shaped } from '../../core/shaping.ts';
import type { Batch } from '../batch.ts';
import { ONCE } from '../span.ts';
import type { Intake } from './intake.ts';
import { type ShapedChunk, sumsOf } from './shape-chunk.ts';

/** The batcher's side. */
export interface ShapedIntakeOptions {
  /** Asked anew at every step: a reload may change them while a piece waits. */
  limits(): { readonly maxBytes: number; readonly maxEvents: number };
  /** The digest of the window's bytes in `[from, to)`. */
  digestOf(from: number, to: number): string;
  /** The open batch, or a new one; undefined when the intake has to wait for memory. */
  openBatch(): Batch | undefined;
  /** Resolves once `openBatch` may succeed. Rejects with a `StoppedError`. */
  waitForBatch(position: number): Promise<void>;
  /** A separate batch for events that fit no slot; waits for memory in the same way. */
  largeBatch(body: Buffer, position: number): Promise<Batch>;
  /** Adds the bytes just written to the batch's checksum. */
  sumBody(batch: Batch, written: number): void;
  /** Closes the open batch. */
  close(): void;
  seal(batch: Batch): void;
  /** Counts memory of a batch beside its body. */
  takeMemory(bytes: number): void;
}

export async function takeShaped(
  options: ShapedIntakeOptions,
  intake: Intake,
  chunks: Iterable<ShapedChunk> | AsyncIterable<ShapedChunk>,
): Promise<void> {
  let { firstEvent } = intake;
  for await (const chunk of chunks) {
    await placeChunk(options, intake, chunk, firstEvent);
    firstEvent += chunk.events;
  }
}

async function placeChunk(
  options: ShapedIntakeOptions,
  intake: Intake,
  chunk: ShapedChunk,
  firstEvent: number,
): Promise<void> {
  const { shaped } = chunk;
  // Of an event of which nothing is left to send, the transform decided.
  const refusal = shaped.sent[0] === 0 ? undefined : intake.block.single?.refusal;
  let from = 0;
  let unreported = { counts: chunk.counts, errors: shaped.errors };
  const add = (batch: Batch, to: number): void => {
    addEvents(options, intake, chunk, batch, from, to, firstEvent);
    intake.taken(firstEvent + to, unreported.counts, unreported.errors);
    unreported = { counts: { replaced: 0, unknownZones: 0 }, errors: 0 };
    from = to;
  };
  // An event that is not to be sent gets a batch of its own; events taken before it must be committed no later than it.
  if (refusal !== undefined) options.close();
  do {
    const position = chunk.positionOf(from);
    const base = startOf(shaped, from);
    const isLarge = refusal !== undefined || isTooLarge(chunk, from, options.limits());
    if (isLarge) {
      options.close();
      const batch = await options.largeBatch(Buffer.from(shaped.bytes.subarray(base, shaped.ends[from])), position);
      add(batch, from + 1);
      batch.refusal = refusal;
      options.seal(batch);
      continue;
    }
    let batch: Batch | undefined;
    // Look the batch up in the turn that fills it: another intake may close it in between.
    while (!(batch = options.openBatch())) await options.waitForBatch(position);
    const limits = options.limits();
    const to = fitting(chunk, from, limits.maxBytes - batch.payload.bytes, limits.maxEvents - batch.events);
    const isFull = to < chunk.events;
    if (to > from || chunk.events === 0) {
      const written = shaped.bytes.copy(batch.payload.body, batch.payload.bytes, base, startOf(shaped, to));
      options.sumBody(batch, written);
      add(batch, to);
    }
    const isHeavy = batch.withheld.bytes >= limits.maxBytes || (batch.fates?.runCount ?? 0) >= MAX_FATE_RUNS;
    if (isFull || isHeavy || batch.payload.bytes >= limits.maxBytes || batch.events >= limits.maxEvents)
      options.close();
  } while (from < chunk.events);
}

function addEvents(
  options: ShapedIntakeOptions,
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
  const { sent, fates } = sumsOf(shaped, from, to);
  const withheld = shaped.withheld
    .filter(({ event }) => event >= from && event < to)
    .map((each) => ({ ...each, event: batch.accepted + each.event - from }));
  const digest = options.digestOf(start, end) + (shaped.isRepeatable ? '' : ONCE);
  batch.extend(accounting, block, digest, start, end - start, to - from, written, firstEvent + from, { sent, fates });
  if (withheld.length > 0) options.takeMemory(batch.withheld.add(withheld));
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
