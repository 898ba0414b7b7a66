/**
 * The batcher of one sink: collects blocks into open batches, one for each dataset and kind of source, and closes them at
 * their size, count or age. Lines go through the kernel straight into the batch's slot.
 */
import { crc32 } from 'node:zlib';
import type { Block, Region } from '../../core/block.ts';
import type { BodyForm } from '../../core/sink.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { Shaper } from '../../core/shaping.ts';
import type { Kernel } from '../../kernel/kernel.ts';
import { Batch } from '../batch.ts';
import type { BatchQueue } from '../queue.ts';
import { endsFrom, eventEndAt } from '../block-events.ts';
import { type Intake, waitForMemory } from './intake.ts';
import type { MadeBatches } from './made-batches.ts';
import type { MemoryBudget } from '../memory-budget.ts';
import { type BatchAgeOptions, canRebuild, nameOf, OpenBatches, originOf } from './open-batches.ts';
import { shapeChunk, type ShapedChunk } from './shape-chunk.ts';
import { Shapes } from './shapes.ts';
import { type ShapedIntakeOptions, takeShaped } from './shaped-intake.ts';

export interface BatcherOptions {
  readonly sink: string;
  readonly kernel: Kernel;
  readonly budget: MemoryBudget;
  readonly clock: Clock;
  /** Numbers batches, takes closed ones, and tells whether more are wanted. */
  readonly queue: BatchQueue;
  /** `closesEarly`: batches may be closed before `maxAgeMs`, while nothing is being sent. */
  readonly limits: {
    readonly maxBytes: number;
    readonly maxEvents: number;
    readonly maxAgeMs: number;
    readonly closesEarly?: boolean;
  };
  readonly timestampField: string | undefined;
  /** Kernel memory in which events are made before they are shaped; needed where any are. */
  readonly scratch?: Region;
  /** The form in which events are sent, and its name in the digest of what shapes them; `ndjson` by default. */
  readonly form?: { readonly name: string; readonly body: BodyForm } | undefined;
  /** The disk buffer takes events that cannot be reread unchanged: their checksum is made while they are in the processor's caches. */
  readonly sumsLive?: boolean;
}

export class Batcher {
  #options: BatcherOptions;
  #shapes: Shapes;
  readonly open: OpenBatches;

  constructor(options: BatcherOptions) {
    this.#options = options;
    this.#shapes = shapesOf(options);
    this.open = new OpenBatches(ageOf(options), (batch) => this.#closed(batch));
    options.queue.workers.filler = this;
  }

  /** The disk buffer has all that waited for it. */
  noteWritten(): void {
    if (this.#options.queue.settings.policy.writesAtOnce) this.open.closeWhere((batch) => !batch.canBeRebuilt);
  }

  /** Closes every open batch; those after it are made as `changes` say. */
  reconfigure(changes: Partial<Pick<BatcherOptions, 'limits' | 'timestampField' | 'form' | 'sumsLive'>>): void {
    this.#options = { ...this.#options, ...changes };
    this.open.reconfigure(ageOf(this.#options));
    this.#shapes = shapesOf(this.#options);
  }

  /** Takes the intake's lines into open batches, waiting for memory as needed. Rejects with a `StoppedError` when the wait is cancelled. */
  async take(intake: Intake): Promise<void> {
    const { shaper, block, start, end, accounting } = intake;
    if (shaper) {
      const chunks = intake.chunks ?? this.shape(block, start, end, accounting.source, shaper);
      await takeShaped(this.#shapedIntake(intake, shaper), intake, chunks);
    } else await this.#takeLines(intake);
    if (this.#options.queue.wantsLive && !intake.isRereadable()) this.open.close(nameOf(intake));
  }

  async #takeLines(intake: Intake): Promise<void> {
    let { start, firstEvent } = intake;
    while (start < intake.end) {
      const { limits } = this.#options;
      const name = nameOf(intake);
      if (intake.block.single?.refusal !== undefined) {
        // Events taken before must be committed before it, or with it.
        this.open.close(name);
        await this.#takeLarge(intake, start, firstEvent);
        return;
      }
      const batch = this.#openBatch(intake);
      if (!batch) {
        await this.#waitForBatch(intake, start);
        continue;
      }
      const step = this.#wrap(batch, intake, start, firstEvent);
      // Never of a block that ends in a whole line; it would go round for ever.
      if (step.consumed === 0 && !step.tooLarge && !(step.full && batch.payload.bytes > 0))
        throw new Error(
          `nothing of the last ${intake.end - start} bytes of a block can be taken: it does not end in a whole line`,
        );
      start += step.consumed;
      firstEvent += step.events;
      if (step.tooLarge) {
        this.open.close(name);
        start += await this.#takeLarge(intake, start, firstEvent);
        firstEvent += 1;
      } else if (step.full || batch.events >= limits.maxEvents || batch.payload.bytes >= limits.maxBytes) {
        this.open.closeFull(name);
      }
    }
  }

  /** Shapes a part of a block in chunks; what the shaper made of one is valid until the next. */
  async *shape(block: Block, start: number, end: number, source: string, shaper: Shaper): AsyncGenerator<ShapedChunk> {
    const { kernel, scratch } = this.#options;
    if (!scratch) throw new Error('events are to be shaped by a batcher without scratch memory');
    const { template } = this.#shapes.compile(block.shape, shaper);
    while (start < end) {
      const chunk = await shapeChunk({ kernel, scratch }, template, shaper, source, block, start, end);
      if (chunk.end === start)
        throw new Error(
          `nothing of the last ${end - start} bytes of a block can be taken: it does not end in a whole line`,
        );
      yield chunk;
      start = chunk.end;
    }
  }

  /** A batcher that makes the same events again, one batch after the other; it must be flushed after each use. */
  rebuilder(queue: MadeBatches): Batcher {
    return new Batcher({ ...this.#options, queue, budget: queue.budget, sumsLive: false });
  }

  /** One kernel call into the open batch's slot. */
  #wrap(
    batch: Batch,
    intake: Intake,
    start: number,
    firstEvent: number,
  ): { consumed: number; events: number; full: boolean; tooLarge: boolean } {
    const { kernel, limits } = this.#options;
    const { block } = intake;
    const { template } = this.#shapes.compile(block.shape);
    const result = kernel.wrap(
      template,
      block.readAtMs,
      block.window,
      start,
      intake.end,
      batch.payload.slot!,
      batch.payload.bytes,
      limits.maxBytes,
      limits.maxEvents - batch.events,
      block.single?.marks,
      endsFrom(block, start),
    );
    const { consumed, events, written, stop } = result;
    if (consumed > 0) {
      this.#sumBody(batch, written);
      batch.extend(
        intake.accounting,
        block,
        this.#shapes.digestOf(block, start, start + consumed),
        start,
        consumed,
        events,
        written,
        firstEvent,
      );
      intake.taken(firstEvent + events, result);
    }
    return { consumed, events, full: stop === 'output' || stop === 'events', tooLarge: stop === 'too_large' };
  }

  /** Adds the bytes just written to the batch's checksum. */
  #sumBody(batch: Batch, written: number): void {
    if (this.#options.sumsLive === true && !batch.canBeRebuilt)
      batch.payload.bodyCrc = crc32(
        batch.payload.body.subarray(batch.payload.bytes, batch.payload.bytes + written),
        batch.payload.bodyCrc,
      );
  }

  #shapedIntake(intake: Intake, shaper: Shaper): ShapedIntakeOptions {
    const { block } = intake;
    // Keep the shapes that made the events: a reload may replace them while the events wait for memory.
    const shapes = this.#shapes;
    return {
      limits: () => this.#options.limits,
      digestOf: (from, to) => shapes.digestOf(block, from, to, shaper),
      openBatch: () => this.#openBatch(intake),
      waitForBatch: (position) => this.#waitForBatch(intake, position),
      largeBatch: (body, position) => this.#openLarge(intake, body, position),
      sumBody: (batch, written) => this.#sumBody(batch, written),
      close: () => this.open.close(nameOf(intake)),
      seal: (batch) => this.#options.queue.close(batch),
      takeMemory: (bytes) => this.#options.budget.takeAnyway(bytes),
    };
  }

  /** An event that is larger than a whole slot, or is not to be sent, goes alone into memory of its own. Resolves with the input bytes it took. */
  async #takeLarge(intake: Intake, start: number, firstEvent: number): Promise<number> {
    const { kernel } = this.#options;
    const { block } = intake;
    const shapes = this.#shapes;
    const { template } = shapes.compile(block.shape);
    const end = block.ends ? eventEndAt(block, start) : intake.end;
    const { consumed, event, ...counts } = kernel.wrapLarge(
      template,
      block.readAtMs,
      block.window,
      start,
      end,
      block.single?.marks,
      block.ends !== undefined,
    );
    const batch = await this.#openLarge(intake, event, start);
    const digest = shapes.digestOf(block, start, start + consumed);
    batch.extend(intake.accounting, block, digest, start, consumed, 1, event.length, firstEvent);
    batch.refusal = block.single?.refusal;
    intake.taken(firstEvent + 1, counts);
    this.#options.queue.close(batch);
    return consumed;
  }

  /** A batch in memory of its own, which is not among the open ones. */
  async #openLarge(intake: Intake, body: Buffer, start: number): Promise<Batch> {
    const { budget } = this.#options;
    let slot: Region | undefined;
    while (!budget.take(body.length) && !(slot = canRebuild(intake) ? undefined : budget.takeReserve(body.length))) {
      if (originOf(intake) === 'orphan') this.#closeReserve();
      await waitForMemory(
        this.#options,
        intake,
        start,
        () => budget.fits(body.length) || (!canRebuild(intake) && budget.hasReserve()),
      );
    }
    return this.#newBatch(intake, { body, slot });
  }

  #newBatch(intake: Intake, storage: { body: Buffer; slot: Region | undefined }): Batch {
    const owner = intake.owner ?? this.#options.sink;
    const batch = new Batch(this.#options.queue.ids.nextId(), owner, intake.dataset, originOf(intake), storage);
    batch.payload.form = this.#options.form?.body;
    return batch;
  }

  #canOpen(intake: Intake): boolean {
    const { budget } = this.#options;
    const hasRoom = budget.hasSlot() || (!canRebuild(intake) && budget.hasReserve());
    return hasRoom && this.#options.queue.wantsMore(intake.dataset, canRebuild(intake));
  }

  /** The open batch that the intake's events go into now; undefined while it has to wait. */
  #openBatch(intake: Intake): Batch | undefined {
    const name = nameOf(intake);
    const opened = this.open.get(name);
    if (opened || !this.#canOpen(intake)) return opened;
    const { budget } = this.#options;
    const slot = budget.takeSlot() ?? budget.takeReserve();
    if (!slot) return undefined;
    const batch = this.#newBatch(intake, { body: slot.bytes, slot });
    this.open.add(name, batch);
    budget.wake();
    return batch;
  }

  /** Closes the open batch that has the reserve, so that it is spooled now and frees the reserve for the next one. */
  #closeReserve(): void {
    this.open.closeWhere(({ payload }) => this.#options.budget.isReserve(payload.slot));
  }

  #closed(batch: Batch): void {
    if (batch.spans.length === 0) batch.release(this.#options.budget);
    else this.#options.queue.close(batch);
  }

  /** Resolves once a batch is open for the intake, or may be opened. */
  async #waitForBatch(intake: Intake, start: number): Promise<void> {
    if (originOf(intake) === 'orphan') this.#closeReserve();
    await waitForMemory(
      this.#options,
      intake,
      start,
      () => this.open.get(nameOf(intake)) !== undefined || this.#canOpen(intake),
    );
  }
}

function shapesOf({ kernel, form, timestampField }: BatcherOptions): Shapes {
  return new Shapes(kernel, form?.name ?? 'ndjson', timestampField);
}

function ageOf({ clock, limits, queue }: BatcherOptions): BatchAgeOptions {
  return { clock, maxAgeMs: limits.maxAgeMs, closesEarly: limits.closesEarly ?? false, queue };
}
