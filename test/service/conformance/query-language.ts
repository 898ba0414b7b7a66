/** The query language: literals, operators, functions, what is null in them, and fields of several types. */
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
      _time: '2026-03-04T05:06:07.089012345Z', text: 'Hello, World_wide web', empty: '', n: 42, zero: 0, f: 2.5, yes: true, no: false, gone: null,
      list: [1, 'two', { three: [3] }, null, true], object: { inner: { deep: 'x' } }, path: '/api/v1/items', greek: 'Ωμέγα', big: 2 ** 53, dur: 1_500_000_000,
    }; // prettier-ignore
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
    ['literals', [
      ['5', 5], ['-5', -5], ['1.5', 1.5], ['1e3', 1000], ['0x1F', 31], ['true', true], ['false', false], ['null', null], ['"a\\tb"', 'a\tb'], ["'it\\'s'", "it's"], ["@'a\\b'", 'a\\b'],
      ['@"say ""x"""', 'say "x"'], ["'\\u00e9\\x41'", 'éA'], ['```raw\n"x"```', 'raw\n"x"'], ['int(null)', null], ['long(-3)', -3], ['real(2)', 2], ['bool(true)', true], ['string("x")', 'x'],
      ['1.5h', '1h30m0s'], ['30m', '30m0s'], ['2d', '48h0m0s'], ['100ms', '100ms'], ['1h30m', '1h30m0s'], ['10min', '10m0s'], ['timespan(15s)', '15s'], ['timespan(1.02:03:04)', '26h3m4s'], ['7us', '7µs'],
      ['datetime(2019-11-30 23:59:59)', '2019-11-30T23:59:59Z'], ['datetime(2019-11-30 23:59:59.9)', '2019-11-30T23:59:59.9Z'], ['datetime("2015-12-31")', '2015-12-31T00:00:00Z'], ['datetime(2016-06-26T08:20)', '2016-06-26T08:20:00Z'], ['datetime(null)', null],
      ['dynamic([1, "a", {"b": null}])', [1, 'a', { b: null }]], ["dynamic({'a': 1.5})", { a: 1.5 }], ['dynamic(6)', 6], ['dynamic(null)', null],
      ['tostring(-9223372036854775808)', '-9223372036854775808'], ['tostring(dynamic(-9223372036854775808))', '-9223372036854775808'], ['- 9223372036854775808 + 1 == -9223372036854775807', true], ['tostring(long(-9223372036854775808))', '-9223372036854775808'],
      ['list[9223372036854775807]', null], ['list[-9223372036854775808]', null],
    ]],
    ['comparison', [
      ['n == 42', true], ['n == 42.0', true], ['n != 41', true], ['n <> 41', true], ['n > 41.5', true], ['n >= 42', true], ['n < 42', false], ['n <= 42', true], ['text == "Hello, World_wide web"', true], ['text == "hello, world_wide web"', false],
      ['text =~ "HELLO, world_WIDE web"', true], ['text !~ "x"', true], ['greek =~ "ΩΜΈΓΑ"', true], ['"abc" < "abd"', true], ['yes == true', true], ['no == false', true], ['big == 9007199254740993', true], ['big == 9007199254740992', false],
      ['_time > datetime(2026-01-01)', true], ['_time == datetime(2026-03-04T05:06:07.089012345Z)', true], ['_time > "2026-03-05"', false], ['dur > 1s', true], ['dur == 1500ms', true], ['1h > 59m', true], ['1 == 1.0', true], ['2 > 1.5', true], ['1.5 in (1, 1.5)', true],
      ['true or true and false', true], ['false and true or true', true], ['1 + 2 == 3 and 2 * 3 > 5', true], ['2 + 3 * 4 - 6 / 2', 11],
      ['n between (1 .. 42)', true], ['n !between (1 .. 41)', true], ['n in (1, 42)', true], ['n !in (1, 2)', true], ['text in ("a", "b")', false], ['n in (dynamic([1, [42]]))', true],
      ['text in~ ("HELLO, WORLD_WIDE WEB")', true], ['text !in~ ("x")', true], ['n in ()', false],
    ]],
    ['null', [
      ['null == null', null], ['null != null', null], ['gone == gone', null], ['gone == 1', false], ['gone != 1', true], ['1 == gone', false], ['missing == "x"', false], ['missing != "x"', true], ['gone < 1', null], ['gone > 1', null],
      ['not(gone > 1)', null], ['gone > 1 and false', false], ['gone > 1 or true', true], ['gone > 1 and true', null], ['gone contains "x"', false], ['gone !contains "x"', true], ['gone in (1, 2)', false], ['gone !in (1, 2)', true], ['gone matches regex "x"', false],
      ['gone + 1', null], ['strlen(gone)', null], ['strcat("a", gone, "b")', 'ab'], ['isnull(gone)', true], ['isnull(empty)', false], ['isnotnull(n)', true], ['isempty(empty)', true], ['isempty(gone)', true], ['isempty(n)', false], ['isnotempty(text)', true],
      ['coalesce(gone, empty, n)', 42], ['coalesce(gone, missing)', null], ['iff(gone > 1, "a", "b")', 'b'], ['tostring(gone)', ''], ['gettype(gone)', 'null'],
    ]],
    ['text operators', [
      ['text contains "WORLD"', true], ['text contains_cs "WORLD"', false], ['text contains_cs "World"', true], ['text !contains "x"', true], ['text !contains_cs "WORLD"', true], ['text contains ""', true],
      ['text startswith "hello"', true], ['text startswith_cs "hello"', false], ['text !startswith "x"', true], ['text endswith "WEB"', true], ['text endswith_cs "WEB"', false], ['text !endswith "x"', true], ['text !endswith_cs "WEB"', true],
      ['text has "world"', true], ['text has "wide"', true], ['text has "worl"', false], ['text has_cs "world"', false], ['text has_cs "World"', true], ['text !has "worl"', true], ['text has "web"', true], ['text has "Hello"', true], ['text has "Hello, World"', true], ['greek has "ωμέγα"', true],
      ['path has "v1"', true], ['path has "/api"', true], ['path has "v"', false], ['text has_any ("x", "web")', true], ['text has_any_cs ("WEB")', false], ['text has_all ("hello", "web")', true], ['text has_all ("hello", "x")', false], ['text has n', false],
      ['text hasprefix "wor"', true], ['text hasprefix "orl"', false], ['text hassuffix "rld"', true], ['text hassuffix_cs "RLD"', false], ['text !hasprefix "x"', true],
      ['text matches regex "W.rld"', true], ['text matches regex "w.rld"', false], ['text matches regex "(?i)w.rld"', true], ['"a\\nb" matches regex "a.b"', false], ['text !matches regex "x"', true], ['n contains "4"', true], ['list contains "two"', true], ['* has "hello"', true], ['* contains "item"', true], ['* has "nowhere"', false],
    ]],
    ['arithmetic', [
      ['n + 1', 43], ['n - 0.5', 41.5], ['n * f', 105], ['7 / 2', 3], ['-7 / 2', -3], ['7 / 2.0', 3.5], ['7 % 4', 3], ['-7 % 4', -3], ['1 / 0', null], ['1 % 0', null], ['-n', -42], ['-(n + 1)', -43], ['1 + 2 * 3', 7], ['(1 + 2) * 3', 9], ['10 - 3 - 2', 5],
      ['_time + 1d', '2026-03-05T05:06:07.089012345Z'], ['_time - 1h', '2026-03-04T04:06:07.089012345Z'], ['1h + _time', '2026-03-04T06:06:07.089012345Z'], ['_time - datetime(2026-03-04)', '5h6m7.089012345s'], ['1h + 30m', '1h30m0s'], ['1h * 2', '2h0m0s'], ['2.5 * 1s', '2.5s'], ['10m / 1s', 600], ['1h / 2', '30m0s'], ['1h % 7m', '4m0s'], ['-1h', '-1h0m0s'],
      ['dur / 1ms', 1500], ['9223372036854775807 + 0', expect.anything()],
    ]],
    ['rounding', [
      ['bin(n, 10)', 40], ['bin(-1, 10)', -10], ['bin(f, 1)', 2], ['bin(f, 0.4)', expect.closeTo(2.4, 9)], ['bin(90s, 1m)', '1m0s'], ['bin(_time, 1h)', '2026-03-04T05:00:00Z'], ['bin(datetime(1969-12-31 23:59:59), 1h)', '1969-12-31T23:00:00Z'], ['bin(dur, 1s)', '1s'],
      ['floor(2.7)', 2], ['floor(-2.1)', -3], ['ceiling(2.1)', 3], ['round(2.5)', 3], ['round(-2.5)', -3], ['round(2.345, 2)', expect.closeTo(2.35, 9)], ['round(1234, -2)', 1200], ['abs(-5)', 5], ['abs(-2.5)', 2.5], ['sign(-3)', -1], ['sign(0)', 0],
    ]],
    ['numbers', [
      ['sqrt(16)', 4], ['sqrt(-1)', null], ['exp(0)', 1], ['exp2(3)', 8], ['exp10(2)', 100], ['log(1)', 0], ['log2(8)', 3], ['log10(1000)', 3], ['pow(2, 10)', 1024], ['pi()', Math.PI], ['sin(0)', 0], ['cos(0)', 1], ['atan2(0, 1)', 0], ['degrees(pi())', 180], ['radians(180)', Math.PI],
      ['min_of(3, 1, 2)', 1], ['max_of(1, 2.5)', 2.5], ['max_of(1, missing)', 1], ['isnan(0.0 / 0)', true], ['isinf(1.0 / 0)', true], ['isfinite(f)', true], ['isint(n)', true], ['isint(f)', false],
    ]],
    ['conversion', [
      ['toint("5")', 5], ['toint("5.5")', null], ['toint("x")', null], ['toint(2.9)', 2], ['toint(-2.9)', -2], ['toint(true)', 1], ['toint(1s)', 1_000_000_000], ['tolong("7")', 7], ['toint(datetime(1970-01-01 00:00:01))', 1_000_000_000],
      ['todouble("1e3")', 1000], ['toreal("x")', null], ['todouble(n)', 42], ['todouble(true)', 1], ['tobool("true")', true], ['tobool("T")', true], ['tobool("0")', false], ['tobool("yes")', null], ['tobool(2)', true], ['tobool(zero)', false],
      ['tostring(n)', '42'], ['tostring(f)', '2.5'], ['tostring(yes)', 'true'], ['tostring(_time)', '2026-03-04T05:06:07.089012345Z'], ['tostring(90s)', '1m30s'], ['tostring(1500us)', '1.5ms'], ['tostring(list)', '[1,"two",{"three":[3]},null,true]'], ['tostring(datetime(2026-01-01))', '2026-01-01T00:00:00Z'],
      ['todatetime("2026-01-02T03:04:05.006Z")', '2026-01-02T03:04:05.006Z'], ['todatetime("x")', null], ['todatetime(1000000000)', '1970-01-01T00:00:01Z'], ['todatetime(strcat("2026-01-0", "2"))', '2026-01-02T00:00:00Z'],
      ['totimespan("1h30m")', '1h30m0s'], ['totimespan(1000000000)', '1s'], ['totimespan(strcat("1h", "30m0.5s"))', '1h30m0.5s'], ['totimespan(strcat("x", ""))', null],
      ['parse_json(\'{"a":{"b":[1,2]}}\').a.b[1]', 2], ['parse_json("x")', null], ['parse_json(strcat("{\\"a\\":", "1.5}")).a', 1.5], ['dynamic_to_json(list)', '[1,"two",{"three":[3]},null,true]'], ['gettype(n)', 'long'], ['gettype(f)', 'real'], ['gettype(text)', 'string'], ['gettype(yes)', 'bool'], ['gettype(list)', 'array'], ['gettype(_time)', 'datetime'], ['gettype(1h)', 'timespan'], ['gettype(dynamic({"a":1}))', 'dictionary'],
    ]],
    ['choosing', [
      ['iff(n > 1, "a", "b")', 'a'], ['iif(n > 50, 1, "b")', 'b'], ['case(n < 10, "low", n < 50, "mid", "high")', 'mid'], ['case(false, 1, 2)', 2], ['iff(yes, gone, 1)', null], ['not(yes)', false],
    ]],
    ['dynamic values', [
      ['list[0]', 1], ['list[1]', 'two'], ['list[2].three[0]', 3], ['list[-1]', true], ['list[3]', null], ['list[9]', null], ['array_length(list)', 5], ['array_length(text)', null], ['object.inner.deep', 'x'], ["['object.inner.deep']", 'x'], ["object['inner']['deep']", 'x'], ["object['inner.deep']", 'x'],
      ['list[zero]', 1], ['list[zero + 1]', 'two'], ['dynamic({"a":{"b":5}}).a.b', 5], ["dynamic({\"a b\":5})['a b']", 5],
    ]],
    ['text functions', [
      ['strlen("héé")', 3], ['string_size("héé")', 5], ['tolower("ÄB")', 'äb'], ['toupper("äb")', 'ÄB'], ['totitle("abc")', 'Abc'], ['reverse("aé😀")', '😀éa'], ['substring("hello", 1, 3)', 'ell'], ['substring("hello", 2)', 'llo'], ['substring("hello", 9)', ''], ['substring("héllo", 1, 1)', 'é'],
      ['strcat(text, "-", n, "-", f, "-", yes)', 'Hello, World_wide web-42-2.5-true'], ['strcat_delim("|", "a", 1, true)', 'a|1|true'], ['split("a,b,,c", ",")', ['a', 'b', '', 'c']], ['split("abc", "")', ['abc']], ['strcmp("a", "b")', -1], ['strcmp("b", "b")', 0], ['strcmp("c", "b")', 1], ['strrep("ab", 3, "-")', 'ab-ab-ab'], ['strrep("ab", 2)', 'abab'],
      ['indexof("abcabc", "c")', 2], ['indexof("abcabc", "c", 3)', 5], ['indexof("abc", "x")', -1], ['indexof("héé", "é")', 1], ['countof("ab", "abcab")', 2], ['countof_regex("[ab]", "abcab")', 4],
      ['replace_string("o", "0", "foo boo")', 'f00 b00'], ['replace_regex("(\\\\w)oo", "$1--", "foo boo")', 'f-- b--'], ['replace("o+", "[$0]", "foo")', 'f[oo]'], ['replace_regex("x", "a\\\\1b", "x")', 'a\\1b'],
      ['trim("_-", "_-x-_y_")', 'x-_y'], ['trim_start("_", "__x_")', 'x_'], ['trim_end("_", "_x__")', '_x'], ['trim_regex("[0-9]", "12x3")', 'x'], ['trim_space("  x y ")', 'x y'], ['trim("]^", "]x^")', 'x'],
      ['extract("v(\\\\d)", 1, path)', '1'], ['extract("v(\\\\d)", 0, path)', 'v1'], ['extract("x(\\\\d)", 1, path)', null], ['extract_all("([a-z]+)", dynamic([1]), path)', ['api', 'v', 'items']], ['extract_all("([a-z])([a-z])", dynamic([1, 2]), "abcd")', [['a', 'b'], ['c', 'd']]], ['extract_all("(\\\\d)", "a1b2")', ['1', '2']],
      ['url_encode("a b&c")', 'a%20b%26c'], ['url_decode("a%20b")', 'a b'], ['base64_encode_tostring("hi")', 'aGk='], ['base64_decode_tostring("aGk=")', 'hi'], ['hash_md5("x")', '9dd4e461268c8034f5c8564e155c67a6'], ['hash_sha256("x")', '2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881'], ['isascii("a")', true], ['isascii("é")', false], ['quote("a\\"b")', '"a\\"b"'],
    ]],
    ['time functions', [
      ['startofday(_time)', '2026-03-04T00:00:00Z'], ['startofday(_time, 1)', '2026-03-05T00:00:00Z'], ['endofday(_time)', '2026-03-04T23:59:59.999999999Z'], ['startofweek(_time)', '2026-03-01T00:00:00Z'], ['endofweek(_time)', '2026-03-07T23:59:59.999999999Z'], ['startofmonth(_time)', '2026-03-01T00:00:00Z'], ['endofmonth(_time)', '2026-03-31T23:59:59.999999999Z'], ['startofyear(_time)', '2026-01-01T00:00:00Z'], ['endofyear(_time, -1)', '2025-12-31T23:59:59.999999999Z'],
      ['startofmonth(datetime(1950-02-03))', '1950-02-01T00:00:00Z'], ['startofweek(datetime(1969-12-31))', '1969-12-28T00:00:00Z'], ['endofyear(datetime(2200-05-05))', '2200-12-31T23:59:59.999999999Z'],
      ['dayofweek(_time)', 3], ['dayofweek(datetime(2026-03-01))', 0], ['dayofmonth(_time)', 4], ['dayofyear(_time)', 63], ['hourofday(_time)', 5], ['monthofyear(_time)', 3], ['getmonth(_time)', 3], ['getyear(_time)', 2026], ['week_of_year(_time)', 10], ['week_of_year(datetime(2027-01-01))', 53],
      ['datetime_part("minute", _time)', 6], ['datetime_part("nanosecond", _time)', 89_012_345], ['datetime_part("quarter", _time)', 1], ['datetime_add("month", 1, datetime(2026-01-31))', '2026-02-28T00:00:00Z'], ['datetime_add("day", -4, _time)', '2026-02-28T05:06:07.089012345Z'], ['datetime_add("year", 1000, _time)', null], ['datetime_add("week", 2, datetime(2026-01-01))', '2026-01-15T00:00:00Z'],
      ['datetime_diff("day", datetime(2026-03-01), datetime(2026-02-27 23:59))', 2], ['datetime_diff("month", datetime(2026-03-01), datetime(2026-02-28))', 1], ['datetime_diff("year", datetime(2026-01-01), datetime(2025-12-31))', 1], ['datetime_diff("hour", datetime(2026-01-01 00:10), datetime(2026-01-01 02:50))', -2],
      ['unixtime_seconds_todatetime(1)', '1970-01-01T00:00:01Z'], ['unixtime_milliseconds_todatetime(1500)', '1970-01-01T00:00:01.5Z'], ['unixtime_nanoseconds_todatetime(-1)', '1969-12-31T23:59:59.999999999Z'], ['unixtime_seconds_todatetime(1e30)', null], ['now() > ago(1m)', true], ['now(-1h) == ago(1h)', true], ['ago(1d) + 1d == now()', true],
    ]],
  ]; // prettier-ignore

  test.each(cases)('%s', async (_name, list) => {
    const found = await values(one, list.map(([expression]) => expression)); // prettier-ignore
    expect(list.map(([expression], n) => [expression, found[n]])).toEqual(list.map(([expression, wanted]) => [expression, wanted]));
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
      // What is missing is no 0, no empty text and not false, though the engine's maps read so.
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

    test('sorts numbers before texts, those before the rest, and what is missing last', async () => {
      const sorted = async (way: string): Promise<unknown[]> =>
        (await rows(`['${types}'] | sort by x ${way} | project k`)).flat().slice(0, 5);
      expect(await sorted('asc')).toEqual(['int', 'float', 'string', 'bool', 'array']);
      expect(await sorted('desc')).toEqual(['float', 'int', 'string', 'bool', 'array']);
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
        [5, 5.5, 5, 10.5, 5, expect.arrayContaining([5, 5.5, '5', true, [5]])],
      ]);
    });

    test('goes through extend, project and summarize', async () => {
      expect(await rows(`['${types}'] | extend z = x | summarize take = make_list(z) by k | where k == "array"`)).toEqual([['array', [[5]]]]);
      expect(await rows(`['${types}'] | sort by k asc | take 3 | extend z = iff(k == 'bool', 'was', x) | project z`)).toEqual([[null], [[5]], ['was']]);
    }); // prettier-ignore
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
