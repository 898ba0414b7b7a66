/** The legacy query over HTTP: range, order, paging, aggregations, groups, filters, bad input. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startForTest, totalsOf, type Client } from './support.ts';

let client: Client;
let stop: () => Promise<void>;
const START = Date.UTC(2026, 0, 1);
const at = (second: number): string => new Date(START + second * 1000).toISOString();

/** 1,000 events, one a second; `level` has three values, `latency` is absent in every tenth. */
const events = Array.from({ length: 1000 }, (_, n) => ({
  _time: at(n),
  seq: n,
  level: ['info', 'warn', 'error'][n % 3],
  ...(n % 10 !== 0 && { latency: n / 4 }),
  ok: n % 2 === 0,
  mixed: n % 2 === 0 ? n : `text ${n}`,
}));

beforeAll(async () => {
  ({ client, stop } = await startForTest());
  await client.createDataset('main');
  await client.createDataset('empty');
  await client.ingest('main', events.slice(500));
  await client.ingest('main', events.slice(0, 500));
});
afterAll(() => stop());

describe('matches', () => {
  test('come newest first, 1,000 by default, with the whole event', async () => {
    const { matches, status, buckets } = await client.query('main');
    expect(matches.map(({ data }) => data['seq'])).toEqual(events.map(({ seq }) => seq).reverse());
    const { _time, ...data } = events[999]!;
    expect(matches[0]).toEqual({
      _time: _time.replace('.000', ''),
      _sysTime: expect.any(String),
      _rowId: expect.stringMatching(/^[0-9a-f]{32}$/),
      data,
    });
    expect(buckets).toEqual({ series: [], totals: [] });
    expect(status).toMatchObject({
      rowsMatched: 1000, isPartial: false, isEstimate: false, cacheStatus: 0, continuationToken: '', messages: [], numGroups: 0,
      minBlockTime: '2026-01-01T00:00:00Z', maxBlockTime: '2026-01-01T00:16:39Z',
    }); // prettier-ignore
    expect(status['elapsedTime']).toBeGreaterThan(0);
    expect(status['rowsExamined']).toBeGreaterThanOrEqual(1000);
  });

  test('the range is [startTime, endTime)', async () => {
    const { matches } = await client.query('main', { startTime: at(10), endTime: at(13), order: [{ field: '_time', desc: false }] });
    expect(matches.map(({ data }) => data['seq'])).toEqual([10, 11, 12]);
  });

  test.each([
    ['now-1h', undefined, 0],
    ['0001-01-01T00:00:00Z', 'now', 1000],
    ['', '', 1000],
    ['2020-01-01T00:00:00+03:00', '9999-12-31T00:00:00Z', 1000],
    ['now', 'now-1h', 0],
  ])('the range %s … %s has %i events', async (startTime, endTime, wanted) => {
    expect((await client.query('main', { startTime, endTime, aggregations: [{ op: 'count' }] })).status['rowsMatched']).toBe(wanted);
  });

  test('paging by time reaches every event once', async () => {
    const seen: unknown[] = [];
    let startTime = at(-1);
    for (;;) {
      const { matches } = await client.query('main', { startTime, order: [{ field: '_time', desc: false }], limit: 333 });
      if (matches.length === 0) break;
      seen.push(...matches.map(({ data }) => data['seq']));
      startTime = matches.at(-1)!._time.replace(/(?:\.0+)?Z$/, '.000000001Z');
    }
    expect(seen).toEqual(events.map(({ seq }) => seq));
  });

  test('project renames, order by a field, the limit holds', async () => {
    const { matches } = await client.query('main', {
      project: [{ field: 'seq', alias: 'n' }, { field: 'level' }, { field: 'nothing' }],
      order: [{ field: 'level' }, { field: 'seq', desc: true }],
      limit: 2,
    });
    expect(matches.map(({ data }) => data)).toEqual([
      { n: 998, level: 'error' },
      { n: 995, level: 'error' },
    ]);
  });

  test('nulls, empty lists and zero are ordinary input', async () => {
    const body = {
      aggregations: null,
      groupBy: [],
      limit: 0,
      order: null,
      cursor: '',
      filter: null,
      resolution: 'auto',
      project: null,
      virtualFields: null,
      queryOptions: { openIntervals: 'x' },
    };
    expect((await client.query('main', body)).matches).toHaveLength(1000);
  });

  test('an empty dataset has no matches and a zero total', async () => {
    expect((await client.query('empty')).matches).toEqual([]);
    const { buckets, status } = await client.query('empty', { aggregations: [{ op: 'count' }, { op: 'max', field: 'x' }] });
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
});

describe('aggregations', () => {
  test('are exact over integers, floats and mixed fields', async () => {
    const latencies = events.flatMap(({ latency }) => (latency === undefined ? [] : [latency]));
    const sum = latencies.reduce((a, b) => a + b, 0);
    const result = await client.query('main', {
      aggregations: [
        { op: 'count' },
        { op: 'count', field: '*', alias: 'all' },
        { op: 'count', field: 'latency', alias: 'with' },
        { op: 'sum', field: 'seq' },
        { op: 'min', field: 'seq' },
        { op: 'max', field: 'seq' },
        { op: 'distinct', field: 'seq' },
        { op: 'avg', field: 'latency' },
        { op: 'sum', field: 'latency', alias: 'latencies' },
        { op: 'sum', field: 'mixed', alias: 'mixed' },
        { op: 'distinct', field: 'mixed', alias: 'kinds' },
        { op: 'max', field: 'level', alias: 'level' },
        { op: 'sum', field: 'nothing', alias: 'nothing' },
        { op: 'min', field: '_time', alias: 'first' },
      ],
    });
    expect(totalsOf(result)).toEqual({
      COUNT: 1000, all: 1000, with: 900, SUM: 499_500, MIN: 0, MAX: 999, DISTINCT: 1000, AVG: sum / 900, latencies: sum, mixed: 249_500, kinds: 1000,
      level: 'warn', nothing: null, first: '2026-01-01T00:00:00Z',
    }); // prettier-ignore
    expect(result.matches).toEqual([]);
  });

  test('sums beyond 64 bits do not wrap', async () => {
    await client.createDataset('large');
    await client.ingest('large', '{"n":9223372036854775807}\n'.repeat(3));
    const { text } = await client.query('large', {
      aggregations: [
        { op: 'sum', field: 'n' },
        { op: 'max', field: 'n' },
      ],
    });
    expect(text).toContain('"op":"SUM","value":27670116110564327421');
    expect(text).toContain('"op":"MAX","value":9223372036854775807');
  });

  test('group by fields of any type, largest first, with a series that adds up', async () => {
    const { buckets, status } = await client.query('main', {
      aggregations: [{ op: 'count' }, { op: 'sum', field: 'seq' }],
      groupBy: ['level', 'ok', 'nothing'],
      resolution: '5m',
    });
    expect(status['numGroups']).toBe(6);
    const expected = new Map<string, number>();
    for (const { level, ok } of events) expected.set(`${level} ${ok}`, (expected.get(`${level} ${ok}`) ?? 0) + 1);
    expect(
      new Map(
        buckets.totals.map(({ group, aggregations }) => [`${String(group['level'])} ${String(group['ok'])}`, aggregations[0]!.value]),
      ),
    ).toEqual(expected);
    expect(buckets.totals.every(({ group }) => group['nothing'] === null)).toBe(true);
    const counts = buckets.totals.map(({ aggregations }) => aggregations[0]!.value as number);
    expect(counts).toEqual([...counts].sort((a, b) => b - a));
    expect(buckets.series.map(({ startTime, endTime }) => [startTime, endTime])).toEqual(
      [0, 300, 600, 900].map((s) => [at(s).replace('.000', ''), at(s + 300).replace('.000', '')]),
    );
    const perGroup = new Map<number, number>();
    for (const { groups } of buckets.series)
      for (const { id, aggregations } of groups) perGroup.set(id, (perGroup.get(id) ?? 0) + (aggregations[0]!.value as number));
    expect([...perGroup].sort(([a], [b]) => a - b)).toEqual(buckets.totals.map(({ id, aggregations }) => [id, aggregations[0]!.value]));
  });

  test('groups keep the types of a mixed field apart', async () => {
    const { buckets } = await client.query('main', {
      aggregations: [{ op: 'count' }],
      groupBy: ['mixed'],
      order: [{ field: 'mixed' }],
      endTime: at(4),
    });
    expect(buckets.totals.map(({ group }) => group['mixed'])).toEqual(expect.arrayContaining([0, 2, 'text 1', 'text 3']));
  });
});

describe('filters', () => {
  const count = async (filter: object): Promise<unknown> =>
    (await client.query('main', { filter, aggregations: [{ op: 'count' }] })).status['rowsMatched'];
  test.each([
    [{ op: '==', field: 'level', value: 'info' }, 334],
    [{ op: '!=', field: 'level', value: 'info' }, 666],
    [{ op: '>=', field: 'seq', value: 990 }, 10],
    [{ op: 'lt', field: 'latency', value: 1.5 }, 5],
    [{ op: 'exists', field: 'latency' }, 900],
    [{ op: 'not-exists', field: 'latency' }, 100],
    [{ op: '==', field: 'ok', value: true }, 500],
    [{ op: 'contains', field: 'mixed', value: 'TEXT 99' }, 6],
    [{ op: 'contains', field: 'mixed', value: 'TEXT 99', caseSensitive: true }, 0],
    [{ op: 'starts-with', field: 'level', value: 'err' }, 333],
    [{ op: 'not-ends-with', field: 'level', value: 'o' }, 666],
    [{ op: 'regexp', field: 'mixed', value: '^text 1\\d$' }, 5],
    [
      {
        op: 'and',
        children: [
          { op: '==', field: 'level', value: 'warn' },
          { op: '<', field: 'seq', value: 30 },
        ],
      },
      10,
    ],
    [
      {
        op: 'or',
        children: [
          { op: '==', field: 'seq', value: 1 },
          { op: '==', field: 'seq', value: 2 },
        ],
      },
      2,
    ],
    [{ op: 'not', children: [{ op: '>', field: 'seq', value: 4 }] }, 5],
    [{ op: '', field: 'x', value: 1, children: [{ op: 'nonsense' }] }, 1000],
    [{ op: '==', field: 'level', value: "' or 1=1 --" }, 0],
    [{ op: '==', field: "x'] or 1=1 --", value: '{p0:String}' }, 0],
    [{ op: '>=', field: '_time', value: at(990) }, 10],
  ] as const)('%j matches %i', async (filter, wanted) => {
    expect(await count(filter)).toBe(wanted);
  });
});

describe('refusals', () => {
  test.each([
    [{ startTime: 'yesterday' }, 'startTime'],
    [{ endTime: 'now-1parsec' }, 'endTime'],
    [{ limit: -1 }, 'limit'],
    [{ limit: 'ten' }, 'limit'],
    [{ aggregations: [{ op: 'mode', field: 'seq' }] }, 'not known'],
    [{ aggregations: [{ op: 'sum' }] }, 'field'],
    [{ filter: { op: 'sounds-like', field: 'a', value: 'b' } }, 'not known'],
    [{ filter: { op: 'regexp', field: 'level', value: '(' } }, 'regular expression'],
    [{ cursor: 'x' }, 'cursor'],
    [{ virtualFields: [{ alias: 'a', expr: '1 +' }] }, 'virtualFields[0]'],
    [{ resolution: '1ns', aggregations: [{ op: 'count' }] }, 'buckets'],
    [{ resolution: 'often' }, 'resolution'],
    [{ order: [{ field: 'x' }], aggregations: [{ op: 'count' }] }, 'order by'],
    [{ groupBy: Array.from({ length: 300 }, () => 'a') }, 'groupBy'],
    [[], 'not valid'],
  ])('%j is 400', async (body, message) => {
    const answer = await client.call('POST', '/v1/datasets/main/query', { body });
    expect(answer.json).toEqual({ code: 400, message: expect.stringContaining(message) });
  });

  test('a filter nested without end is 400', async () => {
    let filter: object = { op: 'exists', field: 'a' };
    for (let n = 0; n < 1000; n++) filter = { op: 'not', children: [filter] };
    expect((await client.call('POST', '/v1/datasets/main/query', { body: { filter } })).status).toBe(400);
  });

  test('an unknown dataset is 404', async () => {
    expect((await client.call('POST', '/v1/datasets/none/query', { body: {} })).status).toBe(404);
  });
});
