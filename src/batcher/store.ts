/** Where batches are safe until they are settled: by their positions in the database, or in the disk buffer (keep/); and retries while the disk refuses. */
import { codeOf, messageOf, TailraceError } from '../core/errors.ts';
import { isTimeToLog, type Log } from '../core/log.ts';
import type { DeadLetter } from '../core/sink.ts';
import type { Clock } from '../core/time/clock.ts';
import { DISK_FIX } from '../state/database/refusal.ts';
import type { State } from '../state/database/store.ts';
import type { StoredPart } from '../state/database/stored-batch.ts';
import { HELD_RETRY_MS } from './limits.ts';
import type { Batch } from './batch.ts';
import type { BatchQueue } from './queue.ts';

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
  readonly positions: BatchStore & Pick<Positions, 'commit'>;
  readonly spool: BatchStore;
}

/** Keeps refused events durably. */
export interface LetterStore {
  /** The same name again replaces letters. Resolves with `dropped` where a full store's policy says so; rejects when they cannot be kept now. */
  keep(name: string, letters: readonly DeadLetter[]): Promise<'kept' | 'dropped'>;
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

/** Keeps batches of files by their positions: the rest is in the files. */
export class Positions implements BatchStore {
  readonly #state: Pick<State, 'commit' | 'commitParts' | 'settle'>;

  constructor(state: Pick<State, 'commit' | 'commitParts' | 'settle'>) {
    this.#state = state;
  }

  /** Persists spans and keys before the first send. Throws when the disk refuses. */
  commit(batches: readonly Batch[]): void {
    this.#state.commit(batches.map((batch) => batch.toStored()));
  }

  commitParts({ id }: Batch, parts: readonly StoredPart[]): void {
    this.#state.commitParts(id, parts);
  }

  async load(): Promise<void> {}

  evict(): void {}

  settle(batch: Batch, dropped?: Dropped): void {
    this.#state.settle(batch.toStored(), dropped);
  }
}

export interface KeeperOptions {
  /** Id of the sink, for the log. */
  readonly sink: string;
  readonly stores: BatchStores;
  readonly letters: LetterStore;
  readonly queue: BatchQueue;
  readonly log: Log;
  readonly clock: Clock;
  /** Batches that close within this time of a commit share the next one: a transaction costs as much as sending 100 KiB. */
  readonly commitEveryMs: number;
}

/**
 * Loads a batch's body and persists its key, spans and parts before it is sent; retries while the disk refuses.
 * Batches that wait are committed together, in the order in which they were closed.
 */
export class Keeper {
  readonly #options: KeeperOptions;
  readonly letters: LetterStore;
  #committedAtMs = -Infinity;

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.letters = options.letters;
  }

  /** By origin; a batch of files uses the spool once it has a file there. */
  storeOf({ canBeRebuilt, spoolName }: Batch): BatchStore {
    const { positions, spool } = this.#options.stores;
    return canBeRebuilt && spoolName === undefined ? positions : spool;
  }

  /** `gone`: the batch's file cannot be read any more. `stopped`: the agent stops before the disk gives it. */
  async load(batch: Batch): Promise<'loaded' | 'gone' | 'stopped'> {
    const { log, sink } = this.#options;
    const refused = 'cannot read a batch of the disk buffer, so it is not sent yet; it is tried again';
    try {
      return (await this.#persist(() => this.storeOf(batch).load(batch), refused)) ? 'loaded' : 'stopped';
    } catch (error) {
      const end = batch.canBeRebuilt
        ? 'it is read from its files again at the next start'
        : 'its events are counted as dropped';
      log.error(
        { sink, events: batch.events, reason: messageOf(error) },
        `a batch of the disk buffer cannot be read any more; ${end}`,
      );
      return 'gone';
    }
  }

  /** Commits this batch and every other one that waits for it, in one transaction. False when the agent stops first. */
  async commit(batch: Batch): Promise<boolean> {
    if (batch.isCommitted) return true;
    const { clock, commitEveryMs } = this.#options;
    const waitMs = this.#committedAtMs + commitEveryMs - clock.monotonic();
    if (waitMs > 0) await clock.sleep(waitMs);
    if (!batch.isCommitted) this.#committedAtMs = clock.monotonic();
    return this.#persist(() => {
      if (!batch.isCommitted) this.commitNow();
    }, 'cannot save the positions of a batch, so it is not sent yet');
  }

  /** Commits every batch that waits for it. Throws when the disk refuses. */
  commitNow(): void {
    const group = this.#options.queue.all.filter((each) => !each.isCommitted);
    const rows = group.filter((each) => each.isTracked);
    if (rows.length > 0) this.#options.stores.positions.commit(rows);
    for (const each of group) each.isCommitted = true;
  }

  /** Saves the parts of a split batch that are still to be sent; false when the agent stops before. */
  saveParts(batch: Batch, parts: readonly StoredPart[]): Promise<boolean> {
    const refused = 'cannot save the parts of a split batch, so they are not sent yet';
    return this.#persist(() => this.storeOf(batch).commitParts(batch, parts), refused);
  }

  #persist(work: () => Promise<void> | void, refused: string): Promise<boolean> {
    const { sink, log, clock, queue } = this.#options;
    const { signal } = queue.halt;
    return persist(work, { log, clock, signal, retryMs: queue.settings.retry.maxBackoffMs }, { sink }, refused);
  }
}
