/** A published client of this API family, unchanged, against the service: what it calls must work. */
import { Axiom, AxiomWithoutBatching, ContentEncoding, ContentType } from '@axiomhq/js';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { serviceForSuite } from './support.ts';

const { under } = serviceForSuite({ headerPrefix: 'X-Axiom-' }, { logs: [] });

const onError = (error: Error): never => {
  throw error;
};
const withToken = () => new AxiomWithoutBatching({ url: under.client.url, token: under.client.apiToken, onError });
const asUser = () => {
  const { url, personalToken: token, orgId } = under.client;
  return new AxiomWithoutBatching({ url, token, orgId, onError });
};
const RANGE = { startTime: '2000-01-01T00:00:00Z', endTime: '2100-01-01T00:00:00Z', resolution: 'auto' };
const count = async (dataset: string, field: string): Promise<number | undefined> => {
  const filter = { op: 'exists' as never, field };
  return (await withToken().queryLegacy(dataset, { ...RANGE, filter })).status.rowsMatched;
};

describe('the client', () => {
  test('ingests objects, raw text and compressed text', async () => {
    const client = withToken();
    expect(await client.ingest('logs', [{ plain: 1 }, { plain: 2 }])).toMatchObject({ ingested: 2, failed: 0 });
    const csv = 'csv\n1\n2\n3\n';
    expect(await client.ingestRaw('logs', csv, ContentType.CSV)).toMatchObject({ ingested: 3, failures: [] });
    const zipped = gzipSync('{"zipped":1,"at":"2/Jan/2026:03:04:05 +0000"}');
    const options = { timestampField: 'at', timestampFormat: '2/Jan/2006:15:04:05 +0000' };
    expect(await client.ingestRaw('logs', zipped, ContentType.NDJSON, ContentEncoding.GZIP, options)).toMatchObject({
      ingested: 1,
    });
    expect([await count('logs', 'plain'), await count('logs', 'csv'), await count('logs', 'zipped')]).toEqual([
      2, 3, 1,
    ]);
  });

  test('batches in the background and flushes', async () => {
    const client = new Axiom({ url: under.client.url, token: under.client.apiToken, onError });
    for (let n = 0; n < 250; n++) client.ingest('logs', { batched: n });
    await client.flush();
    expect(await count('logs', 'batched')).toBe(250);
  });

  test('manages datasets', async () => {
    const { datasets } = asUser();
    const created = await datasets.create({ name: 'by-client', description: 'first' });
    expect(created).toMatchObject({ id: 'by-client', name: 'by-client', description: 'first' });
    expect((await datasets.list()).map(({ name }) => name)).toEqual(expect.arrayContaining(['by-client', 'logs']));
    expect((await datasets.update('by-client', { description: 'second' })).description).toBe('second');
    expect((await datasets.get('by-client')).description).toBe('second');
    await datasets.delete('by-client');
    await expect(datasets.get('by-client')).rejects.toThrow('not found');
  });

  test('asks queries by text, and pages by cursor', async () => {
    await under.client.createDataset('pages');
    await withToken().ingest(
      'pages',
      Array.from({ length: 25 }, (_, n) => ({ _time: '2026-01-01T00:00:00Z', n, kind: n % 2 ? 'odd' : 'even' })),
    );
    const { tables } = await withToken().query("['pages'] | summarize count() by kind | order by kind asc", RANGE);
    expect(tables[0]!.columns).toEqual([
      ['even', 'odd'],
      [13, 12],
    ]);
    const seen: unknown[] = [];
    let cursor = '';
    for (;;) {
      const page = await withToken().query("['pages'] | sort by _time asc | limit 10", { ...RANGE, cursor });
      const events = page.tables[0]!.columns![0]!.length === 0 ? [] : [...page.tables[0]!.events()];
      seen.push(...events.filter((event) => event['n'] !== undefined).map((event) => event['n']));
      const { maxCursor } = page.status as unknown as { maxCursor: string };
      if (maxCursor === cursor || events.length === 0) break;
      cursor = maxCursor;
    }
    expect(seen).toEqual(Array.from({ length: 25 }, (_, n) => n));
    await expect(withToken().query("['pages'] | nonsense", RANGE)).rejects.toThrow(/400|nonsense/);
  });

  test('reads map fields, starred queries and annotations', async () => {
    const { client } = under;
    await client.call('PUT', '/v2/datasets/logs/mapfields', { body: ['attributes.custom'] });
    expect(await withToken().datasets.mapFields('logs')).toEqual(['attributes.custom']);
    expect((await withToken().datasets.get('logs')).mapFields).toEqual(['attributes.custom']);
    const owner = { token: client.personalToken, headers: { 'x-axiom-org-id': client.orgId } };
    await client.call('POST', '/v2/apl-starred-queries', {
      ...owner,
      body: { name: 'all', dataset: 'logs', query: { apl: 'logs | count' } },
    });
    const [starred] = await asUser().savedQueries.list({ who: 'all' });
    expect(starred).toMatchObject({ name: 'all', kind: 'apl', query: { apl: 'logs | count' } });
    expect(await asUser().savedQueries.get(starred!.id)).toEqual(starred);
    const made = await withToken().annotations.create({ datasets: ['logs'], type: 'deploy', title: 'v2' });
    expect(await withToken().annotations.list({ datasets: ['logs'] })).toEqual([made]);
  });

  test('asks who it is, with a personal token and the organisation', async () => {
    const client = asUser();
    expect(await client.users.current()).toMatchObject({ name: 'owner' });
  });

  test('gets an error with the status’s meaning', async () => {
    await expect(withToken().ingest('none', [{ a: 1 }])).rejects.toThrow(/not found/);
    const stranger = new AxiomWithoutBatching({ url: under.client.url, token: 'xaat-none', onError });
    await expect(stranger.datasets.list()).rejects.toThrow(/Forbidden|403/);
  });
});
