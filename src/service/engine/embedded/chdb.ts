/**
 * The embedded engine: chDB, ClickHouse inside this process. A thin adapter over its Session.
 *
 * - Rows go in as a file of the Native format in the data folder, read by `insert … select … from file(…)`: an
 *   `insert … from input()` silently stores nothing here, and Native in the statement is cut at its newlines.
 * - A call blocks one of libuv's threads until it is done: one insert, one statement of the service's own, and as many selects as leave some
 *   to files and decompression.
 * - A part is complete once the insert returned: the folder is renamed into place, so a kill -9 cannot lose it. Unless `sync` is asked
 *   for, parts are not fsynced: a power cut may lose the last seconds.
 */
import { appendFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isSea } from 'node:sea';
import type * as Chdb from 'chdb';
import type { Session } from 'chdb';
import PQueue from 'p-queue';
import { codeOf, messageOf, TailraceError } from '../../../core/errors.ts';
import { SERVICE_EMBEDDED_SELECTS, SERVICE_OWN_THREADS, SERVICE_STATEMENT_BYTES } from '../../limits.ts';
import type { Cell, Engine, EngineOptions, EngineQueryOptions, EngineResult, Param } from '../engine.ts';
import { insertGroups } from '../insert-groups.ts';
import { howToInstall, loadInstalled } from '../installed.ts';
import {
  FORMAT_SETTINGS,
  isOutOfMemory,
  OTHER_WORK_SQL,
  outOfMemory,
  optionSettings,
  querySettings,
  refusal,
  settingsClause,
  untilMemory,
} from '../settings.ts';
import {
  addColumns,
  fillColumns,
  lacking,
  namesWith,
  OWN_COLUMNS_SQL,
  readColumns,
  structureWith,
  type OwnColumn,
} from '../own-columns.ts';
import { alignSettings, createTable, datasetOfTable, timeLiteral } from '../tables.ts';
import { extentOf, Extents, extentSql, MEMORY_SQL, memoryOf, storageOf, storageSql } from '../statistics.ts';
import { literal, runOn, Sessions } from './sessions.ts';
import { readResult } from '../wire.ts';

/**
 * Look for background work more often: by default the engine waits up to a second at random, and a delete, done part by part in the background,
 * took 3 s on 20 parts instead of 0.1 s. Its caches would take gigabytes, and so would its work if it were to keep to the machine's memory.
 */
const serverConfig = (memoryBytes = 0): string => {
  const settings = {
    background_processing_pool_task_sleep_seconds_when_no_work_random_part: 0.01,
    background_processing_pool_thread_sleep_seconds_if_nothing_to_do: 0.02,
    ...(memoryBytes > 0 && {
      max_server_memory_usage: memoryBytes,
      merges_mutations_memory_usage_soft_limit: Math.floor(memoryBytes / 4),
      ...Object.fromEntries(CACHES.map((name) => [name, Math.floor(memoryBytes / 40)])),
    }),
  };
  const lines = Object.entries(settings).map(([name, value]) => `  <${name}>${value}</${name}>\n`);
  return `<clickhouse>\n${lines.join('')}</clickhouse>\n`;
};
const CACHES = [
  'mark_cache_size',
  'index_mark_cache_size',
  'primary_index_cache_size',
  'query_condition_cache_size',
  'compiled_expression_cache_size',
] as const;
/** Below this the allocator gives memory back at once, which costs ingest 40 % more CPU. */
const SCARCE_BYTES = 2 * 1024 ** 3;
/**
 * Its allocator gives back free memory within a moment. By default it keeps it for seconds, and for longer where the engine is idle:
 * hostile queries took the process to 2.3 GB while the engine counted less than 1.
 */
const allocatorFor = (memoryBytes: number): string =>
  `dirty_decay_ms:${memoryBytes < SCARCE_BYTES ? 0 : 100},muzzy_decay_ms:0`;
const INSERT_SETTINGS = 'max_threads = 1, max_insert_threads = 1, max_partitions_per_insert_block = 0';

/** The last row read while reading a table in its order. */
export interface TableMark {
  readonly timeNs: string;
  readonly rowId: string;
}

export interface EmbeddedEngine extends Engine {
  /** The next `limit` rows of a table after a mark, as a block of the Native format; undefined at the end. */
  readAfter(
    table: string,
    mark: TableMark | undefined,
    limit: number,
    own: readonly OwnColumn[],
  ): Promise<{ block: Buffer; rows: number; mark: TableMark } | undefined>;
}

/** Opens the engine's data under `dataDir`. Throws a `TailraceError` when chDB is not installed or cannot open the folder. */
export async function openChdb(dataDir: string, { limits, memoryBytes, sync }: EngineOptions): Promise<EmbeddedEngine> {
  const { Session, drainPending } = await load(memoryBytes ?? Infinity);
  if (/[*?{}]/.test(dataDir))
    throw new TailraceError('E_DATA_DIR', `the data folder ${dataDir} has one of * ? { } in its path`, {
      fix: 'choose another folder with --data',
    });
  const inbox = join(dataDir, 'inbox');
  mkdirSync(inbox, { recursive: true });
  for (const name of readdirSync(inbox)) rmSync(join(inbox, name), { force: true });

  const config = join(dataDir, 'engine.xml');
  writeFileSync(config, serverConfig(memoryBytes));
  const open = (): Session => openSession(Session, join(dataDir, 'engine'), config);
  const session = open();
  const queriesAtOnce = selectsAtOnce();
  const selects = new Sessions(open, queriesAtOnce);
  // Statements of the service's own: short ones, that no query may hold up.
  const asking = open();
  const asks = new PQueue({ concurrency: 1 });
  let files = 0;

  // This process alone writes to the folder.
  const extents = new Extents();

  const inserts = insertGroups(async ({ table, blocks, token, own, extents: stored }) => {
    const file = join(inbox, `${files++}.native`);
    const insert = `insert into ${table} (${namesWith(own)}) select * from file(${literal(file)}, 'Native', ${literal(structureWith(own))}) settings ${INSERT_SETTINGS}, insert_deduplication_token = ${literal(token)}`;
    try {
      for (const block of blocks) appendFileSync(file, block);
      await extents.storing(table, stored, () => runOn(session, insert));
    } finally {
      rmSync(file, { force: true });
    }
  });
  const run = (sql: string): Promise<void> =>
    untilMemory(() => inserts.between(async () => void (await runOn(session, sql))));

  /** The returned function tells whether nothing but one query has run since. */
  const alone = (): (() => Promise<boolean>) => {
    const isIdle = inserts.isIdle() && selects.counts.running === 0;
    const [ended, { begun }] = [inserts.ended(), selects.counts];
    return async () =>
      isIdle &&
      inserts.isIdle() &&
      inserts.ended() === ended &&
      selects.counts.begun <= begun + 1 &&
      Number((await ask(OTHER_WORK_SQL))[0]?.[0]) === 0;
  };
  // The package reports the rows of the result as rows read; the format's own statistics have the true count.
  const query = async (
    sql: string,
    params: Readonly<Record<string, Param>> = {},
    options: EngineQueryOptions = {},
  ): Promise<EngineResult> => {
    const wasAlone = alone();
    try {
      const settings = { ...querySettings(limits), ...optionSettings(options) };
      return readResult(textOf(await selects.select({ sql, params, settings, signal: options.signal })), limits);
    } catch (error) {
      if (isOutOfMemory(error)) throw outOfMemory(await wasAlone());
      throw refusal(error, limits) ?? error;
    }
  };

  const ask = (sql: string): Promise<readonly (readonly Cell[])[]> =>
    untilMemory(() =>
      asks.add(async () => [
        ...readResult(textOf(await runOn(asking, `${sql} ${settingsClause(FORMAT_SETTINGS)}`, 'JSONCompact'))).rows,
      ]),
    );
  const listTables = async (): Promise<(readonly Cell[])[]> => {
    const rows = await ask('select name, engine_full from system.tables where database = currentDatabase()');
    return rows.filter(([name]) => datasetOfTable(String(name)) !== undefined);
  };
  const close = async (): Promise<void> => {
    await Promise.all([inserts.idle(), selects.close(), asks.onIdle()]);
    await drainPending();
    asking.close();
    session.close();
  };
  try {
    for (const [table, made] of await listTables()) {
      const change = alignSettings(String(table), String(made), sync);
      if (change !== undefined) await run(change);
    }
  } catch (error) {
    await close();
    throw error;
  }

  return {
    name: 'embedded',
    queriesAtOnce,
    tables: async () => (await listTables()).map(([name]) => String(name)),
    createTable: (table) => run(createTable(table, sync)),
    async dropTable(table) {
      await run(`drop table if exists ${table} sync`);
      extents.forget(table);
    },
    query,
    ask,
    insert: (table, block, token, _key, own, extent) => inserts.add(table, block, token, own, extent),
    extent: async (table) =>
      extents.get(table) ??
      inserts.between(async () => extents.get(table) ?? extents.put(table, extentOf(await ask(extentSql(table))))),
    knownExtent: (table) => extents.get(table),
    ownColumns: async () => readColumns(await ask(OWN_COLUMNS_SQL)),
    async addColumns(table, columns) {
      const known = readColumns(await ask(OWN_COLUMNS_SQL)).get(table) ?? [];
      const added = lacking(known, columns);
      if (added.length === 0) return;
      await run(addColumns(table, known, added));
      await run(fillColumns(table, added));
    },
    // An insert ends with its call, or with the process.
    quiesce: () => Promise.resolve(),
    deleteRows: (table, condition) =>
      inserts.between(async () => {
        const [counted] = await ask(`select count() from ${table} where ${condition}`);
        const count = Number(counted?.[0]);
        if (count === 0) return 0;
        try {
          await untilMemory(() => runOn(session, `delete from ${table} where ${condition}`));
        } finally {
          extents.forget(table);
        }
        return count;
      }),
    reclaim: (table) => run(`alter table ${table} apply deleted mask`),
    storage: async (table) => storageOf([await ask(storageSql(table))]),
    memoryBytes: async () => memoryOf([await ask(MEMORY_SQL)]),
    // It is in this process.
    checkReady: () => Promise.resolve(),
    async readAfter(table, mark, limit, own) {
      const page = `from ${table} ${mark ? `where ${rowsAfter(mark)}` : ''} order by _time, _rowId limit ${limit}`;
      const [last] = await ask(
        `select count(), toUnixTimestamp64Nano(argMax(_time, (_time, _rowId))), argMax(_rowId, (_time, _rowId)) from (select _time, _rowId ${page})`,
      );
      const rows = Number(last?.[0]);
      if (rows === 0) return undefined;
      const result = await runOn(session, `select ${namesWith(own)} ${page}`, 'Native');
      return {
        block: Buffer.from(result.bytes()),
        rows,
        mark: { timeNs: String(last?.[1]), rowId: String(last?.[2]) },
      };
    },
    close,
  };
}

/** The condition for the rows after a mark, in the table's order. */
export const rowsAfter = ({ timeNs, rowId }: TableMark): string =>
  `_time >= ${timeLiteral(BigInt(timeNs))} and (_time > ${timeLiteral(BigInt(timeNs))} or _rowId > ${BigInt(rowId)})`;

/** As many as the threads of the process allow: four, unless it was begun with others. */
const selectsAtOnce = (): number =>
  Math.max(1, Math.min(SERVICE_EMBEDDED_SELECTS, Number(process.env['UV_THREADPOOL_SIZE'] ?? 4) - SERVICE_OWN_THREADS));

const textOf = (result: Chdb.ChdbResult): Buffer => {
  const { buffer, byteOffset, byteLength } = result.bytes();
  return Buffer.from(buffer, byteOffset, byteLength);
};

async function load(memoryBytes: number): Promise<Pick<typeof Chdb, 'Session' | 'drainPending'>> {
  // Read when the library is loaded.
  process.env['JE_MALLOC_CONF'] ??= allocatorFor(memoryBytes);
  try {
    return loadInstalled(process.env) ?? (isSea() ? undefined : await import('chdb')) ?? missing();
  } catch (cause) {
    if (cause instanceof TailraceError) throw cause;
    throw new TailraceError('E_ENGINE_MISSING', `the embedded engine cannot be loaded: ${messageOf(cause)}`, {
      fix: howToInstall(),
      cause,
    });
  }
}

function missing(): never {
  throw new TailraceError('E_ENGINE_MISSING', 'the embedded engine is not installed', { fix: howToInstall() });
}

/** Signals that the engine takes. Its handler waits for a thread that runs only in a server, so that an abort never came to its end. */
const ENGINE_SIGNALS = ['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGSYS', 'SIGTRAP', 'SIGTSTP'] as const;

/** Each does again what the system does by default: Node restores that with the last listener. */
function restoreSignals(): void {
  const listener = (): void => undefined;
  for (const signal of ENGINE_SIGNALS) process.on(signal, listener).removeListener(signal, listener);
}

function openSession(SessionClass: typeof Session, path: string, config: string): Session {
  let session: Session | undefined;
  try {
    session = new SessionClass(path, { connectionArgs: [`--config-file=${config}`] });
    // Also opens it.
    session.query(`set max_query_size = ${SERVICE_STATEMENT_BYTES}`);
    restoreSignals();
    return session;
  } catch (cause) {
    session?.close();
    const fix =
      codeOf(cause) === 'CHDB_CONNECTION'
        ? 'check that no other process uses the folder and that it can be written'
        : 'see the message above';
    throw new TailraceError('E_ENGINE', `the engine cannot open ${path}: ${messageOf(cause).trim()}`, { fix, cause });
  }
}
