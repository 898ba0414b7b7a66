/** Bounds that are too large to be reached in a test, made small: fields of all datasets, and kept replies of all keys. */
import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import type { Engine } from '../../src/service/engine/engine.ts';
import { openKeys } from '../../src/service/ingest/keys.ts';
import { openMetadata } from '../../src/service/metadata.ts';
import { makeTree } from '../support/temp-tree.ts';
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
    (await client.query('two', { startTime: '2000-01-01T00:00:00Z', filter: { op: '==', field: 'b0', value: 1 } }))
      .status['rowsMatched'],
  ).toBe(5);
});

test('kept replies take no more of the disk than the bound and their counts, over starts; a deletion makes room', async () => {
  const folder = makeTree({});
  let metadata = openMetadata(folder, false);
  let keys = await openKeys(metadata, {} as Engine, silentLog);
  const reopen = async (): Promise<void> => {
    metadata.close();
    metadata = openMetadata(folder, false);
    keys = await openKeys(metadata, {} as Engine, silentLog);
  };
  let next = 0;
  /** Keeps a reply that hardly packs; returns whether it was kept whole. */
  const keep = async (dataset = 1): Promise<boolean> => {
    const key = `key-${next++}`;
    const reply = randomBytes(1000).toString('base64');
    keys.begin(
      dataset,
      key,
      { firstRow: 1n, rows: 0, minTime: 0n, maxTime: 0n },
      reply,
      (failures) => `counts, ${failures} failures`,
    );
    keys.finish(dataset, key);
    const kept = await keys.once(dataset, key, () => Promise.reject(new Error('the key is not known')));
    expect(kept).toBeOneOf([reply, 'counts, 0 failures']);
    return kept === reply;
  };
  const bytesKept = (): number =>
    Number(metadata.db.prepare('select sum(octet_length(reply)) as n from keys').get()!['n']);

  const whole: boolean[] = [];
  for (let n = 0; n < 500; n++) whole.push(await keep());
  const kept = whole.filter(Boolean).length;
  expect(whole.slice(0, 5).filter(Boolean).length).toBe(kept);
  expect(kept).toBeGreaterThan(1);
  const counts = 'counts, 0 failures'.length;
  // The one that goes over the bound is whole.
  expect(bytesKept()).toBeLessThan(3000 + 1500 + 500 * counts);
  await reopen();
  expect(await keep()).toBe(false);
  metadata.close();
  expect(statSync(join(folder, 'service.db')).size).toBeLessThan(256 * 1024);
  metadata = openMetadata(folder, false);
  keys = await openKeys(metadata, {} as Engine, silentLog);
  expect(await keep(2)).toBe(false);

  // As the removal of a dataset does.
  metadata.db.prepare('delete from keys where dataset = 1').run();
  expect(await keep(2)).toBe(false);
  const later = performance.now() + 11_000;
  const now = vi.spyOn(performance, 'now').mockReturnValue(later);
  expect(await keep(2)).toBe(true);
  now.mockRestore();
  await reopen();
  expect(await keep(2)).toBe(true);
  metadata.close();
});
