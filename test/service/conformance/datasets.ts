/** Datasets: made, listed, read, changed, removed. */
import { describe, expect } from 'vitest';
import { asOwner, client, dataset, test } from './under.ts';

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
      kind: 'axiom:events:v1',
      region: 'local',
      edgeDeployment: 'local',
    });
    expect((await client.call('GET', '/v1/datasets')).json).toContainEqual(created.json);
    expect((await client.call('GET', '/v1/datasets/life-1')).json).toEqual(created.json);
    const updated = await client.call('PUT', '/v1/datasets/life-1', { body: { description: 'second' } });
    expect(updated.json).toEqual({ ...created.json, description: 'second' });
    const deleted = await client.call('DELETE', '/v1/datasets/life-1', asOwner());
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expect((await client.call('GET', '/v1/datasets/life-1')).status).toBe(404);
  });

  test('a name that exists is 409, another case is another dataset', async () => {
    await client.createDataset('twice');
    const again = await client.call('POST', '/v1/datasets', { body: { name: 'twice' } });
    expect(again.json).toEqual({ code: 409, message: expect.stringContaining('exists') });
    await client.createDataset('Twice');
  });

  test.each([
    ['POST', '/v1/datasets', { name: 'strict', retention: 3 }, 'retention'],
    ['POST', '/v2/datasets', { name: 'strict', descripton: 'x' }, 'descripton'],
    ['PUT', '/v1/datasets/#', { name: 'other' }, 'name'],
    ['PUT', '/v2/datasets/#', { retention_days: 3 }, 'retention_days'],
    ['PUT', '/v2/datasets/#/fields/_time', { units: 'ms' }, 'units'],
    ['POST', '/v1/datasets/#/trim', { maxDuration: '1h', dryRun: true }, 'dryRun'],
  ])('%s %s with %j is refused, and the unknown key named', async (method, path, body, key) => {
    const answer = await client.call(method, path.replace('#', await dataset()), { body });
    expect(answer.json).toEqual({ code: 400, message: expect.stringContaining(`unknown key "${key}"`) });
    expect((await client.call('GET', '/v1/datasets/strict')).status).toBe(404);
  });

  test('what newer clients send is taken, and they read where the dataset is', async () => {
    const body = {
      name: 'placed',
      kind: 'otel:traces:v1',
      region: 'eu',
      edgeDeployment: 'eu-1',
      useRetentionPeriod: false,
      retentionDays: 0,
    };
    const made = await client.call('POST', '/v2/datasets', { body });
    expect(made.json).toMatchObject({ kind: 'otel:traces:v1', region: 'local', edgeDeployment: 'local' });
  });

  test('the older info says what a dataset holds', async ({ made: name }) => {
    const info = async (): Promise<Record<string, unknown>> =>
      (await client.call('GET', `/v1/datasets/${name}/info`)).json;
    const unset = '0001-01-01T00:00:00Z';
    expect(await info()).toMatchObject({
      name,
      numEvents: 0,
      numBlocks: 0,
      inputBytes: 0,
      inputBytesHuman: '0 B',
      minTime: unset,
      maxTime: unset,
      who: 'owner',
    });
    await client.ingest(name, [
      { a: 1, _time: '2026-01-02T03:04:05Z' },
      { a: 2, _time: '2026-01-02T03:04:06Z' },
    ]);
    const filled = await info();
    expect(filled).toMatchObject({
      numEvents: 2,
      numFields: 3,
      minTime: '2026-01-02T03:04:05Z',
      maxTime: '2026-01-02T03:04:06Z',
    });
    expect((filled['fields'] as { name: string }[]).map((field) => field.name)).toEqual(['_sysTime', '_time', 'a']);
    for (const key of ['numBlocks', 'inputBytes', 'compressedBytes']) expect(filled[key]).toBeGreaterThan(0);
    expect(filled['compressedBytesHuman']).toMatch(/^[\d.]+ k?B$/);
    expect((await client.call('GET', '/v1/datasets/none/info')).status).toBe(404);
  });

  test('two creations at once make one dataset', async () => {
    const answers = await Promise.all(
      [1, 2, 3].map(() => client.call('POST', '/v1/datasets', { body: { name: 'race' } })),
    );
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 409, 409]);
  });

  test.for([
    ...[
      'a/b',
      '',
      '数据',
      '\u{1f600}',
      'e\u0301',
      'a\u200b',
      '\u202ea',
      'a\u0000',
      '..',
      '%2e',
      'A\n',
      'ａ',
      'x'.repeat(129),
      'a_b',
      'ü',
      'a b',
    ],
    ...["a';drop table ds_1;--", 7, null],
  ])('the name %j is refused with 400', async (name) => {
    const answer = await client.call('POST', '/v1/datasets', { body: { name } });
    expect(answer.json).toEqual({ code: 400, message: expect.stringMatching(/name/) });
  });

  test('a name of 128 characters works on every path', async () => {
    const name = 'n'.repeat(128);
    await client.createDataset(name);
    expect((await client.ingest(name, [{ a: 1 }])).json['ingested']).toBe(1);
    expect((await client.query(name)).matches).toHaveLength(1);
    expect((await client.call('DELETE', `/v1/datasets/${name}`, asOwner())).status).toBe(204);
  });

  test('a deleted dataset that is made again is empty', async () => {
    await client.createDataset('again');
    await client.ingest('again', [{ a: 1 }], { headers: { 'idempotency-key': 'k' } });
    await client.call('DELETE', '/v1/datasets/again', asOwner());
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
      expect((await client.call('GET', path)).json).toEqual({
        code: 404,
        message: expect.stringContaining('not found'),
      });
    },
  );
});
