/**
 * Batches whose bytes cannot be read again, on their way to the spool: each is written before it is first sent. Order is kept: a few
 * are written at a time, and delivery gets them in the order in which they came. Over the limit, or while the disk refuses, they wait or are
 * dropped as `whenFull` says.
 */
import { messageOf } from '../../core/errors.ts';
import type { Clock } from '../../core/time/clock.ts';
import { FULL_NOTICE_MS, MAX_SPOOL_WRITES } from '../limits.ts';
import type { Log } from '../../core/log.ts';
import type { Spool } from '../../state/spool/spool.ts';
import type { Batch } from '../batch.ts';
import type { Delivery } from '../send/delivery.ts';
import type { Room } from '../fill/memory-budget.ts';
import { headerOf } from './spooled-batch.ts';

/** How long to wait before a disk that refused is tried again. */
const RETRY_MS = 1000;

export interface SpoolWriterOptions {
  readonly sink: string;
  readonly spool: Spool;
  readonly maxBytes: number;
  readonly whenFull: 'block' | 'drop_newest' | 'drop_oldest';
  readonly delivery: Delivery;
  readonly room: Room;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborts when the agent stops: what waits is then written over the limit. */
  readonly stopping: AbortSignal;
  /** Called when all that waited is written. */
  written?(): void;
  /** Lets the body of a batch that is on disk leave memory. */
  evict(batch: Batch): void;
  /** Resolves when the files of settled batches are gone. */
  removed(): Promise<void>;
}

export class SpoolWriter {
  readonly #options: SpoolWriterOptions;
  #limits: Pick<SpoolWriterOptions, 'maxBytes' | 'whenFull'>;
  readonly #waiting: Batch[] = [];
  #writing: Promise<void> | undefined;
  #isFull = false;
  /** The log's last word is that it is full, */
  #isTold = false;
  /** told at this monotonic time. */
  #toldMs = -Infinity;

  constructor(options: SpoolWriterOptions) {
    this.#options = options;
    this.#limits = options;
  }

  /** From now on. */
  limit(maxBytes: number, whenFull: SpoolWriterOptions['whenFull']): void {
    this.#limits = { maxBytes, whenFull };
  }

  /** Takes a closed batch; delivery gets it once it is durable. */
  take(batch: Batch): void {
    this.#waiting.push(batch);
    this.#writing ??= this.#writeAll();
  }

  /** Batches that delivery does not have yet. */
  held(): readonly Batch[] {
    return this.#waiting;
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

  /** True while the disk takes nothing more: for readiness. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** True while a batch waits to be written. */
  get isWriting(): boolean {
    return this.#writing !== undefined;
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
          if (!room.hasSlot() || room.isReserve(batch.slot)) this.#options.evict(batch);
          // Delivery takes over in the same turn, so that the batch is always somewhere.
          delivery.seal(batch);
          if (!delivery.isNext(batch)) this.#options.evict(batch);
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
    const { spool } = this.#options;
    const { maxBytes, whenFull } = this.#limits;
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
    const { spool, log, sink, clock, delivery, stopping } = this.#options;
    for (;;) {
      const { maxBytes } = this.#limits;
      const whenFull = batch.isOnce ? 'block' : this.#limits.whenFull;
      const isStopping = stopping.aborted;
      try {
        if (spool.bytes + batch.body.length <= maxBytes || isStopping) {
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
        await this.#options.removed();
        continue;
      }
      // Block. A batch in memory alone may still be sent when the service takes it.
      if (delivery.isIdle()) {
        log.debug({ sink, key: batch.key }, 'sent from memory, the disk buffer is full');
        return true;
      }
      await clock.sleep(RETRY_MS, stopping);
    }
  }

  #drop(batch: Batch): boolean {
    this.#options.delivery.drop(batch);
    return false;
  }

  /** Under a flood every batch finds it full and makes room: said now and then, and anew for as long as it stays full. */
  #noteFull(reason: string): void {
    const { sink, log, clock } = this.#options;
    const { whenFull } = this.#limits;
    this.#isFull = true;
    if (this.#isTold || clock.monotonic() - this.#toldMs < FULL_NOTICE_MS) return;
    const effect =
      whenFull === 'block' ? 'sources that cannot be read again wait' : `events are dropped (when_full: ${whenFull}) and counted`;
    log.error({ sink, reason }, `the disk buffer takes no more: ${effect}; it goes on by itself once there is space`);
    this.#isTold = true;
    this.#toldMs = clock.monotonic();
  }

  #noteRoom(): void {
    if (this.#isTold) this.#options.log.info({ sink: this.#options.sink }, 'the disk buffer takes batches again');
    this.#isTold = false;
    this.#isFull = false;
  }
}
