/** A real service for a test file, and plain HTTP to it. One engine start costs a second and 250 MB: share it within a file. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { type Log, silentLog } from '../../src/core/log.ts';
import { startService, type Service, type ServiceOptions } from '../../src/service/run/service.ts';
import { openApiCheck, type OpenApiDocument, type ReplyCheck } from './openapi-check.ts';
import { startClickhouse, type ClickhouseCluster } from '../support/clickhouse.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; an empty object for an empty one. */
  readonly json: Record<string, unknown>;
}

export interface Client {
  readonly url: string;
  readonly apiToken: string;
  readonly personalToken: string;
  readonly orgId: string;
  /** One request. `token: ''` sends none; the API token is the default. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** NDJSON of the events (or any body) to a dataset; the reply must be a 200. */
  ingest(dataset: string, body: string | readonly object[], options?: CallOptions): Promise<Answer>;
  query(dataset: string, body?: object): Promise<QueryAnswer>;
  createDataset(name: string): Promise<void>;
}

export interface CallOptions {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | object;
}

export interface QueryAnswer {
  readonly matches: readonly { _time: string; _sysTime: string; _rowId: string; data: Record<string, unknown> }[];
  readonly buckets: { series: readonly Bucket[]; totals: readonly Group[] };
  readonly fieldsMeta: readonly { name: string; type: string }[];
  readonly status: Record<string, unknown>;
  readonly text: string;
}
export interface Group {
  readonly id: number;
  readonly group: Record<string, unknown>;
  readonly aggregations: readonly { op: string; value: unknown }[];
}
export interface Bucket {
  readonly startTime: string;
  readonly endTime: string;
  readonly groups: readonly Group[];
}

export const tempDir = (): string => mkdtempSync(join(tmpdir(), 'tailrace-service-'));

/** The engines that a conformance test runs on. */
export type EngineUnderTest = 'embedded' | 'clickhouse';

export interface ServiceUnderTest {
  readonly service: Service;
  readonly client: Client;
  readonly dataDir: string;
  /** The servers of the engine `clickhouse`. */
  readonly cluster: ClickhouseCluster | undefined;
  readonly stop: () => Promise<void>;
}

export type StartOptions = Partial<Omit<ServiceOptions, 'engine'>> & { readonly engine?: EngineUnderTest };

/** Call in a suite: one service for its tests, with these events in these datasets. Both parts are empty until the tests begin. */
export function serviceForSuite(
  options: StartOptions = {},
  datasets: Readonly<Record<string, string | readonly object[]>> = {},
): { readonly under: ServiceUnderTest; readonly client: Client } {
  const [under, client] = [{} as ServiceUnderTest, {} as Client];
  beforeAll(async () => {
    Object.assign(under, await startForTest(options));
    Object.assign(client, under.client);
    for (const [name, events] of Object.entries(datasets)) {
      await client.createDataset(name);
      if (events.length > 0) await client.ingest(name, events);
    }
  });
  afterAll(() => under.stop());
  return { under, client };
}

/** A service on a folder that there is, for as long as its test goes on; the same credentials work again. */
export async function startOn(dataDir: string, options: Partial<ServiceOptions> = {}): Promise<Service> {
  const service = await startService({
    listen: { host: '127.0.0.1', port: 0 },
    dataDir,
    log: silentLog,
    env: {},
    ...options,
  });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= service.close());
  onTestFinished(close);
  return { ...service, close };
}

/** A service on an empty folder, embedded or on a ClickHouse cluster of two shards. */
export async function startForTest(options: StartOptions = {}): Promise<ServiceUnderTest> {
  const dataDir = tempDir();
  const { engine = 'embedded', ...rest } = options;
  const cluster = engine === 'clickhouse' ? await startClickhouse() : undefined;
  const listen = { host: '127.0.0.1', port: 0 };
  // The cause of an "internal error" is only in the log.
  const log: Log = { ...silentLog, error: (fields, message) => console.error(message, fields) };
  const service = await startService({
    listen,
    dataDir,
    log,
    env: {},
    ...rest,
    ...(cluster && { engine: cluster.url }),
  });
  const { apiToken = '', personalToken = '', orgId } = service.credentials;
  const document = (await (await fetch(`${service.address}/openapi.json`)).json()) as OpenApiDocument;
  return {
    service,
    dataDir,
    cluster,
    client: clientOf(service.address, { apiToken, personalToken, orgId }, { cluster, check: openApiCheck(document) }),
    async stop() {
      await service.close();
      await cluster?.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

export function clientOf(
  url: string,
  credentials: { apiToken: string; personalToken: string; orgId: string },
  { cluster, check }: { cluster?: ClickhouseCluster | undefined; check?: ReplyCheck } = {},
): Client {
  const client: Client = {
    url,
    ...credentials,
    async call(method, path, options = {}) {
      const { token = credentials.apiToken, headers = {}, body } = options;
      const plain = body === undefined || typeof body === 'string' || Buffer.isBuffer(body);
      const response = await fetch(url + path, {
        method,
        headers: {
          ...(token !== '' && { authorization: `Bearer ${token}` }),
          ...(!plain && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: plain ? (body as string) : JSON.stringify(body) }),
      });
      const text = await response.text();
      if (response.status === 503 && (await cluster?.heal())) {
        console.warn(`${method} ${path} answered 503, and is asked again: a ClickHouse server had aborted\n${text}`);
        return client.call(method, path, options);
      }
      const json = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
      check?.(method, path, response.status, json);
      return { status: response.status, headers: response.headers, text, json };
    },
    async ingest(dataset, body, options = {}) {
      const text = typeof body === 'string' ? body : body.map((event) => JSON.stringify(event)).join('\n');
      const answer = await client.call('POST', `/v1/ingest/${dataset}`, {
        ...options,
        headers: { 'content-type': 'application/x-ndjson', ...options.headers },
        body: options.body ?? text,
      });
      if (answer.status !== 200) throw new Error(`ingest answered ${answer.status}: ${answer.text}`);
      return answer;
    },
    async query(dataset, body = {}) {
      const answer = await client.call('POST', `/v1/datasets/${dataset}/query`, { body });
      if (answer.status !== 200) throw new Error(`query answered ${answer.status}: ${answer.text}`);
      return { ...(answer.json as unknown as Omit<QueryAnswer, 'text'>), text: answer.text };
    },
    async createDataset(name) {
      const answer = await client.call('POST', '/v1/datasets', { body: { name } });
      if (answer.status !== 200) throw new Error(`dataset creation answered ${answer.status}: ${answer.text}`);
    },
  };
  return client;
}

/** The values of the totals' first group by operation name. */
export function totalsOf(answer: QueryAnswer): Record<string, unknown> {
  return Object.fromEntries((answer.buckets.totals[0]?.aggregations ?? []).map(({ op, value }) => [op, value]));
}

/** The first table of a tabular answer; throws without one. */
export function tableOf({ json, text }: Answer): {
  readonly names: readonly string[];
  readonly rows: readonly unknown[][];
} {
  const [table] = (json['tables'] ?? []) as { fields: { name: string }[]; columns: unknown[][] }[];
  if (!table) throw new Error(`no table: ${text}`);
  const { fields, columns } = table;
  return {
    names: fields.map(({ name }) => name),
    rows: (columns[0] ?? []).map((_, n) => columns.map((column) => column[n])),
  };
}
