/**
 * A cluster that lost a server, or whose server hangs: requests that go on, those that are refused and how, and that nothing acknowledged
 * is missing afterwards.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startClickhouse, type ClickhouseServer } from '../support/clickhouse.ts';
import { makeTree } from '../support/temp-tree.ts';
import {
  clientOf,
  startForTest,
  startOn,
  totalsOf,
  type Answer,
  type Client,
  type ServiceUnderTest,
} from './support.ts';

let under: ServiceUnderTest;
let client: Client;
let second: ClickhouseServer;
let made = 0;
let name: string;
beforeAll(async () => {
  under = await startForTest({ engine: 'clickhouse' });
  // Not the one that starts servers again: one that hangs is no failure here.
  client = clientOf(under.client.url, under.client);
  second = under.cluster!.servers[1]!;
});
afterAll(async () => {
  second.process.kill('SIGCONT');
  await under.stop();
});
beforeEach(async () => {
  name = `away-${made++}`;
  await client.createDataset(name);
});

const send = (key: string, n: number): Promise<Answer> =>
  client.call('POST', `/v1/ingest/${name}`, {
    headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': key },
    body: `{"n":${n}}\n{"n":${n},"_time":"2020-01-01T00:00:00Z"}`,
  });
const query = (): Promise<Answer> =>
  client.call('POST', `/v1/datasets/${name}/query`, { body: { aggregations: [{ op: 'count' }] } });
const count = async (): Promise<unknown> =>
  totalsOf(await client.query(name, { aggregations: [{ op: 'count' }] }))['COUNT'];
const trim = (): Promise<Answer> => client.call('POST', `/v1/datasets/${name}/trim`, { body: { maxDuration: '720h' } });
/** Asks again while a server is only slow, as a healthy one on a busy machine may be; `hanging` is one that is expected not to answer. */
async function patiently(ask: () => Promise<Answer>, hanging?: ClickhouseServer): Promise<Answer> {
  for (;;) {
    const answer = await ask();
    const silent = /the engine at \S+:(\d+) does not answer/.exec(String(answer.json['message']))?.[1];
    if (silent === undefined || silent === String(hanging?.httpPort)) return answer;
    await pause(100);
  }
}
const KEYS = Array.from({ length: 16 }, (_, n) => `key ${n}`);

function expectAway({ status, json, headers }: Answer, message: RegExp): void {
  expect(json).toEqual({ code: 503, message: expect.stringMatching(message) });
  expect([status, headers.get('retry-after')]).toEqual([503, '5']);
}

describe('a server that is gone', () => {
  test('refuses what it would take, says so, and takes it when it is back; the other one goes on', async () => {
    await second.kill();
    const answers = await Promise.all(KEYS.map((key, n) => send(key, n)));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThan(KEYS.length);
    for (const answer of refused)
      expectAway(
        answer,
        /^the events could not be stored \(the engine at \S+ cannot be reached: .*\): send them again later$/,
      );
    expectAway(await query(), /^the engine at \S+ cannot reach another of its servers: /);
    expect((await client.call('GET', '/v1/datasets')).status).toBe(200);
    await second.restart();
    expect(await count()).toBe((KEYS.length - refused.length) * 2);
    // Each key again: stored batches are not stored twice.
    for (const [n, key] of KEYS.entries()) expect((await patiently(() => send(key, n))).json['ingested']).toBe(2);
    expect(await count()).toBe(KEYS.length * 2);
  });

  test('keeps a trim from being begun, so that its count stays exact', async () => {
    for (const [n, key] of KEYS.entries()) await patiently(() => send(key, n));
    await second.kill();
    expectAway(await trim(), /^the engine at \S+ cannot be reached/);
    await second.restart();
    expect(await count()).toBe(KEYS.length * 2);
    expect((await patiently(trim)).json).toEqual({ numDeleted: KEYS.length });
  });

  test('leaves no half of a dataset: one that cannot be made is not there, one that is deleted is gone', async () => {
    await second.kill();
    expectAway(await client.call('POST', '/v1/datasets', { body: { name: `${name}-new` } }), /cannot be reached/);
    expect((await client.call('GET', `/v1/datasets/${name}-new`)).status).toBe(404);
    const owner = { token: client.personalToken, headers: { 'x-service-org-id': client.orgId } };
    expect((await client.call('DELETE', `/v1/datasets/${name}`, owner)).status).toBe(204);
    expect((await client.call('GET', `/v1/datasets/${name}`)).status).toBe(404);
    await second.restart();
    for (const again of [name, `${name}-new`]) await client.createDataset(again);
    expect((await patiently(() => send('key', 1))).json['ingested']).toBe(2);
    expect(await count()).toBe(2);
  });
});

describe('a server that hangs', () => {
  test('is found out once, and then refused for at once: nothing piles up behind it', async () => {
    for (const [n, key] of KEYS.entries()) await patiently(() => send(key, n));
    second.process.kill('SIGSTOP');
    try {
      expectAway(await trim(), /^the engine at \S+ does not answer$/);
      const answers = await Promise.all(KEYS.map((key, n) => patiently(() => send(`${key} more`, n), second)));
      const refused = answers.filter(({ status }) => status !== 200);
      expect(refused.length).toBeGreaterThan(0);
      expect(refused.length).toBeLessThan(KEYS.length);
      for (const answer of refused)
        expectAway(answer, /^the events could not be stored \(the engine at \S+ does not answer\)/);
      expectAway(await query(), /does not answer$/);
    } finally {
      second.process.kill('SIGCONT');
    }
    await expect.poll(async () => (await query()).status, { timeout: 600_000 }).toBe(200);
    for (const [n, key] of KEYS.entries())
      expect((await patiently(() => send(`${key} more`, n))).json['ingested']).toBe(2);
    expect(await count()).toBe(KEYS.length * 4);
  }, 480_000);
});

test('a first start that fails on a cluster can be made again with the same folder', async () => {
  const cluster = await startClickhouse();
  onTestFinished(() => cluster.stop());
  const dataDir = join(makeTree({}), 'new');
  const start = (port: number) => startOn(dataDir, { listen: { host: '127.0.0.1', port }, engine: cluster.url });
  await expect(start(Number(new URL(client.url).port))).rejects.toThrow('the port is taken');
  expect((await start(0)).credentials.apiToken).toMatch(/^xaat-/);
});
