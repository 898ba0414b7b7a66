/** API tokens: capabilities, grants per dataset, expiry, regeneration, revocation. */
import { describe, expect } from 'vitest';
import type { CallOptions } from '../support.ts';
import { asOwner, client, dataset, NDJSON, test } from './under.ts';

interface Capabilities {
  readonly datasetCapabilities?: object;
  readonly orgCapabilities?: object;
  readonly expiresAt?: string;
}

async function create(capabilities: Capabilities, by: CallOptions = asOwner()): Promise<{ id: string; token: string }> {
  const { status, json } = await client.call('POST', '/v2/tokens', { ...by, body: { name: 'made', ...capabilities } });
  expect(status).toBe(200);
  return { id: json['id'] as string, token: json['token'] as string };
}
const ingest = async (name: string, token: string): Promise<number> =>
  (await client.call('POST', `/v1/ingest/${name}`, { token, headers: { 'content-type': NDJSON }, body: '{"a":1}' }))
    .status;
const query = async (name: string, token: string): Promise<number> =>
  (await client.call('POST', `/v1/datasets/${name}/query`, { token, body: {} })).status;

describe('API tokens', () => {
  test('a token may do what its capabilities say, on the datasets that they name', async () => {
    const [one, two] = [await dataset(), await dataset()];
    const { token } = await create({
      datasetCapabilities: { [one]: { ingest: ['create'] }, [two]: { query: ['read'] } },
    });
    expect(token).toMatch(/^xaat-[0-9a-f-]{36}$/);
    expect([await ingest(one, token), await ingest(two, token)]).toEqual([200, 403]);
    expect([await query(one, token), await query(two, token)]).toEqual([403, 200]);
    expect((await client.call('POST', `/v1/datasets/${one}/trim`, { token, body: { maxDuration: '1h' } })).status).toBe(
      403,
    );
  });

  test('* grants on every dataset, those of later included', async () => {
    const { token } = await create({ datasetCapabilities: { '*': { ingest: ['create'] } } });
    expect(await ingest(await dataset(), token)).toBe(200);
  });

  test('a refusal tells nothing of whether the dataset exists', async ({ made: name }) => {
    const { token } = await create({ datasetCapabilities: { other: { ingest: ['create'] } } });
    for (const path of [`/v1/datasets/${name}`, '/v1/datasets/none'])
      expect((await client.call('GET', path, { token })).status).toBe(403);
    expect([await ingest(name, token), await ingest('none', token)]).toEqual([403, 403]);
  });

  test('the list shows the datasets that the token has to do with', async () => {
    const [one, two] = [await dataset(), await dataset()];
    const { token } = await create({ datasetCapabilities: { [one]: { query: ['read'] } } });
    const names = async (options: CallOptions): Promise<string[]> =>
      ((await client.call('GET', '/v1/datasets', options)).json as unknown as { name: string }[]).map(
        ({ name }) => name,
      );
    expect(await names({ token })).toEqual([one]);
    expect(await names({})).toEqual(expect.arrayContaining([one, two]));
    expect((await client.call('GET', `/v1/datasets/${one}`, { token })).status).toBe(200);
  });

  test('organisation capabilities grant the datasets themselves', async ({ made: name }) => {
    const { token } = await create({ orgCapabilities: { datasets: ['read', 'update'] } });
    expect((await client.call('GET', `/v1/datasets/${name}`, { token })).status).toBe(200);
    expect((await client.call('PUT', `/v1/datasets/${name}`, { token, body: { description: 'x' } })).status).toBe(200);
    expect((await client.call('POST', '/v1/datasets', { token, body: { name: 'x' } })).status).toBe(403);
    expect((await client.call('DELETE', `/v1/datasets/${name}`, { token })).status).toBe(403);
  });

  test('names that every object has are no grants', async () => {
    const { token } = await create({ orgCapabilities: { annotations: ['read'] } });
    for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty'])
      expect(await ingest(name, token)).toBe(403);
  });

  test('the list and a single token show everything but the text', async () => {
    const { id, token } = await create({ datasetCapabilities: { logs: { ingest: ['create'] } } });
    const one = await client.call('GET', `/v2/tokens/${id}`, asOwner());
    expect(one.json).toMatchObject({
      id,
      name: 'made',
      datasetCapabilities: { logs: { ingest: ['create'] } },
      expiresAt: null,
    });
    const all = await client.call('GET', '/v2/tokens', asOwner());
    for (const { text } of [one, all]) expect(text).not.toContain(token.slice(5));
  });

  test('a revoked token is unknown at once', async () => {
    const { id, token } = await create({ orgCapabilities: { datasets: ['read'] } });
    expect((await client.call('GET', '/v1/datasets', { token })).status).toBe(200);
    expect((await client.call('DELETE', `/v2/tokens/${id}`, asOwner())).status).toBe(204);
    expect((await client.call('GET', '/v1/datasets', { token })).status).toBe(403);
    expect((await client.call('DELETE', `/v2/tokens/${id}`, asOwner())).status).toBe(404);
  });

  test('an expired token is unknown', async () => {
    const expired = await create({ orgCapabilities: { datasets: ['read'] }, expiresAt: '2020-01-01T00:00:00Z' });
    expect((await client.call('GET', '/v1/datasets', { token: expired.token })).status).toBe(403);
    const valid = await create({ orgCapabilities: { datasets: ['read'] }, expiresAt: '2200-01-01T00:00:00+02:00' });
    expect((await client.call('GET', '/v1/datasets', { token: valid.token })).status).toBe(200);
  });

  test('a regenerate makes a token with a new id; the old one stays listed and ends when asked, never later than it would', async () => {
    const { id, token } = await create({ orgCapabilities: { datasets: ['read'] } });
    const works = async (text: string): Promise<boolean> =>
      (await client.call('GET', '/v1/datasets', { token: text })).status === 200;
    const regenerate = (of: string, body: object) =>
      client.call('POST', `/v2/tokens/${of}/regenerate`, { ...asOwner(), body });
    const endOf = async (of: string) => (await client.call('GET', `/v2/tokens/${of}`, asOwner())).json['expiresAt'];
    const first = await regenerate(id, {
      existingTokenExpiresAt: '2200-01-01T00:00:00Z',
      newTokenExpiresAt: '2201-01-01T00:00:00Z',
    });
    expect(first.json).toMatchObject({ name: 'made', expiresAt: '2201-01-01T00:00:00Z' });
    expect(first.json['id']).not.toBe(id);
    expect(await endOf(id)).toBe('2200-01-01T00:00:00Z');
    expect([await works(token), await works(first.json['token'] as string)]).toEqual([true, true]);
    await regenerate(id, { existingTokenExpiresAt: '2300-01-01T00:00:00Z', newTokenExpiresAt: '2300-01-01T00:00:00Z' });
    expect(await endOf(id)).toBe('2200-01-01T00:00:00Z');
    const second = await regenerate(first.json['id'] as string, {});
    expect([await works(first.json['token'] as string), await works(second.json['token'] as string)]).toEqual([
      false,
      true,
    ]);
    expect((await client.call('DELETE', `/v2/tokens/${id}`, asOwner())).status).toBe(204);
  });

  test('a token that has ended stays dead, whatever is asked of it', async () => {
    const { id, token } = await create({ orgCapabilities: { datasets: ['read'] }, expiresAt: '2020-01-01T00:00:00Z' });
    const body = { existingTokenExpiresAt: '2200-01-01T00:00:00Z', newTokenExpiresAt: '2200-01-01T00:00:00Z' };
    const again = await client.call('POST', `/v2/tokens/${id}/regenerate`, { ...asOwner(), body });
    expect((await client.call('GET', '/v1/datasets', { token: again.json['token'] as string })).status).toBe(200);
    expect((await client.call('GET', '/v1/datasets', { token })).status).toBe(403);
  });

  test('a token that a token makes ends no later than its maker', async () => {
    const rights = { orgCapabilities: { apiTokens: ['create', 'read', 'update'] } };
    const makerEnds = '2150-01-01T00:00:00Z';
    const maker = await create({ ...rights, expiresAt: makerEnds });
    const by = { token: maker.token };
    const made = async (end: object) =>
      (await client.call('POST', '/v2/tokens', { ...by, body: { name: 'child', ...rights, ...end } })).json;
    expect((await made({}))['expiresAt']).toBe(makerEnds);
    expect((await made({ expiresAt: '2200-01-01T00:00:00Z' }))['expiresAt']).toBe(makerEnds);
    expect((await made({ expiresAt: '2100-01-01T02:00:00+02:00' }))['expiresAt']).toBe('2100-01-01T02:00:00+02:00');
    const regenerate = async (id: string, body: object) =>
      (await client.call('POST', `/v2/tokens/${id}/regenerate`, { ...by, body })).json;
    const { id: endless } = await create(rights);
    for (const id of [maker.id, endless])
      for (const body of [{}, { newTokenExpiresAt: '2200-01-01T00:00:00Z' }, { newToken: rights }])
        expect((await regenerate(id, { existingTokenExpiresAt: '2200-01-01T00:00:00Z', ...body }))['expiresAt']).toBe(
          makerEnds,
        );
  });

  test('a regenerate gives the new token the rights, the name and the end that newToken says, and no others', async ({
    made: name,
  }) => {
    const { id } = await create({
      datasetCapabilities: { '*': { ingest: ['create'], query: ['read'] } },
      orgCapabilities: { datasets: ['read'] },
    });
    const regenerate = (newToken: object, rest: object = {}) =>
      client.call('POST', `/v2/tokens/${id}/regenerate`, { ...asOwner(), body: { newToken, ...rest } });
    const wanted = {
      name: 'reader',
      expiresAt: '2200-01-01T00:00:00Z',
      datasetCapabilities: { [name]: { query: ['read'] } },
    };
    const { json } = await regenerate(wanted);
    expect(json).toMatchObject({ ...wanted, orgCapabilities: {} });
    const made = await client.call('GET', `/v2/tokens/${json['id'] as string}`, asOwner());
    expect(made.json).toMatchObject({ ...wanted, orgCapabilities: {} });
    const token = json['token'] as string;
    expect([await ingest(name, token), await query(name, token), await query(await dataset(), token)]).toEqual([
      403, 200, 403,
    ]);
    const past = await regenerate({ ...wanted, expiresAt: '2020-01-01T00:00:00Z' });
    expect(await query(name, past.json['token'] as string)).toBe(403);
    const differing = await regenerate(wanted, { newTokenExpiresAt: '2201-01-01T00:00:00Z' });
    expect(differing.json).toEqual({ code: 400, message: expect.stringContaining('differ') });
  });

  test('a regenerate that says nothing keeps the rights and the end; an expired token needs a new one', async () => {
    const kept = { datasetCapabilities: { a: { query: ['read'] } }, expiresAt: '2200-01-01T00:00:00Z' };
    const { id } = await create(kept);
    expect((await client.call('POST', `/v2/tokens/${id}/regenerate`, { ...asOwner(), body: {} })).json).toMatchObject(
      kept,
    );
    const expired = await create({ ...kept, expiresAt: '2020-01-01T00:00:00Z' });
    const again = (body: object) => client.call('POST', `/v2/tokens/${expired.id}/regenerate`, { ...asOwner(), body });
    expect((await again({})).json).toEqual({ code: 400, message: expect.stringContaining('newTokenExpiresAt') });
    expect((await again({ newTokenExpiresAt: '2200-01-01T00:00:00Z' })).status).toBe(200);
  });

  test('the old text of a token that is regenerated with fewer rights keeps the rights that it had', async ({
    made: name,
  }) => {
    const old = await create({ datasetCapabilities: { [name]: { ingest: ['create'] } } });
    const body = {
      existingTokenExpiresAt: '2200-01-01T00:00:00Z',
      newToken: { name: 'none', orgCapabilities: { annotations: ['read'] } },
    };
    const { json } = await client.call('POST', `/v2/tokens/${old.id}/regenerate`, { ...asOwner(), body });
    expect([await ingest(name, old.token), await ingest(name, json['token'] as string)]).toEqual([200, 403]);
  });

  test('a token cannot regenerate one with rights that it has not', async () => {
    const { token } = await create({ orgCapabilities: { apiTokens: ['update'] } });
    const weak = await create({ orgCapabilities: { apiTokens: ['update'] } });
    const body = { newToken: { name: 'strong', orgCapabilities: { datasets: ['delete'] } } };
    expect((await client.call('POST', `/v2/tokens/${weak.id}/regenerate`, { token, body })).status).toBe(403);
    expect((await client.call('POST', `/v2/tokens/${weak.id}/regenerate`, { token, body: {} })).status).toBe(200);
  });

  test('a time of the year 1, as Go clients send for none, is no end', async () => {
    const { id, token } = await create({ orgCapabilities: { datasets: ['read'] }, expiresAt: '0001-01-01T00:00:00Z' });
    expect((await client.call('GET', '/v1/datasets', { token })).status).toBe(200);
    expect((await client.call('GET', `/v2/tokens/${id}`, asOwner())).json['expiresAt']).toBeNull();
  });

  test('a reply has the keys that clients know and no others', async () => {
    const keys = 'datasetCapabilities description expiresAt id name orgCapabilities'.split(' ');
    const views = { errors: { query: ['read'] } };
    const made = await client.call('POST', '/v2/tokens', {
      ...asOwner(),
      body: { name: 'keys', viewCapabilities: views },
    });
    expect(Object.keys(made.json).sort()).toEqual([...keys, 'token', 'viewCapabilities'].sort());
    const one = (await client.call('GET', `/v2/tokens/${made.json['id'] as string}`, asOwner())).json;
    expect(one).toMatchObject({ viewCapabilities: views });
    const again = (
      await client.call('POST', `/v2/tokens/${made.json['id'] as string}/regenerate`, { ...asOwner(), body: {} })
    ).json;
    expect(Object.keys(again).sort()).toEqual([...keys, 'token', 'viewCapabilities'].sort());
    const all = (await client.call('GET', '/v2/tokens', asOwner())).json as unknown as object[];
    for (const { viewCapabilities, ...each } of all as { viewCapabilities?: object }[]) {
      expect(Object.keys(each).sort()).toEqual(keys);
      expect(viewCapabilities).not.toEqual({});
    }
  });

  test.each([
    ['/v2/tokens', { name: 'x', capabilities: {} }, 'capabilities'],
    ['/v2/tokens', { name: 'x', expires: '2200-01-01T00:00:00Z' }, 'expires'],
    ['/v2/tokens/#/regenerate', { new_token: {} }, 'new_token'],
    ['/v2/tokens/#/regenerate', { newToken: { name: 'x', expiry: 1 } }, 'newToken.expiry'],
  ])('%s with %j is refused, and the unknown key named', async (path, body, key) => {
    const { id } = await create({ orgCapabilities: { datasets: ['read'] } });
    const { json } = await client.call('POST', path.replace('#', id), { ...asOwner(), body });
    expect(json).toEqual({ code: 400, message: expect.stringContaining(`unknown key "${key}"`) });
  });

  test('a token cannot give what it has not', async () => {
    const { token } = await create({
      datasetCapabilities: { logs: { ingest: ['create'] } },
      orgCapabilities: { apiTokens: ['create', 'read', 'update', 'delete'] },
    });
    const by = { token };
    const give = async (body: object): Promise<number> =>
      (await client.call('POST', '/v2/tokens', { ...by, body: { name: 'given', ...body } })).status;
    expect(await give({ datasetCapabilities: { logs: { ingest: ['create'] } } })).toBe(200);
    expect(await give({ datasetCapabilities: { logs: { query: ['read'] } } })).toBe(403);
    expect(await give({ datasetCapabilities: { '*': { ingest: ['create'] } } })).toBe(403);
    expect(await give({ orgCapabilities: { datasets: ['delete'] } })).toBe(403);
    expect(await give({ kind: 'personal' })).toBe(403);
    // Nor learn the text of one that has more.
    const strong = await create({ orgCapabilities: { datasets: ['delete'] } });
    expect((await client.call('POST', `/v2/tokens/${strong.id}/regenerate`, { ...by, body: {} })).status).toBe(403);
    expect((await client.call('DELETE', '/v2/tokens/personal', by)).status).toBe(403);
  });

  test('the token of the first start makes no tokens', async () => {
    expect((await client.call('POST', '/v2/tokens', { body: { name: 'x' } })).status).toBe(403);
  });

  test.each([
    { name: '' },
    { name: 'x'.repeat(201) },
    { expiresAt: 'tomorrow' },
    { datasetCapabilities: { logs: { ingest: ['conquer'] } } },
    { datasetCapabilities: [] },
    { orgCapabilities: { datasets: 'all' } },
    { kind: 'royal' },
    { user: 'owner@localhost' },
    { kind: 'personal', orgCapabilities: {}, datasetCapabilities: { logs: { query: ['read'] } } },
  ])('%j is refused', async (change) => {
    expect(
      (
        await client.call('POST', '/v2/tokens', {
          ...asOwner(),
          body: { name: 'x', orgCapabilities: { datasets: ['read'] }, ...change },
        })
      ).status,
    ).toBe(400);
  });
});
