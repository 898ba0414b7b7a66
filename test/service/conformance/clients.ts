/** What programs written for other services of the API family send and rely on. */
import { describe, expect } from 'vitest';
import { apl, objectsOf, refused, rows } from './ask.ts';
import { asOwner, client, dataset, JSON_TYPE, store, test } from './under.ts';

const make = async (orgCapabilities: object): Promise<{ token: string }> => {
  const { json } = await client.call('POST', '/v2/tokens', { ...asOwner(), body: { name: 'made', orgCapabilities } });
  return { token: json['token'] as string };
};
let made = 0;

describe('a dataset', () => {
  test.each(['axiom:events:v1', 'otel:logs:v1', 'otel:traces:v1', 'otel:metrics:v1'])(
    'keeps its kind %s',
    async (kind) => {
      const name = `of-kind-${made++}`;
      const created = (await client.call('POST', '/v2/datasets', { body: { name, kind } })).json;
      expect(created).toMatchObject({ kind, updatedAt: created['created'] });
      for (const version of ['v1', 'v2'])
        expect((await client.call('GET', `/${version}/datasets/${name}`)).json).toMatchObject({
          kind,
          region: 'local',
          edgeDeployment: 'local',
        });
      expect((await client.call('PUT', `/v2/datasets/${name}`, { body: { description: 'x' } })).json).toMatchObject({
        kind,
      });
    },
  );

  test.each(['', null, 'events'])('of the kind %j is one of events', async (kind) => {
    const { json } = await client.call('POST', '/v2/datasets', { body: { name: `of-kind-${made++}`, kind } });
    expect(json['kind']).toBe('axiom:events:v1');
  });

  test('of an unknown kind is refused', async () => {
    expect((await client.call('POST', '/v2/datasets', { body: { name: 'kind-less', kind: 'events:v9' } })).status).toBe(
      400,
    );
  });

  test('lists its fields among those of all datasets that the token may see', async ({ made: name }) => {
    await client.ingest(name, [{ a: 1 }]);
    const listed = async (options = {}) =>
      (await client.call('GET', '/v1/datasets/_fields', options)).json as unknown as {
        datasetName: string;
        fields: object[];
      }[];
    const all = await listed();
    const fields = (await client.call('GET', `/v2/datasets/${name}/fields`)).json;
    expect(all.find(({ datasetName }) => datasetName === name)).toEqual({ datasetName: name, fields });
    const body = { name: 'one', datasetCapabilities: { [name]: { query: ['read'] } } };
    const { json } = await client.call('POST', '/v2/tokens', { ...asOwner(), body });
    expect((await listed({ token: json['token'] as string })).map(({ datasetName }) => datasetName)).toEqual([name]);
  });
});

describe('a token that could do nothing', () => {
  test.each([{}, { datasetCapabilities: {}, orgCapabilities: { datasets: null, users: [] } }])(
    'is refused: %j',
    async (rights) => {
      const wanted = { code: 400, message: expect.stringContaining('at least one capability must be set') };
      expect(
        (await client.call('POST', '/v2/tokens', { ...asOwner(), body: { name: 'none', ...rights } })).json,
      ).toEqual(wanted);
      const { json } = await client.call('POST', '/v2/tokens', {
        ...asOwner(),
        body: { name: 'x', orgCapabilities: { datasets: ['read'] } },
      });
      const path = `/v2/tokens/${json['id'] as string}/regenerate`;
      expect(
        (await client.call('POST', path, { ...asOwner(), body: { newToken: { name: 'none', ...rights } } })).json,
      ).toEqual(wanted);
    },
  );
});

describe('users and organisations for programs', () => {
  test('an API token with the right on users manages them, but no owners', async () => {
    const by = await make({ users: ['create', 'read', 'update', 'delete'] });
    const email = `by-program-${made++}@example.org`;
    const ask = (method: string, path: string, body?: object) =>
      client.call(method, `/v2/users${path}`, { ...by, ...(body && { body }) });
    const { json } = await ask('POST', '', { name: 'first', email, role: 'user' });
    expect((await ask('PUT', `/${json['id'] as string}`, { name: 'second' })).json).toEqual({
      ...json,
      name: 'second',
    });
    expect((await ask('GET', `/${email}`)).json['name']).toBe('second');
    expect((await ask('PUT', `/${email}/role`, { role: 'admin' })).status).toBe(200);
    expect((await ask('PUT', `/${email}/role`, { role: 'owner' })).status).toBe(400);
    expect((await ask('PUT', '/owner@localhost', { name: 'taken over' })).status).toBe(400);
    expect((await ask('POST', '', { name: 'x', email: `x${email}`, role: 'owner' })).status).toBe(400);
    expect((await ask('DELETE', `/${email}`)).status).toBe(204);
    const reader = await make({ users: ['read'] });
    expect((await client.call('GET', '/v2/users', reader)).status).toBe(200);
    expect((await client.call('PUT', `/v2/users/${email}`, { ...reader, body: { name: 'x' } })).status).toBe(403);
  });

  test('an API token reads of its creator and its organisation', async () => {
    const by = await make({ annotations: ['read'] });
    expect((await client.call('GET', '/v2/user', by)).json).toMatchObject({ email: 'owner@localhost' });
    expect((await client.call('GET', '/v2/orgs', by)).json).toMatchObject([
      { id: client.orgId, paymentStatus: 'na', defaultEdgeDeployment: 'local' },
    ]);
    expect((await client.call('GET', `/v2/orgs/${client.orgId}`, by)).status).toBe(200);
    for (const path of ['/v1/user', '/v1/orgs', '/v2/users'])
      expect((await client.call('GET', path, by)).status).toBe(403);
    expect((await client.call('PUT', '/v2/user', { ...by, body: { name: 'x' } })).status).toBe(403);
  });

  test('an address is one user’s, in capital letters too, and a name is no blank', async () => {
    const email = `letters-${made++}@example.org`;
    const add = async (more: object) =>
      (await client.call('POST', '/v2/users', { ...asOwner(), body: { name: 'x', email, role: 'user', ...more } }))
        .status;
    expect([await add({ name: ' ' }), await add({}), await add({}), await add({ email: email.toUpperCase() })]).toEqual(
      [400, 200, 409, 409],
    );
  });

  test('a user gives itself another name', async () => {
    const email = `self-${made++}@example.org`;
    await client.call('POST', '/v2/users', { ...asOwner(), body: { name: 'first', email, role: 'user' } });
    const { json } = await client.call('POST', '/v2/tokens', {
      ...asOwner(),
      body: { name: 'own', kind: 'personal', user: email },
    });
    const own = { ...asOwner(), token: json['token'] as string };
    expect((await client.call('PUT', '/v2/user', { ...own, body: { name: 'second' } })).json).toMatchObject({
      name: 'second',
      email,
    });
    expect((await client.call('GET', '/v1/user', own)).json).toMatchObject({ name: 'second' });
    expect((await client.call('PUT', '/v2/user', { ...own, body: { name: '' } })).status).toBe(400);
  });
});

describe('annotations and starred queries', () => {
  test('the second start of a list is its end, and a time of the year 1 counts as absent', async ({ made: name }) => {
    await client.call('POST', '/v2/annotations', {
      body: { datasets: [name], type: 'deploy', time: '2026-01-02T03:04:05Z' },
    });
    const count = async (query: string) =>
      ((await client.call('GET', `/v2/annotations?datasets=${name}&${query}`)).json as unknown as object[]).length;
    const unset = '0001-01-01T00:00:00Z';
    expect(await count('start=2026-01-02T00:00:00Z&start=2026-01-03T00:00:00Z')).toBe(1);
    expect(await count('start=2026-01-01T00:00:00Z&start=2026-01-02T00:00:00Z')).toBe(0);
    expect(await count(`start=${unset}&start=${unset}`)).toBe(1);
    expect(await count(`start=2026-01-03T00:00:00Z&start=${unset}`)).toBe(0);
    for (const query of ['start=a&start=b', 'start=&start=&start=', 'end=&end='])
      expect((await client.call('GET', `/v2/annotations?${query}`)).status, query).toBe(400);
  });

  test.each([{}, { queryOptions: null }, { queryOptions: 'x' }])(
    'a starred query with %j is shown with options',
    async (more) => {
      const body = { name: 'starred', query: { apl: 'logs', ...more } };
      const { json } = await client.call('POST', '/v2/apl-starred-queries', { ...asOwner(), body });
      expect(json['query']).toEqual({ apl: 'logs', queryOptions: {} });
      const path = `/v2/apl-starred-queries/${json['id'] as string}`;
      expect((await client.call('GET', path, asOwner())).json['query']).toEqual(json['query']);
      expect((await client.call('GET', '/v2/apl-starred-queries', asOwner())).json).toContainEqual(json);
      const changed = await client.call('PUT', path, {
        ...asOwner(),
        body: { ...json, query: { apl: 'x', queryOptions: { a: 'b' } } },
      });
      expect(changed.json['query']).toEqual({ apl: 'x', queryOptions: { a: 'b' } });
    },
  );

  test.each(['annotations', 'apl-starred-queries', 'tokens', 'users/owner@localhost', 'datasets/#/fields'])(
    '/v1/%s answers as under /v2',
    async (path) => {
      const at = path.replace('#', await dataset());
      const [old, newer] = [
        await client.call('GET', `/v1/${at}`, asOwner()),
        await client.call('GET', `/v2/${at}`, asOwner()),
      ];
      expect([old.status, old.json]).toEqual([200, newer.json]);
      expect((await client.call('GET', `/v1/${at}`, { token: '' })).status).toBe(403);
    },
  );

  test('every way to change or read a user, a field or the organisation under /v2 is one under /v1', async () => {
    const { paths } = (await client.call('GET', '/openapi.json')).json as { paths: Record<string, object> };
    const under = (version: string): string[] =>
      Object.entries(paths).flatMap(([path, methods]) =>
        path.startsWith(`/${version}/`) ? Object.keys(methods).map((method) => `${method} ${path.slice(4)}`) : [],
      );
    expect(under('v2').filter((each) => !under('v1').includes(each))).toEqual([]);
  });
});

describe('a token that is not sent as a bearer', () => {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const as = async (authorization: string): Promise<number> =>
    (await client.call('GET', '/v1/datasets', { token: '', headers: { authorization } })).status;
  test('is read from Basic, ApiKey and Splunk', async () => {
    for (const scheme of ['Basic', 'basic', 'ApiKey'])
      expect(await as(`${scheme} ${base64(`axiom:${client.apiToken}`)}`)).toBe(200);
    expect(await as(`Basic ${base64(`:${client.apiToken}`)}`)).toBe(200);
    expect(await as(`Splunk ${client.apiToken}`)).toBe(200);
  });

  test('is judged like one that is', async () => {
    for (const scheme of ['Basic', 'ApiKey', 'Digest', 'Splunk']) {
      for (const value of [
        base64(client.apiToken),
        base64(`${client.apiToken}:x`),
        base64('x:y'),
        '%%',
        client.apiToken.slice(0, -1),
      ])
        expect(await as(`${scheme} ${value}`), scheme).toBe(403);
    }
    expect(await as(`Basic ${client.apiToken}`)).toBe(403);
    const { headers } = asOwner();
    const authorization = `Basic ${base64(`x:${client.personalToken}`)}`;
    const user = async (more: object) =>
      (await client.call('GET', '/v1/datasets', { token: '', headers: { authorization, ...more } })).status;
    expect([await user({}), await user(headers!)]).toEqual([403, 200]);
  });
});

describe('a query that a program wraps', () => {
  const wrapped = (text: string): string =>
    `(${text}) | extend t = coalesce(_time, _sysTime) | where isnotnull(t) | summarize count_ = count() by _time = bin(t, 1m) | order by _time asc`;
  test.each([
    ['', 3, []],
    ['| project _time, message', 3, ['_sysTime']],
    ['| project message, _sysTime', 3, ['_time']],
    ['| project-away _sysTime', 3, ['_sysTime']],
    ['| project message', undefined, ['_time', '_sysTime']],
    ['| summarize n = count() by message', undefined, ['_time', '_sysTime']],
  ])('has its events by time behind %j', async (stages, count, gone) => {
    const name = await dataset();
    await client.ingest(
      name,
      [1, 2, 3].map((n) => ({ _time: '2026-01-02T03:04:05Z', message: `m${n}` })),
    );
    const { tables, status } = await apl(wrapped(`['${name}'] ${stages}`));
    const counts = objectsOf(tables[0]!).map(({ count_ }) => count_);
    expect(counts.reduce<number>((sum, n) => sum + Number(n), 0)).toBe(count ?? 0);
    const [message] = status.messages.filter(({ code }) => code === 'missing_column');
    if (gone.length === 0) expect(message).toBeUndefined();
    else expect(message?.msg).toContain(`left out ${gone.map((field) => `"${field}"`).join(', ')}`);
  });

  test('reads any column as null that was left out, but in coalesce alone', async ({ made: name }) => {
    await client.ingest(name, [{ a: 1, b: 2 }]);
    expect(await rows(`['${name}'] | project b | extend c = coalesce(a, b)`)).toEqual([[2, 2]]);
    expect((await refused(`['${name}'] | project b | extend c = a + 1`)).status).toBe(400);
    expect((await refused('print c = coalesce(a, 1)')).status).toBe(400);
  });
});

describe('JSON objects one behind another', () => {
  test.each([
    ['without a separator', '{"a":1}{"a":2}{"a":3}'],
    ['with blanks', ' {"a":1} {"a":2}\t{"a":3} '],
    ['several in a line', '{"a":1}{"a":2}\n{"a":3}\n'],
    ['over several lines', '{\n "a": 1\n}\n{\n "a": 2\n}{\n "a": 3 }'],
    ['with braces in texts', '{"a":1,"t":"}{\\"}{"}{"a":2}{"a":3}'],
    ['with objects inside', '{"a":1,"o":{"p":{}}}{"a":2}{"a":3}'],
  ])('%s are an event each', async (_name, body) => {
    const { reply, data } = await store(JSON_TYPE, body);
    expect([reply['ingested'], data.map(({ a }) => a)]).toEqual([3, [1, 2, 3]]);
  });

  test('that are envelopes are unpacked, and a broken one fails alone', async () => {
    const { reply, data } = await store(JSON_TYPE, '{"data":{"a":1}}{"a":oh}\n{"a":3}');
    expect(reply).toMatchObject({ ingested: 2, failed: 1, failures: [{ index: 1 }] });
    expect(data).toEqual([{ a: 1 }, { a: 3 }]);
  });

  test.each(['{"a":1},{"a":2}', '{"a":1', '{oh}{"a":1}', '}{', '{"a":1}x'])('%j is refused whole', async (body) => {
    expect((await store(JSON_TYPE, body)).answer.status).toBe(400);
  });

  test('beyond the number of a request are refused', async () => {
    expect((await store(JSON_TYPE, '{"a":1}'.repeat(10_001))).answer.status).toBe(413);
  });
});
