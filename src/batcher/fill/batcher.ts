/**
 * The batcher of one sink: collects blocks into open batches, one for each dataset and kind of source, and closes them at
 * their size, count or age. Lines go through the kernel straight into the batch's slot.
 */
import { hash } from 'node:crypto';
import type { Block, EventShape, Region } from '../../core/block.ts';
import type { BodyForm } from '../../core/sink.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { Shaper } from '../../core/shaping.ts';
import type { Kernel, Template } from '../../kernel/kernel.ts';
import type { Batch } from '../batch.ts';
import type { BatchQueue } from '../queue.ts';
import { endsFrom, eventEndAt } from '../block-events.ts';
import { SHAPING_VERSION } from '../limits.ts';
import { ONCE } from '../span.ts';
import type { Intake } from './intake.ts';
import type { MadeBatches } from './made-batches.ts';
import { type BatchLimits, OpenBatches } from './open-batches.ts';
import { shapeChunk, type ShapedChunk } from './shape-chunk.ts';
import { takeShaped } from './shaped-intake.ts';

export interface BatcherOptions {
  readonly sink: string;
  readonly kernel: Kernel;
  readonly clock: Clock;
  readonly queue: BatchQueue;
  readonly limits: BatchLimits;
  readonly timestampField: string | undefined;
  /** Kernel memory in which events are made before they are shaped; needed where any are. */
  readonly scratch?: Region;
  /** The form in which events are sent, and its name in the digest of what shapes them; `ndjson` by default. */
  readonly form?: { readonly name: string; readonly body: BodyForm } | undefined;
  /** As `OpenBatches` is told. */
  readonly sumsLive?: boolean;
}

export class Batcher {
  #options: BatcherOptions;
  #shapes: Shapes;
  readonly open: OpenBatches;

  constructor(options: BatcherOptions) {
    const { sink, queue, clock, limits, form, sumsLive = false } = options;
    this.#options = options;
    this.#shapes = shapesOf(options);
    this.open = new OpenBatches({ sink, queue, clock, limits, form: form?.body, sumsLive });
  }

  /** Closes every open batch; those after it are made as `changes` say. */
  reconfigure(changes: Partial<Pick<BatcherOptions, 'limits' | 'timestampField' | 'form' | 'sumsLive'>>): void {
    this.#options = { ...this.#options, ...changes };
    const { limits, form, sumsLive = false } = this.#options;
    this.open.reconfigure({ limits, form: form?.body, sumsLive });
    this.#shapes = shapesOf(this.#options);
  }

  /** Takes the intake's lines into open batches, waiting for memory as needed. Rejects with a `StoppedError` when the wait is cancelled. */
  async take(intake: Intake): Promise<void> {
    const { shaper, block, start, end, accounting } = intake;
    const { open } = this;
    const { queue } = this.#options;
    if (shaper) {
      const chunks = intake.chunks ?? this.shape(block, start, end, accounting.source, shaper);
      await takeShaped({ open, queue, shapes: this.#shapes, shaper }, intake, chunks);
    } else await this.#takeLines(intake);
    if (queue.wantsLive && !intake.isRereadable()) open.close(intake);
  }

  async #takeLines(intake: Intake): Promise<void> {
    let { start, firstEvent } = intake;
    while (start < intake.end) {
      const { limits } = this.open;
      if (intake.block.single?.refusal !== undefined) {
        // Events taken before must be committed before it, or with it.
        this.open.close(intake);
        await this.#takeLarge(intake, start, firstEvent);
        return;
      }
      const batch = this.open.take(intake);
      if (!batch) {
        await this.open.wait(intake, start);
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
        this.open.close(intake);
        start += await this.#takeLarge(intake, start, firstEvent);
        firstEvent += 1;
      } else if (step.full || batch.events >= limits.maxEvents || batch.payload.bytes >= limits.maxBytes) {
        this.open.closeFull(intake);
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
    return new Batcher({ ...this.#options, queue, sumsLive: false });
  }

  /** One kernel call into the open batch's slot. */
  #wrap(
    batch: Batch,
    intake: Intake,
    start: number,
    firstEvent: number,
  ): { consumed: number; events: number; full: boolean; tooLarge: boolean } {
    const { kernel } = this.#options;
    const { limits } = this.open;
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
      this.open.sum(batch, written);
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
    const batch = await this.open.takeLarge(intake, event, start);
    const digest = shapes.digestOf(block, start, start + consumed);
    batch.extend(intake.accounting, block, digest, start, consumed, 1, event.length, firstEvent);
    batch.refusal = block.single?.refusal;
    intake.taken(firstEvent + 1, counts);
    this.#options.queue.close(batch);
    return consumed;
  }
}

function shapesOf({ kernel, form, timestampField }: BatcherOptions): Shapes {
  return new Shapes(kernel, form?.name ?? 'ndjson', timestampField);
}

interface CompiledShape {
  readonly template: Template;
  readonly digest: string;
  /** The shaper's own digest. */
  readonly shaper: string | undefined;
}

/** The templates of event shapes, and the digests of everything that shapes events: an event is the same only where its digest is. */
export class Shapes {
  readonly #kernel: Kernel;
  readonly #form: string;
  readonly #timestampField: string | undefined;
  readonly #compiled = new WeakMap<EventShape, CompiledShape>();

  /** `form` names the form in which events are sent. */
  constructor(kernel: Kernel, form: string, timestampField: string | undefined) {
    this.#kernel = kernel;
    this.#form = form;
    this.#timestampField = timestampField;
  }

  compile(shape: EventShape, shaper?: Shaper): CompiledShape {
    let compiled = this.#compiled.get(shape);
    // A reload may have changed what shapes the events.
    if (!compiled || compiled.shaper !== shaper?.digest) {
      const shaped = [
        SHAPING_VERSION,
        this.#form,
        shape,
        this.#timestampField ?? null,
        ...(shaper ? [shaper.digest] : []),
      ];
      const digest = hash('sha256', JSON.stringify(shaped)).slice(0, 16);
      compiled = {
        template: this.#kernel.compile(shape, this.#timestampField),
        digest: shaper?.isDeterministic === false ? digest + ONCE : digest,
        shaper: shaper?.digest,
      };
      this.#compiled.set(shape, compiled);
    }
    return compiled;
  }

  /**
   * The digest for a block's events, or those in `[from, to)` of its window. The bytes of a span do not tell where a line over the limit is
   * cut, the number of a part, which of several events of the same bytes it is, or a header above them, so the digest does.
   */
  digestOf({ shape, single, start, end, header }: Block, from = start, to = end, shaper?: Shaper): string {
    const { digest } = this.compile(shape, shaper);
    const cut = single?.marks ? `.${JSON.stringify(single.marks['part'] ?? 'cut')}.${end - start}` : '';
    const some = single && to - from < end - start ? `.${from - start}-${to - start}` : '';
    const under = header === undefined ? '' : `.h${hash('sha256', header).slice(0, 16)}`;
    return `${digest}${under}${cut}${some}`;
  }
}
