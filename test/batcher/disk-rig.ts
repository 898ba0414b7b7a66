/** A disk buffer with a real folder, its delivery, and a sink that answers what the test says. One rig is one life of a process. */
import { Batch, keyOf } from '../../src/batcher/batch.ts';
import { Accounting } from '../../src/batcher/accounting.ts';
import type { Delivery } from '../../src/batcher/send/delivery.ts';
import { DiskBuffer } from '../../src/batcher/keep/disk-buffer.ts';
import { SpoolStore } from '../../src/batcher/keep/spool-store.ts';
import type { BatchQueue } from '../../src/batcher/queue.ts';
import { MemoryBudget } from '../../src/batcher/memory-budget.ts';
import type { DeadLetter } from '../../src/core/sink.ts';
import { Spool } from '../../src/state/spool/spool.ts';
import { settleTurns } from '../support/until.ts';
import { contentSum } from '../../src/kernel/content-sum.ts';
import { diskPolicy, makeQueue, SinkRig } from './sink-rig.ts';

export interface DiskRigOptions {
  readonly maxBytes?: number;
  readonly whenFull?: 'block' | 'drop_newest' | 'drop_oldest';
  readonly concurrency?: number;
  readonly compression?: 'auto' | 'gzip' | 'zstd' | 'none';
  /** Keeps dead letters; by default they are counted. */
  readonly deadLetter?: (name: string, letters: readonly DeadLetter[]) => 'kept' | 'dropped';
  /** Slots that are free. */
  readonly slots?: number;
  /** Bytes of memory for batches. */
  readonly budget?: number;
  /** Names the stream of this life's events. */
  readonly stream?: string;
}

export class DiskRig extends SinkRig {
  readonly budget: MemoryBudget;
  readonly accounting = new Map<string, Accounting>();
  readonly spool: Spool;
  readonly keeper: SpoolStore;
  readonly queue: BatchQueue;
  readonly delivery: Delivery;
  readonly buffer: DiskBuffer;
  readonly buried: number[] = [];
  /** NDJSON of every batch that was taken, by its key. */
  readonly bodies = new Map<string, string>();
  readonly #stream: string;
  #offset = 0;

  constructor(folder: string, options: DiskRigOptions = {}) {
    super();
    const { concurrency = 1, compression = 'none' } = options;
    const free = Array.from({ length: options.slots ?? 1 }, () => ({ at: 0, bytes: Buffer.alloc(1024) }));
    this.budget = new MemoryBudget(options.budget ?? 64 * 1024 * 1024, 1024, free);
    const { clock, log, budget } = this;
    this.#stream = options.stream ?? 'run';
    this.spool = new Spool(folder, log);
    const saved = {
      whenSaved(work: () => void) {
        work();
        return true;
      },
    };
    this.keeper = new SpoolStore(this.spool, budget, { commitParts() {}, settle() {} }, saved);
    this.queue = makeQueue(budget, concurrency, diskPolicy(options.maxBytes, options.whenFull));
    const { queue } = this;
    const made = this.deliveryOf({
      queue,
      compression,
      store: Object.assign(this.keeper, { commit() {} }),
      deadLetter: async (name, letters) => {
        this.buried.push(letters.length);
        return options.deadLetter?.(name, letters) ?? 'kept';
      },
    });
    this.delivery = made.delivery;
    this.buffer = new DiskBuffer({
      ...made,
      sink: 'store',
      store: this.keeper,
      clock,
      log,
      ledger: { unsettled: () => [], partsOf: () => [] },
      accounts: this,
    });
  }

  accountingOf(source: string): Accounting {
    const accounting = this.accounting.get(source) ?? new Accounting(source);
    this.accounting.set(source, accounting);
    return accounting;
  }

  /**
   * Gives the buffer a closed batch of `count` events; each event says the batch's name and its number. One of a file goes to
   * delivery instead. With `byTurns`, each event is of the next of these sources, from a connection of its own.
   */
  take(
    name: string,
    count = 1,
    options: { source?: string; padding?: number; isOfFile?: boolean; byTurns?: readonly string[] } = {},
  ): Batch {
    const padding = 'x'.repeat(options.padding ?? 0);
    const body = Buffer.from(
      Array.from({ length: count }, (_, n) => `{"batch":"${name}","n":${n},"p":"${padding}"}\n`).join(''),
    );
    if (!this.budget.take(body.length)) throw new Error('the room is full');
    const batch = new Batch(this.queue.ids.nextId(), 'store', 'logs', options.isOfFile ? 'file' : 'live', { body });
    const from = this.#offset;
    this.#offset += body.length;
    const { source = 'net', byTurns } = options;
    const whole = { source, stream: this.#stream, from, to: this.#offset, events: count };
    const single = (n: number) => ({
      source: byTurns![n % byTurns!.length]!,
      stream: `${name} ${n}`,
      from: 100 * n,
      to: 100 * n + 50,
      events: 1,
    });
    for (const span of byTurns ? Array.from({ length: count }, (_, n) => single(n)) : [whole]) {
      const accounting = this.accountingOf(span.source);
      const marks = { digest: 'd', sum: contentSum(body, 0), tail: { length: 1, crc: 1 }, closed: false };
      batch.spans.push({ ...span, ...marks, accounting, firstEvent: accounting.accepted });
      accounting.accept(span.events, 1);
    }
    batch.events = count;
    batch.payload.bytes = body.length;
    this.bodies.set(keyOf(batch.owner, batch.dataset, batch.spans), body.toString());
    // There is no database here to commit it to.
    if (options.isOfFile) batch.isCommitted = true;
    if (options.isOfFile) this.delivery.enqueue(batch);
    else this.queue.note(batch, 'write');
    return batch;
  }

  /** Waits until everything taken is on disk. */
  async written(): Promise<void> {
    await this.buffer.writer.work.idle();
    await settleTurns();
  }

  /** Settled, and held by walking; throws where a source's accounting does not balance. */
  checkBalance(): void {
    const held = new Map<string, number>();
    for (const { spans } of [...this.queue.all])
      for (const { source, events } of spans) held.set(source, (held.get(source) ?? 0) + events);
    for (const { source, accepted, settled } of this.accounting.values()) {
      const sum = Object.values(settled).reduce((a, b) => a + b, 0) + (held.get(source) ?? 0);
      if (sum !== accepted) throw new Error(`source ${source}: ${accepted} accepted, ${sum} accounted for`);
    }
  }

  /** Stops as the agent does. */
  async stop(): Promise<void> {
    await this.buffer.stop();
    await this.delivery.stop();
    await this.buffer.finish();
    await this.buffer.store.removed();
  }
}
