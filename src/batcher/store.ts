/** Where batches are safe until they are settled, and retries while the disk refuses. The implementations are in keep/. */
import { codeOf, messageOf, TailraceError } from '../core/errors.ts';
import { isTimeToLog, type Log } from '../core/log.ts';
import type { Clock } from '../core/time/clock.ts';
import { DISK_FIX } from '../state/database/refusal.ts';
import type { StoredPart } from '../state/database/stored-batch.ts';
import { HELD_RETRY_MS } from './limits.ts';
import type { Batch } from './batch.ts';

/** Why a batch is not sent: by policy, or because its file in the disk buffer cannot be read. */
export type Dropped = 'dropped' | 'disk_buffer';

/** Keeps batches by their positions in the database, or in the disk buffer. */
export interface BatchStore {
  /** Persists the parts that a batch is sent in from now on, before the first of them is sent. Throws or rejects when the disk refuses. */
  commitParts(batch: Batch, parts: readonly StoredPart[]): Promise<void> | void;
  /** Loads an evicted body. Rejects with `E_SPOOL_BROKEN` when it is lost. */
  load(batch: Batch): Promise<void>;
  /** Frees the memory of a batch that is on disk. */
  evict(batch: Batch): void;
  /** Moves the low-water marks of a settled batch and removes its file. The file of a dropped batch goes even when saving the marks fails. */
  settle(batch: Batch, dropped?: Dropped): void;
}

export interface BatchStores {
  readonly positions: BatchStore & {
    /** Persists spans and keys before the first send. Throws when the disk refuses. */
    commit(batches: readonly Batch[]): void;
  };
  readonly spool: BatchStore;
}

/** The kind of a batch says it when the batch opens; one of files goes to the disk buffer once its file is deleted, or while the service is slow. */
export function storeOf({ positions, spool }: BatchStores, { canBeRebuilt, spoolName }: Batch): BatchStore {
  return canBeRebuilt && spoolName === undefined ? positions : spool;
}

export interface Persistence {
  readonly log: Log;
  readonly clock: Clock;
  readonly retryMs: number;
  /** Aborts when the agent stops. */
  readonly signal: AbortSignal;
}

/**
 * Retries until the disk takes the work. Logs `fields` with `refused`, the remedy and the number of tries, at each power of two.
 * Resolves with false when the agent stops first; rejects only with `E_SPOOL_BROKEN`, which no retry fixes.
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
      const fix = (error instanceof TailraceError && error.fix) || DISK_FIX;
      if (isTimeToLog(tries)) log.error({ ...fields, reason: messageOf(error), tries }, `${refused}; ${fix}`);
      // Another process lets go of the database at any moment, and needs no repair.
      await clock.sleep(codeOf(error) === 'E_STATE_HELD' ? Math.min(retryMs, HELD_RETRY_MS) : retryMs, signal);
      if (signal.aborted) return false;
    }
  }
}
