/** Answers that people expect from APL's documentation, by hand. Where it is silent, Kusto's count. */
import { beforeAll, describe, expect, test } from 'vitest';
import { APL, apl, refused, rows } from './ask.ts';
import { client, dataset } from './under.ts';

/** `D` in a text is the name of the dataset. */
type Case = readonly [text: string, wanted: readonly (readonly unknown[])[]];

const ITEMS = 'datatable(k:string, x:dynamic)["a", dynamic([3,1,2]), "b", dynamic([5,9]), "c", dynamic([])]';
const NUMBERS = 'datatable(x:long, r:real)[1, 0.5, 2, 1.5]';

const CASES: readonly (readonly [string, readonly Case[]])[] = [
  ['sums of integers go on as numbers', [
    [`${NUMBERS} | summarize p = 100.0 * sum(x) / count()`, [[150]]],
    [`${NUMBERS} | summarize sum(x) + 0.5, sum(x) - 0.5, 0.5 + sum(x), 0.5 - sum(x), sum(x) * 0.5, sum(x) / 2.0, sum(x) % 2.0`, [[3.5, 2.5, 3.5, -2.5, 1.5, 1.5, 1]]],
    [`${NUMBERS} | summarize sumif(x, x > 1) * 0.5, sum(x) * sum(r), sum(r) + sum(x)`, [[1, 6, 5]]],
    [`${NUMBERS} | summarize s = sum(x) | extend t = s * 1.5, u = iff(s > 2, s * 0.5, 0.0)`, [[3, 4.5, 1.5]]],
    [`${NUMBERS} | summarize s = sum(x) by k = 1 | join (print k = 1, f = 0.5) on k | project s * f`, [[1.5]]],
    ['datatable(x:long)[9223372036854775807, 9223372036854775807] | summarize sum(x) / 2, sum(x) * 1.0', [[2 ** 63, 2 ** 64]]],
    [`${NUMBERS} | summarize a = array_sum(make_list(x)) * 1.5, dcount(x) * 0.5, max(x) * 0.5, count() * 1.5, countif(x > 1) + 0.5`, [[4.5, 1, 1, 3, 1.5]]],
  ]],
  ['aggregates of nothing', [
    ['datatable(x:long)[1] | summarize sumif(x, x > 9), sum(x)', [[0, 1]]],
    ['datatable(x:long)[] | summarize sum(x)', [[0]]],
    ['datatable(x:real)[] | summarize sum(x), stdev(x), variance(x)', [[0, 0, 0]]],
    ['datatable(x:long)[1] | summarize stdev(x), variance(x), stdevif(x, x > 9), varianceif(x, x > 9)', [[0, 0, 0, 0]]],
    ['datatable(x:timespan)[1h] | summarize sumif(x, x > 9h)', [['0s']]],
    ['datatable(x:long)[1] | summarize avgif(x, x > 9), minif(x, x > 9), maxif(x, x > 9)', [[null, null, null]]],
  ]],
  ['joins', [
    ['datatable(id:long,l:string)[1,"x",1,"y"] | join (datatable(id:long,r:string)[1,"p",1,"q"]) on id | count', [[4]]],
    ['datatable(id:long,l:string)[1,"x",1,"y"] | join kind=innerunique (datatable(id:long,r:string)[1,"p",1,"q"]) on id | project l, r | sort by l asc', [['x', 'p'], ['y', 'p']]],
  ]],
  ['mv-expand of objects', [
    ['print b = dynamic({"p":1,"q":2}) | mv-expand b | sort by tostring(b) asc', [[{ p: 1 }], [{ q: 2 }]]],
    ['print b = dynamic({"p":{"x":1},"q":[2]}) | mv-expand b | sort by tostring(b) asc', [[{ p: { x: 1 } }], [{ q: [2] }]]],
    ['print b = dynamic({"p":1}) | mv-expand kind=bag b', [[{ p: 1 }]]],
    ['print b = dynamic({"p":1,"q":2}) | mv-expand kind=array b | sort by tostring(b) asc', [[['p', 1]], [['q', 2]]]],
  ]],
  ['parse', [
    ['datatable(s:string)["a=1 t=2020-01-01","a=2 t=x"] | parse-where s with "a=" a:long " t=" t:datetime | project a, t', [[1, '2020-01-01T00:00:00Z']]],
    ['datatable(s:string)["a=1 t=2h","a=2 t=x"] | parse-where s with "a=" a:long " t=" t:timespan | project a', [[1]]],
    ['datatable(s:string)["a=1 t=x"] | parse s with "a=" a:long " t=" t:datetime | project a, t', [[null, null]]],
    ['datatable(s:string)["a=1 t=x"] | parse s with "a=" a:long " t=" t:bool | project a, t', [[null, null]]],
    ['print s="k=a,b,c" | parse kind=regex s with "k=" v "," * | project v', [['a,b']]],
    ['print s="k=a,b,c" | parse kind=regex flags=U s with "k=" v "," * | project v', [['a']]],
  ]],
  ['parse_json of what is no JSON', [
    ['print parse_json("not json"), parse_json(""), parse_json("1 2"), parse_json("{")', [['not json', '', '1 2', '{']]],
    ['print todynamic("not json")', [[null]]],
    ['print parse_json("[1]")[0], parse_json("null"), parse_json("\\"x\\"")', [[1, null, 'x']]],
  ]],
  ['sort puts nulls first where it rises, last where it falls', [
    ['datatable(a:long)[2, long(null), 1] | sort by a asc', [[null], [1], [2]]],
    ['datatable(a:long)[2, long(null), 1] | sort by a desc', [[2], [1], [null]]],
    ['datatable(a:long)[2, long(null), 1] | sort by a', [[2], [1], [null]]],
    ['datatable(a:long)[2, long(null), 1] | sort by a asc nulls last', [[1], [2], [null]]],
    ['datatable(a:long)[2, long(null), 1] | sort by a desc nulls first', [[null], [2], [1]]],
    ['datatable(a:long)[2, long(null), 1] | top 1 by a asc', [[null]]],
    ['datatable(a:long)[2, long(null), 1] | top 1 by a', [[2]]],
  ]],
  ['texts', [
    ['print substring("123456", -2, 2), substring("123456", -2), substring("123456", -9, 3), substring("", -1, 1)', [['56', '56', '123', '']]],
    ['print indexof("abc def ab", "ab", -2), indexof("abc def ab", "ab", -99)', [[8, 0]]],
    ['print extract_all("([a-z])([0-9])", "a1b2"), extract_all("[a-z]", "a1b2"), extract_all("([a-z])[0-9]", "a1b2")', [[[['a', '1'], ['b', '2']], ['a', 'b'], ['a', 'b']]]],
    ['print extract_all("([a-z])([0-9])", dynamic([2]), "a1b2")', [[['1', '2']]]],
    ['print base64_decode_tostring("U3RyaW5n0KHR0tGA0L7Rh9C60LA="), base64_decode_tostring("YQ==")', [[null, 'a']]],
    ['print format_datetime(datetime(2015-12-14), "y-M-d"), format_datetime(datetime(2005-12-14), "y yy yyyy")', [['15-12-14', '5 05 2005']]],
    ['print tolong("0xa0"), tolong("-0xa0"), tolong("0x"), toint("0xFF"), tolong("0x7fffffffffffffff"), tolong("0x8000000000000000")', [[160, null, null, 255, 2 ** 63, null]]],
    ['datatable(s:string)["2024/01/15 12:35:35", "14 jun 2025", "14 June 2025 10:00", "2024/01/15"] | project todatetime(s)', [['2024-01-15T12:35:35Z'], ['2025-06-14T00:00:00Z'], ['2025-06-14T10:00:00Z'], ['2024-01-15T00:00:00Z']]],
    ['print tohex(255), tohex(toint("12345"), 8)', [['ff', '00003039']]],
  ]],
  ['numbers and types', [
    ['print isint(2.0), isint(2.5), isint(2), isint("2")', [[true, false, true, false]]],
    ['print tobool("no"), tobool("yes"), tobool("NO"), tobool("x")', [[false, true, false, null]]],
  ]],
  ['arrays and objects', [
    ['datatable(a:dynamic)[dynamic(["x","y"]), dynamic(["y"])] | summarize make_set(a)', [[['x', 'y']]]],
    ['print b = dynamic({"p":7}) | project v = b[0], w = b["p"]', [[null, 7]]],
    ['print bag_has_key(dynamic({"a":{"b":1}}), "$.a.b"), bag_has_key(dynamic({"a":{"b":1}}), "$.a.c"), bag_has_key(dynamic({"$.a":1}), "$.a")', [[true, false, true]]],
    ['print bag_remove_keys(dynamic({"a":{"b":1,"c":2},"d":3}), dynamic(["$.a.b", "d"]))', [[{ a: { c: 2 } }]]],
    ['print array_split(dynamic([1,2,3,4,5]), dynamic([-1,-2]))', [[[[1, 2, 3], [4], [5]]]]],
    ['print array_sum(dynamic([])), array_sum(dynamic([1])), array_sort_asc("x")', [[null, 1, []]]],
  ]],
  ['addresses with a prefix', [
    ['print ipv4_is_match("192.168.1.7", "192.168.1.0/24"), ipv4_is_match("192.168.2.7", "192.168.1.0/24"), ipv4_is_match("192.168.1.1/24", "192.168.1.255/24"), ipv4_is_match("10.0.0.1", "10.0.0.1")', [[true, false, true, true]]],
    ['print ipv4_compare("192.168.1.1/24", "192.168.1.255/24"), ipv4_compare("192.168.1.1", "192.168.1.255"), ipv4_compare("10.1.0.0/8", "10.2.0.0", 16)', [[0, -1, 0]]],
    ['print parse_ipv4("192.168.1.1/24"), parse_ipv4("192.168.1.1"), parse_ipv4("x/8"), parse_ipv4("1.2.3.4/33")', [[3232235776, 3232235777, null, null]]],
    ['print ipv4_is_private("192.168.1.1/24"), ipv4_is_private("8.8.8.8/8")', [[true, false]]],
    ['print ipv6_is_match("fe80::85d:e82c:9446:7994/120", "fe80::85d:e82c:9446:79ff/120"), ipv6_is_match("fe80::1", "fe80::2/64")', [[true, true]]],
    ['print ipv6_compare("192.168.1.1/24", "192.168.1.255/24"), ipv6_compare("::1", "::2")', [[0, -1]]],
    ['print parse_ipv6("fe80::85d:e82c:9446:7994/112")', [['fe80:0000:0000:0000:085d:e82c:9446:0000']]],
  ]],
  ['search', [
    ['datatable(a:string)["AxIxOM"] | search "AxI?OM" | count', [[1]]],
    ['datatable(a:string)["AxIOM", "AxI?OM"] | search "AxI?OM" | count', [[1]]],
  ]],
  ['series and tables', [
    ['datatable(t:datetime)[datetime(2016-01-01), datetime(2016-01-03)] | make-series c = count() on t step 1d | project c', [[[1, 0, 1]]]],
    ['datatable(t:datetime)[datetime(2016-01-01), datetime(2016-01-03)] | make-series c = count() on t from datetime(2015-12-31) step 1d | project c', [[[0, 1, 0, 1]]]],
    ['datatable(t:datetime)[] | make-series c = count() on t step 1d | count', [[0]]],
    ['union withsource=t (range x from 1 to 1 step 1 | as T1), (range x from 1 to 1 step 1 | as T2) | project t | sort by t asc', [['T1'], ['T2']]],
    ['print s=\'"event time"=5 a=1\' | parse-kv s as ([\'event time\']:long, a:long) with (pair_delimiter=" ", kv_delimiter="=", quote=\'"\') | project [\'event time\'], a', [[5, 1]]],
    ['datatable(x:long)[1, 2, 3] | summarize make_set_if(x, x > 1, 1), make_list_if(x, x > 1, 5), make_list_if(x, 5, x > 1), make_list_if(x, 1, true)', [[[2], [2, 3], [2, 3], [1]]]],
  ]],
  ['what APL writes', [
    ['declare query_parameters (x:long = 3, s:string = "a"); print x + 1, s', [[4, 'a']]],
    ['declare query_parameters (n:long = 1); D | top n by _time | project m', [['q']]],
    ['let n = 1; D | sort by _time asc | take n | project m', [['p']]],
    ['let m = materialize(D | project m); m | count', [[2]]],
    ['materialize(D) | count', [[2]]],
    ['D | project "User Agent" = m, ["x y"] = status | sort by ["User Agent"] asc', [['p', '200'], ['q', '404']]],
    ['datatable(a:long)[1, 2] | join (datatable(b:long, c:string)[2, "two"]) on a == b | project a, c', [[2, 'two']]],
    ['datatable(a:string)["2"] | join (datatable(b:long, c:string)[2, "two"]) on a == tostring(b) | project a, c', [['2', 'two']]],
    ['datatable(a:string)["2"] | lookup (datatable(b:long, c:string)[2, "two"]) on $left.a == tostring($right.b) | project a, c', [['2', 'two']]],
    ["datatable(['a.b']:long)[2] | lookup (datatable(b:long, c:string)[2, 'two']) on $left.['a.b'] == $right.b | project c", [['two']]],
  ]],
  ['names that are words of the language', [
    ['print x = 1 | extend matches = 1, has = 2 | where matches == 1 and has != 1 | project matches, contains = has | sort by contains desc', [[1, 2]]],
    ['datatable(between:long, in:string)[1, "a", 2, "b"] | summarize n = count() by between | where not(between == 2) | project between, n', [[1, 1]]],
  ]],
  ['dynamic with fields', [
    ['print a = 1 | project d = dynamic([a, 1h, datetime(2020-01-02), {"k": a + 1, "l": [[]]}])', [[[1, '1h0m0s', '2020-01-02T00:00:00Z', { k: 2, l: [[]] }]]]],
    ["D | sort by _time asc | take 1 | project d = dynamic([status, ['m']]), e = dynamic({'m': m})", [[['200', 'p'], { m: 'p' }]]],
    ['print dynamic([["a"], ["b"]]), dynamic([]), dynamic({})', [[[['a'], ['b']], [], {}]]],
  ]],
  ['let inside a function', [
    ['let f = (a:long) { let b = a * 2; b + 1 }; print f(2), f(3)', [[5, 7]]],
    ['let f = (a:long) { let b = a * 2; let g = (c:long) { let b = c + b; b }; g(b) + 1 }; print f(2)', [[9]]],
    ['let f = (s:string) { let n = 1; D | where m == s | take n | project m }; f("q")', [['q']]],
  ]],
  ['all columns', [
    ['print a = 1, b = "x" | project p = pack(*), q = pack_array(*)', [[{ a: 1, b: 'x' }, [1, 'x']]]],
    ['D | project p = pack(*) | project p.m, p.status, bag_keys(p) | sort by p.m asc', [['p', '200', ['_time', 'm', 'status']], ['q', '404', ['_time', 'm', 'status']]]],
    ['datatable(a:long, b:string)[1, "x", 1, "x", 2, "x"] | distinct * | sort by a asc', [[1, 'x'], [2, 'x']]],
    ['D | project-away _time, status | distinct * | project m | sort by m asc', [['p'], ['q']]],
    ['datatable(a:long, b:string)[1, "x", 1, "x", 2, "x"] | summarize n = count() by p = pack(*) | sort by n desc', [[{ a: 1, b: 'x' }, 2], [{ a: 2, b: 'x' }, 1]]],
    ['D | summarize s = spotlight(status == "404", *) | mv-expand s | project d = tostring(s.dimension), n = s.delta_score | where d == "m"', [['m', 1]]],
  ]],
  ['numbers and sums that begin anew', [
    ['datatable(k:string, n:long)["a", 1, "a", 2, "b", 3, "a", 4] | sort by n asc | extend r = row_number(1, k != prev(k)), s = row_cumsum(n, k != prev(k)) | project r, s', [[1, 1], [2, 3], [1, 3], [1, 4]]],
    ['datatable(k:string, n:long)["a", 1, "a", 2, "b", 3] | sort by n asc | project k, r = row_number(0, k != prev(k)) + 10', [['a', 10], ['a', 11], ['b', 10]]],
    ['datatable(n:long)[1, 2, 3] | sort by n asc | serialize r = row_number(5, n == 3)', [[1, 5], [2, 6], [3, 5]]],
  ]],
  ['mv-apply of several items', [
    ['print x = dynamic([1, 2, 3]) | mv-apply x on (summarize s = sum(toint(x)))', [[[1, 2, 3], 6]]],
    [`${ITEMS} | mv-apply x on (summarize s = sum(toint(x)), c = count())`, [['a', [3, 1, 2], 6, 3], ['b', [5, 9], 14, 2]]],
    [`${ITEMS} | mv-apply x to typeof(long) on (top 1 by x)`, [['a', 3], ['b', 9]]],
    [`${ITEMS} | mv-apply y = x to typeof(long) on (sort by y asc | take 2) | project k, y`, [['a', 1], ['a', 2], ['b', 5], ['b', 9]]],
    [`${ITEMS} | mv-apply y = x to typeof(long) on (summarize c = count() by odd = y % 2 | where c > 1)`, [['a', [3, 1, 2], 1, 2], ['b', [5, 9], 1, 2]]],
    [`${ITEMS} | mv-apply with_itemindex=i y = x on (where i > 0 | order by i desc | extend z = i * 10 | limit 1) | project k, i, z`, [['a', 2, 20], ['b', 1, 10]]],
    ['D | sort by _time asc | mv-apply y = split(m, "x") on (summarize n = count()) | project m, n', [['p', 1], ['q', 1]]],
  ]],
  ['numbers of rows by let', [
    ['let n = 1; D | sample n | count', [[1]]], ['let n = 1; D | sample-distinct n of m | count', [[1]]],
  ]],
  ['events', [
    ["D | extend x = 5 | summarize arg_max(_time, *) | project x, m", [[5, 'q']]],
    ["D | extend m = 'other' | summarize arg_max(_time, *) | project m", [['other']]],
    ["D | project m, _time | summarize arg_max(_time, *) | project m", [['q']]],
  ]],
]; // prettier-ignore

describe('answers', () => {
  let events: string;
  beforeAll(async () => {
    events = await dataset();
    await client.ingest(events, [
      { _time: '2026-01-01T00:00:01Z', m: 'p', status: '200' },
      { _time: '2026-01-01T00:00:02Z', m: 'q', status: '404' },
    ]);
  });

  test.each(CASES.flatMap(([topic, cases]) => cases.map(([text, wanted]) => [topic, text, wanted] as const)))(
    '%s: %s',
    async (_topic, text, wanted) => {
      expect(await rows(text.replaceAll(/\bD\b/g, `['${events}']`))).toEqual(wanted);
    },
  );

  test('table(name) is the dataset, and variables of the request go before the defaults of parameters', async () => {
    expect(await rows(`table("${events}") | count`)).toEqual([[2]]);
    expect(await rows('declare query_parameters (x:long = 3); print x', { variables: { x: 7 } })).toEqual([[7]]);
  });

  test.each([
    ['print x = 1 | where matches "x"', `write ['matches']`],
    ['print x = 1 | where in ("x")', `write ['in']`],
    ['print x = 1 | extend y = strlen(*)', 'name the fields'],
    ['print x = dynamic([1]) | mv-apply x on (distinct x | join (print x = 1) on x)', 'write mv-expand'],
    ['declare query_parameters (x:long); print x', 'send it in "variables"'],
    ['print x = 1 | take x', 'a number of rows'],
    ['datatable(a:long)[1] | join (datatable(b:long)[1]) on $left.a + $right.b == $right.b', 'of one table'],
  ])('%s says what to write', async (text, wanted) => {
    const { status, body } = await refused(text);
    expect(status).toBe(400);
    expect(JSON.stringify(body['message'])).toContain(JSON.stringify(wanted).slice(1, -1));
  });

  /** The question behind it has a fifth of a second: it is asked until it was answered, or cannot be. */
  const hint = async (text: string): Promise<readonly string[]> => {
    const deadline = Date.now() + 20_000;
    for (;;) {
      const { status } = await apl(text.replaceAll(/\bD\b/g, `['${events}']`));
      const found = status.messages.filter(({ code }) => code === 'never_true').map(({ msg }) => msg);
      if (found.length > 0 || Date.now() > deadline) return found;
    }
  };

  test.each([
    [
      'D | where status == 200',
      'no event of this range has status == 200: there are "200", "404"; write status == "200"',
    ],
    [
      'D | where status >= 400 | count',
      'no event of this range has status >= 400: there are "200", "404"; write toreal(status) >= 400',
    ],
    [
      'D | where status in (200, 201) and m == "p"',
      'no event of this range has status in (200, 201): there are "200", "404"; write status in ("200", "201")',
    ],
    [
      'D | where m == "P" | summarize count() by status',
      'no event of this range has m == "P": there are "p", "q"; write m =~ "P"',
    ],
    [
      'D | where m == "p" | where status == "500"',
      'no event of this range has status == "500": there are "200", "404"',
    ],
  ])('%s says that it can never be true', async (text, wanted) => {
    expect(await hint(text)).toEqual([wanted]);
  });

  test.each([
    'D | where m == "p"',
    'D | where nothing == 1',
    'D | extend m = 5 | where m == 6',
    'D | where m == "p" and status == "404"',
    'print x = 1 | where x == 2',
  ])('%s says nothing of the kind', async (text) => {
    const { status } = await apl(text.replaceAll(/\bD\b/g, `['${events}']`));
    expect(status.messages.filter(({ code }) => code === 'never_true')).toEqual([]);
  });

  test('a live tail, which asks again and again, gets no warning', async () => {
    const { status } = await apl(`['${events}'] | where m == "P"`, {}, `${APL}&streaming-duration=1ms`);
    expect(status.messages.filter(({ code }) => code === 'never_true')).toEqual([]);
  });

  test('a comparison with a name that no event had is reported as a text without quotes', async () => {
    const { status } = await apl(`['${events}'] | where m == payments`);
    expect(status.messages).toMatchObject([
      { code: 'missing_column', msg: expect.stringContaining('for the text write "payments" in quotes') },
    ]);
  });

  test('set says of each option that it does nothing', async () => {
    const { status } = await apl(`set query_bin_auto_size=1h; set stricttypes; ['${events}'] | count`);
    expect(status.messages).toMatchObject([
      { msg: 'set query_bin_auto_size does nothing here' },
      { msg: 'set stricttypes does nothing here' },
    ]);
  });
});
