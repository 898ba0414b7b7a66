/**
 * Queries of the kinds that the public documentation of APL shows, in words of our own, with the columns and the number of rows that
 * each has to give, written by hand. `H` are requests of a web server, `T` spans of traces, `S` lines of several programs.
 */
export type FamilyQuery = readonly [text: string, columns: string, rows: number];

const minute = (n: number): string => `2026-01-01T00:0${n}:00Z`;
const zip = (columns: Readonly<Record<string, readonly unknown[]>>): object[] =>
  Object.values(columns)[0]!.map((_, n) => ({ _time: minute(n), ...Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values[n]])) })); // prettier-ignore

export const REQUESTS = zip({
  id: ['u1', 'u2', 'u3', 'u1', 'u2', 'u1', 'u4', 'u1'],
  method: ['GET', 'GET', 'POST', 'GET', 'PUT', 'GET', 'DELETE', 'GET'],
  uri: ['/', '/api/items?id=1&x=2', '/api/items', '/login', '/api/items/5', '/static/app.js', '/api/items/5', '/healthz'],
  status: ['200', '200', '201', '401', '500', '200', '404', '200'],
  ms: [10, 20.5, 30, 5, 250, 2, 40, 1],
  bytes: [100, 200, 300, 50, 80, 1000, 60, 2],
  'geo.city': ['Oslo', 'Athens', 'Oslo', 'Rome', 'Oslo', 'Athens', 'Rome', 'Oslo'],
  'geo.country': ['Norway', 'Greece', 'Norway', 'Italy', 'Norway', 'Greece', 'Italy', 'Norway'],
  ip: ['10.0.0.1', '10.0.0.2', '192.168.1.5', '8.8.8.8', '10.0.0.1', '8.8.4.4', 'fe80::1', '10.0.0.1'],
  tls: [true, true, false, true, false, true, true, true],
  agent: ['curl/8.0', 'Mozilla/5.0 (X11; Linux)', 'Mozilla/5.0 (X11; Linux)', 'curl/8.0', 'Go-http-client/2.0', 'Mozilla/5.0 (X11; Linux)', 'curl/8.0', 'kube-probe/1.30'],
}); // prettier-ignore

export const SPANS = zip({
  trace_id: ['t1', 't1', 't1', 't2', 't2', 't3'],
  span_id: ['s1', 's2', 's3', 's4', 's5', 's6'],
  parent_span_id: [null, 's1', 's1', null, 's4', null],
  'service.name': ['frontend', 'cart', 'checkout', 'frontend', 'cart', 'checkout'],
  name: ['GET /', 'get', 'pay', 'GET /x', 'get', 'pay'],
  kind: ['server', 'internal', 'client', 'server', 'internal', 'client'],
  duration: [1_000_000, 500_000, 3_000_000_000, 2_000_000, 700_000, 90_000_000],
  error: [false, false, true, false, false, false],
  'http.status': [200, null, 503, 200, null, 200],
  tags: [['web', 'eu'], ['db'], ['db', 'slow', 'eu'], ['web'], [], ['web', 'us']],
});

export const LINES = zip({
  app: ['sshd', 'sshd', 'cron', 'kernel', 'sshd'],
  severity: ['error', 'info', 'info', 'warning', 'error'],
  message: [
    'Failed password for root from 10.0.0.9 port 22', 'Accepted publickey for ann from 10.0.0.7 port 23', 'job backup took=12 status=ok',
    '[42.5] oom: killed process 77 (java)', 'Failed password for bob from 10.0.0.9 port 24',
  ],
}); // prettier-ignore

const GENERAL: readonly FamilyQuery[] = [
  ['H | count', 'count', 1], ['H | take 3 | project id', 'id', 3], ['H | limit 2 | project uri, method', 'uri method', 2], ['H | where method == "GET" | project uri', 'uri', 5],
  ['H | where status != "200" | project status', 'status', 4], ['H | where ms > 20 | project ms', 'ms', 4], ['H | where ms >= 20.5 and method == "POST" | project id', 'id', 1], ['H | where method == "PUT" or method == "DELETE" | count', 'count', 1],
  ['H | where not(tls) | project uri', 'uri', 2], ['H | where tls == true | project id', 'id', 6], ['H | where method in ("PUT", "DELETE") | project id', 'id', 2], ['H | where status !in ("200", "201") | project id', 'id', 3],
  ['H | where method in~ ("get") | project id', 'id', 5], ['H | where uri contains "items" | project uri', 'uri', 4], ['H | where uri startswith "/api" | project uri', 'uri', 4], ['H | where uri endswith ".js" | project uri', 'uri', 1],
  ['H | where uri !contains "api" | project uri', 'uri', 4], ['H | where agent has "curl" | project id', 'id', 3], ['H | where agent has_any ("curl", "kube") | project id', 'id', 4], ['H | where uri matches regex "items/[0-9]+" | project id', 'id', 2],
  ['H | where ms between (5 .. 30) | project id', 'id', 4], ['H | where ms !between (5 .. 30) | project id', 'id', 4], ['H | where isnotempty(id) | count', 'count', 1], ['H | where isnull(nothing) | project id', 'id', 8],
  ["H | where ['geo.city'] == 'Oslo' | project id, ['geo.city']", 'id geo.city', 4], ['H | where geo.country =~ "NORWAY" | project id', 'id', 4], ['H | where _time >= datetime(2026-01-01T00:04:00Z) | project id', 'id', 4], ['H | where _time between (datetime(2026-01-01) .. datetime(2026-01-01T00:02:00Z)) | project id', 'id', 3],
  ['H | where toint(status) >= 400 | project status', 'status', 3], ['H | where ms > 20 | where tls | project id', 'id', 2], ['H | filter method == "GET" | project id', 'id', 5], ['H | search "curl" | project id', 'id', 3],
  ['search in (H, S) "root" | project $table', '$table', 1], ['let V = view () { range x from 1 to 3 step 1 }; search x == 2 | project $table, x', '$table x', 1], ['H | where * has "Oslo" | project id', 'id', 4], ['S | where severity == "error" | project message', 'message', 2], ['S | where message has "password" and app == "sshd" | count', 'count', 1],
]; // prettier-ignore

const COLUMNS: readonly FamilyQuery[] = [
  ['H | project id, ms', 'id ms', 8], ['H | project id, seconds = ms / 1000.0', 'id seconds', 8], ['H | project-away geo*, agent, ip, tls, bytes, uri, ms, status, _time, _sysTime', 'id method', 8], ['H | project-keep id, geo*', 'geo.city geo.country id', 8],
  ['H | project id, ms | project-rename user = id', 'user ms', 8], ['H | project id, ms, method | project-reorder method, id', 'method id ms', 8], ['H | extend slow = ms > 100 | where slow | project id, slow', 'id slow', 1], ['H | extend a = 1, c = 2 | project a, c', 'a c', 8],
  ['H | extend kb = bytes / 1024.0 | project kb', 'kb', 8], ['H | extend city = geo.city | distinct city', 'city', 3], ['H | distinct method, tls', 'method tls', 4], ['H | distinct id', 'id', 4],
  ['H | sort by ms desc | project ms | take 2', 'ms', 2], ['H | order by method asc, ms desc | project method, ms', 'method ms', 8], ['H | top 3 by ms | project id, ms', 'id ms', 3], ['H | top 2 by bytes asc | project bytes', 'bytes', 2],
  ['H | sample 4 | project id', 'id', 4], ['H | sample-distinct 2 of method', 'method', 2], ['H | project id, ms | getschema', 'ColumnName ColumnOrdinal DataType ColumnType', 2], ['H | project id | as people | count', 'count', 1],
  ['H | redact "[0-9]+" on uri | project uri', 'uri', 8], ['H | project x = column_ifexists("nothing", "none") | distinct x', 'x', 1], ['print x = 1, y = "two"', 'x y', 1], ['print strcat("a", "b")', 'print_0', 1],
  ['range n from 1 to 10 step 3', 'n', 4], ['range t from datetime(2026-01-01) to datetime(2026-01-02) step 6h', 't', 5], ['datatable(name:string, age:long)["ann", 30, "bob", 40] | where age > 35', 'name age', 1], ['let limit_ms = 20; H | where ms > limit_ms | project id', 'id', 4],
  ['let slow = H | where ms > 20; slow | project ms', 'ms', 4], ['let twice = (x:real) { x * 2 }; H | project d = twice(ms)', 'd', 8], ['let since = datetime(2026-01-01T00:06:00Z); H | where _time >= since | count', 'count', 1], ['H | serialize | extend n = row_number() | project n', 'n', 8],
  ['H | sort by _time asc | extend before = prev(ms) | project before', 'before', 8], ['H | sort by _time asc | extend total = row_cumsum(bytes) | project total', 'total', 8], ['H | sort by _time asc | extend after = next(id, 1, "none") | where after == "none" | project id, after', 'id after', 1],
]; // prettier-ignore

const SUMMARIES: readonly FamilyQuery[] = [
  ['H | summarize count()', 'count_', 1], ['H | summarize count() by method', 'method count_', 4], ['H | summarize n = count() by status | sort by n desc', 'status n', 5], ['H | summarize avg(ms) by method', 'method avg_ms', 4],
  ['H | summarize sum(bytes), max(ms), min(ms) by geo.country', 'geo.country sum_bytes max_ms min_ms', 3], ['H | summarize dcount(id)', 'dcount_id', 1], ['H | summarize users = dcount(id) by geo.city', 'geo.city users', 3], ['H | summarize countif(status == "500")', 'countif_', 1],
  ['H | summarize errors = countif(toint(status) >= 400), total = count() by method', 'method errors total', 4], ['H | summarize percentile(ms, 95)', 'percentile_ms', 1], ['H | summarize p = percentile(ms, 50) by tls', 'tls p', 2], ['H | summarize percentiles_array(ms, 50, 90, 99)', 'percentiles_array_ms', 1],
  ['H | summarize percentileif(ms, 95, tls)', 'percentileif_ms', 1], ['H | summarize stdev(ms), variance(ms)', 'stdev_ms variance_ms', 1], ['H | summarize stdevif(ms, tls), varianceif(ms, tls)', 'stdevif_ms varianceif_ms', 1], ['H | summarize make_list(method)', 'make_list_method', 1],
  ['H | summarize make_set(method) by geo.country', 'geo.country make_set_method', 3], ['H | summarize make_list_if(uri, ms > 20) by tls', 'tls make_list_if_uri', 2], ['H | summarize make_set_if(id, tls)', 'make_set_if_id', 1], ['H | summarize topk(uri, 2)', 'topk_uri', 1],
  ['H | summarize topkif(uri, 2, tls)', 'topkif_uri', 1], ['H | summarize histogram(ms, 5)', 'histogram_ms', 1], ['H | summarize rate(bytes)', 'rate_bytes', 1], ['H | summarize arg_max(ms, uri) by method', 'method ms uri', 4],
  ['H | summarize arg_min(_time, id, uri) by geo.city', 'geo.city _time id uri', 3], ['H | summarize sumif(bytes, tls), avgif(ms, tls)', 'sumif_bytes avgif_ms', 1], ['H | summarize minif(ms, tls), maxif(ms, not(tls))', 'minif_ms maxif_ms', 1], ['H | summarize dcountif(id, method == "GET")', 'dcountif_id', 1],
  ['H | summarize count() by bin(_time, 4m)', '_time count_', 2], ['H | summarize count() by bin(_time, 4m), method', '_time method count_', 5], ['H | summarize n = count() by bucket = bin(ms, 10)', 'bucket n', 6], ['H | summarize count() by kind = case(toint(status) >= 500, "5xx", toint(status) >= 400, "4xx", "ok")', 'kind count_', 3],
  ['H | summarize count() by tostring(toint(status) / 100)', 'Column1 count_', 3], ['H | summarize share = 100.0 * countif(tls) / count()', 'share', 1], ['H | summarize count() by method | where count_ > 1', 'method count_', 1], ['H | summarize total = sum(ms) by id | top 2 by total', 'id total', 2],
  ['H | summarize count() by method, tls | summarize methods = dcount(method) by tls', 'tls methods', 2], ['H | summarize by method', 'method', 4], ['H | summarize any_method = max(method)', 'any_method', 1], ['H | top-nested 2 of geo.country by count()', 'geo.country aggregated_geo.country', 2],
  ['H | top-nested 1 of method by count(), top-nested 2 of uri by max(ms)', 'method aggregated_method uri aggregated_uri', 2], ['H | make-series count() default=0 on _time from datetime(2026-01-01) to datetime(2026-01-01T00:08:00Z) step 1m', 'count_ _time', 1], ['H | make-series avg(ms) on _time from datetime(2026-01-01) to datetime(2026-01-01T00:08:00Z) step 2m by method', 'method avg_ms _time', 4], ['H | summarize count() by bin(_time, 1m) | render timechart', '_time count_', 8],
]; // prettier-ignore

const TABLES: readonly FamilyQuery[] = [
  ['T | join kind=inner (T | where error | project trace_id) on trace_id | project span_id', 'span_id', 3], ['T | join kind=leftanti (T | where error | project trace_id) on trace_id | project span_id', 'span_id', 3], ['T | join kind=leftsemi (T | where error) on trace_id | project span_id', 'span_id', 3], ['T | project span_id, parent_span_id | join kind=inner (T | project span_id, service.name) on $left.parent_span_id == $right.span_id | count', 'count', 1],
  ['T | where isnull(parent_span_id) | project trace_id | join kind=leftouter (T | summarize spans = count() by trace_id) on trace_id | project trace_id, spans', 'trace_id spans', 3], ['T | project trace_id, span_id | lookup (T | summarize total = sum(duration) by trace_id) on trace_id', 'trace_id span_id total', 6], ['union H, S | count', 'count', 1], ['union withsource=table H, S | summarize count() by table', 'table count_', 2],
  ['union (H | project _time, text = uri), (S | project _time, text = message) | project text', 'text', 13], ['H | where id in ((H | where ms > 100 | project id)) | project id', 'id', 2], ['H | where id !in ((H | where ms > 100 | project id)) | project id', 'id', 6], ['H | where ms > toscalar(H | summarize avg(ms)) | project ms', 'ms', 1],
  ['let ids = T | where error | project trace_id; T | where trace_id in (ids) | project span_id', 'span_id', 3], ['T | summarize spans = count(), services = make_set(service.name), start = min(_time) by trace_id', 'trace_id spans services start', 3], ['T | extend ms = duration / 1ms | where ms > 50 | project name, ms', 'name ms', 2], ['T | summarize percentile(duration, 95) by service.name', 'service.name percentile_duration', 3],
  ['T | where kind == "server" | summarize count() by bin(_time, 1h), service.name', '_time service.name count_', 1], ['T | mv-expand tags | project span_id, tags', 'span_id tags', 10], ['T | mv-expand tag = tags to typeof(string) | summarize count() by tag', 'tag count_', 6], ['T | mv-apply tag = tags to typeof(string) on (where tag == "eu") | project span_id, tag', 'span_id tag', 2],
  ['T | where array_length(tags) > 1 | project tags', 'tags', 3], ['T | where set_has_element(tags, "db") | project span_id', 'span_id', 2], ['T | where array_index_of(tags, "eu") >= 0 | project span_id', 'span_id', 2], ['T | extend first = tags[0] | where first == "web" | project span_id', 'span_id', 3],
  ['T | extend sorted = array_sort_asc(tags) | project sorted', 'sorted', 6], ['T | extend joined = strcat_array(tags, ",") | distinct joined', 'joined', 6], ['T | summarize make_list(name) by trace_id | extend n = array_length(make_list_name) | project n', 'n', 3], ['T | extend info = pack("name", name, "service", service.name) | project info.name', 'info.name', 6],
  ['T | project keys = bag_keys(pack("a", 1, "b", 2)) | take 1', 'keys', 1], ['T | extend both = set_union(tags, dynamic(["new"])) | where array_length(both) == 1 | project span_id', 'span_id', 1], ['T | extend common = set_intersect(tags, dynamic(["eu", "us"])) | where array_length(common) > 0 | project common', 'common', 3], ['T | extend rest = set_difference(tags, dynamic(["web"])) | project rest', 'rest', 6],
]; // prettier-ignore

const TEXTS: readonly FamilyQuery[] = [
  ['S | parse message with "Failed password for " user " from " ip " port " port:long | where isnotnull(port) | project user, ip, port', 'user ip port', 2], ['S | parse-where message with "Failed password for " user " from " * | project user', 'user', 2], ['S | parse kind=regex message with "process " pid:long " " * | project pid', 'pid', 5], ['S | parse-kv message as (took:long, status:string) | where isnotnull(took) | project took, status', 'took status', 1],
  ['S | extend ip = extract("([0-9]+[.][0-9]+[.][0-9]+[.][0-9]+)", 1, message) | where isnotempty(ip) | project ip', 'ip', 3], ['S | extend numbers = extract_all("([0-9]+)", message) | project numbers', 'numbers', 5], ['S | extend words = split(message, " ") | project first = words[0]', 'first', 5], ['S | project short = substring(message, 0, 6)', 'short', 5],
  ['S | project upper = toupper(app), lower = tolower(app)', 'upper lower', 5], ['S | project n = strlen(message)', 'n', 5], ['S | project text = replace_string(message, "Failed", "Bad")', 'text', 5], ['S | project text = replace_regex("[0-9]+", "#", message)', 'text', 5],
  ['S | project both = strcat(app, ":", severity)', 'both', 5], ['S | project both = strcat_delim("-", app, severity)', 'both', 5], ['S | where indexof(message, "from") > 0 | project app', 'app', 3], ['S | project n = countof("o", message)', 'n', 5],
  ['S | project t = trim("[]", message)', 't', 5], ['S | project t = trim_start("F", message), u = trim_end("0123456789", message)', 't u', 5], ['S | project r = reverse(app)', 'r', 5], ['S | project h = hash_sha256(message)', 'h', 5],
  ['S | project b = base64_encode_tostring(app), c = base64_decode_tostring("aGk=")', 'b c', 5], ['S | project q = url_encode(message), p = url_decode("a%20b")', 'q p', 5], ['S | where isascii(message) | count', 'count', 1], ['S | project c = unicode_codepoints_from_string(app)', 'c', 5],
  ['S | project t = translate("aeiou", "*", message)', 't', 5], ['S | project m = mask(message, 4)', 'm', 5], ['S | project p = parse_path("/var/log/a.log").Filename', 'p', 5], ['S | project c = parse_csv("1,2,3")', 'c', 5],
  ['H | extend parts = parse_urlquery("a=1&b=2") | project parts.a', 'parts.a', 8], ['H | extend u = parse_url(strcat("https://example.com", uri)) | project u.path', 'u.path', 8], ['H | extend j = parse_json("{\\"a\\":[1,2]}") | project second = j.a[1]', 'second', 8], ['H | extend text = dynamic_to_json(pack("id", id)) | project text', 'text', 8],
  ['H | where ipv4_is_private(ip) | project ip', 'ip', 5], ['H | where ipv4_is_in_range(ip, "10.0.0.0/8") | project ip', 'ip', 4], ['H | where ipv6_is_in_range(ip, "fe80::/10") | project ip', 'ip', 1], ['H | extend n = parse_ipv4(ip) | where isnotnull(n) | project n', 'n', 7],
  ['H | where ipv4_compare(ip, "10.0.0.1") == 0 | project id', 'id', 3], ['H | where ipv6_is_match(ip, "fe80::2", 64) | project id', 'id', 1], ['H | project hex = tohex(bytes)', 'hex', 8], ['H | project kind = gettype(ms)', 'kind', 8],
]; // prettier-ignore

const NUMBERS_AND_TIMES: readonly FamilyQuery[] = [
  ['H | project r = round(ms, 1), f = floor(ms), c = ceiling(ms)', 'r f c', 8], ['H | project a = abs(0 - ms), s = sign(ms)', 'a s', 8], ['H | project p = pow(ms, 2), q = sqrt(ms)', 'p q', 8], ['H | project l = log(ms), m = log10(ms), n = log2(ms), e = exp(1)', 'l m n e', 8],
  ['H | project low = min_of(ms, bytes), high = max_of(ms, bytes)', 'low high', 8], ['H | project b = bin(ms, 50)', 'b', 8], ['H | where isfinite(ms) and not(isnan(ms)) | count', 'count', 1], ['H | where rand() < 2 | count', 'count', 1],
  ['H | project bits = binary_and(bytes, 7), other = binary_xor(bytes, 1)', 'bits other', 8], ['H | project ones = bitset_count_ones(bytes)', 'ones', 8], ['H | project shifted = binary_shift_left(bytes, 2)', 'shifted', 8], ['H | project x = iff(ms > 20, "slow", "fast") | summarize count() by x', 'x count_', 2],
  ['H | project x = coalesce(nothing, id)', 'x', 8], ['H | project text = tostring(ms), number = todouble(status), whole = tolong(status)', 'text number whole', 8], ['H | project yes = tobool("true")', 'yes', 8], ['H | where isint(bytes) and isstring(uri) and isbool(tls) | count', 'count', 1],
  ['H | extend hour = hourofday(_time), day = dayofweek(_time) | project hour, day', 'hour day', 8], ['H | project d = startofday(_time), e = endofday(_time)', 'd e', 8], ['H | project m = startofmonth(_time), y = startofyear(_time), w = startofweek(_time)', 'm y w', 8], ['H | project month = monthofyear(_time), year = getyear(_time), day = dayofyear(_time), week = week_of_year(_time)', 'month year day week', 8],
  ['H | project later = datetime_add("hour", 1, _time)', 'later', 8], ['H | project minutes = datetime_diff("minute", _time, datetime(2026-01-01))', 'minutes', 8], ['H | project part = datetime_part("minute", _time) | where part >= 6', 'part', 2], ['H | project text = format_datetime(_time, "yyyy-MM-dd HH:mm")', 'text', 8],
  ['H | project text = format_timespan(totimespan(toint(ms) * 1000000), "s.fff")', 'text', 8], ['H | project t = make_datetime(2026, 1, 2, 3, 4, 5)', 't', 8], ['H | project t = unixtime_seconds_todatetime(1767225600)', 't', 8], ['H | where _time > ago(1d) | count', 'count', 1],
  ['H | project age = now() - _time | where age > 0s | count', 'count', 1], ['H | project t = todatetime("2026-01-02"), s = totimespan("1h")', 't s', 8], ['H | summarize first = min(_time), last = max(_time) | project length = last - first', 'length', 1], ['H | summarize count() by hour = bin(_time, 1h) | project hour, count_', 'hour count_', 1],
]; // prettier-ignore

const ARRAYS: readonly FamilyQuery[] = [
  ['print a = array_concat(dynamic([1]), dynamic([2]))', 'a', 1], ['print a = array_slice(dynamic([1, 2, 3]), 0, 1)', 'a', 1], ['print a = array_split(dynamic([1, 2, 3]), 1)', 'a', 1], ['print a = array_reverse(dynamic([1, 2]))', 'a', 1],
  ['print a = array_rotate_left(dynamic([1, 2, 3]), 1), b = array_rotate_right(dynamic([1, 2, 3]), 1)', 'a b', 1], ['print a = array_shift_left(dynamic([1, 2, 3]), 1), b = array_shift_right(dynamic([1, 2, 3]), 1)', 'a b', 1], ['print a = array_sum(dynamic([1, 2, 3]))', 'a', 1], ['print a = array_iff(dynamic([true, false]), 1, 2)', 'a', 1],
  ['print a = zip(dynamic([1, 2]), dynamic(["a", "b"]))', 'a', 1], ['print a = range(1, 9, 2)', 'a', 1], ['print a = pack_array(1, "x", true)', 'a', 1], ['print a = len("abc"), b = len(dynamic([1, 2]))', 'a b', 1],
  ['print a = array_sort_desc(dynamic([1, 3, 2]))', 'a', 1], ['print a = array_select_dict(dynamic([{"k":"a","v":1}]), "k", "a")', 'a', 1], ['print a = isarray(dynamic([1]))', 'a', 1], ['print a = bag_has_key(dynamic({"a":1}), "a")', 'a', 1],
  ['print a = bag_merge(dynamic({"a":1}), dynamic({"b":2}))', 'a', 1], ['print a = bag_remove_keys(dynamic({"a":1,"b":2}), dynamic(["a"]))', 'a', 1], ['print a = bag_pack("x", 1)', 'a', 1], ['print x = parse_ipv6("::1")', 'x', 1],
  ['print x = ipv6_compare("::1", "::2")', 'x', 1], ['range i from 1 to 3 step 1 | extend list = range(1, i) | mv-expand list | count', 'count', 1], ['range i from 1 to 3 step 1 | summarize make_list(i)', 'make_list_i', 1], ['range i from 1 to 5 step 1 | sort by i asc | extend s = row_cumsum(i) | where s > 5', 'i s', 3],
]; // prettier-ignore

export const APL_QUERIES = [...GENERAL, ...COLUMNS, ...SUMMARIES, ...TABLES, ...TEXTS, ...NUMBERS_AND_TIMES, ...ARRAYS];
