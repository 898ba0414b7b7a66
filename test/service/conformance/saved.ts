/** What users keep beside events: annotations, starred queries; and what this service has not. */
import { describe, expect } from 'vitest';
import { asOwner, client, dataset, test } from './under.ts';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';
type Rows = { id: string; name?: string; title?: string }[];

/** An API token that may query one dataset, and nothing else. */
async function reader(name: string): Promise<string> {
  const body = { name: 'reader', datasetCapabilities: { [name]: { query: ['read'] } } };
  return (await client.call('POST', '/v2/tokens', { ...asOwner(), body })).json['token'] as string;
}

describe('annotations', () => {
  const PATH = '/v2/annotations';

  test('are made, listed by dataset and range, changed and removed', async () => {
    const [name, other] = [await dataset(), await dataset()];
    const wanted = {
      datasets: [name],
      type: 'deploy',
      time: '2026-01-02T03:04:05Z',
      title: 'v2',
      url: 'https://example.org',
      endTime: '0001-01-01T00:00:00Z',
    };
    const made = await client.call('POST', PATH, { body: wanted });
    const { endTime: _, ...expected } = wanted;
    expect([made.status, made.json]).toEqual([
      200,
      { ...expected, time: '2026-01-02T03:04:05.000Z', id: expect.stringMatching(/^ann_/) },
    ]);
    const id = made.json['id'] as string;
    const listed = async (query: string): Promise<boolean> =>
      ((await client.call('GET', `${PATH}?${query}`)).json as unknown as Rows).some((one) => one.id === id);
    expect(
      await Promise.all([`datasets=${name}`, `datasets=${other},${name}`, `datasets=${other}`, ''].map(listed)),
    ).toEqual([true, true, false, true]);
    expect(await listed('start=2026-01-02T00:00:00Z&end=2026-01-03T00:00:00Z')).toBe(true);
    expect(await listed('start=2026-01-03T00:00:00Z')).toBe(false);
    expect(await listed('end=2026-01-02T00:00:00Z')).toBe(false);
    const changed = await client.call('PUT', `${PATH}/${id}`, { body: { endTime: '2026-01-02T04:00:00Z' } });
    expect(changed.json).toEqual({ ...made.json, endTime: '2026-01-02T04:00:00.000Z' });
    expect((await client.call('GET', `${PATH}/${id}`)).json).toEqual(changed.json);
    expect((await client.call('DELETE', `${PATH}/${id}`)).status).toBe(204);
    for (const method of ['GET', 'DELETE']) expect((await client.call(method, `${PATH}/${id}`)).status).toBe(404);
  });

  test('are shown to who may see one of their datasets, and changed by who may change datasets', async () => {
    const [name, other] = [await dataset(), await dataset()];
    const id = (await client.call('POST', PATH, { body: { datasets: [name], type: 'deploy' } })).json['id'] as string;
    const [sees, blind] = [await reader(name), await reader(other)];
    expect((await client.call('GET', `${PATH}/${id}`, { token: sees })).status).toBe(200);
    expect((await client.call('GET', `${PATH}/${id}`, { token: blind })).status).toBe(404);
    expect((await client.call('GET', PATH, { token: blind })).json).toEqual([]);
    for (const [method, path, body] of [
      ['POST', PATH, { datasets: [name], type: 'x' }],
      ['PUT', `${PATH}/${id}`, {}],
      ['DELETE', `${PATH}/${id}`, undefined],
    ] as const)
      expect((await client.call(method, path, { token: sees, ...(body && { body }) })).status).toBe(403);
  });

  test('name no dataset that the token may not see, and change only with rights on all of theirs', async () => {
    const [open, hidden] = [await dataset(), await dataset()];
    const body = {
      name: 'notes',
      datasetCapabilities: { [open]: { query: ['read'] } },
      orgCapabilities: { annotations: ['create', 'update', 'delete'] },
    };
    const token = (await client.call('POST', '/v2/tokens', { ...asOwner(), body })).json['token'] as string;
    const both = (await client.call('POST', PATH, { body: { datasets: [hidden, open], type: 'deploy' } })).json[
      'id'
    ] as string;
    const one = `${PATH}/${both}`;
    expect((await client.call('GET', one, { token })).json['datasets']).toEqual([open]);
    expect((await client.call('GET', PATH, { token })).text).not.toContain(hidden);
    expect((await client.call('GET', `${PATH}?datasets=${hidden}`, { token })).json).toEqual([]);
    const refused = [
      await client.call('PUT', one, { token, body: { title: 'x' } }),
      await client.call('DELETE', one, { token }),
      await client.call('POST', PATH, { token, body: { datasets: [open, hidden], type: 'x' } }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403]);
    for (const { text } of refused.slice(0, 2)) expect(text).not.toContain(hidden);
    const own = await client.call('POST', PATH, { token, body: { datasets: [open], type: 'x' } });
    expect(
      (await client.call('PUT', `${PATH}/${own.json['id'] as string}`, { token, body: { datasets: [hidden] } })).status,
    ).toBe(403);
    expect((await client.call('DELETE', `${PATH}/${own.json['id'] as string}`, { token })).status).toBe(204);
  });

  test.each([
    [{ type: 'x' }, /datasets/],
    [{ datasets: [], type: 'x' }, /datasets/],
    [{ datasets: ['a'] }, /type/],
    [{ datasets: ['a'], type: 'A B' }, /type/],
    [{ datasets: ['a'], type: 'x', time: 'now' }, /time/],
    [{ datasets: ['a'], type: 'x', time: '2026-01-02T00:00:00Z', endTime: '2026-01-01T00:00:00Z' }, /before/],
    [{ datasets: ['a'], type: 'x', colour: 'red' }, /unknown key "colour"/],
  ])('%j is refused', async (body, message) => {
    expect((await client.call('POST', PATH, { body })).json).toEqual({
      code: 400,
      message: expect.stringMatching(message),
    });
  });
});

describe('starred queries', () => {
  const PATH = '/v2/apl-starred-queries';

  test('are made, listed, changed and removed', async ({ made: name }) => {
    const wanted = {
      name: 'errors',
      kind: 'apl',
      dataset: name,
      query: { apl: `['${name}'] | count`, startTime: 'now-1h' },
      metadata: { a: 'b' },
    };
    const made = await client.call('POST', PATH, { ...asOwner(), body: wanted });
    const query = { ...wanted.query, queryOptions: {} };
    expect([made.status, made.json]).toEqual([
      200,
      { ...wanted, query, id: expect.any(String), who: expect.any(String) },
    ]);
    const one = `${PATH}/${made.json['id'] as string}`;
    const names = async (query: string): Promise<number> =>
      ((await client.call('GET', `${PATH}?${query}`, asOwner())).json as unknown as Rows).filter(
        ({ id }) => id === made.json['id'],
      ).length;
    const queries = [
      '',
      'who=all',
      'who=team',
      `dataset=${name}`,
      'dataset=none',
      'qs=error',
      `qs=${name}`,
      'qs=nothing-like-it',
      'who=all&limit=0',
      'who=all&offset=999',
    ];
    expect(await Promise.all(queries.map(names))).toEqual([1, 1, 0, 1, 0, 1, 1, 0, 0, 0]);
    // As a client sends back what it read.
    const changed = await client.call('PUT', one, { ...asOwner(), body: { ...made.json, name: 'all errors' } });
    expect(changed.json).toEqual({ ...made.json, name: 'all errors' });
    expect((await client.call('GET', one, asOwner())).json).toEqual(changed.json);
    expect((await client.call('DELETE', one, asOwner())).status).toBe(204);
    expect((await client.call('GET', one, asOwner())).status).toBe(404);
  });

  test('of others are seen by who may query their dataset, and changed by admins and owners only', async ({
    made: name,
  }) => {
    const person = async (role: string) => {
      const email = `${name}-${role}@example.org`;
      await client.call('POST', '/v2/users', { ...asOwner(), body: { name: role, email, role } });
      const { json } = await client.call('POST', '/v2/tokens', {
        ...asOwner(),
        body: { name: email, kind: 'personal', user: email },
      });
      return { token: json['token'] as string, headers: { 'x-service-org-id': client.orgId } };
    };
    const [user, admin] = [await person('user'), await person('admin')];
    const made = await client.call('POST', PATH, {
      ...asOwner(),
      body: { name: 'x', dataset: name, query: { apl: name } },
    });
    const one = `${PATH}/${made.json['id'] as string}`;
    const body = { name: 'y', dataset: name, query: { apl: name } };
    expect((await client.call('GET', one, user)).status).toBe(200);
    expect((await client.call('PUT', one, { ...user, body })).status).toBe(403);
    expect((await client.call('DELETE', one, user)).status).toBe(403);
    expect((await client.call('PUT', one, { ...admin, body })).json).toEqual({ ...made.json, name: 'y' });
    const body2 = { name: 'stranger', datasetCapabilities: { other: { query: ['read'] } } };
    const stranger = (await client.call('POST', '/v2/tokens', { ...admin, body: body2 })).json['token'] as string;
    expect((await client.call('GET', one, { token: stranger })).status).toBe(404);
  });

  test.each([
    [{ name: 'x' }, /query/],
    [{ name: 'x', query: 'logs' }, /query/],
    [{ name: 'x', query: {} }, /apl/],
    [{ name: '', query: { apl: 'logs' } }, /name/],
    [{ name: 'x', query: { apl: 'logs' }, colour: 'red' }, /unknown key "colour"/],
  ])('%j is refused', async (body, message) => {
    expect((await client.call('POST', PATH, { ...asOwner(), body })).json).toEqual({
      code: 400,
      message: expect.stringMatching(message),
    });
  });

  test('that are not there are 404', async () => {
    expect((await client.call('GET', `${PATH}/${UNKNOWN}`, asOwner())).status).toBe(404);
  });

  test('are not for API tokens, which are no users: an empty list, no other, and no new one', async ({
    made: name,
  }) => {
    const wanted = { name: 'x', dataset: name, query: { apl: name } };
    const { json } = await client.call('POST', PATH, { ...asOwner(), body: wanted });
    const none = (await client.call('POST', '/v2/tokens', { ...asOwner(), body: { name: 'none' } })).json[
      'token'
    ] as string;
    for (const token of [client.apiToken, await reader(name), none]) {
      for (const query of ['', '?who=all', `?dataset=${name}`, `?who=${json['who'] as string}`])
        expect((await client.call('GET', PATH + query, { token })).json).toEqual([]);
      expect((await client.call('POST', PATH, { token, body: wanted })).status).toBe(403);
      for (const [method, body] of [['GET'], ['PUT', wanted], ['DELETE']] as const)
        for (const id of [json['id'] as string, UNKNOWN])
          expect((await client.call(method, `${PATH}/${id}`, { token, ...(body && { body }) })).status).toBe(404);
    }
  });

  test('that are too large are refused with their size', async () => {
    const metadata = { a: 'x'.repeat(60_000), b: 'x'.repeat(60_000) };
    const body = { name: 'large', query: { apl: 'x' }, metadata };
    expect((await client.call('POST', PATH, { ...asOwner(), body })).json).toEqual({
      code: 400,
      message: expect.stringMatching(/bytes: wanted at most/),
    });
  });
});

describe('one organisation', () => {
  test.each(['v1', 'v2'])('is told under /%s/orgs/{id}, another one is 404', async (version) => {
    const [org] = (await client.call('GET', `/${version}/orgs`, asOwner())).json as unknown as object[];
    expect((await client.call('GET', `/${version}/orgs/${client.orgId}`, asOwner())).json).toEqual(org);
    expect((await client.call('GET', `/${version}/orgs/other`, asOwner())).status).toBe(404);
  });
});

describe('what this service has not', () => {
  test.each(['monitors', 'notifiers', 'dashboards'])('%s are 404 with a sentence, with a token', async (name) => {
    for (const [method, path] of [
      ['GET', `/v2/${name}`],
      ['POST', `/v2/${name}`],
      ['GET', `/v1/${name}`],
      ['PUT', `/v2/${name}/uid/x`],
    ] as const) {
      const body = method === 'GET' ? {} : { body: {} };
      expect((await client.call(method, path, body)).json).toEqual({
        code: 404,
        message: expect.stringContaining(`this service has no ${name}`),
      });
      expect((await client.call(method, path, { ...body, token: '' })).status).toBe(403);
    }
  });
});
