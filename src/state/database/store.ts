/**
 * Checkpoints: streams, low-water marks, and the spans of every batch that is not settled. A batch's spans and key are
 * committed before it is first sent, so that a restart sends exactly those spans again under the same key. Marks move in
 * memory when a batch settles, and are written with the next commit, or soon after.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Log } from '../../core/log.ts';
import type { Clock } from '../../core/time/clock.ts';
import { datasetOfOwner, datasetOwner } from '../../core/checkpoint-owner.ts';
import type { Loss, LossReason } from '../../core/stream.ts';
import { openDatabase, prepareFolder } from './database.ts';
import { readInstance, writeInstance } from '../instance.ts';
import { Ledger } from './ledger.ts';
import { StoredLetterIndex } from './letter-index.ts';
import { Losses, type StoredLoss } from './losses.ts';
import { type FolderLock, lockFolder } from '../lock.ts';
import { reserve } from '../reserve.ts';
import { prepareStatements } from './rows.ts';
import type { LostSpan, StoredBatch, StoredPart } from './stored-batch.ts';
import { Streams } from './streams.ts';
import { SettlementSaver, Transactions } from './transactions.ts';

export interface StateOptions {
  readonly folder: string;
  /** The sinks that a source feeds, as the owners of marks (core/checkpoint-owner). */
  sinksOf(source: string): readonly string[];
  readonly log: Log;
  /** Reserves disk space for later saves. */
  readonly reserves?: boolean;
  /** Saves settlements soon; without it the next commit or save has them. */
  readonly clock?: Clock;
  /** Resolves once the file is on the disk; for tests. */
  readonly sync?: (file: string) => Promise<void>;
}

/** Opens the data folder: takes its lock, opens or replaces its database. Throws `TailraceError`. */
export function openState(options: StateOptions): State {
  prepareFolder(options.folder);
  const lock = lockFolder(options.folder, options.log);
  try {
    const startedSources = readInstance(options.folder);
    const { database, fresh } = openDatabase(options.folder, options.log);
    if (options.reserves === true) reserve(database, join(options.folder, 'state.db'), options.log);
    return new State(options, lock, database, fresh, startedSources);
  } catch (error) {
    lock.release();
    throw error;
  }
}

export class State {
  readonly #options: StateOptions;
  readonly #lock: FolderLock;
  readonly #database: DatabaseSync;
  readonly streams: Streams;
  /** The next `commit` or `save` writes its changes. */
  readonly ledger: Ledger;
  /** Its losses are written with the marks. */
  readonly losses: Losses;
  readonly letters: StoredLetterIndex;
  readonly #startedSources: ReadonlySet<string>;
  readonly #transactions: Transactions;
  readonly #saver: SettlementSaver | undefined;
  /** Of losses and letters, which seldom change: those with something to write. */
  readonly #changed = new Set<Losses | StoredLetterIndex>();
  /** Random, so that it names this process's use of the folder, also where the folder goes back to an earlier state. */
  readonly run = randomBytes(16).toString('hex');
  saves = 0;
  /** Transactions so far that wrote settled events. */
  settlementWrites = 0;

  constructor(
    options: StateOptions,
    lock: FolderLock,
    database: DatabaseSync,
    fresh: boolean,
    startedSources: ReadonlySet<string>,
  ) {
    this.#options = options;
    this.#lock = lock;
    this.#database = database;
    this.#startedSources = startedSources;
    if (fresh && this.#startedSources.size > 0) {
      options.log.warn(
        { folder: options.folder },
        'state database is missing although this folder was used before; files are read from their beginning, which may send events twice',
      );
    }
    this.#transactions = new Transactions(database, options.folder, options.log, options.sync);
    this.#saver = options.clock && new SettlementSaver(this, options.clock);
    const statements = prepareStatements(database);
    this.streams = new Streams(statements, (source) => options.sinksOf(source));
    this.ledger = new Ledger(database, statements, this.streams);
    this.losses = new Losses(database, this.#changed);
    this.letters = new StoredLetterIndex(database, this.#changed, () => this.save());
    this.streams.load(database);
    this.ledger.load();
    this.streams.addNewSinks();
  }

  /** Writes that the disk has refused. */
  get refused(): Pick<Transactions, 'refusals' | 'refusal' | 'failedSaves'> {
    return this.#transactions;
  }

  /** The datasets that a sink's events went to under these rules (core/checkpoint-owner), beside its own. */
  datasetsOf(base: string): readonly string[] {
    return this.streams.routedOf(base).flatMap((owner) => datasetOfOwner(owner) ?? []);
  }

  /** Adds the low-water marks of a dataset, and saves them before it takes any event; false when the disk refuses. */
  addDataset(base: string, dataset: string): boolean {
    const owner = datasetOwner(base, dataset);
    this.streams.addRouted(base, owner);
    this.streams.addNewSinks();
    const isSaved = this.save();
    if (!isSaved) this.streams.removeRouted(base, owner);
    return isSaved;
  }

  /** True if the sink has marks of the source's streams: it was fed by the source before, and may lag the others. */
  knowsSink(source: string, sink: string): boolean {
    return this.streams.list(source).some(({ id }) => this.streams.markOf(id, sink) !== undefined);
  }

  /** True when the source ran on this folder before, even if the database was lost since: `start_at: end` then does not apply. */
  hasStarted(source: string): boolean {
    return this.#startedSources.has(source);
  }

  /** Remembers, durably, that these sources ran on this folder. Throws `E_STATE` when the disk refuses; earlier notes stay. */
  noteStarted(sources: readonly string[]): void {
    if (sources.every((source) => this.#startedSources.has(source))) return;
    writeInstance(this.#options.folder, new Set([...this.#startedSources, ...sources]));
  }

  /** Writes new streams now, so that a crash does not forget which files were seen. */
  persist(): void {
    if (this.streams.hasNew) this.save();
  }

  /** Commits the batches' keys and spans, the streams they name, and all that was settled, in one transaction. Throws when the disk refuses. */
  commit(batches: readonly StoredBatch[]): void {
    this.#writeMoved(() => {
      for (const batch of batches) {
        this.ledger.insert(batch);
        for (const { stream, from, to } of batch.spans)
          if (this.losses.sought.has(stream)) this.losses.regain(stream, batch.owner, from, to);
      }
    });
    for (const batch of batches) this.ledger.track(batch);
  }

  /**
   * Replaces a restored batch whose key was retired by those for its bytes now: one under the same id, and, if not all of its sources are
   * configured, another one that waits for them. `lost`: the bytes that are gone. Throws when the disk refuses.
   */
  replace(id: number, batches: readonly StoredBatch[], lost: readonly LostSpan[] = []): void {
    this.#transactions.run(() => {
      if (lost.length > 0)
        this.losses.write(lost.map((span) => this.#lossOf(span, batches[0]!.owner, 'not_there_again')));
      this.ledger.delete(id);
      for (const batch of batches) this.ledger.insert(batch);
    });
  }

  /** Bytes that no sink of the source will get: what a sink has of them already is not lost to it. */
  lose(loss: Loss): void {
    const owners = this.#options.sinksOf(loss.source);
    for (const owner of owners.length > 0 ? owners : ['']) {
      const from = loss.from ?? 0;
      const skipped = Math.min(
        loss.bytes,
        Math.max(0, (this.streams.markOf(loss.stream, owner)?.committedTo ?? from) - from),
      );
      if (skipped === loss.bytes) continue;
      const rest = { from: loss.from === null ? null : from + skipped, bytes: loss.bytes - skipped };
      this.losses.add({ ...loss, ...rest, owner, atMs: Date.now() });
    }
  }

  /** Moves the marks of a batch; they are saved soon, or with the next commit. `dropped`: why it was not sent. */
  settle(batch: StoredBatch, dropped?: 'dropped' | 'disk_buffer'): void {
    if (dropped)
      for (const span of batch.spans) if (span.events > 0) this.losses.add(this.#lossOf(span, batch.owner, dropped));
    this.ledger.settle(batch);
    this.#saver?.noteSettled();
  }

  #lossOf({ source, stream, from, to, bytes }: LostSpan, owner: string, reason: LossReason): StoredLoss {
    const place = bytes === undefined ? { stream, from, bytes: to - from } : { stream: '', from: null, bytes };
    return { source, path: this.streams.pathOf(stream), owner, ...place, reason, atMs: Date.now() };
  }

  /** Marks the losses that were noted before this time as known. Throws when the disk refuses. */
  acknowledgeLosses(beforeMs: number): void {
    this.#transactions.run(() => this.losses.acknowledge(beforeMs));
  }

  /** Persists the parts that a batch is sent in from now on; those before are replaced. Throws when the disk refuses. */
  commitParts(id: number, parts: readonly StoredPart[]): void {
    this.#transactions.run(() => this.ledger.writeParts(id, parts));
  }

  /** True while something is settled in memory alone. */
  get hasSettlements(): boolean {
    return this.ledger.hasChanges;
  }

  /**
   * Does `work` (removing the files of settled batches) once the settlements are on disk, so that even a power cut cannot
   * take it back. False when the disk refuses: then after the next save that it takes.
   */
  whenSaved(work: () => void): boolean {
    this.#transactions.afterSync.add(work);
    return this.save();
  }

  /** Writes what moved since the last save. False, and tried again next time, when the disk refuses. */
  save(): boolean {
    this.#transactions.noticeRemoval();
    try {
      if (this.streams.hasChanges || this.ledger.hasChanges || this.#changed.size > 0) this.#writeMoved();
      else this.#transactions.afterSync.start();
      return true;
    } catch (error) {
      this.#transactions.noteFailedSave(error);
      return false;
    }
  }

  /** Writes what moved, and then does `work` in the same transaction. Throws when the disk refuses. */
  #writeMoved(work: () => void = () => {}): void {
    const { hasSettlements } = this;
    this.#transactions.run(() => {
      this.streams.write();
      this.ledger.write();
      for (const each of this.#changed) each.write();
      work();
    });
    this.streams.noteWritten();
    this.ledger.noteWritten();
    for (const each of this.#changed) each.noteWritten();
    this.#changed.clear();
    this.saves += 1;
    if (hasSettlements) this.settlementWrites += 1;
    this.#transactions.noteSaved();
  }

  /** False when what moved last could not be saved, or went with a database that was removed. */
  close(): boolean {
    this.#saver?.stop();
    const isSaved = this.save();
    if (isSaved) this.#transactions.syncNow();
    this.#database.close();
    this.#lock.release();
    return isSaved && !this.#transactions.isGone;
  }
}
