/**
 * The one SQLite database of the data folder: opening it, its schema, and setting a broken one aside. A lost or broken
 * database may cause duplicates, never loss: files are then read from their beginning.
 */
import { accessSync, constants, existsSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf, TailraceError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { ownerFix, prepareFile } from '../keep-owner.ts';
import { HELD_OPENING_MS, HELD_WAIT_MS } from '../limits.ts';
import { CHECKPOINT_PAGES } from '../reserve.ts';
import { heldBy, isHeld } from './refusal.ts';

const SCHEMA = `
create table if not exists streams (
  id text primary key, source text not null, path text not null, device text, inode text, head_length integer, head_hash text,
  start_at integer not null, created_ms integer not null, current_path text,
  seen_size integer, archive_end text, real_path text, in_line integer, headers text
) strict;
create table if not exists marks (
  sink text not null, stream text not null, settled_to integer not null, tail_length integer not null, tail_crc integer not null,
  content_sum integer, points text, behind text, primary key (sink, stream)
) strict, without rowid;
create table if not exists batches (
  id integer primary key, key text not null, sink text not null, dataset text not null, events integer not null,
  settled integer not null default 0, created_ms integer not null
) strict;
create table if not exists parts (
  batch integer not null, first integer not null, count integer not null, key text not null, primary key (batch, first)
) strict, without rowid;
create table if not exists spans (
  batch integer not null, seq integer not null, source text not null, stream text not null, from_byte integer not null,
  to_byte integer not null, events integer not null, content_sum integer not null, tail_length integer not null, tail_crc integer not null,
  digest text not null, reads text, behind text, bytes integer, primary key (batch, seq)
) strict, without rowid;
create table if not exists losses (
  source text not null, path text not null, stream text not null, sink text not null, reason text not null, from_byte integer not null,
  bytes integer not null, at_ms integer not null, acknowledged integer not null default 0, primary key (stream, sink, reason, path, source, from_byte)
) strict;
create table if not exists letters (
  id text not null, source text not null, path text not null, stream text not null, sink text not null, dataset text not null,
  events integer not null, ended text, at_ms integer not null
) strict;
create index if not exists letters_by_id on letters (id);
`;
/** The format that this version writes. */
export const STATE_VERSION = 10;
/** Brings a database of an earlier version to the next one. */
const MIGRATIONS: Readonly<Record<number, string>> = {
  1: 'alter table streams add column current_path text; alter table marks add column content_crc integer;',
  2: 'alter table marks add column points text;',
  // A CRC-32 cannot become a content sum: unsettled batches get new keys, and copies of files read before are not recognised.
  3: 'alter table marks rename column content_crc to content_sum; update marks set content_sum = null, points = null; alter table spans rename column crc to content_sum;',
  4: 'alter table streams add column seen_size integer; alter table streams add column archive_end text;',
  5: 'alter table spans add column reads text;',
  6: 'alter table streams add column real_path text;',
  7: 'alter table streams add column in_line integer; alter table streams add column headers text;',
  8: 'alter table spans add column behind text; alter table marks add column behind text;',
  9: 'alter table spans add column bytes integer;',
};

/** SQLite's PERM, BUSY, NOMEM, READONLY, IOERR, FULL and CANTOPEN. */
const PASSING_CODES: ReadonlySet<number> = new Set([3, 5, 7, 8, 10, 13, 14]);

/** Makes the data folder where it is missing. Throws `E_DATA_DIR` when it cannot be made or written. */
export function prepareFolder(folder: string): void {
  try {
    makeFolders(folder);
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new TailraceError('E_DATA_DIR', `cannot write to the data folder "${folder}": ${messageOf(error)}`, {
      fix: `${ownerFix(folder)}, or set data_dir to a folder that this user can write`,
      cause: error,
    });
  }
}

/** One by one: Node's recursive mkdir never ends where the system says ENOENT below a folder that is there, as /proc does. */
function makeFolders(folder: string): void {
  const isThere = () => statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isThere()) return;
  if (dirname(folder) !== folder) makeFolders(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o750 });
  } catch (error) {
    if (!isThere()) throw error;
  }
}

/** Opens `state.db`. An unreadable one is renamed, logged, and replaced by an empty one. */
export function openDatabase(folder: string, log: Log): { database: DatabaseSync; fresh: boolean } {
  const file = join(folder, 'state.db');
  const before = statSync(file, { throwIfNoEntry: false });
  try {
    prepareFile(file);
    return openAt(file);
  } catch (error) {
    // Setting aside what a newer version wrote would send every file again.
    if (error instanceof NewerStateError) throw error;
    if (!before || (before.isFile() && isPassing(error))) throw cannotOpen(file, error);
    const aside = `${file}.broken-${Date.now()}`;
    renameSync(file, aside);
    for (const suffix of ['-wal', '-shm']) if (existsSync(file + suffix)) renameSync(file + suffix, aside + suffix);
    log.error(
      { file, aside, reason: messageOf(error) },
      'state database is broken and was set aside; files are read from their beginning, which may send events twice',
    );
    try {
      prepareFile(file);
      return openAt(file);
    } catch (again) {
      throw cannotOpen(file, again);
    }
  }
}

class NewerStateError extends TailraceError {
  constructor(file: string, version: number) {
    super(
      'E_STATE_NEWER',
      `the state database "${file}" was written by a newer Tailrace (format ${version}, this one knows ${STATE_VERSION}); nothing was changed`,
      {
        fix: 'install that version again, or name another data_dir, which sends files from their beginning',
      },
    );
  }
}

function cannotOpen(file: string, error: unknown): TailraceError {
  if (isHeld(error)) return heldBy(error, file);
  return new TailraceError('E_STATE', `cannot open the state database "${file}": ${messageOf(error)}`, {
    fix: 'check the free space and the permissions of data_dir',
    cause: error,
  });
}

/**
 * True for what says nothing about the database itself: a full disk, a disk that fails for a moment, no descriptor left, no
 * permission. None of these must cost the positions. `quick_check` names SQLite's code in its text.
 */
function isPassing(error: unknown): boolean {
  const { errcode = Number(/error code=(\d+)/.exec(messageOf(error))?.[1]) } = error as { errcode?: unknown };
  return typeof errcode === 'number' && PASSING_CODES.has(errcode & 0xff);
}

/** Opens or creates it; `fresh` when there was nothing in it, which a file of 0 bytes does not have either. */
function openAt(file: string): { database: DatabaseSync; fresh: boolean } {
  const database = new DatabaseSync(file);
  try {
    database.exec(
      `pragma busy_timeout = ${HELD_OPENING_MS}; pragma journal_mode = wal; pragma synchronous = normal; pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`,
    );
    const version = (database.prepare('pragma user_version').get() as { user_version: number }).user_version;
    if (version > STATE_VERSION) throw new NewerStateError(file, version);
    const check = database.prepare('pragma quick_check(1)').get() as { quick_check: string };
    if (check.quick_check !== 'ok') throw new Error(check.quick_check);
    if (version !== STATE_VERSION) migrate(database, version);
    database.exec(`pragma busy_timeout = ${HELD_WAIT_MS}`);
    if (version === STATE_VERSION) checkWritable(database);
    return { database, fresh: version === 0 };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** SQLite opens files that it can only read just now without a word. Where another process holds the database, it can be written later. */
function checkWritable(database: DatabaseSync): void {
  try {
    migrate(database, STATE_VERSION);
  } catch (error) {
    if (!isHeld(error)) throw error;
  }
}

/** Brings the schema from `version` to this one, in one transaction; a new database gets it whole. */
function migrate(database: DatabaseSync, version: number): void {
  const steps =
    version === 0
      ? ''
      : Array.from({ length: STATE_VERSION - version }, (_, step) => MIGRATIONS[version + step] ?? '').join('');
  database.exec(`begin immediate; ${steps} ${SCHEMA} pragma user_version = ${STATE_VERSION}; commit`);
}
