/**
 * Writes batches whose bytes cannot be read again to the spool, before they are first sent. A few are written at a time; delivery gets
 * them in order of arrival. Over the limit, or while the disk refuses, they wait or are dropped, by `whenFull`.
 */
import { messageOf } from '../../core/errors.ts';
import { FULL_NOTICE_MS, MAX_SPOOL_WRITES } from '../limits.ts';
import type { Batch } from '../batch.ts';
import type { SpoolerOptions } from './spool-store.ts';
import { headerOf } from './spooled-batch.ts';
import { WorkQueue } from './work-queue.ts';

/** How long to wait before a disk that refused is tried again. */
const RETRY_MS = 1000;

export class SpoolWriter {
  readonly #options: SpoolerOptions;
  /** Idle when nothing waits to be written. */
  readonly work: WorkQueue;
  /** The log's last word is that it is full, */
  #isLogged = false;
  /** logged at this monotonic time. */
  #loggedMs = -Infinity;

  constructor(options: SpoolerOptions) {
    const { queue } = options.delivery;
    this.#options = options;
    this.work = new WorkQueue(
      () => queue.count('writing') > 0,
      () => this.#writeNext(),
    );
    queue.workers.writer = this.work;
  }

  async #writeNext(): Promise<void> {
    const { store, delivery } = this.#options;
    const { queue } = delivery;
    const { budget } = queue;
    const group = this.#nextGroup(queue.in('writing'));
    this.#commitTracked();
    const kept = await Promise.all(group.map((batch) => this.#keep(batch)));
    for (const [n, batch] of group.entries()) {
      if (kept[n] !== true) continue;
      // Whoever waits for memory gets it: a worker that waits for the service must not stop the reading.
      if (!budget.hasSlot() || budget.isReserve(batch.payload.slot)) store.evict(batch);
      // Delivery takes over in the same turn, so that the batch is always somewhere.
      queue.note(batch, 'queue');
      if (!queue.isNext(batch)) store.evict(batch);
    }
    budget.wake();
  }

  /**
   * The oldest waiting batch, and those after it that surely fit. Only one while the disk refuses or batches are dropped: each drop
   * decides about the next.
   */
  #nextGroup(waiting: readonly Batch[]): Batch[] {
    const { store, delivery } = this.#options;
    const { queue } = delivery;
    const { maxBytes, whenFull } = queue.settings.policy;
    let bytes = store.spool.bytes;
    return waiting.slice(0, whenFull === 'block' && !queue.isFull ? MAX_SPOOL_WRITES : 1).filter((batch, n) => {
      bytes += batch.payload.body.length;
      return n === 0 || bytes <= maxBytes;
    });
  }

  /** Commits what waits of deleted files: their bytes may be found again in a copy, and must not be read once more. */
  #commitTracked(): void {
    const { delivery, keeper } = this.#options;
    if (!delivery.queue.in('writing').some((batch) => batch.isTracked && !batch.isCommitted)) return;
    try {
      keeper.commitNow();
    } catch {
      // Delivery tries again before it sends them, and says so.
    }
  }

  async #keep(batch: Batch): Promise<boolean> {
    await this.#options.delivery.compress(batch);
    return this.#write(batch);
  }

  /** Resolves once the batch is on disk, or given up: false when a policy dropped it. */
  async #write(batch: Batch): Promise<boolean> {
    const { log, sink, clock, delivery, store, stopping } = this.#options;
    const { queue } = delivery;
    const { spool } = store;
    for (;;) {
      const { policy } = queue.settings;
      const whenFull = batch.origin === 'once' ? 'block' : policy.whenFull;
      const isStopping = stopping.aborted;
      try {
        if (spool.bytes + batch.payload.body.length <= policy.maxBytes || isStopping) {
          batch.spoolName = await spool.write(
            headerOf(batch),
            batch.payload.body,
            batch.payload.encoding === 'identity' ? batch.payload.bodyCrc : undefined,
          );
          this.#noteRoom();
          return true;
        }
        this.#noteFull('the disk buffer has reached its max_bytes');
      } catch (error) {
        this.#noteFull(messageOf(error));
        if (isStopping) return true;
      }
      if (whenFull === 'drop_newest') {
        delivery.drop(batch);
        return false;
      }
      if (whenFull === 'drop_oldest' && delivery.dropOldest()) {
        // A full disk has space only once the file is removed.
        await store.removed();
        continue;
      }
      // Block. A batch in memory alone may still be sent when the service takes it.
      if (queue.count('waiting') === 0) {
        log.debug({ sink, key: batch.key }, 'sent from memory, the disk buffer is full');
        return true;
      }
      await clock.sleep(RETRY_MS, stopping);
    }
  }

  /** Rate-limited: under a flood every batch finds the buffer full and drops another. */
  #noteFull(reason: string): void {
    const { sink, log, clock, delivery } = this.#options;
    const { queue } = delivery;
    const { whenFull } = queue.settings.policy;
    queue.isFull = true;
    if (this.#isLogged || clock.monotonic() - this.#loggedMs < FULL_NOTICE_MS) return;
    const effect =
      whenFull === 'block'
        ? 'sources that cannot be read again wait'
        : `events are dropped (when_full: ${whenFull}) and counted`;
    log.error({ sink, reason }, `the disk buffer takes no more: ${effect}; it resumes by itself once there is space`);
    this.#isLogged = true;
    this.#loggedMs = clock.monotonic();
  }

  #noteRoom(): void {
    if (this.#isLogged) this.#options.log.info({ sink: this.#options.sink }, 'the disk buffer takes batches again');
    this.#isLogged = false;
    this.#options.delivery.queue.isFull = false;
  }
}
