/** One ClickHouse server over HTTP, by its own client: statements, selects and inserts, and what its failures mean. */
import { createClient, ClickHouseLogLevel, type ClickHouseSettings } from '@clickhouse/client';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { codeOf, messageOf } from '../../core/errors.ts';
import { SERVICE_ENGINE_CONNECTIONS, SERVICE_INSERT_SECONDS } from '../../core/limits.ts';
import { ApiError } from '../http/api-error.ts';
import type { Param, QueryResult } from './engine.ts';
import { FORMAT_SETTINGS } from './settings.ts';
import { readRows, wellFormed } from './wire.ts';

export interface ShardAddress {
  readonly host: string;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

export interface Shard {
  readonly host: string;
  run(sql: string, settings?: ClickHouseSettings): Promise<void>;
  /** With the signal the request ends, and the query with it. */
  select(sql: string, params: Readonly<Record<string, Param>>, settings: ClickHouseSettings, signal?: AbortSignal): Promise<QueryResult>;
  /** Blocks of the Native format, as one insert under this query id. */
  insert(table: string, blocks: readonly Buffer[], queryId: string, settings: ClickHouseSettings): Promise<void>;
  /** Ends the queries that the condition on system.processes names, and resolves when none runs. */
  quiesce(condition: string, params: Readonly<Record<string, Param>>): Promise<void>;
  close(): Promise<void>;
}

/** Pause between two looks at whether a query has ended. */
const LOOK_MS = 50;
/** The engine's own codes for a server that another cannot reach, or that takes no more work. */
const AWAY = new Set(['202', '209', '210', '279', '394']);

export function openShard({ host, user, password, database }: ShardAddress): Shard {
  const client = createClient({
    url: host,
    username: user,
    password,
    database,
    application: 'tailrace',
    request_timeout: SERVICE_INSERT_SECONDS * 1000,
    max_open_connections: SERVICE_ENGINE_CONNECTIONS,
    keep_alive: { enabled: true, idle_socket_ttl: 1500, eagerly_destroy_stale_sockets: true },
    log: { level: ClickHouseLogLevel.OFF },
    use_multipart_params_auto: true,
  });
  const select: Shard['select'] = async (sql, params, settings, signal) => {
    try {
      const result = await client.query({
        query: sql,
        query_params: wellFormed(params),
        format: 'JSONCompactEachRow',
        // The whole result before its first byte: a failure is then a failure, and the summary is complete.
        clickhouse_settings: { ...FORMAT_SETTINGS, ...settings, wait_end_of_query: 1, cancel_http_readonly_queries_on_client_close: 1 },
        ...(signal && { abort_signal: signal }),
      });
      const text = await result.text();
      return { rows: readRows(text), rowsRead: rowsRead(result.response_headers['x-clickhouse-summary']) };
    } catch (error) {
      throw away(error, host) ?? error;
    }
  };

  return {
    host,
    async run(sql, settings = {}) {
      try {
        await client.command({ query: sql, clickhouse_settings: settings });
      } catch (error) {
        throw away(error, host) ?? error;
      }
    },
    select,
    async insert(table, blocks, queryId, settings) {
      const { stream } = await client.exec({
        query: `insert into ${table} format Native`,
        values: Readable.from(blocks, { objectMode: false }),
        query_id: queryId,
        clickhouse_settings: settings,
      });
      for await (const _ of stream); // The reply ends when the insert has.
    },
    async quiesce(condition, params) {
      for (;;) {
        const { rows } = await select(`select count() from system.processes where ${condition}`, params, {});
        if (Number(rows[0]?.[0]) === 0) return;
        await select(`kill query where ${condition} async`, params, {});
        await wait(LOOK_MS);
      }
    },
    close: () => client.close(),
  };
}

/** A server that cannot be reached is a 503, so that clients come again. */
function away(error: unknown, host: string): ApiError | undefined {
  const code = codeOf(error);
  const isNetwork = /^E[A-Z]{3,}$|^UND_|^ERR_(?:SOCKET|STREAM)/.test(code) || /timeout error|socket hang up/i.test(messageOf(error));
  if (!isNetwork && !AWAY.has(code)) return undefined;
  return new ApiError(503, `the engine at ${host} cannot be reached: ${messageOf(error).slice(0, 200)}`, { 'Retry-After': '5' });
}

function rowsRead(summary: string | string[] | undefined): number {
  if (typeof summary !== 'string') return 0;
  return Number((JSON.parse(summary) as { read_rows?: string }).read_rows ?? 0);
}
