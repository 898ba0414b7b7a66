/**
 * Prepares a ClickHouse server or cluster: creates the database, marks it as this data folder's, and finds the shards. It refuses a database with
 * another folder's mark, or with datasets and no mark: two services would mix their events.
 */
import { messageOf, TailraceError } from '../../core/errors.ts';
import type { ClickhouseAddress } from './clickhouse-url.ts';
import { openShard, type Shard } from './shard.ts';
import { datasetOfTable, TABLE_SETTINGS } from './tables.ts';

export interface Prepared {
  /** Base address of each shard. */
  readonly hosts: readonly string[];
  /** Whether the servers' version has a setting of tables. */
  readonly knows: (setting: string) => boolean;
}

/** An empty table whose comment is the mark. */
const MARK = 'tailrace_owner';

/** Throws a `TailraceError`. */
export async function prepareDatabase(address: ClickhouseAddress, instance: string): Promise<Prepared> {
  const first = address.hosts[0]!;
  try {
    const hosts = await inDatabase(address, first, 'system', (shard) => findShards(shard, address));
    for (const host of hosts) {
      await inDatabase(address, host, 'system', (shard) =>
        shard.run(`create database if not exists ${address.database}`),
      );
      await inDatabase(address, host, address.database, (shard) => mark(shard, address.database, instance));
    }
    const known = await inDatabase(address, first, 'system', async (shard) => {
      const rows = await shard.ask('select name from system.merge_tree_settings where name in {names:Array(String)}', {
        names: TABLE_SETTINGS,
      });
      return new Set(rows.map(([name]) => name));
    });
    return { hosts, knows: (setting) => known.has(setting) };
  } catch (cause) {
    if (cause instanceof TailraceError && cause.fix !== undefined) throw cause;
    throw new TailraceError(
      'E_ENGINE',
      `the ClickHouse engine at ${address.hosts.join(', ')} cannot be used: ${messageOf(cause).trim()}`,
      {
        fix: 'check that the servers run, that the HTTP port is right, and that the user may create databases and tables',
        cause,
      },
    );
  }
}

async function inDatabase<T>(
  address: ClickhouseAddress,
  host: string,
  database: string,
  work: (shard: Shard) => Promise<T>,
): Promise<T> {
  const shard = openShard({ ...address, host, database });
  try {
    return await work(shard);
  } finally {
    await shard.close();
  }
}

/** With one host given, the others are found by their names in the cluster, at the same port. */
async function findShards(shard: Shard, { hosts, cluster }: ClickhouseAddress): Promise<readonly string[]> {
  if (cluster === '') return hosts;
  const rows = await shard.ask(
    'select shard_num, any(host_name) from system.clusters where cluster = {cluster:String} group by shard_num order by shard_num',
    { cluster },
  );
  if (rows.length === 0)
    throw new TailraceError('E_ENGINE', `the server knows no cluster ${JSON.stringify(cluster)}`, {
      fix: 'see remote_servers in its configuration, or select cluster from system.clusters',
    });
  if (hosts.length === 1) {
    const url = new URL(hosts[0]!);
    return rows.map(([, name]) => `${url.protocol}//${String(name)}:${url.port}`);
  }
  if (hosts.length !== rows.length)
    throw new TailraceError(
      'E_ENGINE',
      `the cluster ${cluster} has ${rows.length} shards, and ${hosts.length} hosts are given`,
      {
        fix: 'give one host of each shard, or one host alone when all use the same port',
      },
    );
  return hosts;
}

async function mark(shard: Shard, database: string, instance: string): Promise<void> {
  const rows = await shard.ask('select name, comment from system.tables where database = currentDatabase()');
  const owner = rows.find(([name]) => name === MARK)?.[1];
  if (owner === instance) return;
  if (owner !== undefined || rows.some(([name]) => datasetOfTable(String(name).replace(/_shard$/, '')) !== undefined))
    throw new TailraceError(
      'E_ENGINE',
      `the database ${database} at ${shard.host} holds the events of another data folder`,
      {
        fix: 'use the folder that belongs to it, or another database',
      },
    );
  await shard.run(`create table ${MARK} (nothing UInt8) engine = MergeTree order by tuple() comment '${instance}'`);
}
