/**
 * Batches of files that the service is too slow for, where `buffer.disk.files` says so: they are written to the disk buffer and
 * leave memory, so that reading goes on. Each keeps its row in the database and its place in line. Over the disk buffer's limit,
 * or while the disk refuses, they stay in memory, and files wait where they are.
 */
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Spool } from '../../state/spool/spool.ts';
import type { Batch } from '../batch.ts';
import type { Delivery } from '../send/delivery.ts';
import { headerOf } from './spooled-batch.ts';

export interface SpillOptions {
  readonly sink: string;
  readonly spool: Spool;
  readonly maxBytes: number;
  readonly delivery: Delivery;
  readonly log: Log;
  /** Aborts when the agent stops: what is in memory is read again by the next one. */
  readonly stopping: AbortSignal;
  /** Lets its body leave memory. */
  evict(batch: Batch): void;
}

export class Spill {
  readonly #options: SpillOptions;
  readonly #waiting: Batch[] = [];
  #working: Promise<void> | undefined;
  #isRefused = false;

  constructor(options: SpillOptions) {
    this.#options = options;
  }

  /** Takes a closed batch that delivery holds. */
  take(batch: Batch): void {
    this.#waiting.push(batch);
    this.#working ??= this.#work();
  }

  /** Resolves when nothing waits. */
  async idle(): Promise<void> {
    while (this.#working) await this.#working;
  }

  async #work(): Promise<void> {
    for (let batch = this.#waiting.shift(); batch; batch = this.#waiting.shift()) await this.#write(batch);
    // In the same turn in which nothing waited: a batch that comes now must start the work anew.
    this.#working = undefined;
  }

  async #write(batch: Batch): Promise<void> {
    const { spool, delivery, maxBytes, log, sink, stopping } = this.#options;
    try {
      await delivery.prepare(batch);
      if (stopping.aborted || !isWanted(batch) || spool.bytes + batch.body.length > maxBytes) return;
      if (!batch.committed) delivery.commitNow();
      // Its memory may be given to another batch while this one is written.
      const name = await spool.write(headerOf(batch), Buffer.from(batch.body));
      this.#isRefused = false;
      if (!isWanted(batch)) return await spool.remove(name);
      batch.spoolName = name;
      if (!delivery.isInFlight(batch)) this.#options.evict(batch);
    } catch (error) {
      if (!this.#isRefused) log.error({ sink, reason: messageOf(error) }, 'the disk buffer takes no batches of files; files wait instead');
      this.#isRefused = true;
    }
  }
}

/** False for one that was delivered meanwhile, or is on disk by another way. */
function isWanted(batch: Batch): boolean {
  return !batch.isSettled && batch.spoolName === undefined;
}
