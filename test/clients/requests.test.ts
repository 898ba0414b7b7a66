/**
 * What programs ask that cannot be had here: the command line, the Terraform provider and the MCP server. Their requests are written from notes of
 * runs of the real ones, not recorded, with replies checked for what each reads of them.
 */
import { describe, expect, test } from 'vitest';
import { serviceForClients } from './service.ts';

const client = serviceForClients();
const call = async (method: string, path: string, body?: object, options: object = {}) => {
  const { status, json } = await client.call(method, path, { ...(body && { body }), ...options });
  return { status, json };
};
const asOwner = () => ({ token: client.personalToken, headers: { 'x-axiom-org-id': client.orgId } });
const tokenWith = async (body: object): Promise<{ token: string }> => {
  const { json } = await call('POST', '/v2/tokens', { name: 'all', ...body }, asOwner());
  return { token: json['token'] as string };
};

describe('the command line', () => {
  test('ingests, streams, queries and manages datasets and annotations', async () => {
    expect((await call('POST', '/v1/datasets', { name: 'of-cli', description: 'x' })).status).toBe(200);
    const body = '{"n":1}\n{"n":2}\n';
    const headers = { 'content-type': 'application/x-ndjson' };
    expect(await call('POST', '/v1/datasets/of-cli/ingest', undefined, { body, headers })).toMatchObject({
      json: { ingested: 2 },
    });
    // `stream` asks up to now, then for what came since the last row.
    const endTime = new Date(Date.now() + 1000).toISOString();
    const began = performance.now();
    const stream = await call('POST', '/v1/datasets/of-cli/query?streaming-duration=50s', {
      startTime: '2000-01-01T00:00:00Z',
      endTime,
    });
    expect([stream.status, stream.json['matches']]).toEqual([
      200,
      expect.arrayContaining([expect.objectContaining({ data: { n: 1 } })]),
    ]);
    expect(performance.now() - began).toBeLessThan(45_000);
    const apl = { apl: "['of-cli'] | count", startTime: '2000-01-01T00:00:00Z', endTime };
    expect((await call('POST', '/v1/datasets/_apl?format=tabular&nocache=true', apl)).json).toMatchObject({
      tables: [{ columns: [[2]] }],
    });
    expect(await call('PUT', '/v2/datasets/of-cli', { description: 'y' })).toMatchObject({
      status: 200,
      json: { description: 'y' },
    });
    const by = await tokenWith({
      datasetCapabilities: { 'of-cli': { query: ['read'] } },
      orgCapabilities: { annotations: ['create', 'read', 'delete'] },
    });
    const { json } = await call(
      'POST',
      '/v2/annotations',
      { datasets: ['of-cli'], type: 'deploy', time: '2026-01-02T03:04:05Z' },
      by,
    );
    const listed = await call(
      'GET',
      '/v2/annotations?datasets=of-cli&start=2026-01-01T00%3A00%3A00Z&start=2026-02-01T00%3A00%3A00Z',
      undefined,
      by,
    );
    expect(listed.json).toMatchObject([{ id: json['id'] }]);
    expect(
      (
        await call(
          'GET',
          '/v2/annotations?datasets=of-cli&start=0001-01-01T00%3A00%3A00Z&start=0001-01-01T00%3A00%3A00Z',
          undefined,
          by,
        )
      ).json,
    ).toHaveLength(1);
    expect((await call('DELETE', `/v2/annotations/${json['id'] as string}`, undefined, by)).status).toBe(204);
    expect((await call('GET', '/v2/user', undefined, asOwner())).json).toMatchObject({
      id: expect.any(String),
      role: { id: 'owner' },
    });
  });
});

describe('the Terraform provider', () => {
  /** Terraform takes a value that comes back otherwise for a fault: sent values come back unchanged. */
  const echoed = async (
    path: string,
    sent: Record<string, unknown>,
    changed: Record<string, unknown>,
    by: { token: string },
    key = 'id',
  ) => {
    const made = await call('POST', path, sent, by);
    expect(made, JSON.stringify(made.json)).toMatchObject({ status: 200, json: sent });
    const at = `${path}/${made.json[key] as string}`;
    expect((await call('GET', at, undefined, by)).json).toMatchObject(sent);
    expect((await call('PUT', at, { ...changed }, by)).json).toMatchObject(changed);
    expect((await call('GET', at, undefined, by)).json).toMatchObject({ ...sent, ...changed });
    return at;
  };

  test('keeps datasets, their map fields, virtual fields and users without drift', async () => {
    const every = ['create', 'read', 'update', 'delete'];
    const by = await tokenWith({
      datasetCapabilities: { '*': { query: ['read'], virtualFields: every } },
      orgCapabilities: { datasets: every, users: every, apiTokens: every },
    });
    for (const kind of ['axiom:events:v1', 'otel:logs:v1', 'otel:traces:v1', 'otel:metrics:v1']) {
      const sent = {
        name: `tf-${kind.replaceAll(':', '-')}`,
        description: 'one',
        kind,
        useRetentionPeriod: true,
        retentionDays: 30,
      };
      const at = await echoed(
        '/v2/datasets',
        sent,
        { description: 'two', useRetentionPeriod: true, retentionDays: 60 },
        by,
      );
      expect((await call('PUT', `${at}/mapfields`, ['foo', 'bar'], by)).json).toEqual(['foo', 'bar']);
      expect((await call('GET', at, undefined, by)).json).toMatchObject({ mapFields: ['foo', 'bar'], kind });
      expect((await call('DELETE', at, undefined, by)).status).toBe(204);
      expect((await call('GET', at, undefined, by)).json).toMatchObject({
        code: 404,
        message: expect.stringContaining('not found'),
      });
    }
    await call('POST', '/v2/datasets', { name: 'tf' }, by);
    const field = { dataset: 'tf', name: 'size', expression: 'a * 2', description: 'd', type: 'integer', unit: 'ms' };
    const vfield = await echoed('/v2/vfields', field, { ...field, expression: 'a * 3' }, by);
    expect((await call('DELETE', vfield, undefined, by)).status).toBe(204);
    const email = 'tf@example.org';
    const user = await call('POST', '/v2/users', { name: 'one', email, role: 'user' }, by);
    const at = `/v2/users/${user.json['id'] as string}`;
    expect((await call('PUT', at, { name: 'two' }, by)).json).toMatchObject({
      name: 'two',
      email,
      role: { id: 'user' },
    });
    expect((await call('PUT', `${at}/role`, { role: 'admin' }, by)).json).toMatchObject({ role: { id: 'admin' } });
    expect((await call('DELETE', at, undefined, by)).status).toBe(204);
  });

  test('gives a token a new id when it is regenerated with a grace period, and refuses one without rights', async () => {
    const rights = { datasetCapabilities: { tf: { ingest: ['create'] } } };
    const made = (await call('POST', '/v2/tokens', { name: 'rotated', ...rights }, asOwner())).json;
    const existingTokenExpiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const body = { existingTokenExpiresAt, newTokenExpiresAt: '2100-01-01T00:00:00Z' };
    const again = (await call('POST', `/v2/tokens/${made['id'] as string}/regenerate`, body, asOwner())).json;
    expect(again).toMatchObject({
      name: 'rotated',
      token: expect.stringMatching(/^xaat-/),
      expiresAt: '2100-01-01T00:00:00Z',
      ...rights,
    });
    expect(again['id']).not.toBe(made['id']);
    expect((await call('GET', `/v2/tokens/${made['id'] as string}`, undefined, asOwner())).json).toMatchObject({
      expiresAt: existingTokenExpiresAt,
    });
    const none = await call('POST', '/v2/tokens', { name: 'none' }, asOwner());
    expect(none).toMatchObject({
      status: 400,
      json: { message: expect.stringContaining('at least one capability must be set') },
    });
  });

  test.each(['monitors', 'notifiers', 'dashboards'])('is told at once that there are no %s', async (group) => {
    const { status, json } = await call('POST', `/v2/${group}`, {});
    expect([status, json['message']]).toEqual([404, expect.stringContaining(`this service has no ${group}`)]);
  });
});

describe('the MCP server', () => {
  test('lists datasets with their deployments and fields, and runs queries', async () => {
    await client.createDataset('of-mcp');
    await client.ingest('of-mcp', [
      { service: 'shop', status: 200 },
      { service: 'cart', status: 500 },
    ]);
    expect((await call('GET', '/api/internal/integrations/dashboards')).json).toEqual([]);
    const datasets = (await call('GET', '/v2/datasets')).json as unknown as { name: string; edgeDeployment: string }[];
    const { edgeDeployment } = datasets.find(({ name }) => name === 'of-mcp')!;
    const deployments = (await call('GET', '/api/internal/edge-deployments/axiom')).json as {
      axiom: { id: string; domain: string }[];
      byoc: [];
    };
    expect(deployments.axiom.find(({ id }) => id === edgeDeployment)?.domain).toBe(client.url);
    const fields = (await call('GET', '/v2/datasets/of-mcp/fields')).json as unknown as {
      name: string;
      type: string;
    }[];
    expect(fields.map(({ name, type }) => [name, type])).toEqual([
      ['_sysTime', 'datetime'],
      ['_time', 'datetime'],
      ['service', 'string'],
      ['status', 'integer'],
    ]);
    const apl = "['of-mcp'] | where status >= 500 | summarize count() by service";
    const { json } = await call('POST', '/v1/datasets/_apl?format=tabular', {
      apl,
      startTime: 'now-1h',
      endTime: 'now',
    });
    expect(json).toMatchObject({ format: 'tabular', tables: [{ columns: [['cart'], [1]] }], datasetNames: ['of-mcp'] });
  });

  test('finds an object of options in each starred query', async () => {
    await call('POST', '/v2/apl-starred-queries', { name: 'short', query: { apl: 'logs' } }, asOwner());
    expect((await call('GET', '/v2/apl-starred-queries', undefined, asOwner())).json).toMatchObject([
      { name: 'short', query: { apl: 'logs', queryOptions: {} } },
    ]);
  });
});
