/** A delivery whose sink answers as the test asks, with a stopped clock and a record of all that happened, in order. */
import { Batch, keyOf } from '../../src/batcher/batch.ts';
import { Accounting } from '../../src/batcher/accounting.ts';
import type { DeadLetter, Sink, SinkRequest, SendResult } from '../../src/core/sink.ts';
import type { RequestPart } from '../../src/core/requests.ts';
import type { Delivery } from '../../src/batcher/send/delivery.ts';
import { MemoryBudget } from '../../src/batcher/memory-budget.ts';
import { TailraceError } from '../../src/core/errors.ts';
import type { BatchQueue } from '../../src/batcher/queue.ts';
import { diskPolicy, makeQueue, SinkRig } from './sink-rig.ts';

export interface RigOptions extends Pick<Sink, 'tokenChange'> {
  readonly concurrency?: number;
  readonly compression?: 'auto' | 'gzip' | 'zstd' | 'none';
  readonly maxElapsedMs?: number;
  readonly random?: () => number;
  readonly commitEveryMs?: number;
}

export class DeliveryRig extends SinkRig {
  readonly budget = new MemoryBudget(64 * 1024 * 1024, 1024, []);
  readonly accounting = new Accounting('app');
  /** `commit k1,k2`, `parts …`, `send k`, `bury …`, `settle k`, in order; keys as `nameOf` gives them. */
  readonly trace: string[] = [];
  readonly letters = new Map<string, readonly DeadLetter[]>();
  readonly paused: string[] = [];
  readonly delivery: Delivery;
  readonly queue: BatchQueue;
  /** Thrown by the next writes. */
  diskFails = false;
  /** The next batch's body cannot be read back. */
  isBroken = false;
  /** Or the error that it fails with. */
  buryFails: boolean | Error = false;
  /** The dead letters are full and their policy drops. */
  buryDrops = false;
  readonly #names = new Map<string, string>();
  #offset = 0;
  #id = 0;

  constructor(options: RigOptions = {}) {
    super();
    const { maxElapsedMs = Infinity, concurrency, ...given } = options;
    const retry = { initialBackoffMs: 100, maxBackoffMs: 1000, maxElapsedMs };
    this.queue = makeQueue(this.budget, concurrency, diskPolicy(), retry);
    this.queue.workers.watcher = { notePause: (_, dataset) => void this.paused.push(dataset) };
    this.delivery = this.deliveryOf({
      ...given,
      queue: this.queue,
      store: {
        commit: (batches: readonly Batch[]) => {
          this.#refuse();
          this.trace.push(`commit ${batches.map(({ key }) => this.nameOf(key)).join(',')}`);
        },
        commitParts: (batch: Batch, parts: readonly RequestPart[]) => {
          this.#refuse();
          this.trace.push(
            `parts of ${this.nameOf(batch.key)}: ${parts.map(({ first, count }) => `${first}+${count}`).join(' ')}`,
          );
        },
        load: () =>
          this.isBroken ? Promise.reject(new TailraceError('E_SPOOL_BROKEN', 'flipped')) : Promise.resolve(),
        evict: () => {},
        settle: (batch: Batch) => void this.trace.push(`settle ${this.nameOf(batch.key)}`),
      },
      deadLetter: (name, letters) => {
        if (this.buryFails)
          return Promise.reject(this.buryFails === true ? new Error('no space left') : this.buryFails);
        this.trace.push(`bury ${letters.length}`);
        if (this.buryDrops) return Promise.resolve('dropped');
        this.letters.set(name, letters);
        return Promise.resolve('kept');
      },
    }).delivery;
  }

  /** Makes a closed batch of `count` events and hands it over; its key is known as `name` from then on. */
  seal(
    name: string,
    count = 1,
    options: { dataset?: string; rereadable?: boolean; events?: readonly string[] } = {},
  ): Batch {
    const events = options.events ?? Array.from({ length: count }, (_, i) => `{"batch":"${name}","n":${i}}`);
    const body = Buffer.from(events.map((event) => `${event}\n`).join(''));
    if (!this.budget.take(body.length)) throw new Error('the room is full');
    const batch = new Batch(
      ++this.#id,
      'store',
      options.dataset ?? 'logs',
      (options.rereadable ?? true) ? 'file' : 'live',
      { body },
    );
    const from = this.#offset;
    this.#offset += Math.max(1, body.length);
    batch.spans.push({
      accounting: this.accounting,
      firstEvent: this.accounting.accepted,
      source: 'app',
      stream: 's1',
      digest: 'd',
      from,
      to: this.#offset,
      events: events.length,
      sum: 1,
      tail: { length: 1, crc: 1 },
      closed: false,
    });
    this.accounting.accept(events.length, 1);
    batch.events = events.length;
    batch.payload.bytes = body.length;
    batch.key = keyOf(batch.owner, batch.dataset, batch.spans);
    this.#names.set(batch.key, name);
    this.delivery.enqueue(batch);
    return batch;
  }

  nameOf(key: string): string {
    return this.#names.get(key) ?? key.slice(0, 6);
  }

  /** Held events, counted by walking, plus settled ones: must equal the accepted. */
  get accountedFor(): number {
    const held = this.delivery.queue.sending.flatMap(({ spans }) => spans.map(({ events }) => events));
    return [...held, ...Object.values(this.accounting.settled)].reduce((sum, events) => sum + events, 0);
  }

  #refuse(): void {
    if (this.diskFails) throw new Error('database or disk is full');
  }

  protected override send(request: SinkRequest, signal: AbortSignal): Promise<SendResult> {
    this.trace.push(`send ${this.nameOf(request.key)}`);
    return super.send(request, signal);
  }
}
