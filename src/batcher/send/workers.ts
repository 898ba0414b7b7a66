/** The workers of one sink: at most so many batches are in flight at a time, and so many probes. */
import PQueue from 'p-queue';
import { messageOf } from '../../core/errors.ts';
import type { DeliveryOptions } from './delivery-options.ts';

export class Workers {
  readonly #options: Pick<DeliveryOptions, 'sink' | 'log' | 'queue'>;
  readonly #queue: PQueue;
  /** Does a worker's next work; resolves with false without any. */
  readonly #next: () => Promise<boolean>;
  /** Workers asked for that have not begun. */
  #tickets = 0;

  constructor(options: Pick<DeliveryOptions, 'sink' | 'log' | 'queue'>, next: () => Promise<boolean>) {
    this.#options = options;
    this.#next = next;
    this.#queue = new PQueue({ concurrency: this.#maximum });
  }

  /** The most workers that may ever run; `limitTo` may allow fewer for the moment. */
  get #maximum(): number {
    return this.#options.queue.settings.concurrency;
  }

  limitTo(workers: number): void {
    this.#queue.concurrency = workers;
  }

  /** A ticket for each worker is enough: who had one asks for the next. One for each batch that waits takes more memory than the batch. */
  start(): void {
    if (this.#tickets >= this.#maximum) return;
    this.#tickets += 1;
    this.#queue.add(() => this.#work()).catch((error: unknown) => this.#reportFault(error));
  }

  startAll(): void {
    for (let i = 0; i < this.#maximum; i++) this.start();
  }

  /** Does this when there is a worker for it. */
  run(work: () => Promise<void>): Promise<void> {
    return this.#queue.add(work);
  }

  /** Resolves when none works. */
  idle(): Promise<void> {
    return this.#queue.onIdle();
  }

  async #work(): Promise<void> {
    this.#tickets -= 1;
    let hadWork = true;
    try {
      hadWork = await this.#next();
    } finally {
      if (hadWork) this.start();
    }
  }

  #reportFault(error: unknown): void {
    this.#options.log.error(
      { sink: this.#options.sink.id, reason: messageOf(error) },
      'delivery failed by a fault of its own; the batch is held until a restart',
    );
  }
}

/** A request this many times slower than the best seen lately counts as a sign of overload, if it took `SLOW_AT_LEAST_MS`. */
const SLOW_FACTOR = 8;
/** A shorter request is no sign of overload. */
const SLOW_AT_LEAST_MS = 2000;

/**
 * Limit of concurrent requests: additive increase, multiplicative decrease, within the configured maximum.
 * It starts at the maximum, is halved when the service is overloaded (429, 503, timeouts, or requests that take much
 * longer than they used to), and grows by one for each round of requests that went well.
 */
export class Concurrency {
  #maximum: number;
  #limit: number;
  #good = 0;
  #fastestMs = Infinity;

  constructor(maximum: number) {
    this.#maximum = maximum;
    this.#limit = maximum;
  }

  /** Current limit of concurrent requests: 1 … maximum. */
  get limit(): number {
    return Math.max(1, Math.floor(this.#limit));
  }

  /** Changes the maximum. Where the one before was in use the new one is, too; else what the service was seen to bear holds. */
  limitTo(maximum: number): void {
    this.#limit = this.#limit >= this.#maximum ? maximum : Math.min(this.#limit, maximum);
    this.#maximum = maximum;
    this.#good = 0;
  }

  /** A request was answered well in `elapsedMs`. */
  noteSuccess(elapsedMs: number): void {
    this.#fastestMs = Math.min(elapsedMs, this.#fastestMs * 1.01);
    if (elapsedMs > SLOW_AT_LEAST_MS && elapsedMs > this.#fastestMs * SLOW_FACTOR) return this.noteOverload();
    this.#good += 1;
    if (this.#good < this.limit) return;
    this.#good = 0;
    this.#limit = Math.min(this.#maximum, this.#limit + 1);
  }

  /** The service is overloaded. */
  noteOverload(): void {
    this.#good = 0;
    this.#limit = Math.max(1, this.#limit / 2);
  }
}
