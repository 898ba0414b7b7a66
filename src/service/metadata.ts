/**
 * The service's own facts (tokens, datasets, fields, idempotency keys) in one SQLite database, `service.db` in the data folder.
 * Opening it also locks the folder: SQLite's exclusive lock ends with the process, however it ends. Every commit outlives a
 * kill -9; a power cut may roll back the last ones, unless it is opened with `sync`.
 */
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { codeOf, messageOf, TailraceError } from '../core/errors.ts';

/**
 * The migrations from an empty database to the present one, in order; `user_version` counts those that were applied. Never change a published
 * one: add another.
 */
const STEPS = [
  `create table facts (name text primary key, value text not null) without rowid;
create table tokens (name text primary key, kind text not null, hash text not null, created text not null) without rowid;
create table datasets (id integer primary key autoincrement, name text not null unique, description text not null, created text not null, who text not null);
create table fields (dataset integer not null, name text not null, types integer not null, primary key (dataset, name)) without rowid;
create table keys (id integer primary key autoincrement, dataset integer not null, key text not null, first_row integer not null, rows integer not null,
  min_time integer not null, max_time integer not null, reply text not null, stored integer not null, unique (dataset, key));
create index keys_unstored on keys (stored) where stored = 0;`,
  // Tables of removed datasets, until they are dropped; how long a dataset keeps its events.
  `create table dropped (id integer primary key);
alter table datasets add column retention_days integer not null default 0;`,
  // Users; tokens with rights (JSON, auth/rights), an id, an owner and an end. Those of before were the owner's, with every right.
  `create table users (id text primary key, name text not null, email text not null unique, role text not null, created text not null) without rowid;
insert into users select value, 'owner', 'owner@localhost', 'owner', strftime('%Y-%m-%dT%H:%M:%fZ') from facts where name = 'owner_id';
alter table tokens rename to old_tokens;
create table tokens (id text primary key, kind text not null, name text not null, description text not null, hash text not null unique, user text not null,
  datasets text not null, org text not null, created text not null, expires text) without rowid;
insert into tokens select old_tokens.name, kind, old_tokens.name, '', hash, value, '{"*":{"ingest":["create"],"query":["read"],"trim":["update"]}}',
  '{"datasets":["create","read","update","delete"]}', created, null from old_tokens, facts where facts.name = 'owner_id';
drop table old_tokens;`,
  // Empty strings, 0 and false moved among the JSON values (`engine/tables`): fields of before may have them where they were (OLD_BIT).
  `update fields set types = types | 512;`,
  // What people say about fields.
  `create table field_notes (dataset integer not null, name text not null, unit text not null, hidden integer not null, description text not null,
  primary key (dataset, name)) without rowid;`,
  // Rights of tokens on views (JSON): the service has none, and returns what it was given.
  `alter table tokens add column views text not null default '{}';`,
  // Annotations and starred queries, as JSON.
  `create table saved (kind text not null, id text not null, value text not null, primary key (kind, id));`,
  // Expressions under the names of fields, and the names of fields that are maps (JSON).
  `create table virtual_fields (id text primary key, dataset integer not null, name text not null, expression text not null, description text not null,
  type text not null, unit text not null, unique (dataset, name)) without rowid;
alter table datasets add column map_fields text not null default '[]';`,
  // What a dataset is for, as clients say it, and when it was last changed; empty: at its creation.
  `alter table datasets add column kind text not null default 'axiom:events:v1';
alter table datasets add column updated text not null default '';`,
];

export type Metadata = ReturnType<typeof openMetadata>;

/** Makes the folder if needed, locks it and opens the database; with `sync` each commit is fsynced. Throws a `TailraceError` that names the process holding it. */
export function openMetadata(dataDir: string, sync: boolean) {
  let madeFolders: readonly string[];
  try {
    madeFolders = makeFolder(dataDir);
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new TailraceError('E_DATA_DIR', `the data folder ${dataDir} cannot be used: ${messageOf(cause)}`, {
      fix: 'make it a folder that this user can write, or choose another with --data',
      cause,
    });
  }
  closeToOthers(dataDir);
  const pidFile = join(dataDir, 'service.pid');
  const db = openDatabase(join(dataDir, 'service.db'), dataDir, pidFile, sync);
  writeFileSync(pidFile, `${process.pid}\n`);

  const get = db.prepare('select value from facts where name = ?');
  const set = db.prepare('insert into facts values (?, ?) on conflict do update set value = excluded.value');
  const forget = db.prepare('delete from facts where name = ?');
  const changes: (() => void)[] = [];
  return {
    db,
    /** The folder and its parents that this call created; empty if the folder existed. */
    madeFolders,
    fact: (name: string) => get.get(name)?.['value'] as string | undefined,
    setFact: (name: string, value: string) => void set.run(name, value),
    forgetFact: (name: string) => void forget.run(name),
    /** Runs `work` as one commit. */
    transaction<T>(work: () => T): T {
      db.exec('begin immediate');
      try {
        const result = work();
        db.exec('commit');
        for (const change of changes.splice(0)) change();
        return result;
      } catch (error) {
        changes.length = 0;
        // On a full disk the database has rolled back by itself.
        if (db.isTransaction) db.exec('rollback');
        throw error;
      }
    },
    /** Changes what memory holds of the database: once the transaction that runs is committed, and not if it fails. */
    afterCommit: (change: () => void) => (db.isTransaction ? void changes.push(change) : change()),
    close: () => db.close(),
  };
}

/** Opens the folder of a service that has started on it before. Throws a `TailraceError` like `openMetadata`. */
export function openExisting(dataDir: string, sync: boolean): Metadata {
  const fix = 'name the folder that serve uses with --data';
  if (!existsSync(join(dataDir, 'service.db')))
    throw new TailraceError('E_DATA_DIR', `${dataDir} is no data folder of the service`, { fix });
  const metadata = openMetadata(dataDir, sync);
  if (metadata.fact('owner_id') !== undefined) return metadata;
  metadata.close();
  throw new TailraceError('E_DATA_DIR', `no service has started yet on ${dataDir}`, { fix });
}

/** Like a recursive mkdir, which hangs where a parent takes no folders (/proc). Returns the created folders, innermost first. */
function makeFolder(path: string): string[] {
  if (existsSync(path)) {
    if (!statSync(path).isDirectory()) throw new Error('it is not a folder');
    return [];
  }
  const above = makeFolder(dirname(path));
  mkdirSync(path, { mode: 0o700 });
  return [path, ...above];
}

/** What the service keeps in its folder: the database, the embedded engine, the tokens of the first start. */
const OWN_NAMES = /^(?:service\.(?:db(?:-wal|-shm)?|pid)|engine(?:\.xml)?|inbox|first-tokens\.json)$/;

/** Takes the rights of group and others off these, and off the folder where it holds nothing else. */
function closeToOthers(dataDir: string): void {
  const names = readdirSync(dataDir);
  const own = names.filter((name) => OWN_NAMES.test(name));
  for (const name of own.length === names.length ? ['', ...own] : own) {
    const path = join(dataDir, name);
    const { mode } = statSync(path);
    if ((mode & 0o077) === 0) continue;
    try {
      chmodSync(path, mode & 0o700);
    } catch (cause) {
      // A mounted volume may belong to somebody else.
      if (name === '') continue;
      throw new TailraceError('E_DATA_DIR', `others can read ${path}: ${messageOf(cause)}`, {
        fix: `as its owner: chmod go-rwx ${path}`,
        cause,
      });
    }
  }
}

function openDatabase(path: string, dataDir: string, pidFile: string, sync: boolean): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path);
    db.exec(
      `pragma locking_mode = exclusive; pragma journal_mode = wal; pragma synchronous = ${sync ? 'full' : 'normal'}`,
    );
    // The first write takes the lock for good.
    db.exec('begin immediate');
    const version = db.prepare('pragma user_version').get()?.['user_version'] as number;
    if (version > STEPS.length)
      throw new TailraceError(
        'E_DATA_DIR',
        `the data folder ${dataDir} was created by a newer version (its format is ${version}, this version knows ${STEPS.length})`,
        {
          fix: 'use the newer version, or another folder',
        },
      );
    for (const step of STEPS.slice(version)) db.exec(step);
    db.exec(`pragma user_version = ${STEPS.length}; commit`);
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
      fix: 'check that the file can be written and is a database of Tailrace, or choose another folder with --data',
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
