/**
 * Runs transactions on the database, work that waits for them to be on disk, and the saves of settlements. Counts and logs refused writes, and detects a
 * database that was removed while in use. Never waits for a process that holds the database: who wants to write tries again.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Log } from '../../core/log.ts';
import { syncPath, syncPathNow } from '../descriptors.ts';
import type { Clock } from '../../core/time/clock.ts';
import { CALM_SETTLEMENTS_MS, HELD_PAUSE_MS, SAVE_SETTLED_MS } from '../limits.ts';
import { refusalOf, type StateRefusal } from './refusal.ts';

export class Transactions {
  readonly #database: DatabaseSync;
  readonly #log: Log;
  readonly #file: string;
  readonly #inode: bigint | undefined;
  /** The database's write-ahead log: commits are on the disk once it is. */
  readonly #walFile: string;
  readonly afterSync: AfterSync;
  /** True once the database was removed or replaced by others: further writes are lost with it. */
  isGone = false;
  refusals = 0;
  /** Why it refused the last one; undefined since it took one. */
  refusal: StateRefusal | undefined;
  /** Until then it is not asked again, because another process held it: each question blocks the event loop for a moment. Monotonic. */
  #notBeforeMs = -Infinity;
  /** Saves that the disk refused since the last one that it took. */
  failedSaves = 0;

  constructor(database: DatabaseSync, folder: string, log: Log, sync = syncPath) {
    this.#database = database;
    this.#log = log;
    this.#file = join(folder, 'state.db');
    this.#inode = inodeOf(this.#file);
    this.#walFile = `${this.#file}-wal`;
    this.afterSync = new AfterSync(
      () => sync(this.#walFile),
      (error) => this.noteFailedSave(error),
    );
  }

  /** Does `work` in one transaction. Throws when the disk refuses, and `E_STATE_HELD` while another process holds the database. */
  run(work: () => void): void {
    if (this.refusal?.isHeld === true && performance.now() < this.#notBeforeMs) throw this.refusal.error;
    try {
      this.#database.exec('begin immediate');
      work();
      this.#database.exec('commit');
      this.refusal = undefined;
    } catch (error) {
      this.refusal = refusalOf(error, this.#file);
      this.refusals += 1;
      if (this.refusal.isHeld) this.#notBeforeMs = performance.now() + HELD_PAUSE_MS;
      if (this.#database.isTransaction) this.#database.exec('rollback');
      throw this.refusal.error;
    }
  }

  noteSaved(): void {
    if (this.failedSaves > 0) this.#log.info({ failedSaves: this.failedSaves }, 'checkpoints are saved again');
    this.failedSaves = 0;
    this.afterSync.start();
  }

  noteFailedSave(error: unknown): void {
    this.failedSaves += 1;
    if (this.failedSaves !== 1 && this.failedSaves % 60 !== 0) return;
    const { reason, fix } = refusalOf(error, this.#file);
    this.#log.error(
      { reason, failedSaves: this.failedSaves },
      `cannot save checkpoints; a restart now would send events twice; ${fix}`,
    );
  }

  /** Syncs at once: work that waits for the disk cannot be left to a process that ends. */
  syncNow(): void {
    if (!this.afterSync.hasWork) return;
    try {
      syncPathNow(this.#walFile);
      this.afterSync.finish();
    } catch (error) {
      this.noteFailedSave(error);
    }
  }

  /** Warns when the database was deleted: it keeps working, and is lost when the agent stops. */
  noticeRemoval(): void {
    if (this.isGone || inodeOf(this.#file) === this.#inode) return;
    this.isGone = true;
    this.#log.error(
      { file: this.#file },
      'the state database was removed or replaced while the agent runs; positions are lost when it stops, and the next start sends events again; restart it once the folder is in order',
    );
  }
}

function inodeOf(file: string): bigint | undefined {
  return statSync(file, { bigint: true, throwIfNoEntry: false })?.ino;
}

/**
 * Runs work once a save is on disk, safe from a power cut. Fsync runs in the thread pool: a slow one on the event loop would
 * block every scan and read.
 */
export class AfterSync {
  readonly #sync: () => Promise<void>;
  readonly #failed: (error: unknown) => void;
  /** Waits for a save first. */
  #unsaved: (() => void)[] = [];
  #waiting: (() => void)[] = [];
  /** Callbacks that wait for the current sync. */
  #syncing: (() => void)[] = [];

  /** `failed` is called when the disk refused; the work then waits for the next save. */
  constructor(sync: () => Promise<void>, failed: (error: unknown) => void) {
    this.#sync = sync;
    this.#failed = failed;
  }

  get hasWork(): boolean {
    return this.#unsaved.length + this.#waiting.length + this.#syncing.length > 0;
  }

  add(work: () => void): void {
    this.#unsaved.push(work);
  }

  /** Syncs a save, then does the work added before. One sync at a time serves all work added before it. */
  start(): void {
    this.#waiting.push(...this.#unsaved.splice(0));
    this.#syncNext();
  }

  #syncNext(): void {
    if (this.#syncing.length > 0 || this.#waiting.length === 0) return;
    this.#syncing = this.#waiting;
    this.#waiting = [];
    this.#sync().then(
      () => {
        for (const work of this.#syncing.splice(0)) work();
        this.#syncNext();
      },
      (error: unknown) => {
        this.#waiting.unshift(...this.#syncing.splice(0));
        this.#failed(error);
      },
    );
  }

  /** Does all waiting work: the caller has synced the save. */
  finish(): void {
    for (const work of [...this.#syncing.splice(0), ...this.#waiting.splice(0), ...this.#unsaved.splice(0)]) work();
  }
}

interface Settlements {
  /** Something is settled in memory alone. */
  readonly hasSettlements: boolean;
  /** Transactions so far that wrote settled events. */
  readonly settlementWrites: number;
  save(): boolean;
}

/**
 * Saves settlements soon, so that a kill causes few resends. After a quiet period it saves at once,
 * as the answer has woken the process anyway. Otherwise the next batch's commit usually includes them; a separate transaction
 * runs only when none comes in time. No timer runs while nothing is settled.
 */
export class SettlementSaver {
  readonly #state: Settlements;
  readonly #clock: Clock;
  readonly #stopping = new AbortController();
  #isRunning = false;
  /** Transactions counted at the last settlement, and the monotonic time of the last new one. */
  #writes = 0;
  #wroteAtMs = -Infinity;

  constructor(state: Settlements, clock: Clock) {
    this.#state = state;
    this.#clock = clock;
  }

  /** To be called when something was settled: it is saved within twice `SAVE_SETTLED_MS`. */
  noteSettled(): void {
    if (!this.#isRunning) void this.#run();
  }

  /** To be called before the state is closed. */
  stop(): void {
    this.#stopping.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    this.#isRunning = true;
    let waitMs = this.#isCalm() ? 0 : SAVE_SETTLED_MS;
    while (this.#state.hasSettlements && !signal.aborted) {
      const before = this.#state.settlementWrites;
      // One save covers all that is settled together.
      await (waitMs === 0 ? Promise.resolve() : this.#clock.sleep(waitMs, signal));
      waitMs = SAVE_SETTLED_MS;
      // A disk that refuses is asked again once a second, like for everything else.
      if (!signal.aborted && this.#state.settlementWrites === before && !this.#state.save()) break;
    }
    this.#isCalm();
    this.#isRunning = false;
  }

  /** True while no settlements were written for some time. */
  #isCalm(): boolean {
    const now = this.#clock.monotonic();
    const { settlementWrites } = this.#state;
    if (settlementWrites !== this.#writes) this.#wroteAtMs = now;
    this.#writes = settlementWrites;
    return now - this.#wroteAtMs >= CALM_SETTLEMENTS_MS;
  }
}
