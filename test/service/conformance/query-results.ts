/** Results of queries by text, tabular and legacy, to the letter. */
import { beforeAll, describe, expect, test } from 'vitest';
import { ALWAYS, apl, objects, objectsOf, rows, rowsOf } from './ask.ts';
import { client, dataset } from './under.ts';

interface Legacy {
  readonly status: Readonly<Record<string, unknown>>;
  readonly matches: readonly {
    readonly _time: string;
    readonly _sysTime: string;
    readonly _rowId: string;
    readonly data: object;
  }[];
  readonly buckets: { readonly series: readonly Interval[]; readonly totals: readonly Group[] };
  readonly request: Readonly<Record<string, unknown>>;
}
interface Group {
  readonly id: number;
  readonly group: object;
  readonly aggregations: readonly { readonly op: string; readonly value: unknown }[];
}
interface Interval {
  readonly startTime: string;
  readonly endTime: string;
  readonly groups: readonly Group[];
}

const START = Date.UTC(2026, 0, 1);
const at = (second: number): string => new Date(START + second * 1000).toISOString().replace('.000', '');
const events = Array.from({ length: 300 }, (_, n) => ({
  _time: at(n),
  seq: n,
  level: ['info', 'warn', 'error'][n % 3],
  ...(n % 10 !== 0 && { latency: n / 4 }),
  ok: n % 2 === 0,
  tags: ['a', n],
  geo: { city: n % 2 ? 'Athens' : 'Oslo' },
}));

describe('results of queries by text', () => {
  let logs: string;
  let meta: object[];
  beforeAll(async () => {
    logs = await dataset();
    await client.ingest(logs, events);
    const field = (name: string, type: string) => ({ name, type, unit: '', hidden: false, description: '' });
    meta = [
      field('_sysTime', 'datetime'), field('_time', 'datetime'), field('geo.city', 'string'), field('latency', 'integer|float'), field('level', 'string'),
      field('ok', 'boolean'), field('seq', 'integer'), field('tags', 'array'),
    ]; // prettier-ignore
  });
  const legacy = async (text: string): Promise<Legacy> => {
    const answer = await client.call('POST', '/v1/datasets/_apl?format=legacy', { body: { apl: text, ...ALWAYS } });
    if (answer.status !== 200) throw new Error(answer.text);
    return answer.json as unknown as Legacy;
  };

  describe('the tabular form', () => {
    test('of events has _sysTime, _time, then the fields by name; newest first', async () => {
      const result = await apl(`['${logs}'] | limit 2`);
      const [table, ...others] = result.tables;
      expect(others).toEqual([]);
      expect(table).toEqual({
        name: '0',
        sources: [{ name: logs }],
        fields: [
          { name: '_sysTime', type: 'datetime' },
          { name: '_time', type: 'datetime' },
          { name: 'geo.city', type: 'string' },
          { name: 'latency', type: 'integer|float' },
          { name: 'level', type: 'string' },
          { name: 'ok', type: 'boolean' },
          { name: 'seq', type: 'integer' },
          { name: 'tags', type: 'array' },
        ],
        order: [{ field: '_time', desc: true }],
        groups: [],
        range: { field: '_time', start: ALWAYS.startTime, end: ALWAYS.endTime },
        columns: [
          [expect.any(String), expect.any(String)],
          [at(299), at(298)],
          ['Athens', 'Oslo'],
          [74.75, 74.5],
          ['error', 'warn'],
          [false, true],
          [299, 298],
          [
            ['a', 299],
            ['a', 298],
          ],
        ],
      });
      expect(result.datasetNames).toEqual([logs]);
      expect(result.fieldsMetaMap).toEqual({ [logs]: meta });
    });

    test('is column-major: one list for each field, one value for each row, null where it is missing', async () => {
      const { tables } = await apl(`['${logs}'] | where seq <= 10 | sort by seq asc`);
      const [table] = tables;
      expect(table!.columns).toHaveLength(table!.fields.length);
      expect(table!.columns.every((column) => column.length === 11)).toBe(true);
      expect(objectsOf(table!).map(({ latency }) => latency)).toEqual([
        null,
        0.25,
        0.5,
        0.75,
        1,
        1.25,
        1.5,
        1.75,
        2,
        2.25,
        null,
      ]);
    });

    test('has a status with the engine’s counters', async () => {
      const { status } = await apl(`['${logs}'] | where seq < 5`);
      expect(status).toEqual({
        elapsedTime: expect.any(Number), minCursor: expect.stringMatching(/^[0-9a-f]{32}$/), maxCursor: expect.stringMatching(/^[0-9a-f]{32}$/),
        blocksExamined: 1, blocksCached: 0, blocksMatched: 1, rowsExamined: 300, rowsMatched: 5, numGroups: 0, isPartial: false, isEstimate: false,
        cacheStatus: 0, continuationToken: '', minBlockTime: at(0), maxBlockTime: at(299), messages: [],
      }); // prettier-ignore
      expect(status['elapsedTime']).toBeGreaterThan(0);
    });

    test('says in a header how many bytes the engine read, more for a field that is a text', async () => {
      const bytesOf = async (path: string, body: object): Promise<number> => {
        const { headers } = await client.call('POST', path, { body: { ...ALWAYS, ...body } });
        return Number(headers.get('x-service-bytes-read'));
      };
      const counted = await bytesOf('/v1/query/_apl?format=tabular', { apl: `['${logs}'] | where seq >= 0 | count` });
      expect(counted).toBeGreaterThan(0);
      expect(
        await bytesOf('/v1/query/_apl?format=legacy', { apl: `['${logs}'] | project level, seq, latency, ok` }),
      ).toBeGreaterThan(counted);
      expect(await bytesOf(`/v1/datasets/${logs}/query`, {})).toBeGreaterThan(0);
    });

    test('of project has its columns in its order, of extend those behind the others', async () => {
      const projected = await apl(`['${logs}'] | project level, double = seq * 2, _time | take 1`);
      expect(projected.tables[0]!.fields.map(({ name }) => name)).toEqual(['level', 'double', '_time']);
      expect(rowsOf(projected.tables[0]!)).toEqual([['error', 598, at(299)]]);
      const extended = await apl(`['${logs}'] | extend zero = 0, level = toupper(level) | take 1`);
      expect(extended.tables[0]!.fields.map(({ name }) => name)).toEqual(['_sysTime', '_time', 'geo.city', 'latency', 'ok', 'seq', 'tags', 'zero', 'level']);
      expect(rowsOf(extended.tables[0]!)[0]!.slice(-2)).toEqual([0, 'ERROR']);
    }); // prettier-ignore

    test('of project-away has all but those named, wildcards included', async () => {
      const { tables } = await apl(`['${logs}'] | project-away geo*, ['_sys']*, tags | take 1`);
      expect(tables[0]!.fields.map(({ name }) => name)).toEqual(['_time', 'latency', 'level', 'ok', 'seq']);
    });

    test('of summarize by bins of _time and a field has groups, buckets, an order, agg and _totals', async () => {
      const { tables, status } = await apl(`['${logs}'] | summarize count(), avg(latency) by bin(_time, 2m), level`);
      const agg = [{ name: 'count' }, { name: 'avg', fields: ['latency'] }];
      const made = [
        { name: 'count_', type: 'integer', agg: agg[0] },
        { name: 'avg_latency', type: 'float', agg: agg[1] },
      ];
      const range = { field: '_time', start: ALWAYS.startTime, end: ALWAYS.endTime };
      expect(tables.map((table) => ({ ...table, columns: [] }))).toEqual([
        {
          name: '0',
          sources: [{ name: logs }],
          fields: [{ name: '_time', type: 'datetime' }, { name: 'level', type: 'string' }, ...made],
          order: [{ field: '_time', desc: false }, { field: 'count_', desc: true }],
          groups: [{ name: '_time' }, { name: 'level' }],
          range,
          buckets: { field: '_time', size: 120_000_000_000 },
          columns: [],
        },
        {
          name: '_totals',
          sources: [{ name: logs }],
          fields: [{ name: 'level', type: 'string' }, ...made],
          order: [{ field: 'count_', desc: true }],
          groups: [{ name: 'level' }],
          range,
          columns: [],
        },
      ]);
      const mean = (level: string, from: number, to: number): number => {
        const found = events.slice(from, to).filter((event) => event.level === level && 'latency' in event).map((event) => event.latency!);
        return found.reduce((a, b) => a + b, 0) / found.length;
      };
      const wanted = [[0, 120, 40], [120, 240, 40], [240, 300, 20]].flatMap(([from, to, count]) =>
        ['error', 'info', 'warn'].map((level) => [at(from!), level, count, expect.closeTo(mean(level, from!, to!), 9)]),
      );
      expect(rowsOf(tables[0]!)).toEqual(wanted);
      expect(rowsOf(tables[1]!)).toEqual(['error', 'info', 'warn'].map((level) => [level, 100, expect.closeTo(mean(level, 0, 300), 9)]));
      expect(status).toMatchObject({ rowsMatched: 300, numGroups: 3 });
    }); // prettier-ignore

    test('of summarize without time has one table, the largest group first', async () => {
      const { tables, status } = await apl(`['${logs}'] | where seq != 0 | summarize events = count() by level, ok`);
      expect(tables).toHaveLength(1);
      expect(tables[0]!.order).toEqual([{ field: 'events', desc: true }]);
      expect(rowsOf(tables[0]!)).toEqual([
        ['error', false, 50], ['error', true, 50], ['info', false, 50], ['warn', false, 50], ['warn', true, 50], ['info', true, 49],
      ]); // prettier-ignore
      expect(status).toMatchObject({ rowsMatched: 299, numGroups: 6 });
    });

    test('of an aggregation with arguments names its fields and arguments', async () => {
      const { tables } = await apl(`['${logs}'] | summarize topk(level, 1), percentile(seq, 50)`);
      expect(tables[0]!.fields).toEqual([
        { name: 'topk_level', type: 'array', agg: { name: 'topk', fields: ['level'], args: [1] } },
        { name: 'percentile_seq', type: 'integer', agg: { name: 'percentiles', fields: ['seq'], args: [50] } },
      ]);
      expect(tables[0]!.columns).toEqual([[[{ key: 'error', count: 100, error: 0 }]], [149]]);
    });

    test('a limit behind a series counts groups, those with the largest totals', async () => {
      const { tables } = await apl(`['${logs}'] | where seq < 200 or level == 'warn' | summarize count() by bin(_time, 100s), level | limit 1`);
      expect(rowsOf(tables[0]!)).toEqual([[at(0), 'warn', 33], [at(100), 'warn', 34], [at(200), 'warn', 33]]);
      expect(rowsOf(tables[1]!)).toEqual([['warn', 100]]);
    }); // prettier-ignore

    test('of the limits of text and request the lower one counts the groups of a series', async () => {
      const text = `['${logs}'] | where seq < 200 or level == 'warn' | summarize count() by bin(_time, 100s), level`;
      for (const [operators, limit] of [['| limit 2', 1], ['| limit 1', 2], ['| limit 3 | limit 1', 2]] as const) {
        const { tables } = await apl(`${text} ${operators}`, { limit });
        expect(rowsOf(tables[1]!)).toEqual([['warn', 100]]);
        expect(new Set(rowsOf(tables[0]!).map(([, level]) => level))).toEqual(new Set(['warn']));
      }
    }); // prettier-ignore

    test('arg_max takes the latest of equal rows, arg_min the earliest, in whatever order they came', async () => {
      const ties = await dataset();
      await client.ingest(ties, [{ _time: at(9), v: 1, n: 'late' }, { _time: at(5), v: 1, n: 'early' }, { _time: at(7), v: 1, n: 'between' }]);
      expect(await rows(`['${ties}'] | summarize arg_max(v, n), arg_min(v, n)`)).toEqual([[1, 'late', 1, 'early']]);
    }); // prettier-ignore

    test('dcount is exact, also of very many', async () => {
      const many = await dataset();
      for (let from = 0; from < 100_000; from += 10_000)
        await client.ingest(many, Array.from({ length: 10_000 }, (_, n) => `{"n":${from + n}}`).join('\n'));
      expect(await rows(`['${many}'] | summarize dcount(n), dcount(n % 70001), count()`)).toEqual([
        [100_000, 70_001, 100_000],
      ]);
    });

    test('top behind a series counts rows', async () => {
      const text = `['${logs}'] | where seq < 200 or level == 'warn' | summarize count() by bin(_time, 100s), level | top 4 by count_`;
      expect(rowsOf((await apl(text)).tables[0]!)).toEqual([
        [at(0), 'info', 34], [at(100), 'warn', 34], [at(0), 'error', 33], [at(0), 'warn', 33],
      ]);
    }); // prettier-ignore

    test('columns of the same name get numbers', async () => {
      const { tables } = await apl(`['${logs}'] | summarize count(), count(), sum(seq), sum(seq) by level`);
      expect(tables[0]!.fields.map(({ name }) => name)).toEqual(['level', 'count_', 'count_1', 'sum_seq', 'sum_seq1']);
    });

    test('nanoseconds and 64-bit integers come back as they went in', async () => {
      const exact = await dataset();
      await client.ingest(
        exact,
        '{"_time":"2026-01-02T03:04:05.000000007Z","n":9223372036854775807,"m":-9223372036854775808}\n',
      );
      const { text } = await apl(`['${exact}'] | project _time, n, m`);
      expect(text).toContain(
        '"columns":[["2026-01-02T03:04:05.000000007Z"],[9223372036854775807],[-9223372036854775808]]',
      );
    });

    test('an empty dataset has its columns and no rows', async () => {
      const empty = await dataset();
      const { tables, status } = await apl(`['${empty}']`);
      expect(tables[0]).toMatchObject({ fields: [{ name: '_sysTime' }, { name: '_time' }], columns: [[], []] });
      expect(status).toMatchObject({
        rowsMatched: 0,
        rowsExamined: 0,
        minBlockTime: '0001-01-01T00:00:00Z',
        minCursor: '',
        maxCursor: '',
      });
      expect(await rows(`['${empty}'] | count`)).toEqual([[0]]);
      expect(await rows(`['${empty}'] | summarize count() by x`)).toEqual([]);
      expect(await rows(`['${empty}'] | summarize sum(x), max(_time), dcount(x), make_list(x), topk(x, 3)`)).toEqual([
        [0, null, 0, [], []],
      ]);
    });
  });

  describe('messages', () => {
    test('fields that no event had are named and counted', async () => {
      const { status } = await apl(`['${logs}'] | where never == 1 or nowhere > 2 | extend x = never`);
      expect(status.messages).toEqual([
        { priority: 'warn', count: 2, code: 'missing_column', msg: expect.stringMatching(/"never", "nowhere"/) },
      ]);
    });

    test('a where that is always true gives exactly one', async () => {
      for (const where of ['true', '1 == 1', 'true or seq > 5', 'not(false)']) {
        const { status } = await apl(`['${logs}'] | where ${where} | take 1`);
        expect(status.messages).toEqual([
          {
            priority: 'warn',
            count: 1,
            code: 'apl_whereclausealwaysevaluatestoTRUEwhichwillincludealldata_1',
            msg: 'where clause always evaluates to TRUE, which will include all data',
          },
        ]);
      }
    });

    test('a field that the dataset never had is null and gives missing_column', async () => {
      const { status, tables } = await apl(`['${logs}'] | project never, seq | where isnull(never) | take 1`);
      expect(status.messages).toEqual([
        { priority: 'warn', count: 1, code: 'missing_column', msg: expect.stringContaining('"never"') },
      ]);
      expect(rowsOf(tables[0]!)).toEqual([[null, 299]]);
    });
  });

  describe('the legacy form', () => {
    test('of events has matches, without missing fields', async () => {
      const { matches, buckets, request } = await legacy(`['${logs}'] | where seq <= 10 | sort by _time asc | limit 2`);
      const { _time, ...data } = { ...events[0]!, 'geo.city': 'Oslo' } as Record<string, unknown>;
      delete data['geo'];
      expect(matches).toEqual([
        { _time, _sysTime: expect.any(String), _rowId: expect.stringMatching(/^[0-9a-f]{32}$/), data },
        { _time: at(1), _sysTime: expect.any(String), _rowId: expect.any(String), data: { level: 'warn', ok: false, seq: 1, latency: 0.25, tags: ['a', 1], 'geo.city': 'Athens' } },
      ]); // prettier-ignore
      expect(buckets).toEqual({ series: [], totals: [] });
      expect(request).toMatchObject({
        filter: null, order: [{ field: '_time', desc: false }], resolution: 'auto', aggregations: [], groupBy: [], limit: 2,
        startTime: ALWAYS.startTime, endTime: ALWAYS.endTime, cursor: '', includeCursor: false, continuationToken: '', project: [], virtualFields: [], fieldsMeta: null,
      }); // prettier-ignore
    });

    test('of project has what it names in data', async () => {
      const { matches } = await legacy(`['${logs}'] | extend double = seq * 2 | project double, _time, latency | take 10 | where double < 585`);
      expect(matches.map(({ _time, data }) => [_time, data])).toEqual([[at(292), { double: 584, latency: 73 }], [at(291), { double: 582, latency: 72.75 }], [at(290), { double: 580 }]]);
    }); // prettier-ignore

    test('of a series has intervals, groups with ids, and totals', async () => {
      const { buckets, matches, request } = await legacy(
        `['${logs}'] | summarize count(), max(seq) by bin(_time, 200s), level`,
      );
      expect(matches).toEqual([]);
      expect(buckets.totals).toEqual(
        ['error', 'info', 'warn'].map((level, id) => ({
          id, group: { level }, aggregations: [{ op: 'count_', value: 100 }, { op: 'max_seq', value: { error: 299, info: 297, warn: 298 }[level] }],
        })), // prettier-ignore
      );
      expect(buckets.series.map(({ startTime, endTime }) => [startTime, endTime])).toEqual([
        [at(0), at(200)],
        [at(200), at(400)],
      ]);
      const ids = new Map(buckets.totals.map(({ id, group }) => [JSON.stringify(group), id]));
      for (const { groups } of buckets.series)
        for (const { id, group } of groups) expect(id).toBe(ids.get(JSON.stringify(group)));
      expect(request).toMatchObject({
        resolution: '3m20s',
        groupBy: ['level'],
        aggregations: [
          { alias: 'count_', op: 'count', field: '*' },
          { alias: 'max_seq', op: 'max', field: 'seq' },
        ],
      });
    });

    test('of groups without time has totals only', async () => {
      const { buckets } = await legacy(`['${logs}'] | summarize s = sum(seq) by ok | extend half = s / 2`);
      expect(buckets).toEqual({
        series: [],
        totals: [
          { id: 0, group: { ok: false }, aggregations: [{ op: 's', value: 22_500 }, { op: 'half', value: 11_250 }] },
          { id: 1, group: { ok: true }, aggregations: [{ op: 's', value: 22_350 }, { op: 'half', value: 11_175 }] },
        ],
      }); // prettier-ignore
    });
  });

  describe('operators', () => {
    test('where, filter, take, limit, top, sort and order do what they say', async () => {
      expect(await rows(`['${logs}'] | filter seq == 3 | project seq`)).toEqual([[3]]);
      expect(await rows(`['${logs}'] | take 2 | project seq`)).toEqual([[299], [298]]);
      expect(await rows(`['${logs}'] | top 2 by seq asc | project seq`)).toEqual([[0], [1]]);
      expect(await rows(`['${logs}'] | top 2 by latency | project latency`)).toEqual([[74.75], [74.5]]);
      expect(await rows(`['${logs}'] | sort by _time | take 1 | project seq`)).toEqual([[299]]);
      expect(await rows(`['${logs}'] | order by level asc, seq desc | take 2 | project level, seq`)).toEqual([
        ['error', 299],
        ['error', 296],
      ]);
      expect(
        await rows(`['${logs}'] | where seq < 11 | sort by latency asc nulls first | take 3 | project seq`),
      ).toEqual([[10], [0], [1]]);
      expect(await rows(`['${logs}'] | where seq < 3 | sort by latency asc | project seq`)).toEqual([[0], [1], [2]]);
    });

    test('operators after a limit see only the rows left', async () => {
      expect(await rows(`['${logs}'] | take 10 | where ok | count`)).toEqual([[5]]);
      expect(await rows(`['${logs}'] | sort by seq asc | take 10 | sort by seq desc | take 2 | project seq`)).toEqual([
        [9],
        [8],
      ]);
      expect(await rows(`['${logs}'] | take 100 | summarize count() by level | take 1`)).toEqual([['error', 34]]);
    });

    test('distinct, count and summarize without aggregations', async () => {
      expect(await rows(`['${logs}'] | distinct level, ok | where ok`)).toEqual([['error', true], ['info', true], ['warn', true]]);
      expect(await objects(`['${logs}'] | where ok | count`)).toEqual([{ count: 150 }]);
      expect(await rows(`['${logs}'] | summarize by level`)).toEqual([['error'], ['info'], ['warn']]);
    }); // prettier-ignore

    test('summarize of summarize, and expressions of aggregations', async () => {
      expect(await rows(`['${logs}'] | summarize n = count() by bin(seq, 100), level | summarize max(n), sum(n) by level | sort by level asc`)).toEqual([
        ['error', 34, 100], ['info', 34, 100], ['warn', 34, 100],
      ]);
      expect(await objects(`['${logs}'] | summarize share = 100.0 * countif(ok) / count(), span = max(_time) - min(_time)`)).toEqual([{ share: 50, span: '4m59s' }]);
    }); // prettier-ignore

    test('arg_max and arg_min take columns of the row, or all of it', async () => {
      expect(
        await objects(`['${logs}'] | summarize arg_max(seq, level, city = geo.city) by ok | sort by seq asc`),
      ).toEqual([
        { ok: true, seq: 298, level: 'warn', city: 'Oslo' },
        { ok: false, seq: 299, level: 'error', city: 'Athens' },
      ]);
      const [least] = await objects(`['${logs}'] | summarize arg_min(latency, *)`);
      expect(least).toMatchObject({ _time: at(1), seq: 1, level: 'warn', latency: 0.25 });
      expect(await objects(`['${logs}'] | summarize arg_max(never, seq)`)).toEqual([{ never: null, seq: null }]);
    });

    test('names in brackets may be anything', async () => {
      const odd = await dataset();
      await client.ingest(odd, [{ 'a b': 1, "it's": 2, 'x]': 3, where: 4, 'drop table ds_1; --': 5, ünï: 6 }]);
      expect(
        await rows(`['${odd}'] | project ['a b'], ["it's"], ['x]'], ['where'], ['drop table ds_1; --'], ünï`),
      ).toEqual([[1, 2, 3, 4, 5, 6]]);
      expect(await rows(`["${odd}"] | extend ['new name'] = ['a b'] + 1 | project ['new name']`)).toEqual([[2]]);
      expect(await rows(`${odd} | count`)).toEqual([[1]]);
    });

    test('comments, blank lines and semicolons are skipped', async () => {
      expect(await rows(`// first\n['${logs}'] // the logs\n\n| where seq < 5 // some\n| count; `)).toEqual([[5]]);
    });

    test('rate is per second of the range, or of the bucket', async () => {
      const { tables } = await apl(`['${logs}'] | summarize rate(), rate(seq) by bin(_time, 100s)`, { startTime: at(0), endTime: at(300) });
      expect(rowsOf(tables[0]!)).toEqual([[at(0), 1, 49.5], [at(100), 1, 149.5], [at(200), 1, 249.5]]);
      expect(rowsOf(tables[1]!)).toEqual([[1, 149.5]]);
    }); // prettier-ignore
  });
});
