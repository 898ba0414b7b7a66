/** Queries that wait or run: their ids, their list, and their ends. A held query waits for events that nobody sends, however fast the machine is. */
import { describe, expect, onTestFinished } from 'vitest';
import { SERVICE_LISTED_QUERY_CHARS } from '../../../src/service/limits.ts';
import { until } from '../../support/until.ts';
import type { Answer, CallOptions } from '../support.ts';
import { asOwner, client, dataset, test } from './under.ts';

type Listed = { id: string; text: string; datasets: string[]; startTime: string; elapsedTime: number; state: string };
const HEADER = 'x-service-query-id';
let ids = 0;
const newId = (): string => `query_${process.pid}-${ids++}`;

const list = async (options: CallOptions = {}): Promise<Listed[]> =>
  (await client.call('GET', '/v1/queries', options)).json as unknown as Listed[];
const find = async (id: string, options?: CallOptions): Promise<Listed | undefined> =>
  (await list(options)).find((one) => one.id === id);
const end = (id: string, options?: CallOptions): Promise<Answer> =>
  client.call('DELETE', `/v1/queries/${encodeURIComponent(id)}`, options);

const FORMS: readonly (readonly [form: string, path: (name: string) => string, body: (name: string) => object])[] = [
  [
    'a query by text',
    () => '/v1/query/_apl?format=tabular',
    (name) => ({ apl: `['${name}'] | where a > 1`, startTime: 'now-1h' }),
  ],
  [
    'a query by text, in the legacy form',
    () => '/v1/datasets/_apl?format=legacy',
    (name) => ({ apl: `['${name}'] | where a > 1`, startTime: 'now-1h' }),
  ],
  ['a structured query', (name) => `/v1/datasets/${name}/query?`, () => ({ startTime: 'now-1h' })],
];

/** Resolves once the list has it. It is ended with its test. */
async function hold(name: string, id = newId(), [, path, body] = FORMS[0]!, options: CallOptions = {}) {
  const headers = { ...options.headers, [HEADER]: id };
  const answer = client.call('POST', `${path(name)}&streaming-duration=1m`, { ...options, headers, body: body(name) });
  onTestFinished(async () => {
    await end(id, options);
    await answer;
  });
  await until('the query to be listed', async () => (await find(id, options)) !== undefined);
  return { id, answer };
}

/** A token of its own. */
async function tokenFor(datasetCapabilities: object): Promise<CallOptions> {
  const body = { name: newId(), datasetCapabilities };
  return { token: (await client.call('POST', '/v2/tokens', { ...asOwner(), body })).json['token'] as string };
}

describe('the id of a query', () => {
  test('is in the header of its reply: what the client sent, else one that the service made', async ({
    made: name,
  }) => {
    const body = { apl: `['${name}']` };
    const ask = (headers = {}): Promise<Answer> =>
      client.call('POST', '/v1/query/_apl?format=tabular', { headers, body });
    expect((await ask({ [HEADER]: 'Aa_0-9' })).headers.get(HEADER)).toBe('Aa_0-9');
    expect((await ask({ [HEADER]: 'Aa_0-9' })).status).toBe(200);
    const made = [await ask(), await ask()].map(({ headers }) => headers.get(HEADER));
    expect(made).toEqual([expect.stringMatching(/^[\w-]{1,64}$/), expect.stringMatching(/^[\w-]{1,64}$/)]);
    expect(made[0]).not.toBe(made[1]);
    const refused = await client.call('POST', '/v1/query/_apl?format=tabular', {
      headers: { [HEADER]: 'wrong' },
      body: { apl: 'none | nonsense' },
    });
    expect([refused.status, refused.headers.get(HEADER)]).toEqual([400, 'wrong']);
  });

  test.each(FORMS)('has 1 to 64 letters, digits, _ and -, else 400: %s', async (_form, path, body) => {
    const name = await dataset();
    const ask = (id: string): Promise<Answer> =>
      client.call('POST', path(name), { headers: { [HEADER]: id }, body: body(name) });
    for (const id of ['', 'a b', 'a/b', '../x', 'a"b', 'é', 'a,b', '%41', 'a'.repeat(65), '<b>', "';--"]) {
      const { status, json } = await ask(id);
      expect([id, status, json['message']]).toEqual([id, 400, expect.stringMatching(/query-id.*1 to 64 letters/i)]);
    }
    for (const id of ['a'.repeat(64), '-', '__proto__', 'constructor'])
      expect([id, (await ask(id)).status]).toEqual([id, 200]);
  });

  test('that runs already is a 409, for its token alone, until it has ended', async ({ made: name }) => {
    const { id, answer } = await hold(name);
    const headers = { [HEADER]: id };
    const body = { apl: `['${name}']` };
    const again = await client.call('POST', '/v1/query/_apl?format=tabular', { headers, body });
    expect([again.status, again.json['message']]).toEqual([409, expect.stringContaining(id)]);
    const other = await tokenFor({ [name]: { query: ['read'] } });
    expect((await client.call('POST', '/v1/query/_apl?format=tabular', { ...other, headers, body })).status).toBe(200);
    await end(id);
    await answer;
    expect((await client.call('POST', '/v1/query/_apl?format=tabular', { headers, body })).status).toBe(200);
  });
});

describe('GET /v1/queries', () => {
  test.each(FORMS)('lists the own ones: %s', async (...form) => {
    const name = await dataset();
    const { id } = await hold(name, undefined, form);
    // It runs first, and is held once it found nothing.
    const metrics = async () => (await fetch(`${client.url}/metrics`)).text();
    await until('the query to be held', async () => /^tailrace_service_open_streams 1$/m.test(await metrics()));
    const found = (await find(id))!;
    expect(Object.keys(found).sort()).toEqual(['datasets', 'elapsedTime', 'id', 'startTime', 'state', 'text']);
    expect(found).toMatchObject({ datasets: [name], state: 'waiting' });
    expect(found.text).toContain(form[0].includes('structured') ? '"startTime":"now-1h"' : `['${name}'] | where a > 1`);
    expect(Date.parse(found.startTime)).toBeLessThanOrEqual(Date.now());
    expect(found.elapsedTime).toBeGreaterThan(0);
  });

  test('cuts long texts', async ({ made: name }) => {
    const body = () => ({ apl: `['${name}'] // ${'x'.repeat(10_000)}`, startTime: 'now-1h' });
    const { id } = await hold(name, undefined, ['', FORMS[0]![1], body]);
    expect((await find(id))!.text).toHaveLength(SERVICE_LISTED_QUERY_CHARS + 1);
  });

  test('lists none of another token, and takes a token that may query', async ({ made: name }) => {
    const { id } = await hold(name);
    const reader = await tokenFor({ [name]: { query: ['read'] } });
    const writer = await tokenFor({ '*': { ingest: ['create'] } });
    for (const other of [reader, asOwner()]) {
      expect(await find(id, other)).toBeUndefined();
      expect((await end(id, other)).status).toBe(404);
    }
    for (const [method, path] of [
      ['GET', '/v1/queries'],
      ['DELETE', `/v1/queries/${id}`],
    ] as const) {
      const { status, json } = await client.call(method, path, writer);
      expect([status, json['message']]).toEqual([403, 'the token may not query any dataset']);
    }
    expect(await find(id)).toBeDefined();
    const own = await hold(name, undefined, undefined, reader);
    expect((await list(reader)).map((one) => one.id)).toEqual([own.id]);
  });
});

describe('DELETE /v1/queries/{id}', () => {
  test.each(FORMS)('ends one, which says so; twice is a 404: %s', async (...form) => {
    const name = await dataset();
    const { id, answer } = await hold(name, undefined, form);
    expect((await end(id)).status).toBe(204);
    expect(await find(id)).toBeUndefined();
    expect((await end(id)).status).toBe(404);
    const { status, json, headers } = await answer;
    expect([status, json['message'], headers.get(HEADER)]).toEqual([
      499,
      expect.stringMatching(/^the query was ended/),
      id,
    ]);
  });

  test('asked many times at once ends it, with a 204 or 404 each', async ({ made: name }) => {
    const { id, answer } = await hold(name);
    const statuses = new Set(
      (await Promise.all(Array.from({ length: 20 }, () => end(id)))).map(({ status }) => status),
    );
    expect(statuses.has(204) && [...statuses].every((status) => status === 204 || status === 404)).toBe(true);
    expect((await answer).status).toBe(499);
  });

  test.each([
    'none',
    '__proto__',
    'constructor',
    'a b',
    '../queries',
    '%',
    'é',
    'x'.repeat(900),
    "'; kill query where 1",
  ])('of %j is a 404', async (id) => expect((await end(id)).status).toBe(404));
});

test('a client that leaves while its query waits ends it', async ({ made: name }) => {
  const id = newId();
  const leaving = new AbortController();
  const headers = { authorization: `Bearer ${client.apiToken}`, 'content-type': 'application/json', [HEADER]: id };
  const body = JSON.stringify({ apl: `['${name}']`, startTime: 'now-1h' });
  const path = `${client.url}/v1/query/_apl?format=tabular&streaming-duration=1m`;
  const answer = fetch(path, { method: 'POST', headers, body, signal: leaving.signal }).catch(() => 'left');
  await until('the query to be listed', async () => (await find(id)) !== undefined);
  leaving.abort();
  expect(await answer).toBe('left');
  await until('the query to be gone', async () => (await find(id)) === undefined);
});
