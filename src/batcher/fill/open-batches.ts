/** The open batches of one sink by name, and when each is closed: full, old enough, or wanted elsewhere. */
import type { Batch, Origin } from '../batch.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { Intake } from './intake.ts';

interface OpenBatch {
  readonly batch: Batch;
  /** Monotonic. */
  readonly openedMs: number;
}

export class OpenBatches {
  readonly #closed: (batch: Batch) => void;
  #options: BatchAgeOptions;
  #age: BatchAge;
  readonly #open = new Map<string, OpenBatch>();
  /** Ends the wait for open batches to be old enough; undefined while nobody waits. */
  #watch: AbortController | undefined;

  /** `closed` takes each batch that is closed. */
  constructor(options: BatchAgeOptions, closed: (batch: Batch) => void) {
    this.#options = options;
    this.#age = new BatchAge(options);
    this.#closed = closed;
  }

  /** Closes every batch; those after them are closed as these options say. */
  reconfigure(options: BatchAgeOptions): void {
    this.flush();
    this.#options = options;
    this.#age = new BatchAge(options);
  }

  get(name: string): Batch | undefined {
    return this.#open.get(name)?.batch;
  }

  list(): Batch[] {
    return [...this.#open.values()].map(({ batch }) => batch);
  }

  add(name: string, batch: Batch): void {
    this.#open.set(name, { batch, openedMs: this.#options.clock.monotonic() });
    if (!this.#watch) void this.#closeAged((this.#watch = new AbortController()));
  }

  close(name: string): void {
    const batch = this.get(name);
    if (!batch) return;
    this.#open.delete(name);
    batch.payload.body = batch.payload.body.subarray(0, batch.payload.bytes);
    this.#closed(batch);
  }

  /** Closes a batch that is full. */
  closeFull(name: string): void {
    const batch = this.get(name);
    if (batch) this.#age.noteFull(batch.dataset);
    this.close(name);
  }

  closeWhere(test: (batch: Batch) => boolean): void {
    for (const [name, { batch }] of this.#open) if (test(batch)) this.close(name);
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

  #closeDue(isGathered: boolean): void {
    for (const [name, { batch, openedMs }] of this.#open)
      if (this.#age.isDue(batch.dataset, openedMs, isGathered)) this.close(name);
  }

  #stopWatch(): void {
    this.#watch?.abort();
    this.#watch = undefined;
  }

  /** Closes batches when they are old enough, until none is open. One wait for all: one for each batch costs more than closing it. */
  async #closeAged({ signal }: AbortController): Promise<void> {
    const { clock, closesEarly } = this.#options;
    // The batch being filled is closed after the current read, without a timer.
    if (closesEarly) await new Promise((resolve) => setImmediate(resolve));
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
  readonly maxAgeMs: number;
  /** False where `max_age` was written: it is the waiting time then. */
  readonly closesEarly: boolean;
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
    const { clock, maxAgeMs, closesEarly } = this.#options;
    if (!closesEarly) return openedMs + maxAgeMs;
    const earlyMs = this.#earlyMs(dataset, openedMs);
    return Math.min(openedMs + maxAgeMs, clock.monotonic() < earlyMs ? earlyMs : clock.monotonic() + ASK_AGAIN_MS);
  }

  /** True for a batch to close now. `isGathered`: it holds the whole current read. */
  isDue(dataset: string, openedMs: number, isGathered = false): boolean {
    const { clock, maxAgeMs, closesEarly, queue } = this.#options;
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
      filledMs + this.#options.maxAgeMs,
    );
  }
}

/** One batch is open for each dataset and origin. */
export function nameOf(intake: Intake): string {
  return `${originOf(intake)} ${intake.dataset}${intake.owner === undefined ? '' : ` ${intake.owner}`}`;
}

/** Not cached: a file may be deleted while its events wait. */
export function originOf(intake: Intake): Origin {
  if (!intake.isRereadable()) return intake.isTracked ? 'orphan' : 'live';
  return intake.shaper?.isDeterministic === false ? 'once' : 'file';
}

/** True when the batch can be read again from its file, and needs no disk buffer. */
export function canRebuild(intake: Intake): boolean {
  return originOf(intake) === 'file';
}
