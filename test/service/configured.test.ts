/** What an operator can set: the rate, the sizes, what a query may use, sync; and a folder of an earlier version. */
import { DatabaseSync } from 'node:sqlite';
import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type ServiceOptions } from '../../src/service/run/service.ts';
import { makeTree } from '../support/temp-tree.ts';
import { clientOf, startForTest, startOn, type Client, type ServiceUnderTest } from './support.ts';

let under: ServiceUnderTest | undefined;
afterEach(async () => {
  await under?.stop();
  under = undefined;
});
async function start(options: Partial<Omit<ServiceOptions, 'engine'>>): Promise<Client> {
  under = await startForTest(options);
  return under.client;
}

describe('a rate limit', () => {
  test('is in every reply, and over it a 429 names the second in which it starts anew', async () => {
    const client = await start({ limits: { ratePerSecond: 5 } });
    const answers = await Promise.all(Array.from({ length: 30 }, () => client.call('GET', '/v1/datasets')));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    for (const { json, headers } of refused) {
      expect(json).toEqual({ code: 429, message: 'rate limit exceeded' });
      expect(headers.get('x-ratelimit-scope')).toBe('organization');
      expect(headers.get('x-ratelimit-limit')).toBe('5');
      expect(headers.get('x-ratelimit-remaining')).toBe('0');
      expect(Number(headers.get('x-ratelimit-reset')) * 1000).toBeGreaterThan(Date.parse(headers.get('date')!));
    }
    const taken = answers.filter(({ status }) => status === 200);
    expect(taken.length).toBeGreaterThanOrEqual(5);
    for (const { headers } of taken) expect(Number(headers.get('x-ratelimit-remaining'))).toBeLessThan(5);
  });

  test('counts no request that is not authenticated, and leaves the description alone', async () => {
    const client = await start({ limits: { ratePerSecond: 1 } });
    for (let n = 0; n < 5; n++) expect((await client.call('GET', '/v1/datasets', { token: 'x' })).status).toBe(403);
    for (let n = 0; n < 5; n++) expect((await client.call('GET', '/openapi.json', { token: '' })).status).toBe(200);
  });

  test('is absent where there is no limit', async () => {
    const client = await start({});
    expect((await client.call('GET', '/v1/datasets')).headers.get('x-ratelimit-limit')).toBeNull();
  });
});

describe('a header prefix', () => {
  test('is that of every header of the service’s own, in requests and replies; the default one means nothing then', async () => {
    const client = await start({ headerPrefix: 'X-Acme-' });
    await client.createDataset('logs');
    const headers = {
      'content-type': 'text/csv',
      'x-acme-event-labels': '{"team":"core"}',
      'x-acme-csv-fields': 'a,b',
    };
    const stored = await client.call('POST', '/v1/ingest/logs', { headers, body: '1,2\n' });
    expect([stored.json['ingested'], stored.headers.get('x-service-trace-id')]).toEqual([1, null]);
    expect(stored.headers.get('x-acme-trace-id')).toMatch(/^[0-9a-f-]{36}$/);
    const others = {
      'content-type': 'text/csv',
      'x-service-event-labels': '{"team":"none"}',
      'x-service-csv-fields': 'c,d',
    };
    expect(
      (await client.call('POST', '/v1/ingest/logs', { headers: others, body: 'a,b\n3,4\n' })).json['ingested'],
    ).toBe(1);
    const { matches } = await client.query('logs', { order: [{ field: 'a' }] });
    expect(matches.map(({ data }) => data)).toEqual([
      { a: 1, b: 2, team: 'core' },
      { a: 3, b: 4 },
    ]);
    const personal = (name: string) =>
      client.call('GET', '/v1/datasets', { token: client.personalToken, headers: { [name]: client.orgId } });
    expect([(await personal('x-acme-org-id')).status, (await personal('x-service-org-id')).status]).toEqual([200, 403]);
    const saved = await client.call('POST', '/v1/datasets/logs/query?saveAsKind=apl', { body: {} });
    expect(saved.headers.get('x-acme-history-query-id')).toMatch(/./);
  });
});

describe('a monthly quota', () => {
  const send = (client: Client, key: string, body = '{"a":1}') =>
    client.call('POST', '/v1/ingest/logs', {
      headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': key },
      body,
    });

  test('used up, ingest is 430 until the next month, over a restart too; known keys and queries go on', async () => {
    const client = await start({ limits: { monthlyBytes: 20 } });
    await client.createDataset('logs');
    const first = await send(client, 'first');
    expect(first.json['processedBytes']).toBe(7);
    expect((await send(client, 'bad', '{"a":')).status).toBe(200);
    expect((await send(client, 'last', '{"a":12345}')).status).toBe(200);
    const over = await send(client, 'over');
    expect(over.json).toEqual({
      code: 430,
      message: expect.stringMatching(/quota of 20 bytes .* starts anew at \d{4}-\d\d-01T00:00:00/),
    });
    expect(Number(over.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await send(client, 'first')).text).toBe(first.text);
    expect((await client.query('logs')).matches).toHaveLength(2);
    const { dataDir, service } = under!;
    await service.close();
    const again = await startOn(dataDir, { limits: { monthlyBytes: 2_000_000_000 } });
    const later = clientOf(again.address, client);
    expect((await send(later, 'later')).status).toBe(200);
    const [org] = (await later.call('GET', '/v1/orgs', { token: client.personalToken })).json as unknown as {
      license: object;
    }[];
    expect(org!.license).toMatchObject({ monthlyIngestGb: 2 });
    await again.close();
    const strict = await startOn(dataDir, { limits: { monthlyBytes: 30 } });
    expect((await send(clientOf(strict.address, client), 'strict')).status).toBe(430);
    await strict.close();
  });
});

describe('limits', () => {
  test('the body and the fields follow the options', async () => {
    const client = await start({ limits: { bodyBytes: 1000, datasetFields: 3 } });
    await client.createDataset('small');
    const large = await client.call('POST', '/v1/ingest/small', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ a: 'x'.repeat(1000) }),
    });
    expect(large.json).toEqual({ code: 413, message: expect.stringContaining('1000 bytes') });
    const { json } = await client.ingest('small', [{ a: 1, b: 2, c: 3 }, { d: 4 }]);
    expect(json).toMatchObject({ ingested: 1, failed: 1 });
    expect(JSON.stringify(json)).toContain("adding 'd' to dataset fields would exceed the column limit of 3");
    expect((await client.query('small', { limit: 1 })).matches).toHaveLength(1);
  });

  test.each([
    [
      'a body',
      (token: string) =>
        `POST /v1/ingest/x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n[`,
    ],
    ['headers', () => 'GET /v1/datasets HTTP/1.1\r\nHost: x\r\nX-Slow: '],
  ])('a request of which %s does not end is a 408, and its connection closed', async (_name, begin) => {
    const client = await start({ limits: { requestSeconds: 1 } });
    const { port } = new URL(client.url);
    const reply = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), '127.0.0.1');
      let said = '';
      socket.write(begin(client.apiToken));
      socket.on('data', (chunk) => (said += chunk.toString()));
      socket.on('close', () => resolve(said)).on('error', reject);
    });
    expect(reply).toMatch(/^HTTP\/1\.1 408 /);
    expect(JSON.parse(reply.split('\r\n\r\n')[1]!)).toMatchObject({ code: 408 });
  });

  test('a query over its memory is a 400 that says so, and the service lives', async () => {
    const client = await start({ limits: { queryMemoryBytes: 32 * 1024 * 1024 } });
    await client.createDataset('wide');
    for (let n = 0; n < 10; n++)
      await client.ingest(
        'wide',
        Array.from({ length: 5000 }, (_, k) => ({ text: `${n} ${k} ${'x'.repeat(1000)}` })),
      );
    const query = await client.call('POST', '/v1/datasets/wide/query', {
      body: { aggregations: [{ op: 'count' }], groupBy: ['text'] },
    });
    expect(query.json).toEqual({ code: 400, message: expect.stringContaining('memory limit of 32 MiB') });
    expect((await client.query('wide', { limit: 1 })).matches).toHaveLength(1);
  });

  test('a query over its time is a 400 that says so, and the service lives', async () => {
    const client = await start({ limits: { querySeconds: 0.001 } });
    await client.createDataset('slow');
    for (let n = 0; n < 5; n++)
      await client.ingest(
        'slow',
        Array.from({ length: 5000 }, (_, k) => ({ k, text: `text ${n} ${k}`.repeat(20) })),
      );
    const slow = await client.call('POST', '/v1/datasets/slow/query', {
      body: {
        aggregations: [{ op: 'distinct', field: 'text' }],
        groupBy: ['text'],
        filter: { op: 'regexp', field: 'text', value: '(t.*){8}x' },
      },
    });
    expect(slow.json).toEqual({ code: 400, message: expect.stringContaining('time limit') });
    expect((await client.call('GET', '/v1/datasets')).status).toBe(200);
  });
});

describe('retention', () => {
  test('deletes events older than the days of its dataset, and of no other', async () => {
    const client = await start({});
    const day = 86_400_000;
    const events = [0, 5, 20].map((days) => ({ _time: new Date(Date.now() - days * day).toISOString(), days }));
    const kept = { useRetentionPeriod: true, retentionDays: 10 };
    expect((await client.call('POST', '/v2/datasets', { body: { name: 'short', ...kept } })).json).toMatchObject(kept);
    await client.createDataset('long');
    for (const name of ['short', 'long']) await client.ingest(name, events);
    // The sweep is done at a start.
    const { dataDir, service } = under!;
    await service.close();
    const again = await startOn(dataDir);
    const later = clientOf(again.address, client);
    const days = async (name: string): Promise<unknown[]> =>
      (await later.query(name)).matches.map(({ data }) => data['days']);
    await expect.poll(() => days('short'), { timeout: 600_000 }).toEqual([0, 5]);
    expect(await days('long')).toEqual([0, 5, 20]);
    const off = await later.call('PUT', '/v2/datasets/short', {
      body: { useRetentionPeriod: false, retentionDays: 10 },
    });
    expect(off.json).toMatchObject({ useRetentionPeriod: false, retentionDays: 0 });
    await again.close();
  });
});

describe('a data folder of the first form', () => {
  test('keeps its tokens, which may do what they could', async () => {
    const dataDir = makeTree({});
    const db = new DatabaseSync(join(dataDir, 'service.db'));
    const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
    db.exec(`create table facts (name text primary key, value text not null) without rowid;
      create table tokens (name text primary key, kind text not null, hash text not null, created text not null) without rowid;
      create table datasets (id integer primary key autoincrement, name text not null unique, description text not null, created text not null, who text not null);
      create table fields (dataset integer not null, name text not null, types integer not null, primary key (dataset, name)) without rowid;
      create table keys (id integer primary key autoincrement, dataset integer not null, key text not null, first_row integer not null, rows integer not null,
        min_time integer not null, max_time integer not null, reply text not null, stored integer not null, unique (dataset, key));
      create index keys_unstored on keys (stored) where stored = 0;
      insert into facts values ('owner_id', 'the-owner'), ('org_id', 'old-org');
      insert into datasets values (3, 'old', 'text', '2026-01-01T00:00:00.000Z', 'owner');
      insert into tokens values ('api', 'api', '${hash('xaat-old')}', '2026-01-01T00:00:00.000Z'), ('personal', 'personal', '${hash('xapt-old')}', '2026-01-01T00:00:00.000Z');
      pragma user_version = 1`);
    db.close();
    const service = await startOn(dataDir);
    expect(service.credentials).toEqual({ orgId: 'old-org' });
    const client = clientOf(service.address, { apiToken: 'xaat-old', personalToken: 'xapt-old', orgId: 'old-org' });
    await client.ingest('old', [{ a: 1 }]);
    expect((await client.query('old')).matches).toHaveLength(1);
    const user = await client.call('GET', '/v1/user', { token: 'xapt-old' });
    expect(user.json).toEqual({ id: 'the-owner', name: 'owner', emails: ['owner@localhost'] });
  });
});
