/**
 * The disk buffer of one sink: batches whose bytes cannot be read again (syslog, stdin) are written to the spool before
 * they are first sent, and leave memory while the service is not there to take them; batches of files only where they are told to. Order is kept: a few batches are written
 * at a time, and delivery gets them in the order in which they came.
 */
import { messageOf } from '../core/errors.ts';
import type { Clock } from '../core/clock.ts';
import { MAX_SPOOL_WRITES } from '../core/limits.ts';
import type { Log } from '../core/log.ts';
import type { StoredPart } from '../state/stored.ts';
import type { Spool } from '../state/spool.ts';
import { Adoption } from './adoption.ts';
import type { Batch } from './batch.ts';
import type { Books } from './books.ts';
import type { Delivery } from './delivery.ts';
import type { Room } from './room.ts';
import { Spill } from './spill.ts';
import { EMPTY, headerOf, restoreSpooled } from './spooled-batch.ts';

/** How long to wait before a disk that refused is tried again. */
const RETRY_MS = 1000;

export interface DiskBufferOptions {
  readonly sink: string;
  readonly spool: Spool;
  readonly maxBytes: number;
  readonly whenFull: 'block' | 'drop_newest' | 'drop_oldest';
  readonly delivery: Delivery;
  readonly room: Room;
  readonly clock: Clock;
  readonly log: Log;
  nextBatchId(): number;
  /** The books of a source, also of one that is not configured any more. */
  booksOf(source: string): Books;
  /** Called when all that waited is written. */
  written?(): void;
  /** The row of a batch that an earlier process committed and did not settle, and the parts it was sent in. */
  unsettled?(key: string): { readonly id: number; readonly parts: readonly StoredPart[] } | undefined;
}

export class DiskBuffer {
  readonly #options: DiskBufferOptions;
  readonly #waiting: Batch[] = [];
  readonly #stopping = new AbortController();
  #writing: Promise<void> | undefined;
  #removing: Promise<void> = Promise.resolve();
  #isFull = false;
  readonly #adoption: Adoption;
  readonly #spill: Spill;
  readonly #released = new WeakSet<Batch>();
  /** Batches of files that an earlier process left, oldest first, until `sealRecovered`. */
  readonly #recovered: Batch[] = [];
  /** Ids of the recovered batches that the database knows, too. */
  readonly recoveredRows = new Set<number>();

  constructor(options: DiskBufferOptions) {
    this.#options = options;
    const common = { ...options, stopping: this.#stopping.signal };
    this.#adoption = new Adoption({ ...common, isReleased: (batch) => this.#released.has(batch) });
    this.#spill = new Spill({ ...common, evict: (batch) => this.evict(batch) });
  }

  /** Keeps a batch that delivery holds: a file that it could be rebuilt from was deleted. */
  adopt(batch: Batch): void {
    this.#adoption.take(batch);
  }

  /** Writes a batch of files that delivery holds, and lets it leave memory; where that cannot be, it stays as it is. */
  spill(batch: Batch): void {
    this.#spill.take(batch);
  }

  /** Batches that delivery does not have yet, for the books. */
  held(): readonly Batch[] {
    return [...this.#recovered, ...this.#waiting];
  }

  /** Resolves when nothing waits to be written. */
  async idle(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  /**
   * False while what waits to be written takes half of the memory: a flood of what cannot be read again must leave files the
   * other half.
   */
  wantsMore(): boolean {
    const { room } = this.#options;
    return this.#waiting.reduce((sum, { memory }) => sum + memory, 0) < room.budgetBytes / 2;
  }

  /** Why nothing is written now, if so: for readiness. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** True while a batch waits to be written. */
  get isWriting(): boolean {
    return this.#writing !== undefined;
  }

  /** Takes a closed batch; delivery gets it once it is durable. */
  take(batch: Batch): void {
    this.#waiting.push(batch);
    this.#writing ??= this.#writeAll();
  }

  /**
   * Hands what the last process left to delivery, oldest first; counts its events as accepted again. Batches of files wait for
   * `sealRecovered`, because older ones of their streams may have to be read again.
   */
  async recover(): Promise<number> {
    const entries = await this.#options.spool.recover();
    for (const entry of entries) {
      const row = this.#options.unsettled?.(entry.header.key);
      const batch = restoreSpooled(entry, row?.id ?? this.#options.nextBatchId(), row !== undefined, (source) =>
        this.#options.booksOf(source),
      );
      if (row) this.recoveredRows.add(row.id);
      if (row) this.#recovered.push(batch);
      else this.#options.delivery.seal(batch, entry.header.parts ?? []);
    }
    this.#recovered.sort((a, b) => a.id - b.id);
    return entries.length;
  }

  /** Hands over the batches of files that were committed before the one with this id; all by default. */
  sealRecovered(before = Infinity): void {
    for (let batch = this.#recovered[0]; batch && batch.id < before; batch = this.#recovered[0]) {
      this.#recovered.shift();
      this.#options.delivery.seal(batch, this.#options.unsettled?.(batch.key)?.parts);
    }
  }

  /** Brings an evicted batch's body back into memory. Throws `E_SPOOL_BROKEN`, or what the disk says. */
  async load(batch: Batch): Promise<void> {
    if (batch.spoolName === undefined || batch.body.length > 0 || batch.events === 0) return;
    const { header, body } = await this.#options.spool.read(batch.spoolName);
    batch.body = body;
    // It may have been compressed in memory since it was written.
    batch.encoding = header.encoding;
    batch.memory = body.length;
    this.#options.room.takeAnyway(body.length);
  }

  /** Frees the memory of a batch that is on disk and not about to be sent. */
  evict(batch: Batch): void {
    if (batch.spoolName === undefined || batch.memory === 0) return;
    this.#options.room.release(batch.memory, batch.slot);
    batch.memory = 0;
    batch.slot = undefined;
    batch.body = EMPTY;
  }

  /** Keeps a split batch's parts with it. */
  async commitParts(batch: Batch, parts: readonly StoredPart[]): Promise<void> {
    if (batch.spoolName !== undefined) await this.#options.spool.rewrite(batch.spoolName, headerOf(batch, parts), batch.body);
  }

  /** The batch is settled, and that need not be saved any more. */
  settle(batch: Batch): void {
    this.#released.add(batch);
    const { spoolName } = batch;
    if (spoolName !== undefined) this.#removing = Promise.all([this.#removing, this.#options.spool.remove(spoolName)]).then(() => {});
  }

  /** Writes what still waits, over the limit if need be: better than losing it with the process. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#writing;
    await this.#adoption.idle();
    await this.#spill.idle();
  }

  /**
   * Once delivery has stopped: writes what it took from memory because the buffer was full, with the parts that are still to
   * be sent, and waits until the files of settled batches are gone.
   */
  async finish(): Promise<void> {
    const { delivery, spool, log, sink } = this.#options;
    for (const batch of delivery.held()) {
      if (batch.canBeRebuilt || batch.isDurable) continue;
      try {
        batch.spoolName = await spool.write(headerOf(batch, delivery.partsOf(batch)), batch.body);
      } catch (error) {
        log.error(
          { sink, events: batch.events, reason: messageOf(error) },
          'a batch that is only in memory cannot be written to the disk buffer',
        );
      }
    }
    await this.#removing;
  }

  async #writeAll(): Promise<void> {
    const { room, delivery } = this.#options;
    try {
      while (this.#waiting.length > 0) {
        const group = this.#nextGroup();
        this.#commitTracked();
        const kept = await Promise.all(group.map((batch) => this.#keep(batch)));
        for (const [n, batch] of group.entries()) {
          this.#waiting.shift();
          room.wake();
          if (kept[n] !== true) continue;
          // Whoever waits for memory gets it: a worker that is kept waiting by the service must not stop the reading.
          if (!room.hasSlot()) this.evict(batch);
          // Delivery takes over in the same turn, so that the batch is always somewhere.
          delivery.seal(batch);
          if (!delivery.isNext(batch)) this.evict(batch);
        }
      }
    } finally {
      // In the same turn in which nothing waited: a batch that comes now must start the writing anew.
      this.#writing = undefined;
      this.#options.written?.();
    }
  }

  /**
   * The oldest that waits, and those behind it for which there surely is room. One alone while the disk refuses, and where dropping makes
   * room: one decides after the other.
   */
  #nextGroup(): Batch[] {
    const { spool, maxBytes, whenFull } = this.#options;
    let bytes = spool.bytes;
    return this.#waiting.slice(0, whenFull === 'block' && !this.#isFull ? MAX_SPOOL_WRITES : 1).filter((batch, n) => {
      bytes += batch.body.length;
      return n === 0 || bytes <= maxBytes;
    });
  }

  /**
   * A deleted file's bytes may be found again, in a copy or under another name: what is about to be on disk must then not be read
   * once more.
   */
  #commitTracked(): void {
    const tracked = this.#waiting.filter((batch) => batch.isTracked && !batch.committed);
    if (tracked.length === 0) return;
    try {
      this.#options.delivery.commitNow(tracked);
    } catch {
      // Delivery tries again before it sends them, and says so.
    }
  }

  async #keep(batch: Batch): Promise<boolean> {
    await this.#options.delivery.prepare(batch);
    return this.#write(batch);
  }

  /** Resolves once the batch is on disk, or given up: false when a policy dropped it. */
  async #write(batch: Batch): Promise<boolean> {
    const { spool, log, sink, clock, delivery, whenFull } = this.#options;
    for (;;) {
      const isStopping = this.#stopping.signal.aborted;
      try {
        if (spool.bytes + batch.body.length <= this.#options.maxBytes || isStopping) {
          batch.spoolName = await spool.write(headerOf(batch), batch.body, batch.encoding === 'identity' ? batch.bodyCrc : undefined);
          this.#noteRoom();
          return true;
        }
        this.#noteFull('the disk buffer has reached its max_bytes');
      } catch (error) {
        this.#noteFull(messageOf(error));
        if (isStopping) return true;
      }
      if (whenFull === 'drop_newest') return this.#drop(batch);
      if (whenFull === 'drop_oldest' && delivery.dropOldest()) {
        // A full disk has room only once the file is gone.
        await this.#removing;
        continue;
      }
      // Block. A batch in memory alone may still be sent when the service takes it.
      if (delivery.isIdle()) {
        log.debug({ sink, key: batch.key }, 'sent from memory, the disk buffer is full');
        return true;
      }
      await clock.sleep(RETRY_MS, this.#stopping.signal);
    }
  }

  #drop(batch: Batch): boolean {
    this.#options.delivery.drop(batch);
    return false;
  }

  #noteFull(reason: string): void {
    if (!this.#isFull) {
      const { sink, whenFull, log } = this.#options;
      const effect =
        whenFull === 'block' ? 'sources that cannot be read again wait' : `events are dropped (when_full: ${whenFull}) and counted`;
      log.error({ sink, reason }, `the disk buffer takes no more: ${effect}; it goes on by itself once there is space`);
    }
    this.#isFull = true;
  }

  #noteRoom(): void {
    if (this.#isFull) this.#options.log.info({ sink: this.#options.sink }, 'the disk buffer takes batches again');
    this.#isFull = false;
  }
}
