/**
 * What the state database can prove of each stream, read through a read-only connection of its own. One read transaction gives a
 * consistent snapshot, even of a running agent: the state that a restart would find.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { messageOf, TailraceError } from '../../core/errors.ts';
import type { CompressedEnd, FileIdentity } from '../../core/stream.ts';
import { STATE_VERSION } from './database.ts';
import { toCompressedEnd, toIdentity } from './rows.ts';

/** A span of a batch that its mark has not passed yet. */
export interface PendingSpan {
  readonly from: number;
  readonly to: number;
  /** The key of its batch. */
  readonly key: string;
  readonly isSettled: boolean;
}

/** How far a stream is settled for one owner (core/owner). */
export interface AuditedMark {
  readonly owner: string;
  readonly settledTo: number;
  /** In the order of their bytes. */
  readonly pending: readonly PendingSpan[];
}

export interface AuditedStream {
  readonly id: string;
  readonly source: string;
  /** The path under which its file was first matched; empty for a stream without a file. */
  readonly path: string;
  readonly identity: FileIdentity | undefined;
  readonly startAt: number;
  readonly seenSize: number | undefined;
  readonly compressedEnd: CompressedEnd | undefined;
  readonly marks: readonly AuditedMark[];
}

/** Every stream, by path; none where no agent used the folder yet. Throws `E_STATE` where the database cannot be read. */
export function readAuditRows(folder: string): AuditedStream[] {
  const file = join(folder, 'state.db');
  if (!existsSync(file)) return [];
  try {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      database.exec('pragma busy_timeout = 5000; begin');
      const { user_version: version } = database.prepare('pragma user_version').get() as { user_version: number };
      if (version !== STATE_VERSION) throw new Error(`it has format ${version}, and this version of Tailrace reads ${STATE_VERSION}`);
      return readStreams(database);
    } finally {
      database.close();
    }
  } catch (error) {
    throw new TailraceError('E_STATE', `cannot read the state database "${file}": ${messageOf(error)}`, {
      fix: 'audit with the version of Tailrace that the agent runs, as its user; a broken database is replaced when the agent starts',
      cause: error,
    });
  }
}

function readStreams(database: DatabaseSync): AuditedStream[] {
  const pending = groupBy(
    database.prepare(
      'select stream, sink, from_byte, to_byte, key, settled from spans join batches on batches.id = batch order by from_byte, to_byte',
    ),
    (row) => placeOf(row),
    (row): PendingSpan => ({
      from: Number(row['from_byte']),
      to: Number(row['to_byte']),
      key: String(row['key']),
      isSettled: row['settled'] === 1,
    }),
  );
  const marks = groupBy(
    database.prepare('select stream, sink, settled_to from marks order by sink'),
    (row) => String(row['stream']),
    (row): AuditedMark => ({
      owner: String(row['sink']),
      settledTo: Number(row['settled_to']),
      pending: pending.get(placeOf(row)) ?? [],
    }),
  );
  const streams = database.prepare('select * from streams order by source, path, created_ms, id').all();
  return streams.map((row) => ({
    id: String(row['id']),
    source: String(row['source']),
    path: String(row['path']),
    identity: toIdentity(row),
    startAt: Number(row['start_at']),
    seenSize: row['seen_size'] === null ? undefined : Number(row['seen_size']),
    compressedEnd: toCompressedEnd(row['archive_end']),
    marks: marks.get(String(row['id'])) ?? [],
  }));
}

type Row = Record<string, SQLOutputValue>;

const placeOf = (row: Row): string => `${String(row['stream'])} ${String(row['sink'])}`;

function groupBy<T>(statement: ReturnType<DatabaseSync['prepare']>, keyOf: (row: Row) => string, make: (row: Row) => T): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of statement.iterate()) {
    const key = keyOf(row);
    const group = groups.get(key);
    if (group) group.push(make(row));
    else groups.set(key, [make(row)]);
  }
  return groups;
}
