/** Ingest with personal tokens, where the operator allows it. */
import { expect, test } from 'vitest';
import { serviceForSuite } from './support.ts';

const { client } = serviceForSuite({ personalIngest: true }, { logs: [] });

const as = (token: string) => ({ token, headers: { 'x-service-org-id': client.orgId } });
const ingest = async (token: string, headers = as(token).headers): Promise<number> =>
  (
    await client.call('POST', '/v1/ingest/logs', {
      token,
      headers: { ...headers, 'content-type': 'application/json' },
      body: '[{"a":1}]',
    })
  ).status;

test('owners and admins may ingest with personal tokens, users may not; API tokens go on', async () => {
  const tokenOf = async (role: string): Promise<string> => {
    const email = `${role}@example.org`;
    await client.call('POST', '/v2/users', { ...as(client.personalToken), body: { name: role, email, role } });
    const made = await client.call('POST', '/v2/tokens', {
      ...as(client.personalToken),
      body: { name: email, kind: 'personal', user: email },
    });
    return made.json['token'] as string;
  };
  expect(await ingest(client.personalToken)).toBe(200);
  expect(await ingest(await tokenOf('admin'))).toBe(200);
  expect(await ingest(await tokenOf('user'))).toBe(403);
  expect(await ingest(client.apiToken)).toBe(200);
  // Without the organisation a personal token is refused, as everywhere.
  expect(await ingest(client.personalToken, {} as never)).toBe(403);
});
