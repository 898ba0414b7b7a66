/** The legacy form whole: filters, aggregations, groups, virtual fields, order, project, resolution. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { QueryAnswer } from '../support.ts';
import { ALWAYS } from './ask.ts';
import { client, dataset } from './under.ts';

const START = Date.UTC(2026, 0, 1);
const at = (second: number): string => new Date(START + second * 1000).toISOString().replace('.000', '');
const events = Array.from({ length: 100 }, (_, n) => ({
  _time: at(n),
  seq: n,
  level: ['info', 'warn', 'Error'][n % 3],
  ...(n % 10 !== 0 && { latency: n / 4 }),
  ok: n % 2 === 0,
  mixed: n % 2 === 0 ? n : `text ${n}`,
  message: `GET /items/${n}?user=foo_bar`,
  tags: n % 2 === 0 ? ['red', 'green'] : ['blue'],
}));

describe('the legacy form', () => {
  let logs: string;
  beforeAll(async () => {
    logs = await dataset();
    await client.ingest(logs, events);
  });
  const query = (body: object): Promise<QueryAnswer> => client.query(logs, { ...ALWAYS, ...body });
  const seqs = async (body: object): Promise<unknown[]> =>
    (await query({ order: [{ field: 'seq' }], ...body })).matches.map(({ data }) => data['seq']);
  const matched = async (filter: unknown): Promise<number> => Number((await query({ filter })).status['rowsMatched']);
  const value = async (aggregation: object): Promise<unknown> =>
    (await query({ aggregations: [aggregation] })).buckets.totals[0]!.aggregations[0]!.value;

  describe('filters', () => {
    const count = (test: (event: (typeof events)[number]) => boolean): number => events.filter(test).length;
    test.each([
      ['==', 'level', 'info', count(({ level }) => level === 'info')],
      ['eq', 'seq', 5, 1],
      ['==', 'ok', true, 50],
      ['==', 'seq', '5', 0],
      ['!=', 'level', 'info', 66],
      ['ne', 'latency', 2.25, 99],
      ['>', 'latency', 20, count(({ latency }) => latency! > 20)],
      ['gt', 'seq', 97, 2],
      ['>=', 'seq', 97, 3],
      ['gte', 'seq', 97, 3],
      ['<', 'latency', 1, count(({ latency }) => latency! < 1)],
      ['lt', 'seq', 2, 2],
      ['<=', 'seq', 2, 3],
      ['lte', 'seq', 2, 3],
      ['exists', 'latency', null, 90],
      ['not-exists', 'latency', null, 10],
      ['starts-with', 'level', 'IN', 34],
      ['not-starts-with', 'level', 'in', 66],
      ['ends-with', 'level', 'FO', 34],
      ['not-ends-with', 'level', 'fo', 66],
      ['contains', 'level', 'RR', 33],
      ['not-contains', 'level', 'rr', 67],
      ['contains', 'tags', 'red', 50],
      ['contains', 'seq', '9', 19],
      ['regexp', 'message', 'items/9\\d', 10],
      ['not-regexp', 'message', 'ITEMS/9\\d', 90],
      ['has', 'message', 'BAR', 100],
      ['has', 'message', 'ba', 0],
      ['not-has', 'message', 'get', 0],
      ['contains', 'latency', 'x', 0],
      ['not-contains', 'nothing', 'x', 100],
      ['!=', 'nothing', 1, 100],
      ['>=', '_time', at(90), 10],
      ['<', '_time', at(10), 10],
      ['==', '_time', at(10), 1],
      ['==', 'mixed', 4, 1],
      ['==', 'mixed', 'text 5', 1],
      ['contains', 'mixed', 'TEXT 9', 6],
      ['regexp', 'mixed', '^text 1\\d$', 5],
      ['==', 'level', "' or 1=1 --", 0],
      ['==', "x'] or 1=1 --", '{p0:String}', 0],
    ])('%s on %s with %j', async (op, field, wanted, expected) => {
      expect(await matched({ op, field, value: wanted })).toBe(expected);
    });

    test.each([
      ['starts-with', 'IN', 0],
      ['ends-with', 'FO', 0],
      ['contains', 'RR', 0],
      ['contains', 'rr', 33],
      ['has', 'ERROR', 0],
      ['regexp', 'ERR', 0],
    ])('%s with its case', async (op, wanted, expected) => {
      expect(await matched({ op, field: 'level', value: wanted, caseSensitive: true })).toBe(expected);
    });

    test('and, or and not combine; only they have children; an empty op is no filter', async () => {
      const small = { op: '<', field: 'seq', value: 10 };
      const even = { op: '==', field: 'ok', value: true };
      expect(await matched({ op: 'and', children: [small, even] })).toBe(5);
      expect(await matched({ op: 'or', children: [small, even] })).toBe(55);
      expect(await matched({ op: 'not', children: [small] })).toBe(90);
      expect(await matched({ op: 'not', children: [{ op: 'and', children: [small, even] }] })).toBe(95);
      expect(await matched({ op: 'and', children: [] })).toBe(100);
      expect(await matched({ op: 'and', children: null })).toBe(100);
      expect(await matched({ op: '', field: 'seq', value: 1, children: [small] })).toBe(100);
      expect(await matched({ op: 'exists', field: 'seq', children: [small] })).toBe(100);
      expect(await matched(null)).toBe(100);
    });

    test('the case of an op does not matter', async () => {
      expect(await matched({ op: 'AND', children: [{ op: 'EXISTS', field: 'latency' }] })).toBe(90);
    });
  });

  describe('aggregations', () => {
    const latencies = events.flatMap(({ latency }) => (latency === undefined ? [] : [latency]));
    const mean = latencies.reduce((a, b) => a + b, 0) / latencies.length;
    const variance = latencies.reduce((sum, latency) => sum + (latency - mean) ** 2, 0) / (latencies.length - 1);

    test.each([
      [{ op: 'count' }, 100],
      [{ op: 'count', field: '*' }, 100],
      [{ op: 'count', field: 'latency' }, 90],
      [{ op: 'distinct', field: 'level' }, 3],
      [{ op: 'distinct', field: 'mixed' }, 100],
      [{ op: 'distinct', field: 'seq' }, 100],
      [{ op: 'sum', field: 'seq' }, 4950],
      [{ op: 'sum', field: 'latency' }, latencies.reduce((a, b) => a + b, 0)],
      [{ op: 'sum', field: 'mixed' }, 2450],
      [{ op: 'min', field: 'seq' }, 0],
      [{ op: 'max', field: 'seq' }, 99],
      [{ op: 'min', field: '_time' }, at(0)],
      [{ op: 'max', field: 'level' }, 'warn'],
      [{ op: 'avg', field: 'latency' }, expect.closeTo(mean, 9)],
      [{ op: 'min', field: 'latency' }, 0.25],
      [{ op: 'max', field: 'latency' }, 24.75],
      [{ op: 'min', field: 'level' }, 'Error'],
      [{ op: 'max', field: '_time' }, at(99)],
      [{ op: 'stdev', field: 'latency' }, expect.closeTo(Math.sqrt(variance), 9)],
      [{ op: 'variance', field: 'latency' }, expect.closeTo(variance, 9)],
      [{ op: 'percentiles', field: 'seq', argument: [0, 50, 95, 99, 100] }, [0, 49, 94, 98, 99]],
      [{ op: 'percentiles', field: 'seq', argument: 50 }, [49]],
      [{ op: 'percentiles', field: 'seq' }, [49, 89, 94, 98]],
      [{ op: 'topk', field: 'seq' }, Array.from({ length: 10 }, (_, key) => ({ key, count: 1, error: 0 }))],
      [
        { op: 'histogram', field: 'seq' },
        Array.from({ length: 30 }, () => expect.objectContaining({ count: expect.any(Number) })),
      ],
      [
        { op: 'topk', field: 'level', argument: 2 },
        [
          { key: 'info', count: 34, error: 0 },
          { key: 'Error', count: 33, error: 0 },
        ],
      ],
      [
        { op: 'topk', field: 'ok', argument: 5 },
        [
          { key: false, count: 50, error: 0 },
          { key: true, count: 50, error: 0 },
        ],
      ],
      [
        { op: 'histogram', field: 'seq', argument: 2 },
        [
          { from: 0, to: 49.5, count: 50 },
          { from: 49.5, to: 99, count: 50 },
        ],
      ],
      [{ op: 'argmax', field: 'seq', argument: 'message' }, 'GET /items/99?user=foo_bar'],
      [
        { op: 'argmin', field: 'latency', argument: ['seq', 'level', 'nothing'] },
        { seq: 1, level: 'warn', nothing: null },
      ],
      [{ op: 'argmax', field: 'seq' }, at(99)],
      [{ op: 'argmin', field: 'seq', argument: [] }, at(0)],
      [{ op: 'makeset', field: 'level' }, ['Error', 'info', 'warn']],
      [{ op: 'makeset', field: 'seq', argument: 3 }, [expect.any(Number), expect.any(Number), expect.any(Number)]],
      [{ op: 'countif', argument: 'seq < 10 and ok' }, 5],
      [{ op: 'countif', field: '*', argument: { op: '==', field: 'ok', value: true } }, 50],
      [{ op: 'distinctif', field: 'level', argument: 'seq < 2' }, 2],
      [{ op: 'makesetif', field: 'level', argument: "level != 'Error'" }, ['info', 'warn']],
      [{ op: 'rate', field: 'seq' }, expect.any(Number)],
      [{ op: 'sum', field: 'nothing' }, 0],
      [{ op: 'sum', field: 'level' }, 0],
    ] as const)('%j', async (aggregation, wanted) => {
      expect(await value(aggregation)).toEqual(wanted);
    });

    // They were a 500.
    test.each(['datetime(null)', 'dynamic(null)', 'message'])(
      'events whose _time is %s stand in the totals, and in no interval',
      async (expr) => {
        const { buckets } = await query({ aggregations: [{ op: 'count' }], virtualFields: [{ alias: '_time', expr }] });
        expect(buckets.totals[0]!.aggregations[0]!.value).toBe(100);
        expect(buckets.series).toEqual([]);
      },
    );

    test('makelist collects all values', async () => {
      const list = (await value({ op: 'makelist', field: 'seq' })) as number[];
      expect(list.sort((a, b) => a - b)).toEqual(events.map(({ seq }) => seq));
    });

    test('an aggregation’s op in the result is its alias, or the op in upper case', async () => {
      const { buckets, matches } = await query({
        aggregations: [
          { op: 'count', alias: 'events' },
          { op: 'count' },
          { op: 'topk', field: 'ok', argument: 1 },
          { op: 'Sum', field: 'seq', alias: '' },
          { op: 'count' },
        ],
      });
      expect(buckets.totals[0]!.aggregations.map(({ op }) => op)).toEqual(['events', 'COUNT', 'TOPK', 'SUM', 'COUNT']);
      expect(matches).toEqual([]);
    });

    test('sums beyond 64 bits do not wrap', async () => {
      const large = await dataset();
      await client.ingest(large, '{"n":9223372036854775807}\n'.repeat(3));
      const { text } = await client.query(large, { aggregations: ['sum', 'max'].map((op) => ({ op, field: 'n' })) });
      expect(text).toContain('"op":"SUM","value":27670116110564327421');
      expect(text).toContain('"op":"MAX","value":9223372036854775807');
    });

    test('rate is per second of the range in the totals and of the bucket in the series', async () => {
      const { buckets } = await query({
        aggregations: [{ op: 'rate', field: '*' }],
        startTime: at(0),
        endTime: at(100),
        resolution: '50s',
      });
      expect(buckets.totals[0]!.aggregations[0]!.value).toBe(1);
      expect(buckets.series.map(({ groups }) => groups[0]!.aggregations[0]!.value)).toEqual([1, 1]);
    });

    // It was a count.
    test('rateif without a field is the rate of the events that meet the condition', async () => {
      const argument = { op: '<', field: 'seq', value: 25 };
      const { buckets } = await query({
        aggregations: [{ op: 'rateif', argument }],
        startTime: at(0),
        endTime: at(100),
        resolution: '50s',
      });
      expect(buckets.totals[0]!.aggregations[0]!.value).toBe(0.25);
      expect(buckets.series.map(({ groups }) => groups[0]!.aggregations[0]!.value)).toEqual([0.5, 0]);
    });
  });

  describe('groups and the series', () => {
    test('groupBy gives totals and a series whose groups have the totals’ ids', async () => {
      const { buckets, status } = await query({
        aggregations: [{ op: 'count' }, { op: 'max', field: 'seq' }],
        groupBy: ['level', 'ok', 'nothing'],
        resolution: '25s',
      });
      expect(status['numGroups']).toBe(6);
      const counts = buckets.totals.map(({ aggregations }) => aggregations[0]!.value as number);
      expect(counts).toEqual([...counts].sort((a, b) => b - a));
      for (const { group, aggregations } of buckets.totals) {
        expect(group['nothing']).toBeNull();
        expect(aggregations[0]!.value).toBe(
          events.filter(({ level, ok }) => level === group['level'] && ok === group['ok']).length,
        );
      }
      expect(buckets.totals).toHaveLength(6);
      expect(buckets.totals.map(({ id }) => id)).toEqual([0, 1, 2, 3, 4, 5]);
      expect(buckets.series.map(({ startTime, endTime }) => [startTime, endTime])).toEqual(
        [0, 25, 50, 75].map((from) => [at(from), at(from + 25)]),
      );
      for (const total of buckets.totals) {
        const parts = buckets.series.flatMap(({ groups }) => groups.filter(({ id }) => id === total.id));
        expect(parts.every(({ group }) => JSON.stringify(group) === JSON.stringify(total.group))).toBe(true);
        expect(parts.reduce((sum, { aggregations }) => sum + (aggregations[0]!.value as number), 0)).toBe(
          total.aggregations[0]!.value,
        );
      }
    });

    test('order by alias, by op and by a grouped field', async () => {
      const groups = async (order: object[]): Promise<unknown[]> =>
        (
          await query({ aggregations: [{ op: 'sum', field: 'seq', alias: 'total' }], groupBy: ['level'], order })
        ).buckets.totals.map(({ group }) => group['level']);
      expect(await groups([])).toEqual(['info', 'Error', 'warn']);
      expect(await groups([{ field: 'total', desc: false }])).toEqual(['warn', 'Error', 'info']);
      expect(await groups([{ field: 'sum', desc: true }])).toEqual(['info', 'Error', 'warn']);
      expect(await groups([{ field: 'level', desc: true }])).toEqual(['warn', 'info', 'Error']);
    });

    test('a limit counts groups, in the series too', async () => {
      const { buckets } = await query({
        aggregations: [{ op: 'count' }],
        groupBy: ['seq'],
        order: [{ field: 'seq', desc: true }],
        limit: 2,
      });
      expect(buckets.totals.map(({ group }) => group['seq'])).toEqual([99, 98]);
      expect(buckets.series.flatMap(({ groups }) => groups.map(({ group }) => String(group['seq']))).sort()).toEqual([
        '98',
        '99',
      ]);
    });

    test('resolution auto chooses a width for the data', async () => {
      for (const resolution of ['auto', '', null]) {
        const { buckets } = await query({ aggregations: [{ op: 'count' }], resolution });
        expect(buckets.series).toHaveLength(100);
      }
    });

    test('groups keep the types of a mixed field apart', async () => {
      const { buckets } = await query({
        aggregations: [{ op: 'count' }],
        groupBy: ['mixed'],
        order: [{ field: 'mixed' }],
        endTime: at(4),
      });
      expect(new Set(buckets.totals.map(({ group }) => group['mixed']))).toEqual(new Set([0, 2, 'text 1', 'text 3']));
    });

    test('a field that events lack groups as null', async () => {
      const { buckets } = await query({ aggregations: [{ op: 'count' }], groupBy: ['nothing'] });
      expect(buckets.totals).toEqual([
        { id: 0, group: { nothing: null }, aggregations: [{ op: 'COUNT', value: 100 }] },
      ]);
    });
  });

  describe('virtual fields, project and order', () => {
    test('virtual fields can be filtered, grouped, ordered and projected', async () => {
      const virtualFields = [
        { alias: 'success', expr: 'toint(seq) < 40' },
        { alias: 'label', expr: "strcat(level, '-', tostring(success))" },
      ];
      const { buckets } = await query({
        virtualFields,
        aggregations: [{ alias: 'event_count', op: 'count', field: '*' }],
        groupBy: ['success', 'label'],
        filter: { op: '!=', field: 'level', value: 'warn' },
        order: [
          { field: 'success', desc: true },
          { field: 'label', desc: false },
        ],
        project: [{ field: 'level', alias: 'l' }],
      });
      expect(
        buckets.totals.map(({ group, aggregations }) => [group['success'], group['label'], aggregations[0]!.value]),
      ).toEqual([
        [true, 'Error-true', 13],
        [true, 'info-true', 14],
        [false, 'Error-false', 20],
        [false, 'info-false', 20],
      ]);
      expect((await query({ virtualFields, limit: 1, project: [{ field: 'label' }] })).matches[0]!.data).toEqual({
        label: 'info-false',
      });
      expect((await query({ virtualFields, limit: 1 })).matches[0]!.data).toMatchObject({
        success: false,
        label: 'info-false',
        seq: 99,
      });
    });

    test('order by any field, by several, with a limit', async () => {
      expect(await seqs({ order: [{ field: 'seq', desc: true }], limit: 3 })).toEqual([99, 98, 97]);
      expect(await seqs({ order: [{ field: 'level' }, { field: 'seq', desc: true }], limit: 2 })).toEqual([98, 95]);
      expect(await seqs({ limit: 2 })).toEqual([0, 1]);
    });

    test('project renames and picks', async () => {
      const { matches } = await query({
        project: [{ field: 'seq', alias: 'n' }, { field: 'level' }, { field: 'nothing' }],
        order: [{ field: 'level' }, { field: 'seq', desc: true }],
        limit: 2,
      });
      expect(matches.map(({ data }) => data)).toEqual([
        { n: 98, level: 'Error' },
        { n: 95, level: 'Error' },
      ]);
    });
  });

  test('nulls, empty texts, 0 and keys that are not known are ordinary input', async () => {
    const body = {
      aggregations: null,
      groupBy: null,
      project: null,
      virtualFields: null,
      order: null,
      filter: null,
      queryOptions: { quickRange: '1h' },
      cursor: '',
      continuationToken: '',
      includeCursor: false,
      limit: 0,
      resolution: 'auto',
      fieldsMeta: null,
      more: [1],
    };
    expect((await query(body)).matches).toHaveLength(100);
    expect((await query({ ...body, groupBy: [], queryOptions: { openIntervals: 'x' } })).matches).toHaveLength(100);
    expect((await query({ ...body, filter: { op: '', children: [{ op: 'nonsense' }] } })).matches).toHaveLength(100);
  });

  test.each([
    'nocache=true',
    'nocache=True',
    'streaming-duration=50ms',
    'streaming-duration=auto',
    'streaming-duration=50000000',
  ])('%s is accepted, and changes nothing', async (parameter) => {
    const answer = await client.call('POST', `/v1/datasets/${logs}/query?${parameter}`, { body: ALWAYS });
    expect((answer.json['matches'] as unknown[]).length).toBe(100);
  });

  test.each(['nocache=maybe', 'streaming-duration=soon', 'saveAsKind=other'])('%s is 400', async (parameter) => {
    expect((await client.call('POST', `/v1/datasets/${logs}/query?${parameter}`, { body: ALWAYS })).status).toBe(400);
  });

  test('an empty body asks for everything, newest first, each event whole', async () => {
    const answer = await client.call('POST', `/v1/datasets/${logs}/query`);
    const { matches, buckets, status } = answer.json as unknown as QueryAnswer;
    expect(matches.map(({ data }) => data['seq'])).toEqual(events.map(({ seq }) => seq).reverse());
    const { _time, ...data } = events[99]!;
    expect(matches[0]).toEqual({
      _time,
      _sysTime: expect.any(String),
      _rowId: expect.stringMatching(/^[0-9a-f]{32}$/),
      data,
    });
    expect(buckets).toEqual({ series: [], totals: [] });
    expect(status).toMatchObject({
      rowsMatched: 100,
      isPartial: false,
      isEstimate: false,
      cacheStatus: 0,
      continuationToken: '',
      messages: [],
      numGroups: 0,
      minBlockTime: at(0),
      maxBlockTime: at(99),
    });
    expect(status['elapsedTime']).toBeGreaterThan(0);
    expect(status['rowsExamined']).toBeGreaterThanOrEqual(100);
  });

  test('an empty dataset has no matches and a zero total', async () => {
    const empty = await dataset();
    expect((await client.query(empty)).matches).toEqual([]);
    const { buckets, status } = await client.query(empty, {
      aggregations: [{ op: 'count' }, { op: 'max', field: 'x' }],
    });
    expect(buckets).toEqual({
      series: [],
      totals: [
        {
          id: 0,
          group: {},
          aggregations: [
            { op: 'COUNT', value: 0 },
            { op: 'MAX', value: null },
          ],
        },
      ],
    });
    expect(status['minBlockTime']).toBe('0001-01-01T00:00:00Z');
  });

  test.each([
    [at(10), at(13), 3],
    ['now-1h', undefined, 0],
    ['0001-01-01T00:00:00Z', 'now', 100],
    ['', '', 100],
    ['2020-01-01T00:00:00+03:00', '9999-12-31T00:00:00Z', 100],
    ['now', 'now-1h', 0],
  ])('the range %s … %s has %i events', async (startTime, endTime, wanted) => {
    expect(
      (await client.query(logs, { startTime, endTime, aggregations: [{ op: 'count' }] })).status['rowsMatched'],
    ).toBe(wanted);
    if (wanted === 3) expect(await seqs({ startTime, endTime })).toEqual([10, 11, 12]);
  });

  test.each([
    [{ startTime: 'yesterday' }, 'startTime'],
    [{ endTime: 'now-1parsec' }, 'endTime'],
    [{ aggregations: [{ op: 'mode', field: 'seq' }] }, 'not known'],
    [{ aggregations: [{ op: 'sum' }] }, 'field'],
    [{ aggregations: [{ op: 'topk', field: 'seq', argument: 'many' }] }, ''],
    [{ aggregations: [{ op: 'topk', field: 'seq', argument: 100_000 }] }, ''],
    [{ aggregations: [{ op: 'percentiles', field: 'seq', argument: [101] }] }, ''],
    [{ aggregations: [{ op: 'countif', argument: 'seq <' }] }, ''],
    [{ filter: { op: 'sounds-like', field: 'a', value: 'b' } }, 'not known'],
    [{ filter: { op: 'regexp', field: 'level', value: '(' } }, 'regular expression'],
    [{ filter: { op: '>', field: 'a', value: { b: 1 } } }, ''],
    [{ filter: { op: 'and', children: [5] } }, ''],
    [{ filter: 'seq == 1' }, ''],
    [{ virtualFields: [{ alias: 'a', expr: 'nope(' }] }, ''],
    [{ virtualFields: [{ alias: 'a', expr: '1 +' }] }, 'virtualFields[0]'],
    [{ virtualFields: [{ alias: 'a' }] }, ''],
    [{ resolution: '1ns', aggregations: [{ op: 'count' }] }, 'buckets'],
    [{ resolution: 'often' }, 'resolution'],
    [{ limit: 1.5 }, ''],
    [{ limit: -1 }, 'limit'],
    [{ limit: 'ten' }, 'limit'],
    [{ cursor: 'x' }, 'cursor'],
    [{ order: 'seq' }, ''],
    [{ order: [{ field: 'x' }], aggregations: [{ op: 'count' }] }, 'order by'],
    [{ groupBy: Array.from({ length: 300 }, () => 'a') }, 'groupBy'],
    [[], 'expected object'],
  ])('%j is 400', async (body, message) => {
    const answer = await client.call('POST', `/v1/datasets/${logs}/query`, {
      body: Array.isArray(body) ? body : { ...ALWAYS, ...body },
    });
    expect(answer.json).toEqual({ code: 400, message: expect.stringMatching(/./) });
    expect(answer.json['message']).toContain(message);
  });

  test('a filter nested without end is 400, an unknown dataset 404', async () => {
    let filter: object = { op: 'exists', field: 'a' };
    for (let n = 0; n < 1000; n++) filter = { op: 'not', children: [filter] };
    expect((await client.call('POST', `/v1/datasets/${logs}/query`, { body: { filter } })).status).toBe(400);
    expect((await client.call('POST', '/v1/datasets/none/query', { body: {} })).status).toBe(404);
  });
});
