/**
 * Spools batches of files that delivery already holds, in addition to their rows in the database: those of a deleted file with retries
 * until the disk takes them, others once, when the service is slow and `buffer.disk.files` asks for it.
 */
import { messageOf } from '../../core/errors.ts';
import { isTimeToLog } from '../../core/log.ts';
import type { Batch } from '../batch.ts';
import type { SpoolerOptions } from './spool-store.ts';
import { headerOf } from './spooled-batch.ts';
import { WorkQueue } from './work-queue.ts';

/** How long to wait before a disk that refused, or is full, is tried again. */
const RETRY_MS = 1000;

export class FileSpooler {
  readonly #options: SpoolerOptions;
  /** To be written, of deleted files and of a slow service. */
  readonly #deleted: Batch[] = [];
  readonly #slow: Batch[] = [];
  readonly #keeping = new WorkQueue(
    () => this.#deleted.length > 0,
    () => this.#keepNext(),
  );
  readonly #spilling = new WorkQueue(
    () => this.#slow.length > 0,
    () => this.#spillNext(this.#slow.shift()!),
  );
  /** Tries in a row that the disk refused. */
  #refusals = 0;
  #isSpillRefused = false;

  constructor(options: SpoolerOptions) {
    this.#options = options;
    options.delivery.queue.workers.spooler = this;
  }

  /** Keeps a batch that could be rebuilt until one of its files was deleted. */
  keep(batch: Batch): void {
    if (!batch.canBeRebuilt) return;
    batch.origin = 'orphan';
    this.#deleted.push(batch);
    this.#keeping.start();
  }

  /** Writes a batch and frees its memory if the disk buffer has space; else the batch stays in memory, and files wait. */
  spill(batch: Batch): void {
    this.#slow.push(batch);
    this.#spilling.start();
  }

  /** Resolves when nothing waits. */
  async idle(): Promise<void> {
    await this.#keeping.idle();
    await this.#spilling.idle();
  }

  async #keepNext(): Promise<void> {
    const { sink, log, clock, stopping } = this.#options;
    const batch = this.#deleted[0]!;
    const isLast = stopping.aborted;
    let isKept = false;
    try {
      isKept = await this.#write(batch, true);
      if (isKept) this.#refusals = 0;
    } catch (error) {
      const tries = (this.#refusals += 1);
      const text =
        'a batch of a deleted file cannot be written to the disk buffer, and is only in memory; free space in data_dir or repair its disk; it retries by itself';
      // Ever less often: the log may be on the same disk.
      if (isTimeToLog(tries)) log.error({ sink, events: batch.events, reason: messageOf(error), tries }, text);
    }
    if (isKept || isLast) this.#deleted.shift();
    else await clock.sleep(RETRY_MS, stopping);
  }

  async #spillNext(batch: Batch): Promise<void> {
    const { sink, log } = this.#options;
    try {
      if (await this.#write(batch, false)) this.#isSpillRefused = false;
    } catch (error) {
      if (!this.#isSpillRefused)
        log.error({ sink, reason: messageOf(error) }, 'the disk buffer takes no batches of files; files wait instead');
      this.#isSpillRefused = true;
    }
  }

  /** True when the batch is on disk, or need not be any more; false when the disk buffer is full. */
  async #write(batch: Batch, isDeleted: boolean): Promise<boolean> {
    const { delivery, keeper, store, stopping } = this.#options;
    const { spool } = store;
    const { queue } = delivery;
    await delivery.compress(batch);
    const isOver = (): boolean => ['settled', 'dropped'].includes(batch.state);
    if (isOver() || batch.spoolName !== undefined) return true;
    const isFull = (): boolean => spool.bytes + batch.payload.body.length > queue.settings.policy.maxBytes;
    // At a stop, a file that is there is read again by the next process.
    if (!isDeleted && (stopping.aborted || isFull())) return false;
    // So that its other streams are not read again after a restart.
    if (!batch.isCommitted) keeper.commitNow();
    // At a stop, over the limit.
    if (isFull() && !stopping.aborted) return false;
    // Its memory may be given to another batch while this one is written.
    const name = await spool.write(headerOf(batch), Buffer.from(batch.payload.body));
    if ((batch.canBeRebuilt && isOver()) || store.isSettled(batch) || batch.spoolName !== undefined)
      await spool.remove(name);
    else {
      batch.spoolName = name;
      if (batch.state !== 'in_flight' && !(isDeleted && queue.budget.hasSlot())) store.evict(batch);
    }
    return true;
  }
}
