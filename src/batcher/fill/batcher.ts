/**
 * The batcher of one sink: collects blocks into open batches, one for each dataset and kind of source, and closes them at
 * their size, count or age. Lines go through the kernel straight into the batch's slot.
 */
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Block, EventShape, Region } from '../../core/block.ts';
import { SHAPING_VERSION } from '../limits.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { Shaper } from '../../core/shaping.ts';
import type { Kernel, Template } from '../../kernel/kernel.ts';
import { Batch } from '../batch.ts';
import { BatchAge } from './batch-age.ts';
import { endsFrom, eventEndAt } from '../block-events.ts';
import { ONCE } from '../span.ts';
import { canRebuild, type Intake, nameOf, originOf } from './intake.ts';
import type { Room } from './memory-budget.ts';
import { shapeChunk } from './shape-chunk.ts';
import { type ShapedIntakeOptions, takeShaped } from './shaped-intake.ts';
import { waitForRoom } from './wait-for-memory.ts';

export interface BatcherOptions {
  readonly sink: string;
  readonly kernel: Kernel;
  readonly room: Room;
  readonly clock: Clock;
  readonly limits: { readonly maxBytes: number; readonly maxEvents: number; readonly maxAgeMs: number };
  readonly timestampField: string | undefined;
  /** Kernel memory in which events are made before they are shaped; needed where any are. */
  readonly scratch?: Region;
  /** Names the form in which events are sent, as part of the digest of what shapes them; `ndjson` by default. */
  readonly form?: string;
  nextBatchId(): number;
  /** False while enough closed batches of that kind wait: sources then wait, too, instead of filling memory. */
  wantsMore(dataset: string, rereadable: boolean): boolean;
  /** Takes a closed batch. */
  seal(batch: Batch): void;
  /** True while nothing is being sent: batches are then closed before `maxAgeMs`. Absent: never. */
  readonly isIdle?: (() => boolean) | undefined;
  /** The disk buffer takes what cannot be read again as it is: its checksum is made while it is in the processor's caches. */
  readonly sumsLive?: boolean;
  /** True when what cannot be read again shall not wait for more in an open batch. Absent: never. */
  closesLive?(): boolean;
}

interface CompiledShape {
  readonly template: Template;
  readonly digest: string;
}

export class Batcher {
  #options: BatcherOptions;
  readonly #open = new Map<string, { readonly batch: Batch; readonly openedMs: number }>();
  #age: BatchAge;
  /** Ends the wait for open batches to be old enough; undefined while nobody waits. */
  #watch: AbortController | undefined;
  #shapes = new WeakMap<EventShape, CompiledShape>();

  constructor(options: BatcherOptions) {
    this.#options = options;
    const { clock, limits, isIdle } = options;
    this.#age = new BatchAge({ clock, maxAgeMs: limits.maxAgeMs, isIdle });
  }

  /** Closes every open batch; those after it are made as `changes` say. */
  reconfigure(changes: Partial<Pick<BatcherOptions, 'limits' | 'isIdle' | 'timestampField' | 'sumsLive'>>): void {
    this.flush();
    this.#options = { ...this.#options, ...changes };
    const { clock, limits, isIdle } = this.#options;
    this.#age = new BatchAge({ clock, maxAgeMs: limits.maxAgeMs, isIdle });
    this.#shapes = new WeakMap();
  }

  /** Takes the intake's lines into open batches, waiting for room as needed. Rejects with a `StoppedError` when turned away. */
  async take(intake: Intake): Promise<void> {
    if (intake.shaper) await takeShaped(this.#shapedIntake(intake, intake.shaper), intake, intake.shaper);
    else await this.#takeLines(intake);
    if (!intake.isRereadable() && this.#options.closesLive?.() === true) this.#close(nameOf(intake));
  }

  async #takeLines(intake: Intake): Promise<void> {
    const { limits } = this.#options;
    let { start, firstEvent } = intake;
    while (start < intake.end) {
      const name = nameOf(intake);
      if (intake.block.single?.refusal !== undefined) {
        // What was taken before it must be committed before it, or with it.
        this.#close(name);
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
      if (step.consumed === 0 && !step.tooLarge && !(step.full && batch.bytes > 0))
        throw new Error(`nothing of the last ${intake.end - start} bytes of a block can be taken: it does not end in a whole line`);
      start += step.consumed;
      firstEvent += step.events;
      if (step.tooLarge) {
        this.#close(name);
        start += await this.#takeLarge(intake, start, firstEvent);
        firstEvent += 1;
      } else if (step.full || batch.events >= limits.maxEvents || batch.bytes >= limits.maxBytes) {
        this.#age.noteFull(batch.dataset);
        this.#close(name);
      }
    }
  }

  /** Shapes a part of a block in the pieces in which it will be taken. */
  async shapeAhead(block: Block, start: number, end: number, source: string, shaper: Shaper): Promise<void> {
    const { kernel, scratch } = this.#options;
    if (!scratch) throw new Error('events are to be shaped by a batcher without scratch memory');
    const { template } = this.compile(block.shape, shaper);
    while (start < end) {
      const chunk = await shapeChunk({ kernel, scratch }, template, shaper, source, block, start, end);
      if (chunk.end === start) return;
      start = chunk.end;
    }
  }

  /** Closes every open batch. */
  flush(): void {
    for (const name of [...this.#open.keys()]) this.#close(name);
    this.#watch?.abort();
    this.#watch = undefined;
  }

  /** Closes what an idle sink can have now, as nothing more is being read. */
  closeEarly(): void {
    for (const [name, { batch, openedMs }] of this.#open) if (this.#age.isDue(batch.dataset, openedMs, true)) this.#close(name);
    if (this.#open.size > 0) return;
    this.#watch?.abort();
    this.#watch = undefined;
  }

  /** Closes the open batches that cannot be read again. */
  closeLive(): void {
    for (const [name, { batch }] of this.#open) if (!batch.canBeRebuilt) this.#close(name);
  }

  /** Closes the open batches that can be rebuilt from files, and hold a part of the stream. */
  closeWith(stream: string): void {
    for (const [name, { batch }] of this.#open)
      if (batch.canBeRebuilt && batch.spans.some((span) => span.stream === stream)) this.#close(name);
  }

  /** Closes the open batches of bytes whose file is gone: the disk buffer takes them now, not when they are old enough. */
  closeDeleted(): void {
    for (const [name, { batch }] of this.#open) if (batch.origin === 'orphan') this.#close(name);
  }

  /** The open batches, for the books. */
  open(): Batch[] {
    return [...this.#open.values()].map(({ batch }) => batch);
  }

  /** The template of a shape and the digest of everything that shapes its events. One shape always has the same shaper. */
  compile(shape: EventShape, shaper?: Shaper): CompiledShape {
    let compiled = this.#shapes.get(shape);
    if (!compiled) {
      const { timestampField } = this.#options;
      const digest = createHash('sha256')
        .update(
          JSON.stringify([
            SHAPING_VERSION,
            this.#options.form ?? 'ndjson',
            shape,
            timestampField ?? null,
            ...(shaper ? [shaper.digest] : []),
          ]),
        )
        .digest('hex')
        .slice(0, 16);
      compiled = {
        template: this.#options.kernel.compile(shape, timestampField),
        digest: shaper?.isDeterministic === false ? digest + ONCE : digest,
      };
      this.#shapes.set(shape, compiled);
    }
    return compiled;
  }

  /**
   * The digest of everything that shapes a block's events, or those in `[from, to)` of its window. What is cut off a line over
   * the limit, the number of a part, and which of several events that stand for the same bytes it is, cannot be told from the
   * bytes of its span.
   */
  digestOf({ shape, single, start, end }: Block, from = start, to = end, shaper?: Shaper): string {
    const { digest } = this.compile(shape, shaper);
    const cut = single?.marks ? `.${JSON.stringify(single.marks['part'] ?? 'cut')}.${end - start}` : '';
    const some = single && to - from < end - start ? `.${from - start}-${to - start}` : '';
    return `${digest}${cut}${some}`;
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
    const { template } = this.compile(block.shape);
    const result = kernel.wrap(
      template,
      block.readAtMs,
      block.window,
      start,
      intake.end,
      batch.slot!,
      batch.bytes,
      limits.maxBytes,
      limits.maxEvents - batch.events,
      block.single?.marks,
      endsFrom(block, start),
    );
    const { consumed, events, written, replaced, stop } = result;
    if (consumed > 0) {
      this.#sumBody(batch, written);
      batch.extend(intake.books, block, this.digestOf(block, start, start + consumed), start, consumed, events, written, firstEvent);
      intake.taken(firstEvent + events, replaced);
    }
    return { consumed, events, full: stop === 'output' || stop === 'events', tooLarge: stop === 'too_large' };
  }

  /** Sums up what was just written behind the batch's bytes. */
  #sumBody(batch: Batch, written: number): void {
    if (this.#options.sumsLive === true && !batch.canBeRebuilt)
      batch.bodyCrc = crc32(batch.body.subarray(batch.bytes, batch.bytes + written), batch.bodyCrc);
  }

  #shapedIntake(intake: Intake, shaper: Shaper): ShapedIntakeOptions {
    const { kernel, room, limits, scratch } = this.#options;
    const { block } = intake;
    if (!scratch) throw new Error('events are to be shaped by a batcher without scratch memory');
    return {
      kernel,
      scratch,
      limits,
      template: this.compile(block.shape, shaper).template,
      digestOf: (from, to) => this.digestOf(block, from, to, shaper),
      openBatch: () => this.#openBatch(intake),
      waitForBatch: (position) => this.#waitForBatch(intake, position),
      largeBatch: (body, position) => this.#openLarge(intake, body, position),
      sumBody: (batch, written) => this.#sumBody(batch, written),
      close: () => this.#close(nameOf(intake)),
      seal: (batch) => this.#options.seal(batch),
      takeMemory: (bytes) => room.takeAnyway(bytes),
    };
  }

  /** An event that is larger than a whole slot, or is not to be sent, goes alone into memory of its own. Resolves with the input bytes it took. */
  async #takeLarge(intake: Intake, start: number, firstEvent: number): Promise<number> {
    const { kernel } = this.#options;
    const { block } = intake;
    const { template } = this.compile(block.shape);
    const end = block.ends ? eventEndAt(block, start) : intake.end;
    const { consumed, event, replaced } = kernel.wrapLarge(
      template,
      block.readAtMs,
      block.window,
      start,
      end,
      block.single?.marks,
      block.ends !== undefined,
    );
    const batch = await this.#openLarge(intake, event, start);
    batch.extend(intake.books, block, this.digestOf(block, start, start + consumed), start, consumed, 1, event.length, firstEvent);
    batch.refusal = block.single?.refusal;
    intake.taken(firstEvent + 1, replaced);
    this.#options.seal(batch);
    return consumed;
  }

  /** A batch in memory of its own, which is not among the open ones. */
  async #openLarge(intake: Intake, body: Buffer, start: number): Promise<Batch> {
    const { room } = this.#options;
    let slot: Region | undefined;
    while (!room.take(body.length) && !(slot = canRebuild(intake) ? undefined : room.takeReserve(body.length))) {
      if (originOf(intake) === 'orphan') this.#closeReserve();
      await waitForRoom(this.#options, intake, start, () => room.fits(body.length) || (!canRebuild(intake) && room.hasReserve()));
    }
    return this.#newBatch(intake, { body, slot });
  }

  #newBatch(intake: Intake, storage: { body: Buffer; slot: Region | undefined }): Batch {
    const owner = intake.owner ?? this.#options.sink;
    return new Batch(this.#options.nextBatchId(), owner, intake.dataset, originOf(intake), storage);
  }

  #canOpen(intake: Intake): boolean {
    const { room } = this.#options;
    const hasRoom = room.hasSlot() || (!canRebuild(intake) && room.hasReserve());
    return hasRoom && this.#options.wantsMore(intake.dataset, canRebuild(intake));
  }

  /** The open batch that the intake's events go into now; undefined while it has to wait. */
  #openBatch(intake: Intake): Batch | undefined {
    const name = nameOf(intake);
    const opened = this.#open.get(name)?.batch;
    if (opened || !this.#canOpen(intake)) return opened;
    const { room } = this.#options;
    const slot = room.takeSlot() ?? room.takeReserve();
    if (!slot) return undefined;
    const batch = this.#newBatch(intake, { body: slot.bytes, slot });
    this.#open.set(name, { batch, openedMs: this.#options.clock.monotonic() });
    if (!this.#watch) void this.#closeAged((this.#watch = new AbortController()));
    room.wake();
    return batch;
  }

  /** Closes batches when they are old enough, until none is open. One wait for all: one for each batch costs more than closing it. */
  async #closeAged(watch: AbortController): Promise<void> {
    const { clock, isIdle } = this.#options;
    // What is being read now is closed when it was read, without a timer.
    if (isIdle) await new Promise((resolve) => setImmediate(resolve));
    if (watch.signal.aborted) return;
    while (this.#open.size > 0) {
      const dueMs = Math.min(...[...this.#open.values()].map(({ batch, openedMs }) => this.#age.nextMs(batch.dataset, openedMs)));
      await clock.sleep(dueMs - clock.monotonic(), watch.signal);
      if (watch.signal.aborted) return;
      for (const [name, { batch, openedMs }] of this.#open) if (this.#age.isDue(batch.dataset, openedMs)) this.#close(name);
    }
    this.#watch = undefined;
  }

  /** Sends an open batch that has the reserve on to the disk: who waits for it shall not wait until the batch is old enough. */
  #closeReserve(): void {
    for (const [name, { batch }] of this.#open) if (this.#options.room.isReserve(batch.slot)) this.#close(name);
  }

  #close(name: string): void {
    const entry = this.#open.get(name);
    if (!entry) return;
    this.#open.delete(name);
    const { batch } = entry;
    batch.body = batch.body.subarray(0, batch.bytes);
    if (batch.spans.length === 0) this.#options.room.release(batch.memory, batch.slot);
    else this.#options.seal(batch);
  }

  /** Resolves once a batch is open for the intake, or may be opened. */
  async #waitForBatch(intake: Intake, start: number): Promise<void> {
    if (originOf(intake) === 'orphan') this.#closeReserve();
    await waitForRoom(this.#options, intake, start, () => this.#open.has(nameOf(intake)) || this.#canOpen(intake));
  }
}
