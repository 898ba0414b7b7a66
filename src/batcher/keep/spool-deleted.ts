/**
 * Batches that could be rebuilt from files until one of these was deleted: each is written to the disk buffer as it is, beside
 * its row in the database, while delivery goes on with it; one that waits leaves memory where others need it. Over the disk buffer's
 * limit they wait in memory and are tried again.
 */
import type { Clock } from '../../core/time/clock.ts';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Spool } from '../../state/spool/spool.ts';
import type { Batch } from '../batch.ts';
import type { Delivery } from '../send/delivery.ts';
import type { Room } from '../fill/memory-budget.ts';
import { headerOf } from './spooled-batch.ts';

/** How long to wait before a disk that refused, or is full, is tried again. */
const RETRY_MS = 1000;

export interface AdoptionOptions {
  readonly sink: string;
  readonly spool: Spool;
  readonly maxBytes: number;
  readonly delivery: Delivery;
  readonly room: Room;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborts when the agent stops: what waits is then tried once more, over the limit. */
  readonly stopping: AbortSignal;
  /** Lets the body of a batch that is on disk leave memory. */
  evict(batch: Batch): void;
  /** It is settled, and that is saved. */
  readonly isReleased: (batch: Batch) => boolean;
}

export class Adoption {
  readonly #options: AdoptionOptions;
  readonly #waiting: Batch[] = [];
  /** Tries in a row that the disk refused. */
  #refusals = 0;
  #working: Promise<void> | undefined;

  constructor(options: AdoptionOptions) {
    this.#options = options;
  }

  take(batch: Batch): void {
    if (!batch.rereadable || batch.isOrphaned) return;
    batch.isOrphaned = true;
    this.#waiting.push(batch);
    this.#working ??= this.#work();
  }

  /** Resolves when nothing waits. */
  async idle(): Promise<void> {
    while (this.#working) await this.#working;
  }

  async #work(): Promise<void> {
    const { clock, stopping } = this.#options;
    for (let batch = this.#waiting[0]; batch; batch = this.#waiting[0]) {
      const isLast = stopping.aborted;
      if ((await this.#write(batch)) || isLast) this.#waiting.shift();
      else await clock.sleep(RETRY_MS, stopping);
    }
    // In the same turn in which nothing waited: a batch that comes now must start the work anew.
    this.#working = undefined;
  }

  /** True when it is on disk, or need not be any more. */
  async #write(batch: Batch): Promise<boolean> {
    const { spool, delivery, room, maxBytes, log, sink, stopping, isReleased } = this.#options;
    try {
      await delivery.prepare(batch);
      if (batch.isSettled || batch.spoolName !== undefined) return true;
      // So that its other streams are not read again after a restart.
      if (!batch.committed) delivery.commitNow();
      if (spool.bytes + batch.body.length > maxBytes && !stopping.aborted) return false;
      // Its memory may be given to another batch while this one is written.
      const name = await spool.write(headerOf(batch), Buffer.from(batch.body));
      if (isReleased(batch) || batch.spoolName !== undefined) await spool.remove(name);
      else {
        batch.spoolName = name;
        if (!room.hasSlot() && !delivery.isInFlight(batch)) this.#options.evict(batch);
      }
      this.#refusals = 0;
      return true;
    } catch (error) {
      const tries = (this.#refusals += 1);
      const fields = { sink, events: batch.events, reason: messageOf(error), tries };
      const text =
        'a batch of a deleted file cannot be written to the disk buffer, and is in memory alone; free space in data_dir or mend its disk, it goes on by itself';
      // Ever less often: it may be the same disk that the log is on.
      if ((tries & (tries - 1)) === 0) log.error(fields, text);
      return false;
    }
  }
}
