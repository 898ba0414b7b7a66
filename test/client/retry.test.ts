import { expect } from 'vitest';
import { type Client, createClient } from '../../src/client/client.ts';
import type { Retry } from '../../src/client/requester.ts';
import { waitMsOf } from '../../src/client/retry.ts';
import { CLIENT_INGEST_TRIES, CLIENT_LAST_WAIT_MS, CLIENT_TRIES } from '../../src/client/limits.ts';
import { FakeService, replyWith, type Responder } from '../support/fake-service.ts';
import { NOW_MS, testTiming, type TestTiming } from './timing.ts';
import { beginning } from '../support/begin.ts';

interface Rig {
  readonly service: FakeService;
  readonly client: Client;
  readonly timing: TestTiming;
  readonly retries: Retry[];
}

async function start(): Promise<Rig> {
  const service = await FakeService.start();
  const [timing, retries] = [testTiming(), [] as Retry[]];
  const client = createClient({ url: service.url, timing, onRetry: (retry) => retries.push(retry) });
  await client.datasets.create({ name: 'logs' });
  return { service, client, timing, retries };
}

const test = beginning(() => start(), 'client', 'service', 'timing');

const answer =
  (status: number, headers: Record<string, string> = {}): Responder =>
  (_request, response) =>
    replyWith(response, status, { code: status, message: 'no' }, headers);
const cutOff: Responder = (_request, response) => void response.destroy();
const keyed = { format: 'ndjson', idempotencyKey: 'k1' } as const;

const reads: [string, (client: Client) => Promise<unknown>][] = [
  ['a list', ({ datasets }) => datasets.list()],
  ['a dataset', ({ datasets }) => datasets.get('logs')],
  ['a query', (client) => client.query('logs')],
  ['a structured query', (client) => client.queryDataset('logs', {})],
];
const writes: [string, (client: Client) => Promise<unknown>][] = [
  ['a creation', ({ datasets }) => datasets.create({ name: 'more' })],
  ['an update', ({ datasets }) => datasets.update('logs', { description: 'x' })],
  ['a trim', ({ datasets }) => datasets.trim('logs', '1h')],
  ['a deletion', ({ datasets }) => datasets.delete('logs')],
  ['a token', ({ tokens }) => tokens.create({ name: 'x' })],
  ['ingest without a key', (client) => client.ingest('logs', '{}', { format: 'ndjson' })],
];

test.each(reads)('retry repeats %s after 429, 500, 503 and a broken connection', async (_name, read) => {
  const { service, client, timing } = await start();
  service.answerNext(answer(429), answer(500), answer(503), cutOff);
  await read(client);
  expect(service.requests).toHaveLength(1 + 5);
  expect(timing.waits).toEqual([125, 250, 500, 1000]);
});

test.each(writes)(
  'retry repeats %s after a 429, which did nothing, but after no other failure',
  async (_name, write) => {
    const { service, client } = await start();
    service.answerNext(answer(429));
    await write(client);
    expect(service.requests).toHaveLength(1 + 2);
    for (const failure of [answer(500), answer(503), cutOff]) {
      const before = service.requests.length;
      service.answerNext(failure);
      await expect(write(client)).rejects.toThrow();
      expect(service.requests).toHaveLength(before + 1);
    }
  },
);

test('retry sends ingest again with its key, so that it is stored once', async ({ service, client }) => {
  // The first one is stored, but its answer is lost.
  service.answerNext(
    (request, response) => {
      service.handle(request);
      response.destroy();
    },
    answer(408),
    answer(500),
  );
  expect(await client.ingest('logs', '{"a":1}', keyed)).toMatchObject({ ingested: 1 });
  expect(service.requests.slice(1).map(({ key, body }) => [key, body.toString()])).toEqual(
    Array.from({ length: 4 }, () => ['k1', '{"a":1}']),
  );
  expect(service.events.get('logs')).toEqual([{ a: 1 }]);
});

test.each([[400], [401], [403], [404], [409], [413], [501]])('retry leaves a %i alone', async (status) => {
  const { service, client } = await start();
  service.answerNext(answer(status), answer(status));
  await expect(client.datasets.list()).rejects.toMatchObject({ status });
  await expect(client.ingest('logs', '{}', keyed)).rejects.toMatchObject({ status });
  expect(service.requests).toHaveLength(1 + 2);
});

test.each([
  [{ 'retry-after': '7' }, 7000],
  [{ 'retry-after': new Date(NOW_MS + 90_000).toUTCString() }, 90_000],
  [{ 'x-ratelimit-reset': String(NOW_MS / 1000 + 12) }, 12_000],
  [{ 'retry-after': '3', 'x-ratelimit-reset': String(NOW_MS / 1000 + 12) }, 12_000],
  [{ 'retry-after': '0' }, 125],
  [{ 'retry-after': 'soon' }, 125],
])('retry waits as %j asks', async (headers: Record<string, string>, waitMs) => {
  const { service, client, timing, retries } = await start();
  // The service has the test's clock, too.
  service.answerNext(answer(429, { date: new Date(NOW_MS).toUTCString(), ...headers }));
  await client.datasets.list();
  expect(timing.waits).toEqual([waitMs]);
  expect(retries).toMatchObject([{ waitMs, attempt: 2, tries: CLIENT_TRIES, error: { status: 429 } }]);
});

test('retry does not wait for an hour', async ({ service, client, timing }) => {
  service.answerNext(answer(429, { 'retry-after': '3600' }));
  await expect(client.datasets.list()).rejects.toMatchObject({ code: 'E_RATE_LIMITED' });
  expect(timing.waits).toEqual([]);
});

test('retry ends', async ({ service, client, timing }) => {
  service.respond = answer(503);
  await expect(client.datasets.list()).rejects.toMatchObject({ status: 503 });
  expect(service.requests).toHaveLength(1 + CLIENT_TRIES);
  await expect(client.ingest('logs', '{}', keyed)).rejects.toMatchObject({ status: 503 });
  expect(service.requests).toHaveLength(1 + CLIENT_TRIES + CLIENT_INGEST_TRIES);
  expect(timing.waits.at(-1)).toBe(CLIENT_LAST_WAIT_MS / 2);
});

test('retry outlasts a service that goes away while events are sent, but not one that was never there', async () => {
  const { service, client, timing } = await start();
  const { port } = service;
  await service.stop();
  await expect(client.datasets.list()).rejects.toMatchObject({ systemCode: 'ECONNREFUSED' });
  expect(timing.waits).toEqual([]);
  await expect(client.ingest('logs', '{}', keyed)).rejects.toMatchObject({ systemCode: 'ECONNREFUSED' });
  expect(timing.waits).toHaveLength(CLIENT_INGEST_TRIES - 1);
  const stranger = createClient({ url: `http://127.0.0.1:${port}`, timing });
  await expect(stranger.ingest('logs', '{}', keyed)).rejects.toMatchObject({ systemCode: 'ECONNREFUSED' });
  expect(timing.waits).toHaveLength(CLIENT_INGEST_TRIES - 1);
});

test('retry waits a random part of a ceiling that doubles up to a maximum', () => {
  expect([1, 2, 3, 20].map((attempt) => waitMsOf(attempt, undefined, () => 1))).toEqual([
    250,
    500,
    1000,
    CLIENT_LAST_WAIT_MS,
  ]);
  expect(waitMsOf(1, undefined, () => 0)).toBe(0);
});
