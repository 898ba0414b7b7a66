/** The query language: literals, operators, functions, nulls in them, and fields of several types. */
import { beforeAll, describe, expect, test } from 'vitest';
import { apl, objects, rows, values } from './ask.ts';
import { client, dataset } from './under.ts';

type Case = readonly [expression: string, wanted: unknown];

describe('the query language', () => {
  let one: string;
  let types: string;
  beforeAll(async () => {
    one = await dataset();
    types = await dataset();
    const event = {
      _time: '2026-03-04T05:06:07.089012345Z',
      text: 'Hello, World_wide web',
      empty: '',
      n: 42,
      zero: 0,
      f: 2.5,
      yes: true,
      no: false,
      gone: null,
      list: [1, 'two', { three: [3] }, null, true],
      object: { inner: { deep: 'x' } },
      path: '/api/v1/items',
      greek: 'Ωμέγα',
      big: 2 ** 53,
      dur: 1_500_000_000,
    };
    await client.ingest(one, JSON.stringify(event).replace('9007199254740992', '9007199254740993'));
    await client.ingest(types, [
      { k: 'int', x: 5, y: 5 },
      { k: 'float', x: 5.5, y: 1 },
      { k: 'string', x: '5', y: '5' },
      { k: 'bool', x: true, y: true },
      { k: 'array', x: [5], y: [5] },
      { k: 'null', x: null, y: null },
      { k: 'absent' },
    ]);
  });

  const cases: readonly (readonly [string, readonly Case[]])[] = [
    [
      'literals',
      [
        ['5', 5],
        ['-5', -5],
        ['1.5', 1.5],
        ['1e3', 1000],
        ['0x1F', 31],
        ['true', true],
        ['false', false],
        ['null', null],
        ['"a\\tb"', 'a\tb'],
        ["'it\\'s'", "it's"],
        ["@'a\\b'", 'a\\b'],
        ['@"say ""x"""', 'say "x"'],
        ["'\\u00e9\\x41'", 'éA'],
        ['```raw\n"x"```', 'raw\n"x"'],
        ['int(null)', null],
        ['long(-3)', -3],
        ['real(2)', 2],
        ['bool(true)', true],
        ['string("x")', 'x'],
        ['1.5h', '1h30m0s'],
        ['30m', '30m0s'],
        ['2d', '48h0m0s'],
        ['100ms', '100ms'],
        ['1h30m', '1h30m0s'],
        ['10min', '10m0s'],
        ['timespan(15s)', '15s'],
        ['timespan(1.02:03:04)', '26h3m4s'],
        ['7us', '7µs'],
        ['datetime(2019-11-30 23:59:59)', '2019-11-30T23:59:59Z'],
        ['datetime(2019-11-30 23:59:59.9)', '2019-11-30T23:59:59.9Z'],
        ['datetime("2015-12-31")', '2015-12-31T00:00:00Z'],
        ['datetime(2016-06-26T08:20)', '2016-06-26T08:20:00Z'],
        ['datetime(null)', null],
        ['dynamic([1, "a", {"b": null}])', [1, 'a', { b: null }]],
        ["dynamic({'a': 1.5})", { a: 1.5 }],
        ['dynamic(6)', 6],
        ['dynamic(null)', null],
        ['tostring(-9223372036854775808)', '-9223372036854775808'],
        ['tostring(dynamic(-9223372036854775808))', '-9223372036854775808'],
        ['- 9223372036854775808 + 1 == -9223372036854775807', true],
        ['tostring(long(-9223372036854775808))', '-9223372036854775808'],
        ['list[9223372036854775807]', null],
        ['list[-9223372036854775808]', null],
      ],
    ],
    [
      'dynamic values',
      [
        ['list[0]', 1],
        ['list[1]', 'two'],
        ['list[2].three[0]', 3],
        ['list[-1]', true],
        ['list[3]', null],
        ['list[9]', null],
        ['array_length(list)', 5],
        ['array_length(text)', null],
        ['object.inner.deep', 'x'],
        ["['object.inner.deep']", 'x'],
        ["object['inner']['deep']", 'x'],
        ["object['inner.deep']", 'x'],
        ['list[zero]', 1],
        ['list[zero + 1]', 'two'],
        ['dynamic({"a":{"b":5}}).a.b', 5],
        ['dynamic({"a b":5})[\'a b\']', 5],
      ],
    ],
    [
      'what rounds',
      [
        ['9223372036854775807 + 0', expect.anything()],
        ['bin(f, 0.4)', expect.closeTo(2.4, 9)],
        ['round(2.345, 2)', expect.closeTo(2.35, 9)],
        ['-1h', '-1h0m0s'],
        ['now(-1h) == ago(1h)', true],
      ],
    ],
  ];

  test.each(cases)('%s', async (_name, list) => {
    const found = await values(
      one,
      list.map(([expression]) => expression),
    );
    expect(list.map(([expression], n) => [expression, found[n]])).toEqual(
      list.map(([expression, wanted]) => [expression, wanted]),
    );
  });

  test('a condition that is null keeps no row', async () => {
    for (const condition of ['gone > 1', 'not(gone > 1)', 'gone == gone', 'gone', 'missing'])
      expect(await rows(`['${one}'] | where ${condition} | count`)).toEqual([[0]]);
    for (const condition of ['yes', 'gone != 1', 'not(no)', 'gone !contains "x"'])
      expect(await rows(`['${one}'] | where ${condition} | count`)).toEqual([[1]]);
  });

  describe('a field that holds several types', () => {
    const kinds = async (condition: string): Promise<unknown[]> =>
      (await rows(`['${types}'] | where ${condition} | project k`)).flat().map(String).sort();

    test.each([
      ['x == 5', ['int']],
      ['x == 5.5', ['float']],
      ['x == "5"', ['string']],
      ['x == true', ['bool']],
      ['x != 5', ['absent', 'array', 'bool', 'float', 'null', 'string']],
      ['x > 1', ['float', 'int']],
      ['x >= "1"', ['string']],
      ['x in (5, "5", true)', ['bool', 'int', 'string']],
      // A missing field is no 0, no empty text and not false, though the engine's maps read so.
      ['x < 6', ['float', 'int']],
      ['x >= -1', ['float', 'int']],
      ['x <= 0', []],
      ['x == 0', []],
      ['x == ""', []],
      ['x == false', []],
      ['x in (0, "", false)', []],
      ['x between (-1 .. 9)', ['float', 'int']],
      ['x < "a"', ['string']],
      ['x contains "5"', ['array', 'float', 'int', 'string']],
      ['isnull(x)', ['absent', 'null']],
      ['isnotnull(x)', ['array', 'bool', 'float', 'int', 'string']],
      ['x == y', ['array', 'bool', 'int', 'string']],
      ['x != y', ['float']],
      ['x + 1 > 0', ['float', 'int']],
      ['gettype(x) == "string"', ['string']],
      ['tostring(x) == "5"', ['int', 'string']],
      ['x', ['bool']],
      ['isempty(x)', ['absent', 'null']],
    ])('%s', async (condition, wanted) => {
      expect(await kinds(condition)).toEqual(wanted);
    });

    test('sorts numbers before texts, those before the rest, and missing values before them or last', async () => {
      const sorted = async (way: string): Promise<unknown[]> =>
        (await rows(`['${types}'] | sort by x ${way} | project k`)).flat();
      expect((await sorted('asc')).slice(-5)).toEqual(['int', 'float', 'string', 'bool', 'array']);
      expect((await sorted('desc')).slice(0, 5)).toEqual(['float', 'int', 'string', 'bool', 'array']);
    });

    test('keeps each value as it is, and shows its types', async () => {
      const { tables, text } = await apl(`['${types}'] | project k, x | sort by k asc`);
      expect(tables[0]!.fields[1]).toEqual({ name: 'x', type: 'integer|float|string|boolean|array' });
      expect(text).toContain('[null,[5],true,5.5,5,null,"5"]');
    });

    test('groups and counts by value and type', async () => {
      const found = await objects(`['${types}'] | summarize count() by x`);
      expect(found.map(({ x, count_ }) => `${JSON.stringify(x)} ${String(count_)}`).sort()).toEqual([
        '"5" 1',
        '5 1',
        '5.5 1',
        '[5] 1',
        'null 2',
        'true 1',
      ]);
      expect(await rows(`['${types}'] | summarize dcount(x), max(x), min(x), sum(x), count(x), make_set(x)`)).toEqual([
        [5, 5.5, 5, 10.5, 5, expect.arrayContaining([5, 5.5, '5', true])],
      ]);
    });

    test('goes through extend, project and summarize', async () => {
      expect(
        await rows(`['${types}'] | extend z = x | summarize take = make_list(z) by k | where k == "array"`),
      ).toEqual([['array', [[5]]]]);
      expect(
        await rows(`['${types}'] | sort by k asc | take 3 | extend z = iff(k == 'bool', 'was', x) | project z`),
      ).toEqual([[null], [[5]], ['was']]);
    });
  });

  // The engine adds integers up in 64 bits for a mean: of two large ones it was negative.
  test('a mean of integers whose sum does not fit into 64 bits is theirs', async () => {
    const big = await dataset();
    await client.ingest(big, '{"n":9223372036854775807}\n{"n":9223372036854775807}\n{"n":null}');
    expect(await rows(`['${big}'] | summarize avg(n), sum(n), max(n)`)).toEqual([[2 ** 63, 2 ** 64, 2 ** 63]]);
  });

  test('what makes long SQL is computed once, in steps', async () => {
    const steps = Array.from({ length: 12 }, (_, n) => `| extend s${n + 1} = s${n} + s${n} + s${n}`).join(' ');
    expect(await rows(`['${one}'] | extend s0 = 1 ${steps} | project s12`)).toEqual([[3 ** 12]]);
    const doubled = Array.from({ length: 20 }, () => '| extend t = strcat(t, t)').join(' ');
    expect(await rows(`['${one}'] | extend t = "x" ${doubled} | project strlen(t)`)).toEqual([[2 ** 20]]);
  });
});
