/** One ClickHouse server over HTTP, by its own client: statements, selects and inserts, and what its failures mean. */
import { createClient, ClickHouseLogLevel, type ClickHouseSettings } from '@clickhouse/client';
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { codeOf, messageOf } from '../../core/errors.ts';
import { hideSecretsIn } from '../../core/text/hide-secrets.ts';
import {
  SERVICE_ENGINE_CONNECTIONS,
  SERVICE_INSERT_SECONDS,
  SERVICE_PING_MS,
  SERVICE_SILENCE_MS,
  SERVICE_STATEMENT_SECONDS,
} from '../limits.ts';
import { ApiError } from '../http/api-error.ts';
import type { Cell, EngineResult, Param, QueryLimits } from './engine.ts';
import type { Insert } from './insert-groups.ts';
import { namesWith, OWN_COLUMN_SETTINGS } from './own-columns.ts';
import { FORMAT_SETTINGS } from './settings.ts';
import { readRows, wellFormed } from './wire.ts';

export interface ShardAddress {
  readonly host: string;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** What one query may take. */
  readonly querySeconds?: number;
  /** What one result may have; without it, anything. */
  readonly limits?: QueryLimits;
}

export type Shard = ReturnType<typeof openShard>;

type Params = Readonly<Record<string, Param>>;

/** Pause between two checks whether a query has ended. */
const LOOK_MS = 50;
/** Codes of the engine: it cannot reach another server (unknown name, no answer, closed connection). */
const OTHER_AWAY = new Set(['198', '209', '210', '279', '394']);
/** The connection ended in the middle of a reply. Elsewhere the same code means damaged data. */
const CUT_OFF = '32';
/** Too many queries, or no free connection to another server. */
const BUSY = new Set(['202', '203']);
/** A table or database is missing: the server came back without its disk. The next start of the service creates them. */
const EMPTY = new Set(['60', '81']);

/** All that it returns but `close` throws an `ApiError` 503 when the server is away. */
export function openShard({ host, user, password, database, querySeconds = 0, limits }: ShardAddress) {
  const client = createClient({
    url: host,
    username: user,
    password,
    database,
    application: 'tailrace',
    request_timeout: Math.max(SERVICE_STATEMENT_SECONDS, querySeconds + SERVICE_INSERT_SECONDS) * 1000,
    max_open_connections: SERVICE_ENGINE_CONNECTIONS,
    keep_alive: { enabled: true, idle_socket_ttl: 1500, eagerly_destroy_stale_sockets: true },
    log: { level: ClickHouseLogLevel.OFF },
    use_multipart_params_auto: true,
  });
  /** Do not ask a server that timed out until then: requests would pile up behind it and block others. */
  let silentUntil = 0;
  /** Throws when it timed out shortly before, without asking it. */
  const checkAnswers = (): void => {
    if (performance.now() < silentUntil) throw silent(host);
  };
  const ask = async <T>(work: (signal: AbortSignal | undefined) => Promise<T>, withinMs?: number): Promise<T> => {
    checkAnswers();
    const deadline = withinMs === undefined ? undefined : AbortSignal.timeout(withinMs);
    try {
      return await work(deadline);
    } catch (error) {
      // A server, or a proxy before it, may repeat what it was sent.
      if (error instanceof Error) error.message = hideSecretsIn(error.message, [password, `${user}:${password}`]);
      if (deadline?.aborted !== true && !/timeout error/i.test(messageOf(error))) throw away(error, host) ?? error;
      silentUntil = performance.now() + SERVICE_SILENCE_MS;
      throw silent(host);
    }
  };
  const read = async (
    sql: string,
    params: Params,
    settings: ClickHouseSettings,
    signal: AbortSignal | undefined,
    queryId?: string,
  ) => {
    const result = await client.query({
      query: sql,
      query_params: wellFormed(params),
      format: 'JSONCompactEachRow',
      // Send nothing before the whole result is known: then a failure has its status, and the summary is complete.
      clickhouse_settings: {
        ...FORMAT_SETTINGS,
        ...settings,
        wait_end_of_query: 1,
        cancel_http_readonly_queries_on_client_close: 1,
      },
      ...(signal && { abort_signal: signal }),
      ...(queryId !== undefined && { query_id: queryId }),
    });
    const text = await result.text();
    return { rows: readRows(Buffer.from(text), limits), ...readCost(result.response_headers['x-clickhouse-summary']) };
  };
  /** With the signal the request ends, and the query with it. */
  const select = (
    sql: string,
    params: Params,
    settings: ClickHouseSettings,
    signal?: AbortSignal,
  ): Promise<EngineResult> => {
    const queryId = randomUUID();
    // A server that is busy sees late that the connection was closed.
    const kill = (): void =>
      void client.command({ query: `kill query where query_id = '${queryId}' async` }).catch(() => undefined);
    signal?.addEventListener('abort', kill, { once: true });
    return ask(() => read(sql, params, settings, signal, queryId)).finally(() =>
      signal?.removeEventListener('abort', kill),
    );
  };
  /** The rows of a small select. */
  const askRows = async (sql: string, params: Params = {}) => [...(await select(sql, params, {})).rows] as Cell[][];

  return {
    host,
    run: (sql: string, settings: ClickHouseSettings = {}): Promise<void> =>
      ask(
        async () =>
          void (await client.command({ query: sql, clickhouse_settings: { ...OWN_COLUMN_SETTINGS, ...settings } })),
      ),
    select,
    ask: askRows,
    insert: ({ table, blocks, own }: Insert, queryId: string, settings: ClickHouseSettings): Promise<void> =>
      ask(async (signal) => {
        const { stream } = await client.exec({
          query: `insert into ${table} (${namesWith(own)}) format Native`,
          values: Readable.from(blocks, { objectMode: false }),
          query_id: queryId,
          clickhouse_settings: settings,
          ...(signal && { abort_signal: signal }),
        });
        for await (const _ of stream); // The reply ends when the insert has.
      }, SERVICE_INSERT_SECONDS * 1000),
    /** Ends the queries that the condition on system.processes names, and resolves when none runs. */
    async quiesce(condition: string, params: Params): Promise<void> {
      for (;;) {
        const rows = await askRows(`select count() from system.processes where ${condition}`, params);
        if (Number(rows[0]?.[0]) === 0) return;
        await select(`kill query where ${condition} async`, params, {});
        await wait(LOOK_MS);
      }
    },
    /** Whether it answers now. */
    ping: async (): Promise<void> => void (await ask((signal) => read('select 1', {}, {}, signal), SERVICE_PING_MS)),
    checkAnswers,
    close: () => client.close(),
  };
}

const LATER = { 'Retry-After': '5' };

const silent = (host: string): ApiError => new ApiError(503, `the engine at ${host} does not answer`, LATER);

/** A 503 for a server that cannot be reached from here or from another one, so that clients retry. */
function away(error: unknown, host: string): ApiError | undefined {
  const code = codeOf(error);
  const reason = messageOf(error).slice(0, 200).trim();
  if (OTHER_AWAY.has(code) || (code === CUT_OFF && /receiving packet/i.test(messageOf(error))))
    return new ApiError(503, `the engine at ${host} cannot reach another of its servers: ${reason}`, LATER);
  if (EMPTY.has(code))
    return new ApiError(
      503,
      `the engine at ${host} lacks tables that it had: check that its disk is there, then start the service again`,
      LATER,
    );
  // A crashing server answers only with this for a while.
  const isNetwork =
    /^E[A-Z]{3,}$|^UND_|^ERR_(?:SOCKET|STREAM)/.test(code) || /socket hang up|server is shutting down/i.test(reason);
  if (!isNetwork && !BUSY.has(code)) return undefined;
  return new ApiError(503, `the engine at ${host} cannot be reached: ${reason}`, LATER);
}

function readCost(summary: string | string[] | undefined): Pick<EngineResult, 'rowsRead' | 'bytesRead'> {
  if (typeof summary !== 'string') return { rowsRead: 0, bytesRead: 0 };
  const { read_rows: rows = 0, read_bytes: bytes = 0 } = JSON.parse(summary) as {
    read_rows?: string;
    read_bytes?: string;
  };
  return { rowsRead: Number(rows), bytesRead: Number(bytes) };
}
