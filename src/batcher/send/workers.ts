/** The workers of one sink: at most so many batches are under way at a time, and so many probes. */
import PQueue from 'p-queue';
import { messageOf } from '../../core/errors.ts';
import type { DeliveryOptions } from './delivery-options.ts';

export class Workers {
  readonly #options: Pick<DeliveryOptions, 'sink' | 'log' | 'queue'>;
  readonly #queue: PQueue;
  /** Does a worker's next work; resolves with false where there is none. */
  readonly #next: () => Promise<boolean>;
  /** Workers asked for that have not begun. */
  #tickets = 0;

  constructor(options: Pick<DeliveryOptions, 'sink' | 'log' | 'queue'>, next: () => Promise<boolean>) {
    this.#options = options;
    this.#next = next;
    this.#queue = new PQueue({ concurrency: this.#maximum });
  }

  /** The most workers that may ever be under way; `limitTo` may allow fewer for the moment. */
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
