/**
 * Checkpoints: streams, low-water marks, and the spans of every batch that is not settled. A batch's spans and key are
 * committed before it is first sent, so that a restart sends exactly those spans again under the same key. Marks move in
 * memory when a batch settles and are written about once a second.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Span, Tail } from '../core/block.ts';
import { messageOf, TailraceError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { FileIdentity, StreamRecord, StreamStore } from '../core/stream.ts';
import { openDatabase, prepareFolder } from './database.ts';
import { type FolderLock, lockFolder } from './lock.ts';
import { Mark, NO_TAIL } from './marks.ts';
import { prepareStatements, toIdentity, toSpan } from './rows.ts';

/** A span as its row holds it: with the digest of everything that shapes its events. */
export interface StoredSpan extends Span {
  readonly digest: string;
}

/** A part of a batch that was split: events `[first, first + count)` under a key of their own. */
export interface StoredPart {
  readonly first: number;
  readonly count: number;
  readonly key: string;
}

export interface StoredBatch {
  readonly id: number;
  readonly key: string;
  readonly sink: string;
  readonly dataset: string;
  readonly events: number;
  readonly spans: readonly StoredSpan[];
}

interface Stream {
  readonly id: string;
  readonly source: string;
  readonly path: string;
  identity: FileIdentity | undefined;
  readonly startAt: number;
  /** By sink. */
  readonly marks: Map<string, Mark>;
}

export interface StateOptions {
  readonly folder: string;
  /** Ids of the sinks that a source feeds. */
  sinksOf(source: string): readonly string[];
  readonly log: Log;
}

/** Opens the data folder: takes its lock, opens or replaces its database. Throws `TailraceError`. */
export function openState(options: StateOptions): State {
  prepareFolder(options.folder);
  const lock = lockFolder(options.folder);
  try {
    const { database, fresh } = openDatabase(options.folder, options.log);
    return new State(options, lock, database, fresh);
  } catch (error) {
    lock.release();
    throw error;
  }
}

export class State implements StreamStore {
  readonly #options: StateOptions;
  readonly #lock: FolderLock;
  readonly #database: DatabaseSync;
  readonly #statements;
  readonly #streams = new Map<string, Stream>();
  readonly #remainingSpans = new Map<number, number>();
  readonly #newStreams = new Set<Stream>();
  readonly #movedMarks = new Map<Mark, { sink: string; stream: string }>();
  readonly #settledBatches = new Set<number>();
  readonly #passedBatches = new Set<number>();
  readonly #forgotten = new Set<string>();
  readonly #startedSources: ReadonlySet<string>;
  #nextBatch: number;
  saves = 0;
  failedSaves = 0;
  readonly #file: string;
  readonly #inode: bigint | undefined;
  #isGone = false;

  constructor(options: StateOptions, lock: FolderLock, database: DatabaseSync, fresh: boolean) {
    this.#options = options;
    this.#lock = lock;
    this.#database = database;
    this.#statements = prepareStatements(database);
    this.#startedSources = readInstance(options.folder);
    if (fresh && this.#startedSources.size > 0) {
      options.log.warn(
        { folder: options.folder },
        'state database is missing although this folder was used before; files are read from their beginning, which may send events twice',
      );
    }
    this.#file = join(options.folder, 'state.db');
    this.#inode = inodeOf(this.#file);
    this.#nextBatch = (database.prepare('select coalesce(max(id), 0) + 1 as next from batches').get() as { next: number }).next;
    this.#load();
  }

  /** True when the source ran on this folder before, even if the database was lost since: `start_at: end` then does not apply. */
  hasStarted(source: string): boolean {
    return this.#startedSources.has(source);
  }

  /** Remembers, durably, that these sources ran on this folder. Throws `E_STATE` when the disk refuses; what was noted stays. */
  noteStarted(sources: readonly string[]): void {
    if (sources.every((source) => this.#startedSources.has(source))) return;
    const all = [...new Set([...this.#startedSources, ...sources])].sort();
    const file = join(this.#options.folder, 'instance');
    try {
      writeFileSync(`${file}.new`, `${JSON.stringify({ sources: all })}\n`, { flush: true });
      renameSync(`${file}.new`, file);
    } catch (error) {
      throw new TailraceError('E_STATE', `cannot write "${file}": ${messageOf(error)}`, {
        fix: 'check the free space and the permissions of data_dir',
        cause: error,
      });
    }
  }

  mint(source: string, path: string, identity?: FileIdentity, startAt = 0): StreamRecord {
    const stream: Stream = { id: randomBytes(16).toString('hex'), source, path, identity, startAt, marks: new Map() };
    for (const sink of this.#options.sinksOf(source)) stream.marks.set(sink, new Mark(startAt, NO_TAIL));
    this.#streams.set(stream.id, stream);
    this.#newStreams.add(stream);
    return toRecord(stream, [...stream.marks.keys()]);
  }

  persist(): void {
    if (this.#newStreams.size > 0) this.save();
  }

  list(source: string): StreamRecord[] {
    const sinks = this.#options.sinksOf(source);
    return [...this.#streams.values()].filter((stream) => stream.source === source).map((stream) => toRecord(stream, sinks));
  }

  identify(id: string, identity: FileIdentity): void {
    const stream = this.#streams.get(id);
    if (!stream) return;
    stream.identity = identity;
    this.#newStreams.add(stream);
  }

  forget(id: string): void {
    const stream = this.#streams.get(id);
    if (!stream || !this.isSettled(id)) return;
    this.#streams.delete(id);
    this.#newStreams.delete(stream);
    for (const mark of stream.marks.values()) this.#movedMarks.delete(mark);
    this.#forgotten.add(id);
  }

  isSettled(id: string): boolean {
    const stream = this.#streams.get(id);
    return !stream || [...stream.marks.values()].every((mark) => mark.isSettled);
  }

  /** Where the sink's own reading of the stream goes on; undefined for a sink that is not one of the source's. */
  committedTo(sink: string, stream: string): number | undefined {
    return this.#streams.get(stream)?.marks.get(sink)?.committedTo;
  }

  /** The path under which the stream's file was first matched; empty for a stream without a file. */
  pathOf(stream: string): string {
    return this.#streams.get(stream)?.path ?? '';
  }

  /** A free id for a batch. */
  nextBatchId(): number {
    return this.#nextBatch++;
  }

  /** Commits the batches' keys and spans in one transaction, together with the streams they name. Throws when the disk refuses. */
  commit(batches: readonly StoredBatch[]): void {
    this.#transact(() => {
      this.#writeStreams();
      for (const batch of batches) this.#insertBatch(batch);
    });
    this.#newStreams.clear();
    for (const batch of batches) this.#track(batch);
  }

  /**
   * Replaces a restored batch whose key was retired by those that stand for its bytes now: one under the same id, and where
   * not all of its sources are configured, another one that waits for them. Throws when the disk refuses.
   */
  replace(id: number, batches: readonly StoredBatch[]): void {
    this.#transact(() => {
      this.#deleteBatch(id);
      for (const batch of batches) this.#insertBatch(batch);
    });
  }

  /** Persists the parts that a batch is sent in from now on; those before are replaced. Throws when the disk refuses. */
  commitParts(id: number, parts: readonly StoredPart[]): void {
    this.#transact(() => {
      this.#statements.deleteParts.run(id);
      for (const part of parts) this.#statements.insertPart.run(id, part.first, part.count, part.key);
    });
  }

  /** The parts still to be sent of a batch that was split; empty for one that was not. */
  partsOf(id: number): StoredPart[] {
    return this.#statements.selectParts
      .all(id)
      .map((row) => ({ first: Number(row['first']), count: Number(row['count']), key: String(row['key']) }));
  }

  /** Settles a batch: its streams' marks move as far as they can. Written by the next `save`. */
  settle(batch: StoredBatch): void {
    // Streams that are forgotten have no mark to wait for.
    if (this.#remainingSpans.get(batch.id) === 0) this.#pass(batch.id);
    else this.#settledBatches.add(batch.id);
    for (const id of new Set(batch.spans.map((span) => span.stream))) {
      const mark = this.#streams.get(id)?.marks.get(batch.sink);
      if (!mark) continue;
      for (const passed of mark.settle(batch.id)) {
        const remaining = (this.#remainingSpans.get(passed) ?? 1) - 1;
        if (remaining > 0) this.#remainingSpans.set(passed, remaining);
        else this.#pass(passed);
      }
      this.#movedMarks.set(mark, { sink: batch.sink, stream: id });
    }
  }

  /** Batches that were committed and not settled when the last process ended, oldest first. */
  unsettled(): StoredBatch[] {
    const rows = this.#database.prepare('select id, key, sink, dataset, events from batches where settled = 0 order by id').all();
    return rows.map((row) => ({ ...(row as unknown as Omit<StoredBatch, 'spans'>), spans: this.#spansOf(Number(row['id'])) }));
  }

  /** Writes what moved since the last save. False, and tried again next time, when the disk refuses. */
  save(): boolean {
    this.#noticeRemoval();
    const changes = [this.#newStreams, this.#movedMarks, this.#settledBatches, this.#passedBatches, this.#forgotten];
    if (changes.every(({ size }) => size === 0)) return true;
    try {
      this.#transact(() => {
        this.#writeStreams();
        for (const [mark, { sink, stream }] of this.#movedMarks)
          this.#statements.upsertMark.run(sink, stream, mark.settledTo, mark.tail.length, mark.tail.crc);
        for (const id of this.#settledBatches) this.#statements.settleBatch.run(id);
        for (const id of this.#passedBatches) this.#deleteBatch(id);
        for (const id of this.#forgotten) {
          this.#statements.deleteStream.run(id);
          this.#statements.deleteMarks.run(id);
        }
      });
    } catch (error) {
      this.failedSaves += 1;
      if (this.failedSaves === 1 || this.failedSaves % 60 === 0) {
        this.#options.log.error(
          { reason: String(error), failedSaves: this.failedSaves },
          'cannot save checkpoints; delivery goes on, a restart now would send events twice; free space in data_dir',
        );
      }
      return false;
    }
    for (const each of changes) each.clear();
    this.saves += 1;
    this.failedSaves = 0;
    return true;
  }

  close(): void {
    this.save();
    this.#database.close();
    this.#lock.release();
  }

  /** A database that was deleted under the running agent goes on working, and is lost with it: that must not be silent. */
  #noticeRemoval(): void {
    if (this.#isGone || inodeOf(this.#file) === this.#inode) return;
    this.#isGone = true;
    this.#options.log.error(
      { file: this.#file },
      'the state database was removed or replaced while the agent runs; positions are lost when it stops, and the next start sends events again; restart it once the folder is in order',
    );
  }

  #load(): void {
    for (const row of this.#database.prepare('select * from streams').all()) {
      const identity = toIdentity(row);
      const stream: Stream = {
        id: String(row['id']),
        source: String(row['source']),
        path: String(row['path']),
        identity,
        startAt: Number(row['start_at']),
        marks: new Map(),
      };
      this.#streams.set(stream.id, stream);
    }
    for (const row of this.#database.prepare('select * from marks').all()) {
      const stream = this.#streams.get(String(row['stream']));
      stream?.marks.set(
        String(row['sink']),
        new Mark(Number(row['settled_to']), { length: Number(row['tail_length']), crc: Number(row['tail_crc']) }),
      );
    }
    // Spans beyond the mark: committed, and settled or not. They come back in the order they were committed.
    for (const row of this.#database.prepare('select id, sink, settled from batches order by id').all()) {
      const id = Number(row['id']);
      const batch: StoredBatch = { id, key: '', dataset: '', events: 0, sink: String(row['sink']), spans: this.#spansOf(id) };
      this.#track(batch);
      if (row['settled'] === 1) this.settle(batch);
    }
    this.#addNewSinks();
  }

  /** A sink that was added to the configuration takes up a known stream where the others are, without the past. */
  #addNewSinks(): void {
    for (const stream of this.#streams.values()) {
      const sinks = this.#options.sinksOf(stream.source);
      const configured = [...stream.marks].flatMap(([sink, mark]) => (sinks.includes(sink) ? [mark] : []));
      const known = configured.length > 0 ? configured : [...stream.marks.values()];
      const from = known.reduce(
        (least, mark) => (mark.committedTo < least.committedTo ? mark : least),
        known[0] ?? new Mark(stream.startAt, NO_TAIL),
      );
      for (const sink of sinks) {
        if (stream.marks.has(sink)) continue;
        const mark = new Mark(from.committedTo, from.committedTail);
        stream.marks.set(sink, mark);
        this.#movedMarks.set(mark, { sink, stream: stream.id });
      }
    }
  }

  #track(batch: StoredBatch): void {
    let followed = 0;
    for (const span of batch.spans) {
      const mark = this.#streams.get(span.stream)?.marks.get(batch.sink);
      if (!mark) continue;
      mark.commit(span, batch.id);
      followed += 1;
    }
    this.#remainingSpans.set(batch.id, followed);
  }

  /** Every mark is past the batch: the next save removes it. */
  #pass(batch: number): void {
    this.#remainingSpans.delete(batch);
    this.#settledBatches.delete(batch);
    this.#passedBatches.add(batch);
  }

  #writeStreams(): void {
    for (const stream of this.#newStreams) {
      const { identity } = stream;
      this.#statements.upsertStream.run(
        stream.id,
        stream.source,
        stream.path,
        identity?.device ?? null,
        identity?.inode ?? null,
        identity?.headLength ?? null,
        identity?.headHash ?? null,
        stream.startAt,
        Date.now(),
      );
      for (const [sink, mark] of stream.marks)
        this.#statements.insertMark.run(sink, stream.id, mark.settledTo, mark.tail.length, mark.tail.crc);
    }
  }

  #insertBatch(batch: StoredBatch): void {
    this.#statements.insertBatch.run(batch.id, batch.key, batch.sink, batch.dataset, batch.events, Date.now());
    let seq = 0;
    for (const span of batch.spans) {
      this.#statements.insertSpan.run(
        batch.id,
        seq++,
        span.source,
        span.stream,
        span.from,
        span.to,
        span.events,
        span.crc,
        span.tail.length,
        span.tail.crc,
        span.digest,
      );
    }
  }

  #deleteBatch(id: number): void {
    this.#statements.deleteBatch.run(id);
    this.#statements.deleteSpans.run(id);
    this.#statements.deleteParts.run(id);
  }

  #spansOf(batch: number): StoredSpan[] {
    return this.#statements.selectSpans.all(batch).map(toSpan);
  }

  #transact(work: () => void): void {
    this.#database.exec('begin immediate');
    try {
      work();
      this.#database.exec('commit');
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('rollback');
      throw error;
    }
  }
}

function inodeOf(file: string): bigint | undefined {
  return statSync(file, { bigint: true, throwIfNoEntry: false })?.ino;
}

/** Reading goes on where the sink that is furthest behind is; sinks that are not configured any more do not count. */
function toRecord(stream: Stream, sinks: readonly string[]): StreamRecord {
  let resumeAt = Infinity;
  let tail: Tail = NO_TAIL;
  for (const [sink, mark] of stream.marks) {
    if (mark.committedTo >= resumeAt || !sinks.includes(sink)) continue;
    resumeAt = mark.committedTo;
    tail = mark.committedTail;
  }
  return {
    id: stream.id,
    source: stream.source,
    path: stream.path,
    identity: stream.identity,
    resumeAt: Number.isFinite(resumeAt) ? resumeAt : stream.startAt,
    tail,
  };
}

function readInstance(folder: string): ReadonlySet<string> {
  const file = join(folder, 'instance');
  if (!existsSync(file)) return new Set();
  try {
    const parsed: unknown = JSON.parse(readFileSync(file, 'utf8'));
    const sources = (parsed as { sources?: unknown }).sources;
    return new Set(Array.isArray(sources) ? sources.map(String) : []);
  } catch {
    return new Set();
  }
}
