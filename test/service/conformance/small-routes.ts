/** Small routes that programs of the API family ask: deletes by query, vacuum, identify, the organisation's name, and what a hosted service has. */
import { describe, expect } from 'vitest';
import { ALWAYS, rows } from './ask.ts';
import { asOwner, client, dataset, test } from './under.ts';

const remove = (apl: string, body: object = {}, options = {}) =>
  client.call('POST', '/v2/datasets/_apl/delete', { body: { apl, ...ALWAYS, ...body }, ...options });
const at = (n: number): string => `2026-01-02T03:04:0${n}Z`;
const filled = async (): Promise<string> => {
  const name = await dataset();
  await client.ingest(
    name,
    [1, 2, 3, 4, 5].map((n) => ({ _time: at(n), n, user: n % 2 === 0 ? 'even' : 'odd' })),
  );
  return name;
};
const left = async (name: string): Promise<unknown[]> => (await rows(`['${name}'] | sort by n asc | project n`)).flat();
const tokenFor = async (body: object) => {
  const { json } = await client.call('POST', '/v2/tokens', { ...asOwner(), body: { name: 'made', ...body } });
  return { token: json['token'] as string };
};

describe('a delete by query', () => {
  test('counts first, and deletes with commit what it counted', async () => {
    const name = await filled();
    const seen = { firstMatchedEvent: at(2), lastMatchedEvent: at(4), rowsMatched: 2 };
    for (const commit of [undefined, null, false]) {
      expect((await remove(`['${name}'] | where user == 'even'`, { commit })).json).toEqual({
        ...seen,
        rowsDeleted: 0,
        dryRun: true,
      });
      expect(await left(name)).toEqual([1, 2, 3, 4, 5]);
    }
    const done = await remove(`['${name}'] | where user == 'even'`, { commit: true });
    expect(done.json).toEqual({ ...seen, rowsDeleted: 2, dryRun: false });
    expect(await left(name)).toEqual([1, 3, 5]);
    const again = await client.call('POST', '/v1/datasets/_apl/delete', {
      body: { apl: `['${name}'] | where user == 'even'`, ...ALWAYS, commit: true },
    });
    expect(again.json).toEqual({ rowsMatched: 0, rowsDeleted: 0, dryRun: false });
  });

  test('keeps to its range, its variables and several conditions', async () => {
    const name = await filled();
    const range = { startTime: at(2), endTime: at(4) };
    expect((await remove(`['${name}']`, { ...range, commit: true })).json).toMatchObject({ rowsDeleted: 2 });
    expect(await left(name)).toEqual([1, 4, 5]);
    const variables = { most: 4 };
    expect(
      (await remove(`['${name}'] | where n > 1 | where n <= most`, { variables, commit: true })).json,
    ).toMatchObject({
      rowsDeleted: 1,
    });
    expect(await left(name)).toEqual([1, 5]);
  });

  test('takes one dataset and where alone, and errors have their place', async () => {
    const name = await filled();
    const other = await dataset();
    for (const steps of [
      '| take 1',
      '| summarize count()',
      '| extend n = 1',
      '| project n',
      '| sort by n',
      '| distinct n',
    ])
      expect((await remove(`['${name}'] ${steps}`, { commit: true })).status, steps).toBe(400);
    for (const apl of [`union ['${name}'], ['${other}']`, 'print 1', `['${name}'] | where (`])
      expect((await remove(apl, { commit: true })).status, apl).toBe(400);
    expect((await remove("['none-of-these']", { commit: true })).status).toBe(404);
    expect((await remove('', { commit: true })).status).toBe(422);
    expect((await remove(`['${name}']`, { commit: 'yes' })).status).toBe(400);
    expect(await left(name)).toEqual([1, 2, 3, 4, 5]);
  });

  test('takes a token that may query and trim the dataset', async () => {
    const name = await filled();
    for (const rights of [{ query: ['read'] }, { trim: ['update'] }, { ingest: ['create'] }]) {
      const by = await tokenFor({ datasetCapabilities: { [name]: rights } });
      for (const commit of [false, true]) expect((await remove(`['${name}']`, { commit }, by)).status).toBe(403);
    }
    const by = await tokenFor({ datasetCapabilities: { [name]: { query: ['read'], trim: ['update'] } } });
    expect((await remove(`['${name}'] | where n == 1`, { commit: true }, by)).json).toMatchObject({ rowsDeleted: 1 });
    expect((await remove(`['${await filled()}']`, {}, by)).status).toBe(403);
  });
});

test('vacuum answers, once a minute for a dataset, to who may update datasets', async () => {
  const name = await filled();
  const vacuum = (version: string, options = {}) => client.call('POST', `/${version}/datasets/${name}/vacuum`, options);
  const reader = await tokenFor({ datasetCapabilities: { [name]: { query: ['read'], trim: ['update'] } } });
  expect((await vacuum('v2', reader)).status).toBe(403);
  await remove(`['${name}'] | where n < 3`, { commit: true });
  expect(await vacuum('v2')).toMatchObject({ status: 200, json: {} });
  expect(await left(name)).toEqual([3, 4, 5]);
  const { status, headers } = await vacuum('v1');
  expect([status, Number(headers.get('retry-after'))]).toEqual([429, expect.closeTo(60, -1.5)]);
  expect((await client.call('POST', '/v2/datasets/none-of-these/vacuum')).status).toBe(404);
});

test('identify says whose token a text is, to who may read tokens', async () => {
  const made = await tokenFor({ description: 'of the shop', datasetCapabilities: { x: { query: ['read'] } } });
  const identify = (body: object, options: object = asOwner()) =>
    client.call('POST', '/v2/tokens/identify', { ...options, body });
  const { id } = (await client.call('GET', '/v2/user', asOwner())).json;
  expect((await identify(made)).json).toEqual({
    name: 'made',
    description: 'of the shop',
    createdAt: expect.any(String),
    createdBy: id,
  });
  expect((await identify({ token: `${made.token}x` })).status).toBe(404);
  expect((await identify({ token: '' })).status).toBe(404);
  for (const body of [{}, { token: 1 }, { token: 'x'.repeat(1000) }, { ...made, more: 1 }])
    expect((await identify(body)).status).toBe(400);
  expect((await identify(made, made)).status).toBe(403);
});

test('the organisation gets another name from its owners and admins', async () => {
  const rename = (name: unknown, options: object = asOwner(), org = client.orgId) =>
    client.call('PUT', `/v2/orgs/${org}`, { ...options, body: { name } });
  expect((await rename('Our logs')).json).toMatchObject({
    id: client.orgId,
    name: 'Our logs',
    defaultEdgeDeployment: 'local',
  });
  for (const version of ['v1', 'v2'])
    expect((await client.call('GET', `/${version}/orgs/${client.orgId}`, asOwner())).json).toMatchObject({
      name: 'Our logs',
    });
  for (const name of ['', ' ', 5, null, undefined]) expect((await rename(name)).status).toBe(400);
  expect((await rename('x', {})).status).toBe(403);
  expect((await rename('x', asOwner(), 'other')).status).toBe(404);
  const user = { name: 'reader', email: `reader-${crypto.randomUUID()}@example.org`, role: 'user' };
  await client.call('POST', '/v2/users', { ...asOwner(), body: user });
  const { json } = await client.call('POST', '/v2/tokens', {
    ...asOwner(),
    body: { name: 'own', kind: 'personal', user: user.email },
  });
  expect((await rename('x', { ...asOwner(), token: json['token'] as string })).status).toBe(403);
});

test('what a hosted service has is answered with nothing, and with this place', async () => {
  expect((await client.call('GET', '/api/internal/integrations/dashboards')).json).toEqual([]);
  const deployments = await client.call('GET', '/api/internal/edge-deployments/axiom');
  expect(deployments.json).toEqual({ axiom: [{ id: 'local', domain: client.url }], byoc: [] });
  const secure = await client.call('GET', '/api/internal/edge-deployments/axiom', {
    headers: { 'x-forwarded-proto': 'https' },
  });
  expect(secure.json).toEqual({ axiom: [{ id: 'local', domain: client.url.replace('http:', 'https:') }], byoc: [] });
  for (const path of ['integrations/dashboards', 'edge-deployments/axiom'])
    expect((await client.call('GET', `/api/internal/${path}`, { token: '' })).status).toBe(403);
});
