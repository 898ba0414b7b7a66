/**
 * What keeps a batch safe while it is held: the database, where its bytes can be read again, or the disk buffer. A disk that
 * refuses is asked again and again; nothing that depends on it goes on meanwhile.
 */
import type { Clock } from '../../core/time/clock.ts';
import { codeOf, messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Batch } from '../batch.ts';
import type { Part } from '../send/shipment.ts';

export interface Durability {
  /** Persists spans and keys before the first send. Throws when the disk refuses. */
  commit(batches: readonly Batch[]): void;
  /** Persists the parts that a batch is sent in from now on, before the first of them is sent. Throws or rejects when the disk refuses. */
  commitParts(batch: Batch, parts: readonly Part[]): Promise<void> | void;
  /** Brings the body of a batch that left memory back. Rejects with `E_SPOOL_BROKEN` when it is gone for good. */
  load(batch: Batch): Promise<void>;
  /** Lets the body of a batch leave memory, where it is safe elsewhere. */
  evict(batch: Batch): void;
  /** The batch is settled: marks move, its file goes; that of a dropped one also where the disk does not take the marks. */
  settle(batch: Batch, isDropped?: boolean): void;
}

export interface Persistence {
  readonly log: Log;
  readonly clock: Clock;
  readonly retryMs: number;
  /** Aborts when the agent stops. */
  readonly signal: AbortSignal;
}

/**
 * Works on the disk until it takes the work, and logs `fields` with `refused` and the number of tries when it does not: ever
 * less often, at each power of two. Resolves with false when the agent stops first; rejects only with `E_SPOOL_BROKEN`, which
 * no waiting mends.
 */
export async function persist(
  work: () => Promise<void> | void,
  { log, clock, retryMs, signal }: Persistence,
  fields: object,
  refused: string,
): Promise<boolean> {
  for (let tries = 1; ; tries += 1) {
    try {
      await work();
      return true;
    } catch (error) {
      if (codeOf(error) === 'E_SPOOL_BROKEN') throw error;
      if ((tries & (tries - 1)) === 0) log.error({ ...fields, reason: messageOf(error), tries }, refused);
      await clock.sleep(retryMs, signal);
      if (signal.aborted) return false;
    }
  }
}
