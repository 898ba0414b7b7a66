/** Every endpoint of the specification with every kind of token, and every key of what it answers. */
import { describe, expect } from 'vitest';
import { ALWAYS } from './ask.ts';
import { asOwner, client, dataset, JSON_TYPE, test } from './under.ts';

interface Endpoint {
  readonly method: string;
  /** `#` is a dataset, `@` the organisation. */
  readonly path: string;
  readonly body?: object;
  /** Which tokens it takes. */
  readonly takes: 'api' | 'personal' | 'both';
  /** False where a personal token needs no organisation. */
  readonly org?: boolean;
  /** The status for a token that it takes, where that is not 200, or 204 of DELETE. */
  readonly done?: number;
}

const QUERY = { apl: "['#']", ...ALWAYS };
const ENDPOINTS: readonly Endpoint[] = [
  { method: 'GET', path: '/v1/datasets', takes: 'both' },
  { method: 'POST', path: '/v1/datasets', body: {}, takes: 'both' },
  { method: 'GET', path: '/v1/datasets/#', takes: 'both' },
  { method: 'PUT', path: '/v1/datasets/#', body: { description: 'x' }, takes: 'both' },
  { method: 'POST', path: '/v1/datasets/#/trim', body: { maxDuration: '1h' }, takes: 'both' },
  { method: 'POST', path: '/v1/ingest/#', body: [{ a: 1 }], takes: 'api' },
  { method: 'POST', path: '/v1/datasets/#/ingest', body: [{ a: 1 }], takes: 'api' },
  { method: 'POST', path: '/v1/datasets/_apl?format=tabular', body: QUERY, takes: 'both' },
  { method: 'POST', path: '/v1/query/_apl?format=tabular', body: QUERY, takes: 'both' },
  { method: 'POST', path: '/v1/datasets/_apl?format=legacy', body: QUERY, takes: 'both' },
  { method: 'POST', path: '/v1/query/_apl?format=legacy', body: QUERY, takes: 'both' },
  { method: 'POST', path: '/v1/datasets/#/query', body: ALWAYS, takes: 'both' },
  { method: 'GET', path: '/v1/queries', takes: 'both' },
  { method: 'DELETE', path: '/v1/queries/none', takes: 'both', done: 404 },
  { method: 'GET', path: '/v1/users', takes: 'personal' },
  { method: 'GET', path: '/v1/user', takes: 'personal', org: false },
  { method: 'GET', path: '/v1/orgs', takes: 'personal', org: false },
  { method: 'GET', path: '/v1/datasets/#/info', takes: 'both' },
  { method: 'GET', path: '/v2/datasets', takes: 'both' },
  { method: 'GET', path: '/v2/datasets/#', takes: 'both' },
  { method: 'GET', path: '/v2/datasets/#/fields', takes: 'both' },
  { method: 'GET', path: '/v2/user', takes: 'both', org: false },
  { method: 'GET', path: '/v2/orgs', takes: 'both', org: false },
  // The API token of the first start has no right on users.
  { method: 'GET', path: '/v2/users', takes: 'personal' },
  { method: 'GET', path: '/v1/datasets/_fields', takes: 'both' },
  { method: 'POST', path: '/v2/datasets/_apl/delete', body: QUERY, takes: 'both' },
  { method: 'POST', path: '/v2/datasets/#/vacuum', takes: 'both' },
  // The API token of the first start has no right on tokens.
  { method: 'POST', path: '/v2/tokens/identify', body: { token: 'x' }, takes: 'personal', done: 404 },
  { method: 'PUT', path: '/v2/orgs/@', body: { name: 'Our logs' }, takes: 'personal' },
  { method: 'GET', path: '/api/internal/integrations/dashboards', takes: 'both' },
  { method: 'GET', path: '/api/internal/edge-deployments/axiom', takes: 'both' },
  // Last, as the dataset is gone then. The API token of the first start has no right to delete.
  { method: 'DELETE', path: '/v1/datasets/#', takes: 'personal' },
];

let made = 0;

describe('endpoints and tokens', () => {
  test.each(ENDPOINTS.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const))(
    '%s',
    async (_name, endpoint) => {
      const { method, path, body, takes, org = true, done = method === 'DELETE' ? 204 : 200 } = endpoint;
      const status = async (token: string, headers: Record<string, string> = {}): Promise<number> => {
        const name = await dataset();
        const sent = path === '/v1/datasets' && method === 'POST' ? { name: `by-token-${made++}` } : body;
        const text = sent === undefined ? undefined : JSON.stringify(sent).replace('#', name);
        const content = text === undefined ? {} : { headers: { 'content-type': JSON_TYPE, ...headers }, body: text };
        return (
          await client.call(method, path.replace('#', name).replace('@', client.orgId), { token, headers, ...content })
        ).status;
      };
      const ofOrg = { 'x-service-org-id': client.orgId };
      expect({
        none: await status(''),
        unknown: await status('xaat-00000000-0000-4000-8000-000000000000'),
        'unknown with organisation': await status('xapt-00000000-0000-4000-8000-000000000000', ofOrg),
        api: await status(client.apiToken),
        'api with an organisation': await status(client.apiToken, { 'x-service-org-id': 'another' }),
        personal: await status(client.personalToken, ofOrg),
        'personal without organisation': await status(client.personalToken),
        'personal with another organisation': await status(client.personalToken, { 'x-service-org-id': 'another' }),
      }).toEqual({
        none: 403,
        unknown: 403,
        'unknown with organisation': 403,
        api: takes === 'personal' ? 403 : done,
        'api with an organisation': takes === 'personal' ? 403 : done,
        personal: takes === 'api' ? 403 : done,
        'personal without organisation': takes !== 'api' && !org ? done : 403,
        'personal with another organisation': takes !== 'api' && !org ? done : 403,
      });
    },
  );
});

describe('replies about people have every key of the specification, and no other', () => {
  const keysOf = (value: unknown): string[] => Object.keys(value as object).sort();
  const sorted = (text: string): string[] => text.split(' ').sort();

  test('users, the current user and organisations', async () => {
    const [user] = (await client.call('GET', '/v1/users', asOwner())).json as unknown as object[];
    expect(keysOf(user)).toEqual(sorted('id name email role permissions'));
    expect(keysOf((await client.call('GET', '/v1/user', asOwner())).json)).toEqual(sorted('id name emails'));
    const [org] = (await client.call('GET', '/v1/orgs', asOwner())).json as unknown as Record<string, object>[];
    expect(keysOf(org)).toEqual(
      sorted(
        'id name plan planCreated lastUsageSync metaCreated metaModified paymentStatus firstFailedPayment role primaryEmail metaVersion license externalPlan',
      ),
    );
    expect(keysOf(org!['license'])).toEqual(
      sorted(
        'id tier issuer issuedTo issuedAt validFrom monthlyIngestGb apiRateLimitPerSecond maxUsers maxTeams maxDatasets maxMonitors maxFields maxEndpoints maxQueryWindowSeconds maxAuditWindowSeconds withRBAC withAuths features',
      ),
    );
    expect(keysOf(org!['externalPlan'])).toEqual(
      sorted('startingOn endingBefore trialEndingBefore nextBillingDate trialed state planID planInstanceID'),
    );
  });

  test('the permissions of an owner and of an admin, by name', async () => {
    const admin = sorted(
      'CanIngest CanQuery CanUpdate ChangeAccess ChangeApiKeys ChangeAuthentication ChangeDashboards ChangeIntegrations ChangeMonitorsAndNotifiers ChangeSavedQueries ChangeVirtualFields ManageAPITokens ManageDatasets ManageEndpoints ManageSharedAccessKeys',
    );
    const email = `permissions-${made++}@example.org`;
    await client.call('POST', '/v2/users', { ...asOwner(), body: { name: 'an admin', email, role: 'admin' } });
    const users = (await client.call('GET', '/v1/users', asOwner())).json as unknown as {
      email: string;
      permissions: string[];
    }[];
    const of = (wanted: string): string[] => users.find((user) => user.email === wanted)!.permissions.toSorted();
    expect(of(email)).toEqual(admin);
    expect(of('owner@localhost')).toEqual([...admin, 'ManageBilling'].sort());
  });
});

describe('the newer names', () => {
  test('a dataset’s life goes by /v2, too, and is the same dataset under /v1', async () => {
    const path = `/v2/datasets/newer-${made}`;
    const created = await client.call('POST', '/v2/datasets', {
      body: { name: `newer-${made++}`, description: 'first' },
    });
    expect(created.json).toMatchObject({
      kind: 'axiom:events:v1',
      description: 'first',
      useRetentionPeriod: false,
      retentionDays: 0,
      canWrite: true,
    });
    expect((await client.call('GET', path)).json).toEqual(created.json);
    expect((await client.call('GET', '/v2/datasets')).json).toContainEqual(created.json);
    expect(created.json).toMatchObject((await client.call('GET', path.replace('v2', 'v1'))).json);
    expect((await client.call('PUT', path, { body: { description: 'second' } })).json).toEqual({
      ...created.json,
      description: 'second',
      updatedAt: expect.any(String),
    });
    expect((await client.call('DELETE', path, asOwner())).status).toBe(204);
    expect((await client.call('GET', path)).status).toBe(404);
  });

  test('_apl answers under /v2 as under /v1', async ({ made: name }) => {
    for (const path of ['/v2/query/_apl', '/v2/datasets/_apl'])
      expect(
        (await client.call('POST', `${path}?format=tabular`, { body: { apl: `['${name}'] | count`, ...ALWAYS } })).json,
      ).toMatchObject({
        tables: [{ columns: [[0]] }],
      });
  });
});

describe('paths without an endpoint', () => {
  test.each(['/v1/ingest', '/v1/ingest/', '/v1/datasets//ingest', '/v1/views', '/v1', '/v3/datasets'])(
    'POST %s is 404',
    async (path) => {
      const answer = await client.call('POST', path, { body: [{ a: 1 }] });
      expect(answer.json).toEqual({ code: 404, message: expect.stringContaining('not found') });
    },
  );
});
