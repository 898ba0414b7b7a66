/** The open batches of one sink by name, and when each is closed: full, old enough, or wanted elsewhere. */
import type { Batch } from '../batch.ts';
import { BatchAge, type BatchAgeOptions } from './batch-age.ts';

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
    for (const [name, { batch, openedMs }] of this.#open) if (this.#age.isDue(batch.dataset, openedMs, isGathered)) this.close(name);
  }

  #stopWatch(): void {
    this.#watch?.abort();
    this.#watch = undefined;
  }

  /** Closes batches when they are old enough, until none is open. One wait for all: one for each batch costs more than closing it. */
  async #closeAged({ signal }: AbortController): Promise<void> {
    const { clock, closesEarly } = this.#options;
    // What is being read now is closed when it was read, without a timer.
    if (closesEarly) await new Promise((resolve) => setImmediate(resolve));
    while (!signal.aborted && this.#open.size > 0) {
      const dueMs = Math.min(...[...this.#open.values()].map(({ batch, openedMs }) => this.#age.nextMs(batch.dataset, openedMs)));
      await clock.sleep(dueMs - clock.monotonic(), signal);
      if (!signal.aborted) this.#closeDue(false);
    }
    if (!signal.aborted) this.#watch = undefined;
  }
}
