/** Operators over several tables and rows: what each gives is computed by hand, and who may not read a dataset does not read it through any of them. */
import { beforeAll, describe, expect, test } from 'vitest';
import { APL, ALWAYS, apl, refused, rows, rowsOf } from './ask.ts';
import { client, dataset } from './under.ts';

/** Each of `L` and `R` in a text is the name of one of the two datasets. */
type Case = readonly [text: string, wanted: readonly (readonly unknown[])[]];

const at = (second: number): string => `2026-01-01T00:00:0${second}Z`;

describe('operators over tables', () => {
  let left: string;
  let right: string;
  const named = (text: string): string => text.replaceAll(/\bL\b/g, `['${left}']`).replaceAll(/\bR\b/g, `['${right}']`);

  beforeAll(async () => {
    left = await dataset();
    right = await dataset();
    await client.ingest(left, [
      { _time: at(1), k: 'a', n: 1, big: 9007199254740992, s: 'red fox' },
      { _time: at(2), k: 'b', n: 2, s: 'blue' },
      { _time: at(3), k: 'b', n: 3, s: 'green' },
      { _time: at(4), k: 'd', n: 4.5, s: 'fox' },
      { _time: at(5), n: 5, s: 'none' },
    ]);
    await client.ingest(right, [
      { _time: at(6), k: 'a', m: 10, n: 1 },
      { _time: at(7), k: 'b', m: 20, n: 2 },
      { _time: at(8), k: 'b', m: 21, n: '3' },
      { _time: at(9), k: 'c', m: 30, note: 'fox' },
    ]);
  });

  const cases: readonly (readonly [string, readonly Case[]])[] = [
    ['join', [
      ['L | join kind=inner (R) on k | project n, m | sort by n asc, m asc', [[1, 10], [2, 20], [2, 21], [3, 20], [3, 21]]],
      ['L | join (R) on k | project n, m | sort by n asc, m asc', [[1, 10], [2, 20], [2, 21], [3, 20], [3, 21]]],
      // Of the two rows with b each left one takes one.
      ['L | join kind=innerunique (R) on k | summarize count() by n | sort by n asc', [[1, 1], [2, 1], [3, 1]]],
      ['L | join kind=leftouter R on k | project n, m | sort by n asc, m asc', [[1, 10], [2, 20], [2, 21], [3, 20], [3, 21], [4.5, null], [5, null]]],
      ['L | join kind=rightouter R on k | project n, m, k, k1 | where m == 30', [[null, 30, null, 'c']]],
      ['L | join kind=fullouter R on k | summarize count()', [[8]]],
      ['L | join kind=leftsemi R on k | project n | sort by n asc', [[1], [2], [3]]],
      ['L | join kind=leftanti R on k | project n | sort by n asc', [[4.5], [5]]],
      ['L | join kind=rightsemi R on k | project m | sort by m asc', [[10], [20], [21]]],
      ['L | join kind=rightanti R on k | project m', [[30]]],
      // 1 is 1 and "3" is no 3.
      ['L | join kind=inner R on n | project n, m | sort by n asc', [[1, 10], [2, 20]]],
      ['L | join kind=inner R on $left.n == $right.n, k | project n, m, n1, k1 | sort by n asc', [[1, 10, 1, 'a'], [2, 20, 2, 'b']]],
      ['L | join kind=inner (R | where m > 10 | summarize total = sum(m) by k) on k | project n, total | sort by n asc', [[2, 41], [3, 41]]],
      ['L | project k, n | join kind=inner (R | project k, n) on k | project-away k | sort by n asc, n1 asc | take 2', [[1, 'a', 1], [2, 'b', 2]]],
      ['L | join kind=inner R on k | join kind=inner (R | project k, last = m) on k | summarize count()', [[9]]],
      ['L | where k == "a" | join kind=inner hint.strategy=broadcast (R) on k | project _time, _time1', [[at(1), at(6)]]],
      ['L | join kind=inner R on k | where m == 21 and n == 2 | project s', [['blue']]],
    ]],
    ['lookup', [
      ['L | lookup (R | project k, m) on k | project k, n, m | sort by n asc, m asc', [['a', 1, 10], ['b', 2, 20], ['b', 2, 21], ['b', 3, 20], ['b', 3, 21], ['d', 4.5, null], [null, 5, null]]],
      ['L | lookup kind=inner (R | where m < 20) on k | project n, m', [[1, 10]]],
      ['datatable(k:string)["a"] | lookup (R | project k, m) on k', [['a', 10]]],
    ]],
    ['union', [
      ['union L, R | summarize count()', [[9]]],
      ['L | union R | summarize count() by isnull(m) | sort by count_ desc', [[true, 5], [false, 4]]],
      ['L, R | summarize min(_time), max(_time)', [[at(1), at(9)]]],
      ['union kind=inner (L | project k, n), (R | project k, m) | distinct k | sort by k asc | take 2', [[null], ['a']]],
      ['union (L | project x = n), (R | project x = tostring(m)) | where gettype(x) == "string" | count', [[4]]],
      ['union (print x = 1), (print x = 2, y = "z") | sort by x asc', [[1, null], [2, 'z']]],
      ['union withsource=from L, R | project from | distinct from | count', [[2]]],
      ['union L, R | take 3 | project _time', [[at(9)], [at(8)], [at(7)]]],
      ['L | where k == "a" | union (R | where k == "c") | project k', [['c'], ['a']]],
      ['L | join kind=leftouter R on never | count', [[5]]],
      ['L | extend one = 1 | join kind=inner (R | extend one = 1) on one | count', [[20]]],
      ['L | join kind=inner R on k | join kind=leftouter (R | where m > 1 | take 5) on never | count', [[5]]],
      ['L | join kind=inner R on k | extend one = 1 | join kind=inner (R | extend one = 1 | take 2) on one | count', [[10]]],
      ['L | join kind=inner R on k | extend no = k in () | join kind=fullouter (R | extend no = false | take 2) on no | count', [[10]]],
      ['L | take 1 | union (R | take 1) | count', [[2]]],
      ['L | union R | join kind=inner (R) on k | union withsource=from L | summarize count() by from | count', [[2]]],
      ['L | union R | getschema | union (print x = 1) | count', [[8]]],
      ['L | union R | join kind=rightsemi (union L, R | where m == 10) on k | union withsource=from L | where m == 10 | count', [[1]]],
    ]],
    ['search', [
      ['L | search "fox" | project n | sort by n asc', [[1], [4.5]]],
      ['L | search "fo" | count', [[0]]],
      ['L | search "FOX" | count', [[2]]],
      ['L | search kind=case_insensitive "FOX" | count', [[2]]],
      ['L | search kind=case_sensitive "FOX" | count', [[0]]],
      ['L | search kind=case_sensitive "fox" | count', [[2]]],
      ['L | search kind=case_sensitive "FO*" | count', [[0]]],
      ['search kind=case_sensitive in (L, R) "Fox" | count', [[0]]],
      ['search in (L, R) kind=case_sensitive "fox" | count', [[3]]],
      ['L | search "*ox" | count', [[2]]],
      ['L | search "ox*" | count', [[0]]],
      ['L | search "*o*" | count', [[3]]],
      ['L | search "r*x" | project n', [[1]]],
      ['L | search "e*x" | count', [[0]]],
      ['L | search "*e*x" | project n', [[1]]],
      // The term is in one field.
      ['L | search "a*x" | count', [[0]]],
      ['L | search kind=case_sensitive "R*x" | count', [[0]]],
      ['L | search * | count', [[5]]],
      ['L | search k:"B" and s:"gre*" | project n', [[3]]],
      ['L | search kind=case_sensitive k:"B" or s =~ "BLUE" | count', [[0]]],
      ['L | search not(s:"fox") and n > 3 | project n', [[5]]],
      ['L | search s contains "OX" | count', [[2]]],
      ['L | search kind=case_sensitive s contains "OX" | count', [[0]]],
      ['search in (R) note:"fox" | project $table == "" ', [[false]]],
      ['L | search "fo*" | count', [[2]]],
      ['L | search "fox" and n > 1 | project n', [[4.5]]],
      ['L | search "red" or "green" | project n | sort by n asc', [[1], [3]]],
      ['L | search not("fox") | count', [[3]]],
      ['search in (L, R) "fox" | summarize count() by $table | count', [[2]]],
      ['search in (L, R) "fox" | project _time', [[at(9)], [at(4)], [at(1)]]],
      ['L | project k, n | search "a" | count', [[1]]],
    ]],
    ['let', [
      ['let x = 2; L | where n > x | count', [[3]]],
      ['let low = L | where n < 3; low | count', [[2]]],
      ['let low = L | where n < 3; let few = low | take 1; union low, few | count', [[3]]],
      ['let f = (a:long, b:long = 10) { a * b + 1 }; print f(2), f(2, 3)', [[21, 7]]],
      ['let over = (m:real) { L | where n > m }; over(2.5) | count', [[3]]],
      ['let keys = R | project k; L | where k in (keys) | count', [[3]]],
      ['let over = view () { L | where n > 2 }; over() | count', [[3]]],
      ['let a = 1; let b = a + 1; // a comment\n print a + b', [[3]]],
    ]],
    ['values of other queries', [
      ['L | where k in (R | where m > 10 | project k) | project n | sort by n asc', [[2], [3]]],
      ['L | where k !in (R | project k) | project n | sort by n asc', [[4.5], [5]]],
      ['L | where k in~ (R | project toupper(k)) | count', [[3]]],
      ['L | where n in (R | project n) | project n | sort by n asc', [[1], [2]]],
      ['L | where n == toscalar(L | summarize max(n)) | project k, s', [[null, 'none']]],
      ['print toscalar(R | count)', [[4]]],
      ['print 1s in (datatable(n:long)[1000000000])', [[true]]],
      ['print isnull(toscalar(R | where m > 99 | project m))', [[true]]],
      ['L | where n > toscalar(L | summarize avg(n)) | count', [[2]]],
    ]],
    ['buildschema', [
      ['datatable(v:dynamic)[dynamic({"x":1,"y":3.5}), dynamic({"x":"s","z":[1,"w"]}), dynamic({"y":{"w":"q"},"z":[]}), dynamic(null)] | summarize buildschema(v)', [[{ x: ['long', 'string'], y: ['double', { w: 'string' }], z: { '`indexer`': ['long', 'string'] } }]]],
      ['datatable(v:dynamic)[dynamic([[{"a":true}], [2]])] | summarize buildschema(v)', [[{ '`indexer`': { '`indexer`': ['long', { a: 'bool' }] } }]]],
      ['datatable(v:dynamic)[dynamic({"a":null, "b":{}, "c":[]})] | summarize buildschema(v)', [[{ b: {}, c: { '`indexer`': [] } }]]],
      ['datatable(v:dynamic)[dynamic({"a\\"{b":"}[,:", "c":-1e3}), dynamic([1])] | summarize buildschema(v)', [[{ '`indexer`': 'long', 'a"{b': 'string', c: 'long' }]]],
      ['print v = parse_json(@\'{"a" : [ 1.0, {"b" : "x:"} ] }\') | summarize buildschema(v)', [[{ a: { '`indexer`': ['double', { b: 'string' }] } }]]],
      ['L | summarize buildschema(n), buildschema(k), buildschema(_time)', [[['double', 'long'], 'string', 'datetime']]],
      ['L | summarize buildschemaif(n, n < 2), buildschemaif(n, n > 99), buildschema(never)', [['long', null, null]]],
      ['L | summarize s = buildschema(n) by big = n > 2 | sort by big asc', [[false, 'long'], [true, ['double', 'long']]]],
      ['L | summarize s = buildschema(pack("n", n, "s", s)) | project bag_keys(s)', [[['n', 's']]]],
    ]],
    ['made rows', [
      ['print 1, x = "a", ago(0s) <= now()', [[1, 'a', true]]],
      ['range x from 1 to 10 step 4', [[1], [5], [9]]],
      ['range x from 3 to 1 step -1', [[3], [2], [1]]],
      ['range x from 3 to 1 step 1', []],
      ['range t from datetime(2026-01-01) to datetime(2026-01-01T01:00) step 30m', [['2026-01-01T00:00:00Z'], ['2026-01-01T00:30:00Z'], ['2026-01-01T01:00:00Z']]],
      ['range d from 1h to 2h step 30m', [['1h0m0s'], ['1h30m0s'], ['2h0m0s']]],
      ['datatable(a:long, b:string)[1, "x", 2, "y", long(null), ""] | where a > 0 or b == ""', [[1, 'x'], [2, 'y'], [null, '']]],
      ['datatable(a:dynamic)[dynamic([1]), dynamic({"b": 2})] | where isnotnull(a.b) | project a.b', [[2]]],
      ['datatable(a:long)[] | count', [[0]]],
      ['datatable(a:long)[1, 2, 3] | where a > 1 | summarize sum(a)', [[5]]],
    ]],
    ['sample', [
      ['L | sample 0.999999999 | count', [[5]]],
      ['L | sample 0.0 | count', [[0]]],
      ['range x from 1 to 100000 step 1 | sample 0.5 | summarize n = count() | project n > 45000 and n < 55000', [[true]]],
    ]],
    ['order of rows', [
      ['L | sort by n asc | serialize i = row_number(), p = prev(n) | where i == 2 | project n, p', [[2, 1]]],
      ['L | sort by n asc | extend i = row_number(), p = prev(n), x = next(n, 2, -1), sum = row_cumsum(n) | project i, p, x, sum', [[1, null, 3, 1], [2, 1, 4.5, 3], [3, 2, 5, 6], [4, 3, -1, 10.5], [5, 4.5, -1, 15.5]]],
      ['L | serialize | project i = row_number(0), n | where i == 1', [[1, 4.5]]],
      ['L | top 3 by n | extend i = row_number() | where i == 3 | project n', [[3]]],
      ['datatable(a:long)[5, 6] | extend before = prev(a, 1, 0)', [[5, 0], [6, 5]]],
    ]],
    ['make-series', [
      ['L | make-series count() on _time from datetime(2026-01-01) to datetime(2026-01-01T00:00:06Z) step 2s | project count_', [[[1, 2, 2]]]],
      ['L | make-series total = sum(n) default=-1, count() on _time from datetime(2026-01-01T00:00:04Z) to datetime(2026-01-01T00:00:08Z) step 1s | project total, count_', [[[4.5, 5, -1, -1], [1, 1, 0, 0]]]],
      ['L | where isnotnull(k) | make-series n = count() default=null on _time from datetime(2026-01-01T00:00:01Z) to datetime(2026-01-01T00:00:04Z) step 1s by k | project k, n | sort by k asc', [['a', [1, null, null]], ['b', [null, 1, 1]]]],
      ['L | make-series count() on _time from datetime(2026-01-01) to datetime(2026-01-01T00:00:03Z) step 2s | project _time', [[['2026-01-01T00:00:00Z', '2026-01-01T00:00:02Z']]]],
      ['L | where n > 99 | make-series count() on _time from datetime(2026-01-01) to datetime(2026-01-01T00:00:03Z) step 1s | project count_', [[[0, 0, 0]]]],
    ]],
    ['top-nested, samples', [
      ['R | top-nested 1 of k by count()', [['b', 2]]],
      ['R | top-nested 2 of k by sum(m), top-nested 1 of m by max(m) desc', [['b', 41, 21, 21], ['c', 30, 30, 30]]],
      ['L | top-nested 1 of k by count() asc | count', [[1]]],
      ['L | sample-distinct 10 of k | count', [[4]]],
      ['L | sample-distinct 2 of n | count', [[2]]],
    ]],
    ['mv-apply', [
      ['datatable(a:long, b:dynamic)[1, dynamic([5, 20, 7]), 2, dynamic([]), 3, dynamic(null), 4, dynamic([30])] | mv-apply b to typeof(long) on (where b > 6 | extend c = a * b) | sort by a asc, b desc', [[1, 20, 20], [1, 7, 7], [4, 30, 120]]],
      ['datatable(a:long, b:dynamic)[1, dynamic(["x", null])] | mv-apply with_itemindex=i v = b on (extend n = i + a | project-away b) | sort by i asc', [[1, 'x', 0, 1], [1, null, 1, 2]]],
      ['L | extend list = pack_array(n, 100) | mv-apply v = list limit 1 on (where v >= 4.5) | project s, v | sort by s asc', [['fox', 4.5], ['none', 5]]],
      ['L | mv-apply x = never on (where x > 0) | count', [[0]]],
    ]],
    ['redact', [
      ['L | redact "[aeiou]" on s | project s | sort by s asc | take 2', [['bl**'], ['f*x']]],
      ['L | redact replaceToken="<$0>" @"\\bf\\w+", "^r" on s, n, never | where n == 1 | project s, n, never', [['<$0>ed <$0>', 1, null]]],
      ['L | redact "f.x" on s | where n == 1 | project s', [['red ***']]],
      ['L | redact replaceToken="xy" @"\\\\d|f.x|e" | where n in (1, 2) | project k, n, s | sort by n asc', [['a', 1, 'rxyd xy'], ['b', 2, 'bluxy']]],
      ['L | redact replaceToken="é" dynamic(["^.", "x"]) on k, s | where n == 1 | project k, s', [['é', 'éed foé']]],
      ['datatable(s:string, n:long)["é😀!", 5, "", 6] | redact replaceToken="-" @".*"', [['---', 5], ['', 6]]],
      ['datatable(s:string)["a\\uFDD0b\\uFDD1c", "baa"] | redact "a*"', [['*bc'], ['b**']]],
      ['L | redact "[aeiou]" | redact replaceToken="" "[*]" | where n == 3 | project s', [['grn']]],
      ['L | take 2 | redact "n" | project s', [['*o*e'], ['fox']]],
      ['L | redact "o" | search "f*x" | count', [[2]]],
      ['datatable(a:string, b:dynamic)["a1", dynamic([1])] | redact @"\\d" on a, b', [['a*', [1]]]],
    ]],
    ['search and its kind', [
      ['L | search kind=case_sensitive "Fox" | count', [[0]]],
      ['L | search kind=case_sensitive "fox" | count', [[2]]],
      ['L | search kind=default "FOX" | count', [[2]]],
      ['search kind=case_sensitive in (L, R) "fox" | count', [[3]]],
      ['search in (L) kind=case_sensitive "F*" | count', [[0]]],
      ['union isfuzzy=false L, R | count', [[9]]],
    ]],
    ['columns', [
      ['L | project s, n, k | project-reorder n, k | take 1', [[5, null, 'none']]],
      ['L | project s, n, k | project-reorder k* | take 1', [[null, 'none', 5]]],
      ['L | project n, s, t = _time | getschema', [['n', 0, 'dynamic', 'dynamic'], ['s', 1, 'string', 'string'], ['t', 2, 'datetime', 'datetime']]],
      ['L | getschema | project ColumnName | take 3', [['_time'], ['big'], ['k']]],
      ['L | count | as total | render card', [[5]]],
    ]],
  ]; // prettier-ignore

  test.each(cases.flatMap(([group, list]) => list.map(([text, wanted]) => [group, text, wanted] as const)))('%s: %s', async (_group, text, wanted) => {
    expect(await rows(named(text))).toEqual(wanted);
  }); // prettier-ignore

  test('events of several datasets stay events: with all fields, their order and the legacy form', async () => {
    const { tables, datasetNames, fieldsMetaMap } = await apl(named('union L, R | where n == 1 | sort by _time asc'));
    expect(tables[0]!.fields.map(({ name }) => name)).toEqual(['_sysTime', '_time', 'big', 'k', 'm', 'n', 'note', 's']);
    expect(rowsOf(tables[0]!).map((row) => row.slice(1))).toEqual([
      [at(1), 9007199254740992, 'a', null, 1, null, 'red fox'],
      [at(6), null, 'a', 10, 1, null, null],
    ]);
    expect(tables[0]!.sources.map(({ name }) => name)).toEqual([left, right]);
    expect(datasetNames).toEqual([left, right]);
    expect(Object.keys(fieldsMetaMap)).toEqual([left, right]);
    const legacy = await client.call('POST', '/v1/query/_apl?format=legacy', { body: { apl: named('L | join kind=inner R on k | where m == 10'), ...ALWAYS } });
    const [match] = legacy.json['matches'] as { _time: string; data: object }[];
    expect(match).toMatchObject({ _time: at(1), data: { k: 'a', k1: 'a', m: 10, n: 1, n1: 1, s: 'red fox' } });
  }); // prettier-ignore

  test('render travels in the reply', async () => {
    for (const form of ['with (title="By second", kind=stacked)', 'title="By second" kind=stacked']) {
      const text = named(`L | summarize count() by bin(_time, 1s) | render timechart ${form}`);
      const answer = await client.call('POST', APL, { body: { apl: text, ...ALWAYS } });
      expect(answer.json['render']).toEqual({
        chart: 'timechart',
        properties: { title: 'By second', kind: 'stacked' },
      });
      // `render` does not change the series.
      const [table] = answer.json['tables'] as { buckets?: object }[];
      expect(table!.buckets).toEqual({ field: '_time', size: 1_000_000_000 });
    }
  });

  test.each([
    ['L | join R on nothing.x == 1', 400, '$left.a == $right.b'],
    ['L | join kind=sideways R on k', 400, 'a kind out of inner'],
    ['L | lookup kind=fullouter R on k', 400, 'a kind out of leftouter, inner'],
    ['L | where k in (R)', 400, 'columns of its own'],
    ['print toscalar(L)', 400, 'columns of its own'],
    ['let t = L | take 1; print t', 400, 'is a table'],
    ['let f = (a:long) { a }; print f("x")', 400, 'f wants an integer here'],
    ['let f = (a:long) { a }; print f()', 400, 'f takes 1 argument, not 0'],
    ['datatable(a:long, b:long)[1, 2, 3]', 400, 'the last row is not whole'],
    ['datatable(a:long)["x"]', 400, 'datatable wants an integer here'],
    ['range x from 1 to 5 step 0', 400, 'other than 0'],
    ['L | make-series count() on _time from now() to ago(-1d) step 1ms', 400, 'make the step longer'],
    ['L | make-series count() on _time from n to now() step 1m', 400, 'there is no column "n" here'],
    ['L | where row_number() == 1', 400, 'row_number cannot stand in where'],
    ['L | extend i = next(row_number())', 400, 'row_number cannot stand in next'],
    ['union isfuzzy=true L, R', 400, 'isfuzzy=true is not supported'],
    ['L | search kind=sideways "x"', 400, 'a kind out of default, case_insensitive, case_sensitive'],
    ['L | mv-apply x = k on (join R on k)', 400, 'mv-apply takes where, extend, project-away, project-rename, summarize'],
    ['L | mv-apply x = k', 400, 'and (operators) behind the array'],
    ['L | redact k on s', 400, 'redact wants regular expressions as literals'],
    ['L | redact 5 on s', 400, 'redact wants regular expressions as literals'],
    ['L | redact "x" on', 400, 'the name of a field'],
    ['L | redact "(" on s', 400, ''],
    ['L | project n | redact "x" on s', 400, 'there is no column "s" here'],
    ['L | redact replaceHash=true "x"', 400, 'replaceHash=true is not supported; write extend field = hash_sha256(field)'],
    ['L | redact redactGroups=true "(x)"', 400, 'redactGroups=true is not supported; write replace_regex'],
    ['L | search k:5', 400, 'search wants a term in quotes behind the colon'],
    ['L | where k:"a"', 400, 'found ":"'],
    ['L | sample 1.5', 400, 'a number of rows after sample, or a fraction'],
    ['L | count; R | count', 400, 'a query has one result; to ask for several tables at once, name them with let'],
    ['L | redact replaceToken=5 "x" on s', 400, 'a token in quotes'],
    ['SELECT host, count(*) AS n FROM logs WHERE level = \'error\' AND msg LIKE \'%time%\' GROUP BY host ORDER BY n DESC LIMIT 5', 400, "this is SQL; here it would be: ['logs'] | where level == 'error' and msg contains 'time' | summarize n = count() by host | sort by n desc | take 5"],
    ['select * from app', 400, "this is SQL; here it would be: ['app']"],
    ['select a, b from "my logs"', 400, "here it would be: ['my logs'] | project a, b"],
    ['SELECT path, ms FROM web WHERE ms >= 10 AND user IS NOT NULL ORDER BY ms', 400, "['web'] | where ms >= 10 and isnotnull(user) | project path, ms | sort by ms asc"],
    ['{app="web", env!~"dev.*"} |= "timeout" != "retry"', 400, 'this is LogQL; here it would be: [\'dataset\'] | where app == "web" and env !matches regex "dev.*" and * contains "timeout" and * !contains "retry"'],
    ['sum by (host) (count_over_time({app="web"}[5m]))', 400, '[\'dataset\'] | where app == "web" | summarize count() by bin(_time, 5m)'],
    ['service:web AND status:[400 TO 499] NOT path:/a/*', 400, `this is Lucene; here it would be: ['dataset'] | search service:"web" and status between (400 .. 499) and not(path:"/a/*")`],
    ['-level:info service:(web OR db) "time out"', 400, `['dataset'] | search not(level:"info") and (service:"web" or service:"db") and "time out"`],
    ['status:>=500 && (host:a1 || user.name:*)', 400, `['dataset'] | search status >= 500 and ( host:"a1" or isnotnull(user.name) )`],
    ['boom error', 400, 'to look for words write search "boom" and "error"'],
    ['"boom error"', 400, 'to look for the text write search "boom error"'],
    ['boom', 404, 'dataset "boom" not found; to look for the word write search "boom"'],
    ['stats count by service', 400, 'write summarize'],
    ['where n > 1', 400, `write ['dataset'] | where`],
    ['L | invoke f()', 400, 'invoke is not supported'],
    ['L | evaluate bag_unpack(k)', 400, 'evaluate is not supported'],
    ['L | extend p = parse_user_agent(s)', 400, 'parse_user_agent is not supported'],
    ['L | extend g = geo_info_from_ip_address(s)', 400, 'geo_info_from_ip_address is not supported'],
    ['L | jion R on k', 400, 'did you mean join; there are where'],
    ['L | project-awy k', 400, 'did you mean project-away; there are where'],
    ['L | extend-more x = 1', 400, 'unknown operator "extend-more"'],
    ['L | render treemap', 400, 'a chart out of table, timechart'],
    ['union L, nowhere-at-all', 404, 'nowhere-at-all'],
    ['let a = L | take 1; let b = union a, a; let c = union b, b; let d = union c, c; let e = union d, d; let f = union e, e; union f, f | count', 400, 'more than 32 queries'],
    ['let a = 1 + 1; let b = a + a; let c = b + b; let d = c + c; let e = d + d; let f = e + e; let g = f + f; let h = g + g; let i = h + h; let j = i + i; let k = j + j; let l = k + k; print l + l', 400, 'more than 5000 parts'],
  ])('%s is refused', async (text, status, message) => {
    const found = await refused(named(text));
    expect(found.status).toBe(status);
    expect(String(found.body['message'])).toContain(message);
  }); // prettier-ignore

  test('a token reads no dataset through another one', async () => {
    const made = await client.call('POST', '/v2/tokens', {
      token: client.personalToken,
      headers: { 'x-service-org-id': client.orgId },
      body: { name: `only ${left}`, datasetCapabilities: { [left]: { query: ['read'] } }, orgCapabilities: {} },
    });
    const token = String(made.json['token']);
    const ask = (text: string) => client.call('POST', APL, { token, body: { apl: named(text), ...ALWAYS } });
    for (const text of ['R | count', 'union L, R', 'L | join R on k', 'L | lookup R on k', 'L | where k in (R | project k)', 'L | mv-apply v = k on (where v in (R | project k))', 'print toscalar(R | count)', 'search in (L, R) "fox"', 'let r = R | count; L | count', 'let f = (a:long) { R | where n > a }; L | count', 'L, R | count', 'union L, (R | take 1)'])
      expect((await ask(text)).status, text).toBe(403);
    // A pattern leaves out what the token may not read.
    const columnsOf = (json: Record<string, unknown>) => (json['tables'] as { columns: unknown[][] }[])[0]!.columns;
    for (const text of ['union withsource=from * | distinct from', 'search "fox" | distinct $table', "['*'] | union withsource=from (L) | distinct from"])
      expect(columnsOf((await ask(text)).json), text).toEqual([[left]]);
    expect((await ask('L | count')).status).toBe(200);
  }); // prettier-ignore
});
