/**
 * The service's own facts (tokens, datasets, fields, idempotency keys) in one SQLite database, `service.db` in the data folder.
 * Opening it also locks the folder: SQLite's exclusive lock ends with the process, however it ends. Every commit outlives a
 * kill -9; a power cut may roll back the last ones.
 */
import { accessSync, constants, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { codeOf, messageOf, TailraceError } from '../core/errors.ts';

const SCHEMA = `
create table if not exists facts (name text primary key, value text not null) without rowid;
create table if not exists tokens (name text primary key, kind text not null, hash text not null, created text not null) without rowid;
create table if not exists datasets (id integer primary key autoincrement, name text not null unique, description text not null, created text not null, who text not null);
create table if not exists fields (dataset integer not null, name text not null, types integer not null, primary key (dataset, name)) without rowid;
create table if not exists keys (id integer primary key autoincrement, dataset integer not null, key text not null, first_row integer not null, rows integer not null,
  min_time integer not null, max_time integer not null, reply text not null, stored integer not null, unique (dataset, key));
create index if not exists keys_unstored on keys (stored) where stored = 0;
`;
const VERSION = 1;

export interface Metadata {
  readonly db: DatabaseSync;
  /** A value by name, or undefined. */
  fact(name: string): string | undefined;
  setFact(name: string, value: string): void;
  /** Runs `work` as one commit. */
  transaction<T>(work: () => T): T;
  close(): void;
}

/** Makes the folder if needed, locks it and opens the database. Throws a `TailraceError` that names the process holding it. */
export function openMetadata(dataDir: string): Metadata {
  try {
    makeFolder(dataDir);
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new TailraceError('E_DATA_DIR', `the data folder ${dataDir} cannot be used: ${messageOf(cause)}`, {
      fix: 'make it a folder that this user can write, or choose another with --data',
      cause,
    });
  }
  const pidFile = join(dataDir, 'service.pid');
  const db = openDatabase(join(dataDir, 'service.db'), dataDir, pidFile);
  writeFileSync(pidFile, `${process.pid}\n`);

  const get = db.prepare('select value from facts where name = ?');
  const set = db.prepare('insert into facts values (?, ?) on conflict do update set value = excluded.value');
  return {
    db,
    fact: (name) => get.get(name)?.['value'] as string | undefined,
    setFact: (name, value) => void set.run(name, value),
    transaction(work) {
      db.exec('begin immediate');
      try {
        const result = work();
        db.exec('commit');
        return result;
      } catch (error) {
        db.exec('rollback');
        throw error;
      }
    },
    close: () => db.close(),
  };
}

/** Like mkdir with `recursive`, which never returns where a parent exists but takes no folders (/proc). */
function makeFolder(path: string): void {
  if (existsSync(path)) {
    if (!statSync(path).isDirectory()) throw new Error('it is no folder');
    return;
  }
  makeFolder(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}

function openDatabase(path: string, dataDir: string, pidFile: string): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path);
    db.exec('pragma locking_mode = exclusive; pragma journal_mode = wal; pragma synchronous = normal');
    // The first write takes the lock, and keeps it.
    db.exec('begin immediate');
    const version = db.prepare('pragma user_version').get()?.['user_version'] as number;
    if (version > VERSION)
      throw new TailraceError(
        'E_DATA_DIR',
        `the data folder ${dataDir} was made by a newer version (its form is ${version}, this one knows ${VERSION})`,
        {
          fix: 'use the newer version, or another folder',
        },
      );
    db.exec(`${SCHEMA}; pragma user_version = ${VERSION}; commit`);
    return db;
  } catch (cause) {
    db?.close();
    if (cause instanceof TailraceError) throw cause;
    if (codeOf(cause) === 'ERR_SQLITE_ERROR' && /locked|busy/i.test(messageOf(cause))) {
      throw new TailraceError('E_DATA_DIR_LOCKED', `the data folder ${dataDir} is in use by ${holder(pidFile)}`, {
        fix: 'stop that process, or choose another folder with --data',
        cause,
      });
    }
    throw new TailraceError('E_DATA_DIR', `the database ${path} cannot be opened: ${messageOf(cause)}`, {
      fix: 'see that the file can be written and is a database of Tailrace, or choose another folder with --data',
      cause,
    });
  }
}

function holder(pidFile: string): string {
  try {
    const pid = readFileSync(pidFile, 'utf8').trim();
    return pid === String(process.pid) ? `this process (pid ${pid})` : `the process with pid ${pid}`;
  } catch {
    return 'another process';
  }
}
