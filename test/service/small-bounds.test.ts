/** Bounds that are too large to be reached in a test, made small: fields of all datasets, and kept replies of all keys. */
import { expect, test, vi } from 'vitest';
import { serviceForSuite } from './support.ts';

vi.mock('../../src/service/limits.ts', async (original) => ({
  ...(await original<object>()),
  SERVICE_ALL_FIELDS: 20,
  SERVICE_KEPT_REPLY_BYTES: 3000,
}));
const { client } = serviceForSuite({}, { one: [], two: [] });

test('fields of all datasets are bounded; removing a dataset makes room', async () => {
  const fields = (count: number, prefix: string) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}${n}`, n])));
  const send = async (name: string, body: string) => (await client.ingest(name, body)).json;
  expect(await send('one', fields(15, 'a'))).toMatchObject({ ingested: 1 });
  expect(await send('two', `${fields(5, 'b')}\n${fields(1, 'c')}\n${fields(5, 'b')}`)).toMatchObject({
    ingested: 2,
    failures: [{ index: 1, error: expect.stringContaining('would exceed the column limit') }],
  });
  const owner = { token: client.personalToken, headers: { 'x-service-org-id': client.orgId } };
  expect((await client.call('DELETE', '/v1/datasets/one', owner)).status).toBe(204);
  expect(await send('two', fields(10, 'd'))).toMatchObject({ ingested: 1 });
});

test('kept replies are bounded; over it a key keeps the counts, and still stores its events once', async () => {
  const failing = Array.from({ length: 200 }, (_, n) => `{"_time":"${Math.random()}-${n}"}`).join('\n');
  const send = (key: string) =>
    client.call('POST', '/v1/ingest/two', {
      headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': key },
      body: `{"b0":1}\n${failing}`,
    });
  for (let n = 0; n < 5; n++) {
    const first = await send(`key-${n}`);
    expect(first.json['failures']).toHaveLength(200);
    const again = await send(`key-${n}`);
    expect(again.json).toMatchObject({ ingested: 1, failed: 200 });
    if (n > 1) expect(again.json['failures']).toEqual([]);
  }
  expect(
    (await client.query('two', { startTime: '2000-01-01T00:00:00Z', filter: { op: '==', field: 'b0', value: 1 } })).status['rowsMatched'],
  ).toBe(5);
});
