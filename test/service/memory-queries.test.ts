/** Queries that a user of this API family typed from memory, over an access log, an application's log and text lines: each gives what its writer wanted, or says what to write instead. */
import { expect, test } from 'vitest';
import { serviceForSuite, tableOf } from './support.ts';

const minutesAgo = (minutes: number): string =>
  new Date(Math.floor(Date.now() / 60_000) * 60_000 - minutes * 60_000).toISOString();
const NGINX = [
  { _time: minutesAgo(200), client: '192.168.1.1', method: 'GET', path: '/nope7', status: 200, bytes: 10, host: 'web3', user_agent: 'curl' },
  { _time: minutesAgo(10), client: '127.0.0.1', user: 'ann', method: 'GET', path: '/nope12?token=abc&x=1', status: 404, bytes: 2048, host: 'web1', user_agent: 'curl' },
  { _time: minutesAgo(9), client: '10.0.0.7', method: 'GET', path: '/cart', status: 200, bytes: 512, host: 'web1', user_agent: 'boom/1.0' },
  { _time: minutesAgo(8), client: '8.8.8.8', user: 'bob', method: 'POST', path: '/cart', status: 500, bytes: 100, host: 'web2', user_agent: 'curl' },
]; // prettier-ignore
const NEWEST = new Date(NGINX[3]!._time);
const APP = [
  { _time: minutesAgo(7), host: 'web1', ms: 10, message: 'start' },
  { _time: minutesAgo(6), host: 'web1', ms: 30, message: 'boom happened' },
  { _time: minutesAgo(5), host: 'web2', ms: 20, message: 'ok' },
];
const DPKG = [{ _time: minutesAgo(4), message: 'install boom 1.0' }];

const { client } = serviceForSuite({}, { nginx: NGINX, app: APP, dpkg: DPKG });

type Rows = readonly Record<string, unknown>[];
const values = (rows: Rows, name: string): unknown[] => rows.map((row) => row[name]);
const sum = (list: readonly unknown[]): number => list.reduce<number>((total, value) => total + Number(value), 0);
const sorted = (list: readonly unknown[]): unknown[] => list.map((item) => JSON.stringify(item)).sort().map((item) => JSON.parse(item) as unknown); // prettier-ignore
/** The rows as they are. */
const are = (...wanted: readonly unknown[][]) => (rows: Rows): void => expect(rows.map((row) => Object.values(row))).toEqual(wanted); // prettier-ignore
const inAnyOrder = (...wanted: readonly unknown[][]) => (rows: Rows): void => {
  expect(sorted(rows.map((row) => Object.values(row)))).toEqual(sorted(wanted));
}; // prettier-ignore
/** As many rows, the first of which has these values. */
const begins = (count: number, first: object = {}) => (rows: Rows): void => {
  expect(rows).toHaveLength(count);
  expect(rows[0]).toMatchObject(first);
}; // prettier-ignore

/** In their order; a text is what the refusal says. */
const QUERIES: readonly (readonly [query: string, wanted: string | ((rows: Rows) => void)])[] = [
  ['nginx | parse path with "/" seg | take 2', begins(2, { seg: 'cart' })],
  ['nginx | extend n = extract("nope([0-9]+)", 1, path) | take 2', begins(2, { n: null })],
  ['nginx | mv-expand split(path, "/") | take 2', (rows) => expect(values(rows, 'split_path')).toEqual(['', 'cart'])],
  ['nginx | join kind=inner (app) on host | take 2', begins(2, { method: 'POST', host: 'web2', ms: 20 })],
  ['union nginx, dpkg | take 2', begins(2, { message: 'install boom 1.0' })],
  ['nginx | summarize count() by bin(_time, 1m) | render timechart', (rows) => expect(values(rows, 'count_')).toEqual([1, 1, 1, 1])],
  ['nginx | make-series count() default=0 on _time from ago(1h) to now() step 1m', (rows) => {
    const counts = rows[0]!['count_'] as number[];
    expect([rows.length, counts.length, sum(counts)]).toEqual([1, 60, 3]);
  }],
  ['let t = ago(1h); nginx | where _time > t | count', are([3])],
  ['let errs = nginx | where status >= 500; errs | count', are([1])],
  ['nginx | lookup app on host', (rows) => expect(sorted(values(rows, 'ms'))).toEqual([10, 10, 20, 30, 30, null])],
  ['search "boom"', (rows) => expect(values(rows, '$table')).toEqual(['dpkg', 'app', 'nginx'])],
  ['nginx | search "boom"', begins(1, { user_agent: 'boom/1.0' })],
  ['nginx | extend c = case(status>=500,"5xx",status>=400,"4xx","ok"), i = iff(status==200,1,0) | summarize count() by c', inAnyOrder(['5xx', 1], ['4xx', 1], ['ok', 2])],
  ['nginx | extend h = hourofday(_time), d = dayofweek(_time), f = format_datetime(_time, "yyyy-MM-dd"), s = startofday(_time) | take 1',
    begins(1, { h: NEWEST.getUTCHours(), d: NEWEST.getUTCDay(), f: NEWEST.toISOString().slice(0, 10), s: `${NEWEST.toISOString().slice(0, 10)}T00:00:00Z` })],
  ['nginx | extend h = datetime_part("hour", _time), u = unixtime_seconds_todatetime(1700000000), dd = datetime_diff("minute", now(), _time) | take 1',
    begins(1, { h: NEWEST.getUTCHours(), u: '2023-11-14T22:13:20Z', dd: expect.any(Number) })],
  ['app | summarize percentile(ms, 95), percentiles(ms, 50, 95, 99), avg(ms), stdev(ms)', are([30, [20, 30, 30], 20, 10])],
  ['app | summarize percentiles_array(ms, 50, 95, 99)', are([[20, 30, 30]])],
  ['app | summarize histogram(ms, 10)', (rows) => {
    const bins = rows[0]!['histogram_ms'] as { count: number }[];
    expect([bins.length, sum(bins.map(({ count }) => count))]).toEqual([10, 3]);
  }],
  ['nginx | summarize dcount(path), dcountif(path, status==404), countif(status>=400), make_set(method), make_list(status)', (rows) => {
    const [{ make_list_status: list, ...rest }] = rows as [Record<string, unknown>];
    expect(Object.values(rest)).toEqual([3, 1, 2, ['GET', 'POST']]);
    expect(sorted(list as number[])).toEqual([200, 200, 404, 500]);
  }],
  ['nginx | summarize arg_max(_time, *) by method', (rows) => expect(sorted(rows.map(({ method, bytes }) => [method, bytes]))).toEqual([['GET', 512], ['POST', 100]])],
  ['nginx | summarize arg_max(_time, path, status) by method', (rows) => expect(sorted(rows.map(({ method, path, status }) => [method, path, status]))).toEqual([['GET', '/cart', 200], ['POST', '/cart', 500]])],
  ['nginx | summarize count() by bin_auto(_time), status', (rows) => expect([sum(values(rows, 'count_')), new Set(values(rows, 'status')).size]).toEqual([4, 3])],
  ['nginx | top-nested 2 of method by count()', are(['GET', 3], ['POST', 1])],
  ['nginx | sample 3', begins(3)],
  ['nginx | project-reorder status, method', (rows) => expect([rows.length, Object.keys(rows[0]!).slice(0, 2)]).toEqual([4, ['status', 'method']])],
  ['nginx | project-rename code = status | take 1', (rows) => expect([rows[0]!['code'], 'status' in rows[0]!]).toEqual([500, false])],
  ['nginx | project-keep status, m* | take 1', (rows) => expect(rows).toEqual([{ method: 'POST', status: 500 }])],
  [`app | extend j = parse_json('{"a":{"b":1}}') | project j.a.b | take 1`, are([1])],
  ['nginx | extend p = split(path, "/")[1], s = strcat(method, " ", path), l = strlen(path) | take 1', begins(1, { p: 'cart', s: 'POST /cart', l: 5 })],
  ['nginx | where ipv4_is_in_range(client, "127.0.0.0/8") | count', are([1])],
  ['nginx | where ipv4_is_private(client) | count', are([2])],
  ['nginx | extend g = geo_info_from_ip_address(client) | take 1', 'use ipv4_is_private or ipv4_is_in_range'],
  ['nginx | parse-where path with "/nope" n:long "?" * | take 1', begins(1, { n: 12 })],
  ['nginx | parse-kv path as (token:string) with (pair_delimiter="&", kv_delimiter="=") | take 1', begins(1, { token: null })],
  ['nginx | where * has "boom" | count', are([1])],
  ['nginx | where status in (404, 500) and path !has "boom" | distinct path, status | count', are([2])],
  ['nginx | getschema', (rows) => expect(values(rows, 'ColumnName')).toEqual(expect.arrayContaining(['_time', 'bytes', 'status', 'user_agent']))],
  ['datatable(x:long)[1,2,3]', are([1], [2], [3])],
  ['print now()', begins(1, { print_0: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) })],
  ['range x from 1 to 3 step 1', are([1], [2], [3])],
  ['nginx | summarize rate(status) by bin(_time, 1m)', (rows) => expect(values(rows, 'rate_status')).toEqual([200 / 60, 404 / 60, 200 / 60, 500 / 60].map((value) => expect.closeTo(value, 9)))],
  ['nginx | summarize topk(path, 3), spotlight(status>=500, path)', begins(1, { spotlight_: [expect.objectContaining({ dimension: 'path' })] })],
  ['nginx | serialize | extend rn = row_number(), prev_s = prev(status) | take 2', (rows) => expect(rows.map(({ rn, prev_s }) => [rn, prev_s])).toEqual([[1, null], [2, 500]])],
  ['nginx | sort by _time asc | extend cs = row_cumsum(bytes) | take 2', (rows) => expect(values(rows, 'cs')).toEqual([10, 2058])],
  ['nginx | extend u = parse_url(strcat("http://x", path)) | take 1', begins(1, { u: { scheme: 'http', host: 'x', path: '/cart' } })],
  ['nginx | extend ua = parse_user_agent(user_agent, "browser") | take 1', 'take what you need with extract'],
  ['nginx | extend v = toint(status), b = bytes / 1024.0, r = round(1.2345, 2), a = array_length(split(path,"/")) | take 1', begins(1, { v: 500, b: 0.097_656_25, r: 1.23, a: 2 })],
  ['nginx | where _time between (ago(1h) .. now()) | summarize count() by bin(_time, 5m), method | order by _time desc', (rows) => expect(sum(values(rows, 'count_'))).toBe(3)],
  ['nginx | where path matches regex "^/nope[0-9]+$" | count', are([1])],
  ['nginx | summarize count() by tostring(status/100)', inAnyOrder(['2', 2], ['4', 1], ['5', 1])],
  ['nginx | where isnotempty(user) | summarize n=count() by user | extend pct = n*100.0/toscalar(nginx | count)', inAnyOrder(['ann', 1, 25], ['bob', 1, 25])],
  ['nginx | evaluate bag_unpack(x)', 'take fields out of an object by name'],
  ['nginx | extend md = hash_md5(path), red = replace_regex("token=[^&]+", "token=***", path) | where path has "token" | project red | take 1', are(['/nope12?token=***&x=1'])],
]; // prettier-ignore

test('they are 53, of which three are refused by name', () => {
  expect([QUERIES.length, QUERIES.filter(([, wanted]) => typeof wanted === 'string').length]).toEqual([53, 3]);
});

test.each(QUERIES)('%s', async (text, wanted) => {
  const answer = await client.call('POST', '/v1/query/_apl?format=tabular', { body: { apl: text } });
  if (typeof wanted === 'string') {
    expect([answer.status, answer.json['message']]).toEqual([400, expect.stringMatching(/is not supported/)]);
    expect(answer.json['message']).toContain(wanted);
    return;
  }
  expect(answer.status, answer.text).toBe(200);
  const { names, rows } = tableOf(answer);
  wanted(rows.map((row) => Object.fromEntries(names.map((name, column) => [name, row[column]]))));
});
