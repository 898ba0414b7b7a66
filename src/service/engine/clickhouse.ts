/**
 * The engine on a ClickHouse server, or on the shards of a cluster. On a cluster each shard has the local table `ds_1_shard` and a Distributed
 * table `ds_1` over all of them, so that a select is the same text as on one server. Inserts go to one shard's local table directly, chosen by
 * the key; statements that change tables are run on each shard.
 */
import { crc32 } from 'node:zlib';
import PQueue from 'p-queue';
import { messageOf, TailraceError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { SERVICE_SELECTS_IN_FLIGHT } from '../limits.ts';
import { prepareDatabase } from './clickhouse-setup.ts';
import type { ClickhouseAddress } from './clickhouse-url.ts';
import type { Engine, EngineOptions, EngineQueryOptions, EngineResult, Extent } from './engine.ts';
import { insertGroups } from './insert-groups.ts';
import {
  isOutOfMemory,
  isOverTime,
  optionSettings,
  OTHER_WORK_SQL,
  outOfMemory,
  querySettings,
  refusal,
} from './settings.ts';
import { openShard, type Shard } from './shard.ts';
import { extentOf, extentSql, MEMORY_SQL, memoryOf, storageOf, storageSql } from './statistics.ts';
import { addColumns, fillColumns, lacking, OWN_COLUMNS_SQL, readColumns, type OwnColumn } from './own-columns.ts';
import { alignSettings, createTable, datasetOfTable } from './tables.ts';

const INSERT_SETTINGS = { max_insert_threads: '1', max_partitions_per_insert_block: '0', async_insert: 0 } as const;

/** `instance` is the data folder's own id: it marks the database as the folder's. Throws a `TailraceError`. */
export async function openClickhouse(
  address: ClickhouseAddress,
  instance: string,
  options: EngineOptions,
  log: Log,
): Promise<Engine> {
  const { limits, sync } = options;
  const { hosts, knows } = await prepareDatabase(address, instance);
  const shards = hosts.map((host) => openShard({ ...address, host, querySeconds: limits.seconds, limits }));
  const local = (table: string): string => (address.cluster === '' ? table : `${table}_shard`);
  const isOurs = `startsWith(query_id, {prefix:String})`;
  const prefix = `tailrace-${instance}-`;

  /** Ids of inserts that failed and may still run on their shard. */
  const uncertain = new Map<Shard, Set<string>>(shards.map((shard) => [shard, new Set()]));
  const inserts = new Map(
    shards.map((shard) => [
      shard,
      insertGroups(async (insert) => {
        const { table, token } = insert;
        const queryId = `${prefix}${token}`;
        try {
          await shard.insert({ ...insert, table: local(table) }, queryId, {
            ...INSERT_SETTINGS,
            insert_deduplication_token: token,
          });
        } catch (error) {
          uncertain.get(shard)!.add(queryId);
          throw error;
        }
      }),
    ]),
  );
  const selects = new PQueue({ concurrency: SERVICE_SELECTS_IN_FLIGHT });
  const lastRead = new Map<string, Extent>();
  const settings = {
    ...querySettings(limits),
    ...(address.cluster !== '' && { distributed_product_mode: 'global' as const }),
  };
  const [first] = shards as [Shard];

  const onEach = async <T>(work: (shard: Shard) => Promise<T>): Promise<T[]> => Promise.all(shards.map(work));
  const query = async (sql: string, params = {}, options: EngineQueryOptions = {}): Promise<EngineResult> => {
    for (const shard of shards) shard.checkAnswers();
    try {
      return await first.select(sql, params, { ...settings, ...optionSettings(options) }, options.signal);
    } catch (error) {
      if (isOutOfMemory(error))
        throw outOfMemory(
          (await onEach((shard) => shard.ask(OTHER_WORK_SQL))).every(([row]) => Number(row?.[0]) === 0),
        );
      const refused = refusal(error, limits);
      // A server that hangs looks like a query that takes too long.
      if (refused && isOverTime(error)) await onEach((shard) => shard.ping());
      throw refused ?? error;
    }
  };
  const make = (table: string): Promise<unknown> =>
    onEach(async (shard) => {
      await shard.run(createTable(local(table), sync, knows));
      if (address.cluster === '') return;
      const { cluster, database } = address;
      await shard.run(
        `create table if not exists ${table} as ${local(table)} engine = Distributed('${cluster}', '${database}', '${local(table)}')`,
      );
    });
  const quiesce = async (): Promise<void> => {
    await onEach(async (shard) => {
      const ids = uncertain.get(shard)!;
      if (ids.size === 0) return;
      const now = [...ids];
      await shard.quiesce('query_id in {ids:Array(String)}', { ids: now });
      for (const id of now) ids.delete(id);
    });
  };

  try {
    // Wait for inserts of an earlier process before anything is counted.
    await onEach((shard) => shard.quiesce(isOurs, { prefix }));
    await align(shards, local, make, (table, made) => alignSettings(table, made, sync, knows));
    for (const [table, columns] of await ownColumns(shards, local)) await putColumns(shards, local, table, columns);
  } catch (cause) {
    await onEach((shard) => shard.close());
    throw new TailraceError('E_ENGINE', `the engine cannot be set up: ${messageOf(cause)}`, {
      fix: 'check that every shard can be reached and that the user may create tables',
      cause,
    });
  }
  const name = `clickhouse, ${hosts.join(', ')}, database ${address.database}`;
  log.info({ shards: shards.length, database: address.database }, 'the engine is ready');

  return {
    name,
    queriesAtOnce: SERVICE_SELECTS_IN_FLIGHT,
    tables: async () => [
      ...new Set((await onEach((shard) => localTables(shard, local))).flat().map(([table]) => table)),
    ],
    createTable: async (table) => void (await make(table)),
    dropTable: async (table) => {
      if (address.cluster !== '') await onEach((shard) => shard.run(`drop table if exists ${table} sync`));
      await onEach((shard) => shard.run(`drop table if exists ${local(table)} sync`));
      lastRead.delete(table);
    },
    query: (sql, params, options) =>
      selects.add(() => query(sql, params, options), { ...(options?.signal && { signal: options.signal }) }),
    ask: (sql) => selects.add(() => first.ask(sql)),
    // Another program may write to the servers.
    async extent(table, options) {
      const read = (): Promise<EngineResult> => query(extentSql(table), {}, options);
      const extent = extentOf([
        ...(await selects.add(read, { ...(options?.signal && { signal: options.signal }) })).rows,
      ]);
      lastRead.set(table, extent);
      return extent;
    },
    knownExtent: (table) => lastRead.get(table),
    ownColumns: () => ownColumns(shards, local),
    addColumns: (table, columns) => putColumns(shards, local, table, columns),
    insert(table, block, token, key, own) {
      const shard = shards[crc32(key) % shards.length]!;
      return inserts.get(shard)!.add(table, block, token, own);
    },
    quiesce,
    async deleteRows(table, condition) {
      // Begin no delete that a shard could not finish: its count would be lost.
      await onEach((shard) => shard.ping());
      const counts = await onEach((shard) =>
        inserts.get(shard)!.between(async () => {
          const rows = await shard.ask(`select count() from ${local(table)} where ${condition}`);
          const count = Number(rows[0]?.[0]);
          if (count > 0)
            await shard.run(`delete from ${local(table)} where ${condition}`, { lightweight_deletes_sync: '2' });
          return count;
        }),
      );
      return counts.reduce((sum, count) => sum + count, 0);
    },
    reclaim: async (table) =>
      void (await onEach((shard) => shard.run(`alter table ${local(table)} apply deleted mask`))),
    storage: async (table) => storageOf(await onEach(async (shard) => shard.ask(storageSql(local(table))))),
    memoryBytes: async () => memoryOf(await onEach(async (shard) => shard.ask(MEMORY_SQL))),
    checkReady: async () => void (await onEach((shard) => shard.ping())),
    async close() {
      await Promise.all([...[...inserts.values()].map((groups) => groups.idle()), selects.onIdle()]);
      await onEach((shard) => shard.close());
    },
  };
}

/** The local tables of a shard: the dataset's table, and the text that created it. */
async function localTables(shard: Shard, local: (table: string) => string): Promise<[table: string, made: string][]> {
  const rows = await shard.ask('select name, engine_full from system.tables where database = currentDatabase()');
  return rows.flatMap<[string, string]>(([name, made]) => {
    const table = String(name).replace(/_shard$/, '');
    return datasetOfTable(table) !== undefined && local(table) === name ? [[table, String(made)]] : [];
  });
}

/** By dataset's table, the own columns that any shard has. */
async function ownColumns(
  shards: readonly Shard[],
  local: (table: string) => string,
): Promise<Map<string, OwnColumn[]>> {
  const found = new Map<string, OwnColumn[]>();
  for (const shard of shards)
    for (const [name, columns] of readColumns(await shard.ask(OWN_COLUMNS_SQL))) {
      const table = name.replace(/_shard$/, '');
      if (datasetOfTable(table) === undefined || local(table) !== name) continue;
      const known = found.get(table) ?? [];
      found.set(table, [...known, ...lacking(known, columns)]);
    }
  return found;
}

/** Adds these own columns on every shard that lacks them, as one may be new or have been away. The table over all shards comes last. */
async function putColumns(
  shards: readonly Shard[],
  local: (table: string) => string,
  table: string,
  columns: readonly OwnColumn[],
): Promise<void> {
  for (const name of new Set([local(table), table]))
    await Promise.all(
      shards.map(async (shard) => {
        const known = readColumns(await shard.ask(OWN_COLUMNS_SQL)).get(name) ?? [];
        const added = lacking(known, columns);
        if (added.length === 0) return;
        await shard.run(addColumns(name, known, added, name !== local(table)));
        if (name === local(table)) await shard.run(fillColumns(name, added));
      }),
    );
}

/** Creates tables that a new shard lacks, and sets settings that differ. */
async function align(
  shards: readonly Shard[],
  local: (table: string) => string,
  make: (table: string) => Promise<unknown>,
  change: (table: string, made: string) => string | undefined,
): Promise<void> {
  const all = await Promise.all(shards.map((shard) => localTables(shard, local)));
  for (const table of new Set(all.flat().map(([name]) => name)))
    if (!all.every((tables) => tables.some(([name]) => name === table))) await make(table);
  for (const [n, tables] of all.entries())
    for (const [table, made] of tables) {
      const statement = change(local(table), made);
      if (statement !== undefined) await shards[n]!.run(statement);
    }
}
