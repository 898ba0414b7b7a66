/**
 * When an open batch is old enough to be sent. Promises: none waits longer than `maxAgeMs`; one is closed sooner only while its sink
 * is idle, and at most five times a second for a dataset; while batches fill by themselves, none is.
 */
import type { Clock } from '../../core/time/clock.ts';

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
