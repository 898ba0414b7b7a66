/** Users, roles and the organisation. */
import { describe, expect } from 'vitest';
import type { CallOptions } from '../support.ts';
import { asOwner, client, dataset } from './under.ts';
import { beginning } from '../../support/begin.ts';

let made = 0;

/** A new user with this role, and a personal token of its own. */
async function person(role: string): Promise<{ id: string; email: string; options: CallOptions }> {
  const email = `${role}-${made++}@example.org`;
  const user = await client.call('POST', '/v2/users', { ...asOwner(), body: { name: `a ${role}`, email, role } });
  expect(user.status).toBe(200);
  const token = await client.call('POST', '/v2/tokens', {
    ...asOwner(),
    body: { name: `of ${email}`, kind: 'personal', user: email },
  });
  expect(token.json['token']).toMatch(/^xapt-/);
  return {
    id: user.json['id'] as string,
    email,
    options: { token: token.json['token'] as string, headers: { 'x-service-org-id': client.orgId } },
  };
}

const test = beginning(() => person('user'), 'email', 'id', 'options');

describe('users', () => {
  test('the list has id, name, email, role and permissions of each', async () => {
    const { json } = await client.call('GET', '/v1/users', asOwner());
    expect((json as unknown as object[])[0]).toEqual({
      id: expect.any(String),
      name: 'owner',
      email: 'owner@localhost',
      role: 'owner',
      permissions: expect.arrayContaining(['CanIngest', 'CanQuery', 'ManageAPITokens', 'ManageBilling']),
    });
  });

  test('only owners have ManageBilling', async () => {
    await person('admin');
    const users = (await client.call('GET', '/v1/users', asOwner())).json as unknown as {
      role: string;
      permissions: string[];
    }[];
    for (const { role, permissions } of users)
      expect([role, permissions.includes('ManageBilling')]).toEqual([role, role === 'owner']);
  });

  test('the current user is the one whose token it is', async ({ id, email, options }) => {
    expect((await client.call('GET', '/v1/user', options)).json).toEqual({ id, name: 'a user', emails: [email] });
    expect((await client.call('GET', '/v2/user', options)).json).toEqual({
      id,
      name: 'a user',
      email,
      role: { id: 'user', name: 'User' },
    });
  });

  test('an e-mail address is taken once', async ({ email }) => {
    const again = await client.call('POST', '/v2/users', { ...asOwner(), body: { name: 'x', email, role: 'user' } });
    expect(again.status).toBe(409);
  });

  test.each([{ role: 'king' }, { team: 'x' }, { email: 'nobody' }, { name: '' }, { name: undefined }])(
    'a user with %j is refused',
    async (change) => {
      const body = { name: 'x', email: 'x@example.org', role: 'user', ...change };
      expect((await client.call('POST', '/v2/users', { ...asOwner(), body })).status).toBe(400);
    },
  );

  test('a removed user’s tokens are known no more', async () => {
    const { id, email, options } = await person('admin');
    expect((await client.call('DELETE', `/v2/users/${id}`, asOwner())).status).toBe(204);
    expect((await client.call('GET', '/v1/user', options)).status).toBe(403);
    const tokens = (await client.call('GET', '/v2/tokens', asOwner())).json as unknown as { name: string }[];
    expect(tokens.filter(({ name }) => name === `of ${email}`)).toEqual([]);
  });

  test('the first owner stays', async () => {
    expect((await client.call('DELETE', '/v2/users/owner@localhost', asOwner())).status).toBe(400);
    const role = await client.call('PUT', '/v2/users/owner@localhost/role', { ...asOwner(), body: { role: 'user' } });
    expect(role.status).toBe(400);
  });
});

describe('roles', () => {
  test('a user queries and looks, and changes nothing', async ({ options }) => {
    const name = await dataset();
    const ask = async (method: string, path: string, body?: object): Promise<number> =>
      (await client.call(method, path, { ...options, ...(body && { body }) })).status;
    expect(await ask('GET', '/v1/datasets')).toBe(200);
    expect(await ask('GET', `/v1/datasets/${name}`)).toBe(200);
    expect(await ask('POST', `/v1/datasets/${name}/query`, {})).toBe(200);
    expect(await ask('GET', '/v1/users')).toBe(200);
    expect(await ask('POST', '/v1/datasets', { name: 'theirs' })).toBe(403);
    expect(await ask('PUT', `/v1/datasets/${name}`, { description: 'x' })).toBe(403);
    expect(await ask('POST', `/v1/datasets/${name}/trim`, { maxDuration: '1h' })).toBe(403);
    expect(await ask('DELETE', `/v1/datasets/${name}`)).toBe(403);
    expect(await ask('GET', '/v2/tokens')).toBe(403);
    expect(await ask('POST', '/v2/users', { name: 'x', email: 'y@example.org', role: 'user' })).toBe(403);
  });

  test('an admin does all of it, but makes no owner', async () => {
    const { options } = await person('admin');
    expect((await client.call('POST', '/v1/datasets', { ...options, body: { name: 'by-admin' } })).json['who']).toBe(
      'a admin',
    );
    expect((await client.call('DELETE', '/v1/datasets/by-admin', options)).status).toBe(204);
    const owner = { name: 'x', email: 'z@example.org', role: 'owner' };
    expect((await client.call('POST', '/v2/users', { ...options, body: owner })).status).toBe(400);
    const token = { name: 'x', kind: 'personal', user: 'owner@localhost' };
    expect((await client.call('POST', '/v2/tokens', { ...options, body: token })).status).toBe(403);
  });

  test('a role can be changed, and counts at once', async ({ id, options }) => {
    const changed = await client.call('PUT', `/v2/users/${id}/role`, { ...asOwner(), body: { role: 'admin' } });
    expect(changed.json['role']).toEqual({ id: 'admin', name: 'Admin' });
    expect((await client.call('GET', '/v2/tokens', options)).status).toBe(200);
  });
});

describe('organisations', () => {
  test('the one organisation has a plan and a license with this service’s limits', async () => {
    const [org] = (await client.call('GET', '/v1/orgs', { token: client.personalToken })).json as unknown as Record<
      string,
      unknown
    >[];
    expect(org).toMatchObject({
      id: client.orgId,
      role: 'owner',
      primaryEmail: 'owner@localhost',
      lastUsageSync: '0001-01-01T00:00:00Z',
      license: {
        issuedTo: client.orgId,
        maxFields: 1024,
        maxDatasets: 10_000,
        apiRateLimitPerSecond: 0,
        withRBAC: true,
        features: { tracing: false },
      },
      externalPlan: { trialed: false },
    });
  });
});
