import { expect } from 'vitest';
import { type Client, type ClientOptions, createClient } from '../../src/client/client.ts';
import { version } from '../../src/core/version.ts';
import { FakeService } from '../support/fake-service.ts';
import { beginning } from '../support/begin.ts';

const TOKEN = 'xaat-00000000-0000-4000-8000-00000000000a';

async function start(
  options: Partial<ClientOptions> = {},
  path = '',
): Promise<{ service: FakeService; client: Client }> {
  const service = await FakeService.start();
  return { service, client: createClient({ url: `${service.url}${path}`, token: TOKEN, ...options }) };
}

const test = beginning(() => start(), 'client', 'service');

test('client sends the token, its version and no organisation of its own', async ({ service, client }) => {
  expect(await client.datasets.list()).toEqual([]);
  expect(service.last).toMatchObject({ method: 'GET', url: '/v1/datasets' });
  expect(service.last.headers).toMatchObject({ authorization: `Bearer ${TOKEN}`, 'user-agent': `tailrace/${version}` });
  expect(Object.keys(service.last.headers).filter((name) => name.includes('org'))).toEqual([]);
});

test.each([
  [{}, 'x-service-org-id'],
  [{ headerPrefix: 'X-Acme-' }, 'x-acme-org-id'],
])('client sends the organisation under the prefix of %j', async (options, header) => {
  const { service, client } = await start({ orgId: 'my-org', ...options });
  await client.users();
  expect(service.last.headers[header]).toBe('my-org');
});

test('client keeps the path of the base address', async () => {
  const { service, client } = await start({}, '/base/');
  await client.datasets.create({ name: 'logs' });
  expect(service.last.url).toBe('/base/v1/datasets');
});

test('client lists, creates, reads, updates, trims and deletes datasets', async ({ service, client }) => {
  const made = await client.datasets.create({ name: 'web-logs', description: 'of the web' });
  expect(made).toEqual({
    id: 'web-logs',
    name: 'web-logs',
    description: 'of the web',
    created: '2026-01-02T03:04:05.678Z',
    integrationConfigs: [],
    who: 'Ann',
  });
  expect(service.last.headers['content-type']).toBe('application/json');
  expect(await client.datasets.list()).toEqual([made]);
  expect(await client.datasets.get('web-logs')).toEqual(made);
  expect((await client.datasets.update('web-logs', { description: 'new' })).description).toBe('new');
  expect(service.last).toMatchObject({ method: 'PUT', url: '/v1/datasets/web-logs' });
  await client.ingest('web-logs', '{"a":1}\n{"a":2}', { format: 'ndjson' });
  expect(await client.datasets.trim('web-logs', '720h')).toBe(2);
  expect(service.last.body.toString()).toBe('{"maxDuration":"720h"}');
  expect(await client.datasets.delete('web-logs')).toBeUndefined();
  expect(await client.datasets.list()).toEqual([]);
});

test('client encodes the parts of a path', async ({ service, client }) => {
  await expect(client.datasets.get('a/b c?')).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  expect(service.last.url).toBe('/v1/datasets/a%2Fb%20c%3F');
  await client.datasets.create({ name: 'logs' });
  await expect(client.ingest('a/b c?', '{}', { format: 'ndjson' })).rejects.toMatchObject({ code: 'E_NOT_FOUND' });
  expect(service.last.url).toBe('/v1/ingest/a%2Fb%20c%3F');
});

test.each([
  ['ndjson', 'application/x-ndjson', '{"a":1}\n{"a":2}\n'],
  ['json', 'application/json', '[{"a":1},{"a":2}]'],
  ['csv', 'text/csv', 'a\n1\n2\n'],
] as const)('client ingests %s as %s', async (format, contentType, body) => {
  const { service, client } = await start();
  await client.datasets.create({ name: 'logs' });
  const result = await client.ingest('logs', body, { format });
  expect(result).toEqual({
    ingested: 2,
    failed: 0,
    failures: [],
    processedBytes: body.length,
    blocksCreated: 1,
    walLength: 2,
  });
  expect(service.last).toMatchObject({ method: 'POST', url: '/v1/ingest/logs', key: '' });
  expect(service.last.headers['content-type']).toBe(contentType);
  expect(service.last.body.toString()).toBe(body);
});

test('client says in parameters and headers how a body is to be read', async () => {
  const { service, client } = await start({ headerPrefix: 'X-Acme-' });
  await client.datasets.create({ name: 'logs' });
  await client.ingest('logs', 'x', {
    format: 'csv',
    timestampField: 'when & where',
    timestampFormat: '2/Jan/2006:15:04:05 -0700',
    csvDelimiter: ';',
    csvFields: ['zeit', 'größe'],
    labels: { team: 'kärn', n: 1 },
    idempotencyKey: 'key-1',
    path: 'legacy',
  });
  const { pathname, searchParams } = new URL(service.last.url, service.url);
  expect(pathname).toBe('/v1/datasets/logs/ingest');
  expect(Object.fromEntries(searchParams)).toEqual({
    'timestamp-field': 'when & where',
    'timestamp-format': '2/Jan/2006:15:04:05 -0700',
    'csv-delimiter': ';',
  });
  expect(service.last.key).toBe('key-1');
  expect(service.last.headers['x-acme-event-labels']).toBe('{"team":"k\\u00e4rn","n":1}');
  expect(Buffer.from(String(service.last.headers['x-acme-csv-fields']), 'latin1').toString('utf8')).toBe('zeit,größe');
});

test('client asks in APL for tables and for the legacy form', async ({ service, client }) => {
  await client.datasets.create({ name: 'logs' });
  await client.ingest('logs', '{"a":"x"}', { format: 'ndjson' });
  const result = await client.query('logs | take 5', {
    startTime: 'now-1h',
    endTime: 'now',
    limit: 5,
    noCache: true,
    queryOptions: { quickRange: '1h' },
  });
  expect(service.last.url).toBe('/v1/datasets/_apl?format=tabular&nocache=true');
  expect(JSON.parse(service.last.body.toString())).toEqual({
    apl: 'logs | take 5',
    startTime: 'now-1h',
    endTime: 'now',
    limit: 5,
    queryOptions: { quickRange: '1h' },
  });
  expect(result.tables[0]?.columns[2]).toEqual(['x']);
  const legacy = await client.queryLegacy('logs');
  expect(service.last.url).toBe('/v1/datasets/_apl?format=legacy');
  expect(legacy.matches?.[0]?.data).toEqual({ a: 'x' });
});

test('client asks for a structured query of one dataset', async ({ service, client }) => {
  await client.datasets.create({ name: 'logs' });
  await client.queryDataset(
    'logs',
    { limit: 3, filter: { op: 'exists', field: 'a' } },
    { saveAsKind: 'analytics', streamingDuration: 'auto', noCache: true },
  );
  expect(service.last.url).toBe('/v1/datasets/logs/query?nocache=true&saveAsKind=analytics&streaming-duration=auto');
  expect(JSON.parse(service.last.body.toString())).toEqual({ limit: 3, filter: { op: 'exists', field: 'a' } });
});

test('client sends ingest and queries to the edge and all else to the base address', async () => {
  const edge = await FakeService.start();
  edge.datasets.set('logs', {
    id: 'logs',
    name: 'logs',
    description: '',
    created: '',
    integrationConfigs: [],
    who: '',
  });
  const { service, client } = await start({ edgeDomain: new URL(edge.url).host }, '/base');
  await client.ingest('logs', '{}', { format: 'ndjson' });
  await client.query('logs');
  await client.queryDataset('logs', {});
  expect(edge.requests.map(({ url }) => url)).toEqual([
    '/base/v1/ingest/logs',
    '/base/v1/query/_apl?format=tabular',
    '/base/v1/datasets/logs/query',
  ]);
  await client.datasets.list();
  expect(service.requests.map(({ url }) => url)).toEqual(['/base/v1/datasets']);
});

test('client takes a whole address for the edge, too', async () => {
  const edge = await FakeService.start();
  const { client } = await start({ edgeDomain: edge.url }, '/base');
  await client.query('logs');
  expect(edge.last.url).toBe('/v1/query/_apl?format=tabular');
});

test('client gives the user, the users and the organisations', async ({ client }) => {
  expect(await client.currentUser()).toEqual({ id: 'u1', name: 'Ann', emails: ['ann@example.com'] });
  expect(await client.users()).toMatchObject([{ role: 'owner', permissions: ['CanIngest', 'ManageBilling'] }]);
  expect(await client.orgs()).toMatchObject([{ id: 'org', license: { maxDatasets: 3 } }]);
});

test('client makes, lists and revokes tokens', async ({ client }) => {
  const made = await client.tokens.create({ name: 'ci', datasetCapabilities: { logs: { ingest: ['create'] } } });
  expect(made.token).toMatch(/^xaat-/);
  expect(await client.tokens.list()).toMatchObject([{ id: made.id, name: 'ci' }]);
  await client.tokens.revoke(made.id);
  expect(await client.tokens.list()).toEqual([]);
});
