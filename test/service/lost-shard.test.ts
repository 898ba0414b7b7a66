/**
 * What docs/scaling.md says of shards, on two real servers: what the loss of one means for keys and for a start, one that comes back empty, and how one server
 * becomes the first shard of a cluster. What ingest and queries answer meanwhile is in cluster-away.test.ts.
 */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import { startService, type Service } from '../../src/service/run/service.ts';
import { startClickhouse, type ClickhouseCluster } from '../support/clickhouse.ts';
import { clientOf, tempDir, totalsOf, type Answer, type Client } from './support.ts';

const KEYS = Array.from({ length: 16 }, (_, n) => `key ${n}`);
/** The field has a column of its own after a few events, so that shards have to agree on that, too. */
const OWN_COLUMNS = { ownColumnSample: 8 };

/** A service on a folder, which may be started again with another engine. */
interface Running {
  client: Client;
  start(engine: string): Promise<void>;
  stop(): Promise<void>;
}

function prepare(): Running & { readonly remove: () => Promise<void> } {
  const dataDir = tempDir();
  let service: Service | undefined;
  let credentials: { apiToken: string; personalToken: string; orgId: string } | undefined;
  const running = {
    client: undefined as unknown as Client,
    async start(engine: string) {
      service = await startService({
        listen: { host: '127.0.0.1', port: 0 },
        dataDir,
        engine,
        log: silentLog,
        env: {},
        limits: OWN_COLUMNS,
      });
      const { apiToken = '', personalToken = '', orgId } = service.credentials;
      credentials ??= { apiToken, personalToken, orgId };
      running.client = clientOf(service.address, credentials);
    },
    async stop() {
      await service?.close();
      service = undefined;
    },
    async remove() {
      await running.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
  return running;
}

/** Two events under the key, numbered so that no two keys share one. */
const send = (client: Client, key: string, n: number): Promise<Answer> =>
  client.call('POST', '/v1/ingest/logs', {
    headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': key },
    body: `{"n":${2 * n}}\n{"n":${2 * n + 1},"_time":"2020-01-01T00:00:00Z"}`,
  });
const sendAll = (client: Client, from = 0): Promise<Answer[]> =>
  Promise.all(KEYS.map((key, n) => send(client, `${key} ${from}`, from + n)));
const statuses = (answers: readonly Answer[]): Set<number> => new Set(answers.map(({ status }) => status));
/** How many events there are, and the sum of their numbers. */
const totals = async (client: Client): Promise<Record<string, unknown>> =>
  totalsOf(await client.query('logs', { aggregations: [{ op: 'count' }, { op: 'sum', field: 'n' }] }));
/** The totals when everything of these calls of `sendAll` is stored once. */
function totalsOfAll(...calls: number[]): Record<string, number> {
  const numbers = calls.flatMap((from) => Array.from({ length: KEYS.length * 2 }, (_, n) => 2 * from + n));
  return { COUNT: numbers.length, SUM: numbers.reduce((sum, n) => sum + n, 0) };
}
/** Events on one server, by its own SQL. */
const onServer = async (cluster: ClickhouseCluster, server: number): Promise<number> =>
  Number(await cluster.ask(server, 'select count() from tailrace_test.ds_1_shard'));

describe('a lost shard', () => {
  const running = prepare();
  let cluster: ClickhouseCluster;
  beforeAll(async () => {
    cluster = await startClickhouse();
    await running.start(cluster.url);
    await running.client.createDataset('logs');
  });
  afterAll(async () => {
    await running.remove();
    await cluster.stop();
  });

  test('changes no key: those that it has keep their answer, those that it missed are stored once', async () => {
    const { client } = running;
    const kept = await sendAll(client);
    expect(statuses(kept)).toEqual(new Set([200]));
    const before = [await onServer(cluster, 0), await onServer(cluster, 1)];
    expect(Math.min(...before)).toBeGreaterThan(0);

    await cluster.servers[1]!.kill();
    expect((await sendAll(client)).map(({ status, text }) => [status, text])).toEqual(
      kept.map(({ text }) => [200, text]),
    );
    const first = await sendAll(client, 100);
    expect(statuses(first)).toEqual(new Set([200, 503]));
    // Again while it is away: refused keys still are, and stored ones are known.
    expect((await sendAll(client, 100)).map(({ status }) => status)).toEqual(first.map(({ status }) => status));
    const { status, headers } = await client.call('GET', '/readyz');
    expect([status, headers.get('retry-after')]).toEqual([503, '5']);

    await cluster.servers[1]!.restart();
    await expect.poll(async () => (await client.call('GET', '/readyz')).status, { timeout: 60_000 }).toBe(200);
    expect(statuses(await sendAll(client, 100))).toEqual(new Set([200]));
    expect(await totals(client)).toEqual(totalsOfAll(0, 100));
    // Every key is where it always goes, and its events are there once.
    const stored = first.filter((answer) => answer.status === 200).length * 2;
    expect(await onServer(cluster, 0)).toBe(before[0]! + stored);
    expect(await onServer(cluster, 1)).toBe(before[1]! + KEYS.length * 2 - stored);
  });

  test('keeps a service from starting, which names it and starts when it is back', async () => {
    await sendAll(running.client);
    const before = await totals(running.client);
    await running.stop();
    await cluster.servers[1]!.kill();
    await expect(running.start(cluster.url)).rejects.toThrow(
      new RegExp(`cannot be (?:used|reached).*${cluster.servers[1]!.httpPort}`),
    );
    await cluster.servers[1]!.restart();
    await running.start(cluster.url);
    expect(await totals(running.client)).toEqual(before);
  });

  test('that comes back without its disk is a shard again once the service has started again; its events are gone, its keys are not', async () => {
    await sendAll(running.client);
    const left = await onServer(cluster, 0);
    await cluster.servers[1]!.lose();
    await cluster.servers[1]!.restart();
    for (const _again of [1, 2]) expect(statuses(await sendAll(running.client, 200))).toEqual(new Set([200, 503]));
    await running.stop();
    await running.start(cluster.url);
    const { client } = running;
    // What the first server had, and what it took meanwhile.
    const now = await onServer(cluster, 0);
    expect(now).toBeGreaterThan(left);
    expect((await totals(client))['COUNT']).toBe(now);
    expect(statuses(await sendAll(client))).toEqual(new Set([200]));
    expect((await totals(client))['COUNT']).toBe(now);
    // Keys that were never stored are now, and new keys go to both.
    expect(statuses(await sendAll(client, 200))).toEqual(new Set([200]));
    expect((await totals(client))['COUNT']).toBe(left + KEYS.length * 2);
    expect(await onServer(cluster, 1)).toBeGreaterThan(0);
  });
});

describe('one server becomes the first of two shards', () => {
  test.each([
    ['a cluster of one from the beginning', ''],
    [
      'a server without a cluster, by renaming its tables',
      'rename table tailrace_test.ds_1 to tailrace_test.ds_1_shard',
    ],
  ])('%s: events and keys stay, new keys go to both', async (_name, statement) => {
    const cluster = await startClickhouse(2, 'tailrace_test', 1);
    const running = prepare();
    try {
      await running.start(statement === '' ? cluster.url : cluster.url.replace(/\?.*/, ''));
      await running.client.createDataset('logs');
      expect(statuses(await sendAll(running.client))).toEqual(new Set([200]));
      await running.stop();
      if (statement !== '') await cluster.ask(0, statement);

      await running.start(await cluster.resize(2));
      expect(await totals(running.client)).toEqual(totalsOfAll(0));
      expect(statuses(await sendAll(running.client))).toEqual(new Set([200]));
      expect(await totals(running.client)).toEqual(totalsOfAll(0));
      expect(statuses(await sendAll(running.client, 100))).toEqual(new Set([200]));
      expect(await totals(running.client)).toEqual(totalsOfAll(0, 100));
      const [first, second] = [await onServer(cluster, 0), await onServer(cluster, 1)];
      expect(first + second).toBe(KEYS.length * 4);
      expect(first).toBeGreaterThan(KEYS.length * 2);
      expect(second).toBeGreaterThan(0);
    } finally {
      await running.remove();
      await cluster.stop();
    }
  });
});
