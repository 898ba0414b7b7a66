/** Every key of what datasets, ingest and queries answer. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { Answer } from '../support.ts';
import { ALWAYS } from './ask.ts';
import { client, dataset } from './under.ts';

describe('replies have every key of the specification, and no other', () => {
  const keysOf = (value: unknown): string[] => Object.keys(value as object).sort();
  const sorted = (text: string): string[] => text.split(' ').sort();
  const STATUS = sorted(
    'blocksExamined cacheStatus continuationToken elapsedTime isEstimate isPartial minBlockTime maxBlockTime messages numGroups rowsExamined rowsMatched minCursor maxCursor blocksCached blocksMatched',
  );
  const FIELD = sorted('name type unit hidden description');
  let name: string;
  const ask = (path: string, body: object): Promise<Answer> =>
    client.call('POST', path, { body: { ...ALWAYS, ...body } });
  beforeAll(async () => {
    name = await dataset();
    await client.ingest(name, [{ a: 1, b: 'x' }]);
  });

  test('a dataset', async () => {
    const keys = sorted('id name description created integrationConfigs who kind region edgeDeployment');
    const one = (await client.call('GET', `/v1/datasets/${name}`)).json;
    expect(keysOf(one)).toEqual(keys);
    expect(one['id']).toBe(one['name']);
    for (const each of (await client.call('GET', '/v1/datasets')).json as unknown as object[])
      expect(keysOf(each)).toEqual(keys);
  });

  test('an ingest', async () => {
    const { json } = await client.ingest(name, '{"a":1}\n{');
    expect(keysOf(json)).toEqual(sorted('ingested failed failures processedBytes blocksCreated walLength'));
    expect(keysOf((json['failures'] as object[])[0])).toEqual(sorted('timestamp error index'));
  });

  test('a tabular result', async () => {
    const { json } = await ask('/v1/query/_apl?format=tabular', { apl: `['${name}'] | where true` });
    expect(keysOf(json)).toEqual(sorted('format status tables datasetNames fieldsMetaMap'));
    expect(keysOf(json['status'])).toEqual(STATUS);
    const { messages } = json['status'] as { messages: object[] };
    expect(messages.map(keysOf)).toEqual([sorted('code count msg priority')]);
    const [table] = json['tables'] as { order: object[]; fields: object[]; range: object; sources: object[] }[];
    expect(keysOf(table)).toEqual(sorted('name sources fields order groups range columns'));
    expect(keysOf(table!.range)).toEqual(sorted('field start end'));
    expect(table!.sources).toEqual([{ name }]);
    expect(table!.order).toEqual([{ field: '_time', desc: true }]);
    for (const field of table!.fields) expect(keysOf(field)).toEqual(['name', 'type']);
    expect(json['datasetNames']).toEqual([name]);
    for (const field of (json['fieldsMetaMap'] as Record<string, object[]>)[name]!)
      expect(keysOf(field)).toEqual(FIELD);
  });

  test('a legacy result of a query by text', async () => {
    const { json } = await ask('/v1/query/_apl?format=legacy', { apl: `['${name}']` });
    expect(keysOf(json)).toEqual(sorted('format status matches buckets datasetNames fieldsMetaMap request'));
    expect(keysOf(json['status'])).toEqual(STATUS);
    expect(keysOf(json['buckets'])).toEqual(['series', 'totals']);
    expect(keysOf(json['request'])).toEqual(
      sorted(
        'aggregations continuationToken cursor endTime fieldsMeta filter groupBy includeCursor limit order project resolution startTime virtualFields',
      ),
    );
    expect((json['matches'] as object[]).map(keysOf)[0]).toEqual(sorted('_rowId _sysTime _time data'));
  });

  test('a structured query', async () => {
    const { json } = await ask(`/v1/datasets/${name}/query`, { aggregations: [{ op: 'count' }], groupBy: ['b'] });
    expect(keysOf(json)).toEqual(sorted('status matches buckets fieldsMeta'));
    expect(keysOf(json['status'])).toEqual(STATUS);
    const { series, totals } = json['buckets'] as {
      series: { groups: object[] }[];
      totals: { aggregations: object[] }[];
    };
    expect(keysOf(series[0])).toEqual(sorted('startTime endTime groups'));
    for (const group of [totals[0], series[0]!.groups[0]])
      expect(keysOf(group)).toEqual(sorted('id group aggregations'));
    expect(keysOf(totals[0]!.aggregations[0])).toEqual(['op', 'value']);
    for (const field of json['fieldsMeta'] as object[]) expect(keysOf(field)).toEqual(FIELD);
  });
});
