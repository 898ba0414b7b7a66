/**
 * The facts that the state database proves of each stream, read through a read-only connection of its own. One read transaction gives a
 * consistent snapshot, even of a running agent: the state that a restart would find.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { messageOf, TailraceError } from '../../core/errors.ts';
import { HELD_OPENING_MS } from '../limits.ts';
import { STATE_VERSION } from './database.ts';
import { AS_INDEXED, type IndexedLetters } from './letter-index.ts';
import { AS_LOSS, type StoredLoss } from './losses.ts';
import { heldBy, isHeld } from './refusal.ts';
import { toReads, toStreamFacts } from './rows.ts';
import type { StoredStream } from './stream-row.ts';

/** A span of a batch that its mark has not passed yet. */
export interface PendingSpan {
  readonly from: number;
  readonly to: number;
  /** The key of its batch. */
  readonly key: string;
  readonly isSettled: boolean;
}

/** How far a stream is settled for one owner (core/checkpoint-owner). */
export interface AuditedMark {
  readonly owner: string;
  readonly settledTo: number;
  /** In the order of their bytes. */
  readonly pending: readonly PendingSpan[];
}

export interface AuditedStream extends Readonly<Omit<StoredStream, 'marks' | 'createdMs'>> {
  readonly marks: readonly AuditedMark[];
}

/** A batch that was sent whole, but for one of which a part was lost or dropped. `owner` as in a mark. */
export interface AuditedBatch {
  readonly key: string;
  readonly owner: string;
  readonly dataset: string;
  readonly events: number;
  readonly isSettled: boolean;
  /** When its first event was read, where that is known. */
  readonly readAtMs: number | undefined;
}

export interface AuditedState {
  /** By path. */
  readonly streams: readonly AuditedStream[];
  /** Lost or dropped events, also of streams that are forgotten. */
  readonly losses: readonly StoredLoss[];
  readonly letters: readonly IndexedLetters[];
  /** The ledger. */
  readonly batches: readonly AuditedBatch[];
}

/** Everything; nothing where no agent used the folder yet. Throws `E_STATE` where the database cannot be read. */
export function readAuditRows(folder: string): AuditedState {
  const file = join(folder, 'state.db');
  if (!existsSync(file)) return { streams: [], losses: [], letters: [], batches: [] };
  try {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      database.exec(`pragma busy_timeout = ${HELD_OPENING_MS}; begin`);
      const { user_version: version } = database.prepare('pragma user_version').get() as { user_version: number };
      if (version !== STATE_VERSION)
        throw new Error(`it has format ${version}, and this version of Tailrace reads ${STATE_VERSION}`);
      const losses = database
        .prepare(`select ${AS_LOSS} from losses order by stream, from_byte`)
        .all() as unknown as StoredLoss[];
      const letters = database
        .prepare(`select ${AS_INDEXED} from letters order by at_ms, rowid`)
        .all() as unknown as IndexedLetters[];
      return { streams: readStreams(database), losses, letters, batches: readBatches(database) };
    } finally {
      database.close();
    }
  } catch (error) {
    if (isHeld(error)) throw heldBy(error, file);
    throw new TailraceError('E_STATE', `cannot read the state database "${file}": ${messageOf(error)}`, {
      fix: 'audit with the version of Tailrace that the agent runs, as its user; a broken database is replaced when the agent starts',
      cause: error,
    });
  }
}

function readStreams(database: DatabaseSync): AuditedStream[] {
  const all = (sql: string): SqlRow[] => database.prepare(sql).all();
  const spans = all(
    'select stream, sink, from_byte, to_byte, key, settled from spans join batches on batches.id = batch order by from_byte, to_byte',
  );
  const pending = Map.groupBy(spans, placeOf);
  const marks = Map.groupBy(all('select stream, sink, settled_to from marks order by sink'), (row) => row['stream']);
  return all('select * from streams order by source, path, created_ms, id').map((row) => ({
    ...toStreamFacts(row),
    marks: (marks.get(row['id']) ?? []).map((mark) => ({
      owner: String(mark['sink']),
      settledTo: Number(mark['settled_to']),
      pending: (pending.get(placeOf(mark)) ?? []).map(toPending),
    })),
  }));
}

function readBatches(database: DatabaseSync): AuditedBatch[] {
  const rows = database
    .prepare(
      `select key, batches.sink, dataset, batches.events, settled, (select reads from spans where batch = id order by seq limit 1) as reads from batches
      where batches.events > 0 and not exists (select 1 from parts where batch = id)
      and not exists (select 1 from spans join losses on losses.stream = spans.stream and losses.sink = batches.sink
        where batch = id and losses.from_byte < to_byte and losses.from_byte + losses.bytes > spans.from_byte)`,
    )
    .all();
  return rows.map((row) => ({
    key: String(row['key']),
    owner: String(row['sink']),
    dataset: String(row['dataset']),
    events: Number(row['events']),
    isSettled: row['settled'] === 1,
    readAtMs: row['reads'] === null ? undefined : toReads(row['reads'])[0]?.atMs,
  }));
}

function toPending(row: SqlRow): PendingSpan {
  return {
    from: Number(row['from_byte']),
    to: Number(row['to_byte']),
    key: String(row['key']),
    isSettled: row['settled'] === 1,
  };
}

type SqlRow = Record<string, SQLOutputValue>;

const placeOf = (row: SqlRow): string => `${String(row['stream'])} ${String(row['sink'])}`;
