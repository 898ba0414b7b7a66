/** The open batches of one sink by name: when each may be opened, and when it is closed: full, old enough, or wanted elsewhere. */
import { crc32 } from 'node:zlib';
import type { Region } from '../../core/block.ts';
import { StoppedError } from '../../core/errors.ts';
import type { BodyForm } from '../../core/sink.ts';
import type { Clock } from '../../core/time/clock.ts';
import { Batch, type BatchOrigin } from '../batch.ts';
import type { BatchQueue } from '../queue.ts';
import type { Intake } from './intake.ts';

export interface BatchLimits {
  readonly maxBytes: number;
  readonly maxEvents: number;
  readonly maxAgeMs: number;
  /** Batches may be closed before `maxAgeMs`, while nothing is being sent. False where `max_age` was written: it is the waiting time then. */
  readonly closesEarly?: boolean;
}

export interface OpenBatchesOptions {
  /** Owns the marks of events whose intake names no owner. */
  readonly sink: string;
  /** Numbers batches, takes closed ones, and tells whether more are wanted. */
  readonly queue: BatchQueue;
  readonly clock: Clock;
  readonly limits: BatchLimits;
  /** The form in which the batches are sent. */
  readonly form: BodyForm | undefined;
  /** Checksums bodies of batches that need the disk buffer as they are written, while cached. */
  readonly sumsLive: boolean;
}

interface OpenBatch {
  readonly batch: Batch;
  /** Monotonic. */
  readonly openedMs: number;
}

export class OpenBatches {
  #options: OpenBatchesOptions;
  #age: BatchAge;
  readonly #open = new Map<string, OpenBatch>();
  /** Ends the wait for open batches to be old enough; undefined while nobody waits. */
  #watch: AbortController | undefined;

  constructor(options: OpenBatchesOptions) {
    this.#options = options;
    this.#age = new BatchAge(options);
    options.queue.workers.filler = this;
  }

  /** In force now: a reload may change them while an intake waits. */
  get limits(): BatchLimits {
    return this.#options.limits;
  }

  /** Closes every batch; those after them are opened and closed as these options say. */
  reconfigure(changes: Pick<OpenBatchesOptions, 'limits' | 'form' | 'sumsLive'>): void {
    this.flush();
    this.#options = { ...this.#options, ...changes };
    this.#age = new BatchAge(this.#options);
  }

  /** The disk buffer has all that waited for it. */
  noteWritten(): void {
    if (this.#options.queue.settings.policy.writesAtOnce) this.closeWhere((batch) => !batch.canBeRebuilt);
  }

  list(): Batch[] {
    return [...this.#open.values()].map(({ batch }) => batch);
  }

  /** The open batch that the intake's events go into now; undefined while it has to `wait`. */
  take(intake: Intake): Batch | undefined {
    const name = batchNameOf(intake);
    const opened = this.#open.get(name)?.batch;
    if (opened || !this.#canOpen(intake)) return opened;
    const { queue, clock } = this.#options;
    const slot = queue.budget.takeSlot() ?? queue.budget.takeReserve();
    if (!slot) return undefined;
    const batch = this.#newBatch(intake, { body: slot.bytes, slot });
    this.#open.set(name, { batch, openedMs: clock.monotonic() });
    if (!this.#watch) void this.#closeAged((this.#watch = new AbortController()));
    queue.budget.wake();
    return batch;
  }

  /** A batch in memory of its own, which is not among the open ones. Waits for that; rejects like `wait`. */
  async takeLarge(intake: Intake, body: Buffer, start: number): Promise<Batch> {
    const { budget } = this.#options.queue;
    let slot: Region | undefined;
    while (!budget.take(body.length) && !(slot = canRebuild(intake) ? undefined : budget.takeReserve(body.length))) {
      if (originOf(intake) === 'orphan') this.#closeReserve();
      await this.#waitFor(
        intake,
        start,
        () => budget.fits(body.length) || (!canRebuild(intake) && budget.hasReserve()),
      );
    }
    return this.#newBatch(intake, { body, slot });
  }

  /** Resolves once a batch is open for the intake, or may be opened. Rejects with a `StoppedError` that counts the bytes from `start` on. */
  async wait(intake: Intake, start: number): Promise<void> {
    if (originOf(intake) === 'orphan') this.#closeReserve();
    await this.#waitFor(intake, start, () => this.#open.has(batchNameOf(intake)) || this.#canOpen(intake));
  }

  /** Adds the bytes just written to the batch's checksum. */
  sum({ canBeRebuilt, payload }: Batch, written: number): void {
    if (this.#options.sumsLive && !canBeRebuilt)
      payload.bodyCrc = crc32(payload.body.subarray(payload.bytes, payload.bytes + written), payload.bodyCrc);
  }

  /** Closes the intake's batch. */
  close(intake: Intake): void {
    this.#close(batchNameOf(intake));
  }

  /** Closes the intake's batch, which is full. */
  closeFull(intake: Intake): void {
    this.#age.noteFull(intake.dataset);
    this.close(intake);
  }

  closeWhere(test: (batch: Batch) => boolean): void {
    for (const [name, { batch }] of this.#open) if (test(batch)) this.#close(name);
  }

  /** Closes every batch. */
  flush(): void {
    this.closeWhere(() => true);
    this.#stopWatch();
  }

  /** Closes what an idle sink can have now, as nothing more is being read. */
  closeEarly(): void {
    this.#closeDue(true);
    if (this.#open.size === 0) this.#stopWatch();
  }

  #close(name: string): void {
    const { queue } = this.#options;
    const batch = this.#open.get(name)?.batch;
    if (!batch) return;
    this.#open.delete(name);
    batch.payload.body = batch.payload.body.subarray(0, batch.payload.bytes);
    if (batch.spans.length === 0) batch.release(queue.budget);
    else queue.close(batch);
  }

  /** Closes the open batch that has the reserve, so that it is spooled now and frees the reserve for the next one. */
  #closeReserve(): void {
    this.closeWhere(({ payload }) => this.#options.queue.budget.isReserve(payload.slot));
  }

  #newBatch(intake: Intake, storage: { body: Buffer; slot: Region | undefined }): Batch {
    const { sink, queue, form } = this.#options;
    const batch = new Batch(queue.ids.nextId(), intake.owner ?? sink, intake.dataset, originOf(intake), storage);
    batch.payload.form = form;
    return batch;
  }

  #canOpen(intake: Intake): boolean {
    const { queue } = this.#options;
    const hasRoom = queue.budget.hasSlot() || (!canRebuild(intake) && queue.budget.hasReserve());
    return hasRoom && queue.wantsMore(intake.dataset, canRebuild(intake));
  }

  async #waitFor(intake: Intake, start: number, admits: () => boolean): Promise<void> {
    const { clock, queue } = this.#options;
    const from = clock.monotonic();
    intake.waits?.(() => clock.monotonic() - from);
    try {
      await queue.budget.wait(() => intake.isRereadable(), admits, intake.accounting);
    } catch (error) {
      throw error instanceof StoppedError ? new StoppedError(intake.end - start) : error;
    } finally {
      intake.waited(clock.monotonic() - from);
    }
  }

  #closeDue(isGathered: boolean): void {
    for (const [name, { batch, openedMs }] of this.#open)
      if (this.#age.isDue(batch.dataset, openedMs, isGathered)) this.#close(name);
  }

  #stopWatch(): void {
    this.#watch?.abort();
    this.#watch = undefined;
  }

  /** Closes batches when they are old enough, until none is open. One wait for all: one for each batch costs more than closing it. */
  async #closeAged({ signal }: AbortController): Promise<void> {
    const { clock, limits } = this.#options;
    // The batch being filled is closed after the current read, without a timer.
    if (limits.closesEarly === true) await new Promise((resolve) => setImmediate(resolve));
    while (!signal.aborted && this.#open.size > 0) {
      const dueMs = Math.min(
        ...[...this.#open.values()].map(({ batch, openedMs }) => this.#age.nextMs(batch.dataset, openedMs)),
      );
      await clock.sleep(dueMs - clock.monotonic(), signal);
      if (!signal.aborted) this.#closeDue(false);
    }
    if (!signal.aborted) this.#watch = undefined;
  }
}

export interface BatchAgeOptions {
  readonly clock: Clock;
  readonly limits: Pick<BatchLimits, 'maxAgeMs' | 'closesEarly'>;
  /** `isIdle`: nothing is being sent. */
  readonly queue: { readonly isIdle: boolean };
}

/** Time for the current read to complete. */
const GATHER_MS = 10;
const EARLY_EVERY_MS = 200;
/** How often to check a busy sink again. */
const ASK_AGAIN_MS = 50;

/**
 * When an open batch is old enough to be sent. Promises: none waits longer than `maxAgeMs`; one is closed sooner only while its sink
 * is idle, and at most five times a second for a dataset; while batches fill by themselves, none is.
 */
export class BatchAge {
  readonly #options: BatchAgeOptions;
  /** By dataset: when a batch was last closed early. */
  readonly #closedEarlyMs = new Map<string, number>();

  /** By dataset: when a batch was full last. */
  readonly #filledMs = new Map<string, number>();

  constructor(options: BatchAgeOptions) {
    this.#options = options;
  }

  /** Notes a full batch: the next one will soon be full, too, and closing it early would cost CPU. */
  noteFull(dataset: string): void {
    this.#filledMs.set(dataset, this.#options.clock.monotonic());
  }

  /** When to check a batch next that was opened at `openedMs` (monotonic). */
  nextMs(dataset: string, openedMs: number): number {
    const { clock, limits } = this.#options;
    const { maxAgeMs, closesEarly = false } = limits;
    if (!closesEarly) return openedMs + maxAgeMs;
    const earlyMs = this.#earlyMs(dataset, openedMs);
    return Math.min(openedMs + maxAgeMs, clock.monotonic() < earlyMs ? earlyMs : clock.monotonic() + ASK_AGAIN_MS);
  }

  /** True for a batch to close now. `isGathered`: it holds the whole current read. */
  isDue(dataset: string, openedMs: number, isGathered = false): boolean {
    const { clock, limits, queue } = this.#options;
    const { maxAgeMs, closesEarly = false } = limits;
    const now = clock.monotonic();
    if (now >= openedMs + maxAgeMs) return true;
    if (!closesEarly || now < this.#earlyMs(dataset, isGathered ? -Infinity : openedMs) || !queue.isIdle) return false;
    this.#closedEarlyMs.set(dataset, now);
    return true;
  }

  #earlyMs(dataset: string, openedMs: number): number {
    const filledMs = this.#filledMs.get(dataset) ?? -Infinity;
    return Math.max(
      openedMs + GATHER_MS,
      (this.#closedEarlyMs.get(dataset) ?? -Infinity) + EARLY_EVERY_MS,
      filledMs + this.#options.limits.maxAgeMs,
    );
  }
}

/** One batch is open for each dataset and origin. */
function batchNameOf(intake: Intake): string {
  return `${originOf(intake)} ${intake.dataset}${intake.owner === undefined ? '' : ` ${intake.owner}`}`;
}

/** Not cached: a file may be deleted while its events wait. */
function originOf(intake: Intake): BatchOrigin {
  if (!intake.isRereadable()) return intake.isTracked ? 'orphan' : 'live';
  return intake.shaper?.isDeterministic === false ? 'once' : 'file';
}

/** True when the batch can be read again from its file, and needs no disk buffer. */
function canRebuild(intake: Intake): boolean {
  return originOf(intake) === 'file';
}
