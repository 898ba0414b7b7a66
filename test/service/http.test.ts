/** Tokens, datasets, errors and headers of the service, over HTTP. */
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startForTest, type Client } from './support.ts';

let client: Client;
let dataDir: string;
let stop: () => Promise<void>;

beforeAll(async () => {
  ({ client, dataDir, stop } = await startForTest());
});
afterAll(() => stop());

const TOKEN = /^xa[ap]t-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe('authentication', () => {
  test('a first start makes one token of each kind and an organisation', () => {
    expect(client.apiToken).toMatch(TOKEN);
    expect(client.apiToken).toMatch(/^xaat-/);
    expect(client.personalToken).toMatch(TOKEN);
    expect(client.personalToken).toMatch(/^xapt-/);
    expect(client.orgId).not.toBe('');
  });

  test.each([
    ['no token', { token: '' }],
    ['an unknown token', { token: 'xaat-00000000-0000-0000-0000-000000000000' }],
    ['another scheme', { token: '', headers: { authorization: 'Basic eDp5' } }],
    ['an empty bearer', { token: '', headers: { authorization: 'Bearer ' } }],
  ])('%s is 403 with the error body', async (_name, options) => {
    for (const path of ['/v1/datasets', '/v1/user', '/v1/nothing-here']) {
      const answer = await client.call('GET', path, options);
      expect(answer.status).toBe(403);
      expect(answer.json).toEqual({ code: 403, message: expect.stringMatching(/./) });
    }
  });

  test('a personal token needs the org header, an API token does not', async () => {
    const personal = { token: client.personalToken };
    expect((await client.call('GET', '/v1/datasets', personal)).status).toBe(403);
    expect((await client.call('GET', '/v1/datasets', { ...personal, headers: { 'x-service-org-id': 'other' } })).status).toBe(403);
    expect((await client.call('GET', '/v1/datasets', { ...personal, headers: { 'x-service-org-id': client.orgId } })).status).toBe(200);
    expect((await client.call('GET', '/v1/datasets', { headers: { 'x-service-org-id': 'ignored' } })).status).toBe(200);
  });

  test('ingest takes API tokens only', async () => {
    const answer = await client.call('POST', '/v1/ingest/any', {
      token: client.personalToken,
      headers: { 'x-service-org-id': client.orgId, 'content-type': 'application/json' },
      body: '[]',
    });
    expect(answer.status).toBe(403);
  });

  test('user and organisations are told to a personal token without the org header', async () => {
    const personal = { token: client.personalToken };
    expect((await client.call('GET', '/v1/user', personal)).json).toEqual({
      id: expect.any(String),
      name: 'owner',
      emails: ['owner@localhost'],
    });
    const orgs = (await client.call('GET', '/v1/orgs', personal)).json as unknown as { id: string; role: string }[];
    expect(orgs).toMatchObject([{ id: client.orgId, role: 'owner', license: { maxFields: 1024 } }]);
    expect((await client.call('GET', '/v1/users', personal)).status).toBe(403);
    const users = await client.call('GET', '/v1/users', { ...personal, headers: { 'x-service-org-id': client.orgId } });
    expect(users.json).toMatchObject([{ role: 'owner', permissions: expect.arrayContaining(['CanIngest', 'ManageBilling']) }]);
  });
});

describe('datasets', () => {
  test('a dataset can be created, listed, read, updated and deleted', async () => {
    const created = await client.call('POST', '/v1/datasets', { body: { name: 'life-1', description: 'first' } });
    expect(created.status).toBe(200);
    expect(created.json).toEqual({
      id: 'life-1',
      name: 'life-1',
      description: 'first',
      created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      who: 'owner',
      integrationConfigs: [],
    });
    expect((await client.call('GET', '/v1/datasets')).json).toContainEqual(created.json);
    expect((await client.call('GET', '/v1/datasets/life-1')).json).toEqual(created.json);
    const updated = await client.call('PUT', '/v1/datasets/life-1', { body: { description: 'second' } });
    expect(updated.json).toEqual({ ...created.json, description: 'second' });
    const deleted = await client.call('DELETE', '/v1/datasets/life-1');
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expect((await client.call('GET', '/v1/datasets/life-1')).status).toBe(404);
  });

  test('a name that exists is 409, another case is another dataset', async () => {
    await client.createDataset('twice');
    const again = await client.call('POST', '/v1/datasets', { body: { name: 'twice' } });
    expect(again.json).toEqual({ code: 409, message: expect.stringContaining('exists') });
    await client.createDataset('Twice');
  });

  test('two creations at once make one dataset', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => client.call('POST', '/v1/datasets', { body: { name: 'race' } })));
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 409, 409]);
  });

  test.each([['a/b'], [''], ['x'.repeat(129)], ['a_b'], ['ü'], ['a b'], ["a';drop table ds_1;--"], [7], [null]])(
    'the name %j is refused with 400',
    async (name) => {
      const answer = await client.call('POST', '/v1/datasets', { body: { name } });
      expect(answer.json).toEqual({ code: 400, message: expect.stringMatching(/name/) });
    },
  );

  test('a name of 128 characters works on every path', async () => {
    const name = 'n'.repeat(128);
    await client.createDataset(name);
    expect((await client.ingest(name, [{ a: 1 }])).json['ingested']).toBe(1);
    expect((await client.query(name)).matches).toHaveLength(1);
    expect((await client.call('DELETE', `/v1/datasets/${name}`)).status).toBe(204);
  });

  test('a deleted dataset that is made again is empty', async () => {
    await client.createDataset('again');
    await client.ingest('again', [{ a: 1 }], { headers: { 'idempotency-key': 'k' } });
    await client.call('DELETE', '/v1/datasets/again');
    await client.createDataset('again');
    const empty = await client.query('again');
    expect(empty.matches).toEqual([]);
    expect(empty.fieldsMeta.map(({ name }) => name)).toEqual(['_sysTime', '_time']);
    // The key went with the dataset.
    await client.ingest('again', [{ a: 2 }], { headers: { 'idempotency-key': 'k' } });
    expect((await client.query('again')).matches.map(({ data }) => data)).toEqual([{ a: 2 }]);
  });

  test.each(['/v1/datasets/none', '/v1/datasets/a%2Fb', '/v1/datasets/..%2f..', `/v1/datasets/${'x'.repeat(900)}`])(
    'GET %s is 404',
    async (path) => {
      expect((await client.call('GET', path)).json).toEqual({ code: 404, message: expect.stringContaining('not found') });
    },
  );
});

describe('errors', () => {
  test.each([
    ['an unknown route', 'GET', '/v1/nothing', undefined, {}, 404],
    ['a route outside /v1', 'GET', '/nothing', undefined, {}, 404],
    ['a path that cannot be decoded', 'GET', '/v1/datasets/%E0%A4%A', undefined, {}, 400],
    ['broken JSON', 'POST', '/v1/datasets', '{"name"', { 'content-type': 'application/json' }, 400],
    ['an empty JSON body', 'POST', '/v1/datasets', '', { 'content-type': 'application/json' }, 400],
    ['a body of another type', 'POST', '/v1/datasets', '<a/>', { 'content-type': 'application/xml' }, 415],
    ['a body over the limit', 'POST', '/v1/datasets', `"${'x'.repeat(1 << 20)}"`, { 'content-type': 'application/json' }, 413],
    ['a prototype in the body', 'POST', '/v1/datasets', '{"__proto__":{"name":"x"}}', { 'content-type': 'application/json' }, 400],
  ])('%s has a status, code and message', async (_name, method, path, body, headers, status) => {
    const answer = await client.call(method, path, { headers, ...(body !== undefined && { body }) });
    expect(answer.status).toBe(status);
    expect(answer.json).toEqual({ code: status, message: expect.stringMatching(/./) });
  });

  test('every reply has a trace id, nosniff and no-cache', async () => {
    for (const path of ['/v1/datasets', '/v1/datasets/none', '/x', '/v1/datasets/%E0%A4%A']) {
      const { headers } = await client.call('GET', path);
      expect(headers.get('x-service-trace-id')).toMatch(/^[0-9a-f-]{36}$/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cache-control')).toBe('no-cache');
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    }
  });

  test('bytes that are not HTTP get the error body', async () => {
    const { port } = new URL(client.url);
    const reply = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), '127.0.0.1', () => socket.end('NONSENSE\r\n\r\n'));
      let text = '';
      socket.on('data', (chunk) => (text += chunk.toString()));
      socket.on('end', () => resolve(text)).on('error', reject);
    });
    expect(reply).toMatch(/^HTTP\/1\.1 400 /);
    expect(JSON.parse(reply.split('\r\n\r\n')[1]!)).toMatchObject({ code: 400 });
  });
});

describe('the data folder', () => {
  test('holds the tokens as hashes only', () => {
    const files = readdirSync(dataDir).filter((name) => name.startsWith('service.db'));
    const bytes = files.map((name) => readFileSync(join(dataDir, name), 'latin1')).join('');
    expect(bytes).toContain(createHash('sha256').update(client.apiToken).digest('hex'));
    for (const token of [client.apiToken, client.personalToken]) expect(bytes).not.toContain(token.slice(5));
  });
});
