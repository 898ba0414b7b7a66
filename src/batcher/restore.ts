/**
 * Rebuilds the batches that the last process committed and did not settle, from the bytes of their files, so that they go
 * out again under the same keys before anything else is read. A batch whose bytes or shape changed gets a new key (its
 * events may then be stored twice); bytes that are gone are counted as lost, and said.
 */
import { crc32 } from 'node:zlib';
import type { Block, Lane, Region } from '../core/block.ts';
import type { Clock } from '../core/clock.ts';
import { codeOf, messageOf, TailraceError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Source } from '../core/source.ts';
import type { Kernel } from '../kernel/kernel.ts';
import type { StoredBatch, StoredPart, StoredSpan } from '../state/stored.ts';
import { Batch, keyOf } from './batch.ts';
import { endsFrom, eventEndAt, streamBytes, streamRange } from './block-events.ts';
import type { Batcher } from './batcher.ts';
import type { Books } from './books.ts';
import type { Delivery } from './delivery.ts';
import type { Room } from './room.ts';

export interface RestoreTarget {
  readonly batcher: Batcher;
  readonly delivery: Delivery;
  readonly room: Room;
  readonly limits: { readonly maxBytes: number };
}

export interface RestoreOptions {
  readonly batches: readonly StoredBatch[];
  readonly kernel: Kernel;
  readonly log: Log;
  /** Kernel memory for one slot. */
  readonly scratch: Region;
  readonly clock: Clock;
  /** How long to wait before a disk that refused is tried again. */
  readonly retryMs: number;
  /** Aborts when the agent stops. */
  readonly stopping: AbortSignal;
  target(sink: string): RestoreTarget | undefined;
  source(id: string): Owner | undefined;
  nextBatchId(): number;
  /** Told before each batch: what was committed before it and is kept elsewhere goes first. */
  reached?(batch: StoredBatch): void;
  /** Persists, in one commit, what stands for the batch from now on. Throws when the disk refuses. */
  replace(id: number, batches: readonly StoredBatch[]): void;
  /** The parts still to be sent of a batch that was split. */
  partsOf(id: number): readonly StoredPart[];
}

interface Owner {
  readonly source: Source;
  readonly books: Books;
}

/** Restores in the order of commitment; waits for room, and stops early (`E_STOPPED`) when the agent stops. */
export async function restoreBatches(options: RestoreOptions): Promise<void> {
  for (const stored of options.batches) {
    options.reached?.(stored);
    const target = options.target(stored.sink);
    if (!target) {
      options.log.warn(
        { sink: stored.sink, batch: stored.key, events: stored.events },
        'a batch belongs to a sink that is not configured any more; it is kept until the sink is back',
      );
      continue;
    }
    const absent = stored.spans.filter((span) => !options.source(span.source));
    if (absent.length > 0) {
      options.log.warn(
        { source: absent[0]?.source, batch: stored.key, events: countIn(absent) },
        'a batch belongs to a source that is not configured any more; it is kept until the source is back',
      );
    }
    if (absent.length === stored.spans.length) continue;
    try {
      await restore(options, target, stored, absent);
    } catch (error) {
      if (codeOf(error) !== 'E_UNREADABLE') throw error;
      options.log.error(
        { sink: stored.sink, batch: stored.key, events: stored.events, reason: messageOf(error) },
        'the file of a batch cannot be read again now; the batch is kept, and sent at the next start',
      );
    }
  }
}

/** `absent` are the spans of sources that are not configured: they become a batch of their own, which waits for them. */
async function restore(options: RestoreOptions, target: RestoreTarget, stored: StoredBatch, absent: readonly StoredSpan[]): Promise<void> {
  const rebuilt: Rebuilt[] = [];
  for (const span of stored.spans) {
    const owner = options.source(span.source);
    if (owner) rebuilt.push(await rebuild(options, target, span, owner));
  }
  const spans = rebuilt.map(({ span }) => span);
  const unchanged = absent.length === 0 && stored.spans.every((span, index) => isSame(span, spans[index]!));
  const row = unchanged ? stored : renewed(stored, stored.id, spans);
  if (!unchanged) {
    options.log.warn(
      {
        sink: stored.sink,
        batch: stored.key,
        newKey: row.key,
        events: stored.events,
        sources: [...new Set(stored.spans.map((span) => span.source))],
      },
      'a batch was under way when the last process ended, and its files or its configuration changed since; it is sent under a new key, which may store events twice',
    );
    await replace(options, stored.id, absent.length > 0 ? [row, renewed(stored, options.nextBatchId(), absent)] : [row]);
  }
  const body = Buffer.concat(rebuilt.flatMap((each) => each.events));
  while (!target.room.take(body.length))
    await target.room.wait(
      () => true,
      () => target.room.usedBytes === 0 || target.room.usedBytes + body.length <= target.room.budgetBytes,
    );

  const batch = new Batch(stored.id, stored.sink, stored.dataset, true, { body });
  batch.bytes = body.length;
  batch.key = row.key;
  batch.events = row.events;
  batch.committed = true;
  // Such an event is alone in its batch.
  batch.refusal = batch.events === 1 ? rebuilt.find(({ refusal }) => refusal !== undefined)?.refusal : undefined;
  for (const { span, books } of rebuilt) {
    batch.spans.push({ ...span, books, firstEvent: books.accepted, closed: true });
    books.accept(span.events, 1);
  }
  target.delivery.seal(batch, unchanged ? options.partsOf(stored.id) : []);
}

/** A batch of these spans in place of one whose key is retired. */
function renewed(stored: StoredBatch, id: number, spans: readonly StoredSpan[]): StoredBatch {
  return { ...stored, id, key: keyOf(stored.sink, stored.dataset, spans, stored.key), events: countIn(spans), spans };
}

/** Tries until the disk takes it: nothing is sent under a key that is not on disk. Rejects with `E_STOPPED` when the agent stops first. */
async function replace(options: RestoreOptions, id: number, batches: readonly StoredBatch[]): Promise<void> {
  const { log, clock, retryMs, stopping } = options;
  for (;;) {
    try {
      return options.replace(id, batches);
    } catch (error) {
      log.error(
        { sink: batches[0]?.sink, reason: messageOf(error) },
        'cannot save the new key of a batch, so it is not sent yet; free space in data_dir, it goes on by itself',
      );
      await clock.sleep(retryMs, stopping);
      if (stopping.aborted)
        throw new TailraceError('E_STOPPED', 'the agent stops; the batch is restored by the next one', { cause: error });
    }
  }
}

function countIn(spans: readonly StoredSpan[]): number {
  return spans.reduce((sum, { events }) => sum + events, 0);
}

interface Rebuilt {
  readonly span: StoredSpan;
  readonly books: Books;
  readonly events: Buffer[];
  readonly refusal?: string | undefined;
}

/** Reads one span again. A span whose bytes are gone comes back without events. */
async function rebuild(options: RestoreOptions, target: RestoreTarget, span: StoredSpan, { source, books }: Owner): Promise<Rebuilt> {
  // Gone already at an earlier start, and counted then.
  if (span.events === 0) return { span, books, events: [] };
  const lane = new RestoreLane(options.kernel, target, options.scratch);
  const found = source.reread ? await source.reread(span, lane) : false;
  if (!found) {
    source.stats.lostBytes += span.to - span.from;
    options.log.error(
      { source: span.source, from: span.from, to: span.to, events: span.events },
      'bytes that were read and not yet delivered are gone: their file was removed or changed while no agent ran; they are counted in source_lost_bytes_total',
    );
    return { span: { ...span, events: 0 }, books, events: [] };
  }
  return {
    span: { ...span, events: lane.events, crc: lane.crc, tail: span.tail, digest: lane.digest },
    books,
    events: lane.chunks,
    refusal: lane.refusal,
  };
}

function isSame(stored: StoredSpan, now: StoredSpan): boolean {
  return stored.events === now.events && stored.crc === now.crc && stored.digest === now.digest;
}

/** Collects the events of one span as bytes of their own. */
class RestoreLane implements Lane {
  readonly chunks: Buffer[] = [];
  events = 0;
  crc = 0;
  digest = '';
  /** Of the last block: why its one event is not to be sent. */
  refusal: string | undefined;
  readonly #kernel: Kernel;
  readonly #target: RestoreTarget;
  readonly #scratch: Region;

  constructor(kernel: Kernel, target: RestoreTarget, scratch: Region) {
    this.#kernel = kernel;
    this.#target = target;
    this.#scratch = scratch;
  }

  accept(block: Block): Promise<void> {
    const { template } = this.#target.batcher.compile(block.shape);
    const { single } = block;
    this.digest = this.#target.batcher.digestOf(block);
    this.refusal = single?.refusal;
    let start = block.start;
    while (start < block.end) {
      const result = this.#kernel.wrap(
        template,
        block.readAtMs,
        block.window,
        start,
        block.end,
        this.#scratch,
        0,
        this.#target.limits.maxBytes,
        2 ** 31 - 1,
        single?.marks,
        endsFrom(block, start),
      );
      if (result.written > 0) this.chunks.push(Buffer.from(this.#scratch.bytes.subarray(0, result.written)));
      this.events += result.events;
      start += result.consumed;
      if (result.stop !== 'too_large') continue;
      const end = eventEndAt(block, start);
      const large = this.#kernel.wrapLarge(template, block.readAtMs, block.window, start, end, single?.marks, block.ends !== undefined);
      this.chunks.push(large.event);
      this.events += 1;
      start += large.consumed;
    }
    const { from, to } = streamRange(block, block.start, block.end);
    this.crc = single ? single.crc : crc32(streamBytes(block, from, to), this.crc);
    return Promise.resolve();
  }
}
