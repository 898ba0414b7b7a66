/**
 * The ledger: keys and spans of every batch that a mark has not passed yet. A batch is in the database from before it is first sent
 * until all its marks are beyond it, so that a restart knows which batches were sent and which parts of them were settled.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Statements } from './rows.ts';
import { textOfGroups, textOfReads, toSpan } from './rows.ts';
import type { StoredBatch, StoredPart, StoredSpan } from './stored-batch.ts';
import type { Streams } from './streams.ts';

export class Ledger {
  readonly #database: DatabaseSync;
  readonly #statements: Statements;
  readonly #streams: Streams;
  /** By batch: its spans that a mark has not passed. */
  readonly #remainingSpans = new Map<number, number>();
  /** Settled batches that a mark has not passed: an older batch of their stream is not settled. */
  readonly #settled = new Set<number>();
  readonly #passed = new Set<number>();
  /** Batches that have parts in the database: deleting the others' would cost as much as deleting a batch. */
  readonly #parted = new Set<number>();
  #nextId: number;

  constructor(database: DatabaseSync, statements: Statements, streams: Streams) {
    this.#database = database;
    this.#statements = statements;
    this.#streams = streams;
    this.#nextId = (
      database.prepare('select coalesce(max(id), 0) + 1 as next from batches').get() as { next: number }
    ).next;
  }

  /** Spans beyond the marks, committed by earlier processes; settled or not. They come back in the order they were committed. */
  load(): void {
    for (const row of this.#database.prepare('select distinct batch from parts').all())
      this.#parted.add(Number(row['batch']));
    for (const row of this.#database.prepare('select id, sink, settled from batches order by id').all()) {
      const id = Number(row['id']);
      const batch: StoredBatch = {
        id,
        key: '',
        dataset: '',
        events: 0,
        owner: String(row['sink']),
        spans: this.#spansOf(id),
      };
      this.track(batch);
      if (row['settled'] === 1) this.settle(batch);
    }
  }

  /** A free id for a batch. */
  nextId(): number {
    return this.#nextId++;
  }

  /** Batches that were committed and not settled when the last process ended, oldest first. */
  unsettled(): StoredBatch[] {
    const rows = this.#database
      .prepare('select id, key, sink as owner, dataset, events from batches where settled = 0 order by id')
      .all();
    return rows.map((row) => ({
      ...(row as unknown as Omit<StoredBatch, 'spans'>),
      spans: this.#spansOf(Number(row['id'])),
    }));
  }

  /** Writes a batch's row and spans, within the caller's transaction; `track` once that is committed. */
  insert(batch: StoredBatch): void {
    this.#statements.insertBatch.run(batch.id, batch.key, batch.owner, batch.dataset, batch.events, Date.now());
    let seq = 0;
    for (const { source, stream, from, to, events, bytes = null, sum, tail, digest, reads, groups } of batch.spans) {
      const row = [
        source,
        stream,
        from,
        to,
        events,
        sum,
        tail.length,
        tail.crc,
        digest,
        textOfReads(reads),
        textOfGroups(groups),
      ];
      this.#statements.insertSpan.run(batch.id, seq++, ...row, bytes);
    }
  }

  /** Notes the committed batch's spans at the marks that it will move. */
  track(batch: StoredBatch): void {
    let followed = 0;
    for (const span of batch.spans) {
      const mark = this.#streams.markOf(span.stream, batch.owner);
      if (!mark) continue;
      mark.commit(span, batch.id);
      followed += 1;
    }
    this.#remainingSpans.set(batch.id, followed);
  }

  /** Removes a batch's rows, within the caller's transaction. */
  delete(id: number): void {
    this.#statements.deleteBatch.run(id);
    this.#statements.deleteSpans.run(id);
    if (this.#parted.has(id)) this.#statements.deleteParts.run(id);
  }

  /** Replaces the parts that a batch is sent in, within the caller's transaction. */
  writeParts(id: number, parts: readonly StoredPart[]): void {
    this.#parted.add(id);
    this.#statements.deleteParts.run(id);
    for (const part of parts) this.#statements.insertPart.run(id, part.first, part.count, part.key);
  }

  /** The parts still to be sent of a batch that was split; empty for one that was not. */
  partsOf(id: number): StoredPart[] {
    return this.#statements.selectParts
      .all(id)
      .map((row) => ({ first: Number(row['first']), count: Number(row['count']), key: String(row['key']) }));
  }

  /** Settles a batch, and advances its streams' marks as far as possible. */
  settle(batch: StoredBatch): void {
    // A forgotten stream has no mark to wait for.
    if (this.#remainingSpans.get(batch.id) === 0) this.#pass(batch.id);
    else this.#settled.add(batch.id);
    for (const id of new Set(batch.spans.map((span) => span.stream))) {
      const mark = this.#streams.markOf(id, batch.owner);
      if (!mark) continue;
      for (const passed of mark.settle(batch.id)) {
        const remaining = (this.#remainingSpans.get(passed) ?? 1) - 1;
        if (remaining > 0) this.#remainingSpans.set(passed, remaining);
        else this.#pass(passed);
      }
      this.#streams.noteMoved(mark, batch.owner, id);
    }
  }

  /** True when there is anything to write. */
  get hasChanges(): boolean {
    return this.#settled.size > 0 || this.#passed.size > 0;
  }

  /** Writes settled and passed batches, within the caller's transaction; `noteWritten` once that is committed. */
  write(): void {
    for (const id of this.#settled) this.#statements.settleBatch.run(id);
    for (const id of this.#passed) this.delete(id);
  }

  noteWritten(): void {
    this.#settled.clear();
    for (const id of this.#passed) this.#parted.delete(id);
    this.#passed.clear();
  }

  /** Marks the batch for removal by the next save: every mark is past it. */
  #pass(batch: number): void {
    this.#remainingSpans.delete(batch);
    this.#settled.delete(batch);
    this.#passed.add(batch);
  }

  #spansOf(batch: number): StoredSpan[] {
    return this.#statements.selectSpans.all(batch).map(toSpan);
  }
}
