/**
 * Calls of functions with results computed by hand. Both engines are asked for them, the row back end of transforms computes them, and random queries
 * draw from them.
 */
export type FunctionCase = readonly [expression: string, wanted: unknown];

const A = 'dynamic([3, "b", 1.5, null, "a", true, 3])';
const N = 'dynamic([5, 3, 9])';

const ARRAY_CASES: readonly FunctionCase[] = [
  ['array_length(dynamic([1, [2, 3]]))', 2], ['array_length(dynamic([]))', 0], ['array_length("x")', null], ['array_length(dynamic({"a":1}))', null],
  ['len("héé")', 3], ['len(dynamic([1, 2]))', 2], ['len(5)', null], ['len(parse_json("x"))', null], ['len("")', 0],
  ['isarray(dynamic([]))', true], ['isarray(dynamic({"a":1}))', false], ['isarray("[1]")', false], ['isarray(parse_json("[1]"))', true],
  ['pack_array(1, "a", true, 2.5)', [1, 'a', true, 2.5]], ['pack_array(bool(null), dynamic([1]), 1h)', [null, [1], '1h0m0s']], ['pack_array("a\\"/\\n")', ['a"/\n']], ['pack_array(datetime(2026-01-02), 1.0 / 0)', ['2026-01-02T00:00:00Z', null]],
  ['range(1, 5)', [1, 2, 3, 4, 5]], ['range(1, 10, 3)', [1, 4, 7, 10]], ['range(5, 1, -2)', [5, 3, 1]], ['range(5, 1)', []], ['range(1, 5, 0)', null], ['range(3, 3)', [3]], ['range(1, 5, -1)', []],
  ['range(0.5, 2)', [0.5, 1.5]], ['range(0, 1, 0.25)', [0, 0.25, 0.5, 0.75, 1]], ['array_length(range(1, 1000000000))', 100_000], ['array_length(range(-9223372036854775807, 9223372036854775807))', 100_000], ['range(1, long(null))', null],
  ['range(datetime(2026-01-01), datetime(2026-01-02), 12h)', ['2026-01-01T00:00:00Z', '2026-01-01T12:00:00Z', '2026-01-02T00:00:00Z']], ['range(datetime(2026-01-01 22:30), datetime(2026-01-02))', ['2026-01-01T22:30:00Z', '2026-01-01T23:30:00Z']], ['range(1m, 3m, 1m)', ['1m0s', '2m0s', '3m0s']],
  [`array_concat(${N}, dynamic(["x"]))`, [5, 3, 9, 'x']], [`array_concat(${N})`, [5, 3, 9]], [`array_concat(${N}, 5)`, null], ['array_concat(dynamic([]), dynamic([]))', []], ['array_concat(dynamic([[1]]), dynamic([{"k":2}]))', [[1], { k: 2 }]],
  ['array_slice(dynamic([1, 2, 3]), 1, 2)', [2, 3]], ['array_slice(dynamic([1, 2, 3, 4, 5]), 2, -1)', [3, 4, 5]], ['array_slice(dynamic([1, 2, 3, 4, 5]), -3, -2)', [3, 4]], ['array_slice(dynamic([1, 2, 3]), -9, 9)', [1, 2, 3]], ['array_slice(dynamic([1, 2, 3]), 2, 1)', []],
  ['array_slice(dynamic([1, 2, 3]), 5, 9)', []], ['array_slice(dynamic([1, 2]), -9223372036854775808, 9223372036854775807)', [1, 2]], ['array_slice(dynamic([1, 2]), 9223372036854775807, -9223372036854775808)', []], ['array_slice("abc", 0, 1)', null], ['array_slice(dynamic([1, 2]), long(null), 1)', null],
  ['array_split(dynamic([1, 2, 3, 4, 5]), 2)', [[1, 2], [3, 4, 5]]], ['array_split(dynamic([1, 2, 3, 4, 5]), dynamic([1, 3]))', [[1], [2, 3], [4, 5]]], ['array_split(dynamic([1, 2, 3]), -1)', [[1, 2], [3]]], ['array_split(dynamic([1, 2, 3]), 9)', [[1, 2, 3], []]],
  ['array_split(dynamic([1, 2, 3]), dynamic([2, 1]))', [[1, 2], [], [2, 3]]], ['array_split(dynamic([1]), dynamic(["x"]))', null], ['array_split(dynamic([]), 0)', [[], []]], ['array_split(5, 1)', null],
  [`array_sort_asc(${N})`, [3, 5, 9]], [`array_sort_desc(${N})`, [9, 5, 3]], [`array_sort_asc(${A})`, [1.5, 3, 3, 'a', 'b', true, null]], [`array_sort_desc(${A})`, [3, 3, 1.5, 'b', 'a', true, null]], ['array_sort_asc(dynamic([10, 9, -1, 2.5]))', [-1, 2.5, 9, 10]],
  ['array_sort_asc(dynamic(["b", "\\uffff", "\\ud835\\udcb3", ""]))', ['', 'b', '\uFFFF', '𝒳']], ['array_sort_asc(dynamic([[2], [1], {"a":1}]))', [[1], [2], { a: 1 }]], ['array_sort_asc(dynamic([]))', []], ['array_sort_asc("x")', null],
  [`array_reverse(${N})`, [9, 3, 5]], ['array_reverse(dynamic([]))', []], ['array_reverse(5)', null],
  [`array_rotate_left(${N}, 1)`, [3, 9, 5]], [`array_rotate_left(${N}, -1)`, [9, 5, 3]], [`array_rotate_left(${N}, 7)`, [3, 9, 5]], [`array_rotate_right(${N}, 1)`, [9, 5, 3]], [`array_rotate_right(${N}, -4)`, [3, 9, 5]], ['array_rotate_left(dynamic([]), 3)', []], ['array_rotate_right(dynamic([]), 3)', []],
  [`array_shift_left(${N}, 1)`, [3, 9, null]], [`array_shift_left(${N}, 1, "x")`, [3, 9, 'x']], [`array_shift_left(${N}, -2, 0)`, [0, 0, 5]], [`array_shift_left(${N}, 9)`, [null, null, null]], [`array_shift_right(${N}, 1)`, [null, 5, 3]], [`array_shift_right(${N}, 2, dynamic([1]))`, [[1], [1], 5]],
  [`array_shift_right(${N}, -1, 1)`, [3, 9, 1]], [`array_shift_left(${N}, -9223372036854775808, 1)`, [1, 1, 1]], ['array_shift_left(dynamic([]), 1)', []],
  [`array_index_of(${A}, "b")`, 1], [`array_index_of(${A}, 3)`, 0], [`array_index_of(${A}, 3, 1)`, 6], [`array_index_of(${A}, 1.5)`, 2], [`array_index_of(${A}, "3")`, -1], [`array_index_of(${A}, dynamic(null))`, 3], [`array_index_of(${A}, 3, -1)`, 6], [`array_index_of(${A}, true)`, 5], ['array_index_of("x", "x")', null],
  ['array_iff(dynamic([true, false, 1, 0, null]), dynamic([1, 2, 3, 4, 5]), 9)', [1, 9, 3, 9, null]], ['array_iff(dynamic([true, true]), dynamic([1]), "x")', [1, null]], ['array_iff(dynamic([false, "a"]), 1, dynamic(["b", "c"]))', ['b', null]], ['array_iff(true, 1, 2)', null], ['array_iif(dynamic([true]), 1, 2)', [1]],
  [`array_sum(${N})`, 17], ['array_sum(dynamic([1.5, 2]))', 3.5], ['array_sum(dynamic([]))', 0], ['array_sum(dynamic([1, "2"]))', null], ['array_sum(dynamic([1, null]))', null], ['array_sum("x")', null],
  ['array_select_dict(dynamic([{"k":"a","v":1},{"k":"b","v":2}]), "k", "b")', { k: 'b', v: 2 }], ['array_select_dict(dynamic([{"k":1}, 5]), "k", "1")', null], ['array_select_dict(dynamic([{"k":1}]), "k", 1).k', 1], ['array_select_dict(5, "k", 1)', null],
  [`strcat_array(${A}, "-")`, '3-b-1.5--a-true-3'], ['strcat_array(dynamic([[1], {"a":"b"}]), "")', '[1]{"a":"b"}'], ['strcat_array(dynamic([]), ",")', ''], ['strcat_array("x", ",")', null],
  [`zip(${N}, dynamic(["a"]))`, [[5, 'a'], [3, null], [9, null]]], ['zip(dynamic([1]), dynamic([2]), dynamic([3, 4]))', [[1, 2, 3], [null, null, 4]]], ['zip(dynamic([]), dynamic([]))', []], ['zip(dynamic([1]), 5)', null],
]; // prettier-ignore

const BAG_CASES: readonly FunctionCase[] = [
  ['bag_pack("a", 1, "b", "x")', { a: 1, b: 'x' }], ['pack("a\\"b", dynamic([1]))', { 'a"b': [1] }], ['pack_dictionary("t", 1m, "n", dynamic(null))', { t: '1m0s', n: null }], ['bag_pack("a", bag_pack("b", 2)).a.b', 2], ['pack("a", sqrt(-1))', { a: null }],
  ['bag_keys(dynamic({"b":1, "a":{"c":2}}))', ['b', 'a']], ['bag_keys(dynamic({}))', []], ['bag_keys(dynamic([1]))', null], ['bag_keys("x")', null],
  ['bag_has_key(dynamic({"a":null}), "a")', true], ['bag_has_key(dynamic({"a":{"b":1}}), "b")', false], ['bag_has_key(dynamic(["a"]), "a")', null], ['bag_has_key(dynamic({"a":1}), string(null))', null], ['bag_has_key(dynamic({"a":1}), "toString")', false],
  ['bag_merge(dynamic({"a":1}), dynamic({"a":2,"b":3}))', { a: 1, b: 3 }], ['bag_merge(dynamic({}), dynamic({"x":[1]}), dynamic({"y":"z"}))', { x: [1], y: 'z' }], ['bag_merge(dynamic({"a":1}), 5)', null],
  ['bag_remove_keys(dynamic({"a":1,"b":2,"c":3}), dynamic(["a", "c", "x"]))', { b: 2 }], ['bag_remove_keys(dynamic({"5":1}), dynamic([5]))', {}], ['bag_remove_keys(dynamic({"a":1}), dynamic([]))', { a: 1 }], ['bag_remove_keys(dynamic({"a":1}), "a")', null], ['bag_remove_keys("x", dynamic([]))', null],
  ['set_union(dynamic([1, 2, 2]), dynamic([3, 1]))', [1, 2, 3]], ['set_union(dynamic([1]), dynamic(["1"]), dynamic([1.5, null, null]))', [1, '1', 1.5, null]], ['set_union(dynamic([]), 5)', null],
  ['set_intersect(dynamic([3, 1, 3, 2]), dynamic([2, 3]))', [3, 2]], ['set_intersect(dynamic([1, 2, 3]), dynamic([3, 2, 2]), dynamic([2]))', [2]], ['set_intersect(dynamic([1]), dynamic([]))', []], ['set_intersect(dynamic([[1], {"a":1}]), dynamic([{"a":1}]))', [{ a: 1 }]],
  ['set_difference(dynamic([1, 2, 2, 3]), dynamic([3]))', [1, 2]], ['set_difference(dynamic([1, 2, 3]), dynamic([3]), dynamic([1]))', [2]], ['set_difference(dynamic([]), dynamic([1]))', []], ['set_difference("x", dynamic([1]))', null],
  ['set_has_element(dynamic([1, "a"]), "a")', true], ['set_has_element(dynamic([1, "a"]), "1")', false], ['set_has_element(dynamic([null]), dynamic(null))', true], ['set_has_element("a", "a")', null],
]; // prettier-ignore

const NETWORK_CASES: readonly FunctionCase[] = [
  ['ipv4_is_match("10.1.2.3", "10.1.2.3")', true], ['ipv4_is_match("10.1.2.3", "10.1.2.4")', false], ['ipv4_is_match("10.1.2.3", "10.1.9.9", 16)', true], ['ipv4_is_match("10.1.2.3", "x")', null], ['ipv4_compare("10.1.2.3", "10.1.2.4")', -1], ['ipv4_compare("10.2.0.0", "10.1.255.255", 16)', 1],
  ['parse_ipv6("::1")', '0000:0000:0000:0000:0000:0000:0000:0001'], ['parse_ipv6("2001:DB8::ff:0")', '2001:0db8:0000:0000:0000:0000:00ff:0000'], ['parse_ipv6("127.0.0.1")', '0000:0000:0000:0000:0000:ffff:7f00:0001'], ['parse_ipv6("::ffff:10.0.0.1")', '0000:0000:0000:0000:0000:ffff:0a00:0001'],
  ['parse_ipv6("1:2:3:4:5:6:7:8")', '0001:0002:0003:0004:0005:0006:0007:0008'], ['parse_ipv6("1::")', '0001:0000:0000:0000:0000:0000:0000:0000'], ['parse_ipv6("::")', '0000:0000:0000:0000:0000:0000:0000:0000'], ['parse_ipv6("1:2:3:4:5:6:7::")', '0001:0002:0003:0004:0005:0006:0007:0000'],
  ['parse_ipv6("1::2::3")', null], ['parse_ipv6("1:2:3")', null], ['parse_ipv6("12345::")', null], ['parse_ipv6("fe80::1%eth0")', null], ['parse_ipv6("")', null], ['parse_ipv6("::g")', null], ['parse_ipv6(string(null))', null],
  ['ipv6_compare("::1", "0:0::0:1")', 0], ['ipv6_compare("::1", "::2")', -1], ['ipv6_compare("fd00::", "fc00::")', 1], ['ipv6_compare("fd12::1", "fd1f::2", 12)', 0], ['ipv6_compare("fd12::1", "fd14::2", 14)', -1], ['ipv6_compare("1.2.3.4", "::ffff:1.2.3.4")', 0], ['ipv6_compare("::1", "y")', null], ['ipv6_compare("a::", "b::", 0)', 0],
  ['ipv6_is_match("2001:db8::1", "2001:db8::2")', false], ['ipv6_is_match("2001:db8::1", "2001:db8::2", 64)', true], ['ipv6_is_match("10.0.0.1", "10.0.0.9", 120)', true], ['ipv6_is_match("x", "::1")', null],
  ['ipv6_is_in_range("fd12:3456::1", "fd00::/8")', true], ['ipv6_is_in_range("fe80::1", "fd00::/8")', false], ['ipv6_is_in_range("10.1.2.3", "10.0.0.0/8")', true], ['ipv6_is_in_range("11.1.2.3", "10.0.0.0/8")', false], ['ipv6_is_in_range("::1", "::1")', true], ['ipv6_is_in_range("::1", "::/0")', true], ['ipv6_is_in_range("?", "::/0")', null],
]; // prettier-ignore

const path = (DirectoryPath: string, DirectoryName: string, Filename: string, Extension: string, more: object = {}): object => ({
  Scheme: '',
  RootPath: '',
  DirectoryPath,
  DirectoryName,
  Filename,
  Extension,
  AlternateDataStreamName: '',
  ...more,
});

const TEXT_CASES: readonly FunctionCase[] = [
  ['parse_csv("a,b,,c")', ['a', 'b', '', 'c']], ['parse_csv("")', ['']], ['parse_csv(@\'"a,b","say ""x""",c\')', ['a,b', 'say "x"', 'c']], ['parse_csv("a\\nb,c")', ['a']], ['parse_csv(@\'"a\' )', ['"a']], ['parse_csv("\\"a\\nb\\",c\\r\\nd")', ['a\nb', 'c']], ['parse_csv(@\'"a""\')', ['a"']], ['parse_csv(@\'x"y,z"\')', ['x"y', 'z"']], ['parse_csv(@\'"a"b,c\')', ['ab', 'c']], ['parse_csv(string(null))', null],
  ['parse_path("/usr/lib/temp/file.txt")', path('/usr/lib/temp', 'temp', 'file.txt', 'txt')], ['parse_path(@"C:\\temp\\file.tar.gz")', path('C:\\temp', 'temp', 'file.tar.gz', 'gz', { RootPath: 'C:' })], ['parse_path("file://C:/temp/file.txt:some.exe")', path('C:/temp', 'temp', 'file.txt', 'txt', { Scheme: 'file', RootPath: 'C:', AlternateDataStreamName: 'some.exe' })],
  ['parse_path("name")', path('', '', 'name', '')], ['parse_path("/name")', path('/', '', 'name', '')], ['parse_path("a/b/")', path('a/b', 'b', '', '')], ['parse_path("")', path('', '', '', '')], ['parse_path("a/x.log").Extension', 'log'], ['parse_path(string(null))', null],
  ['translate("abc", "xyz", "aabbcd")', 'xxyyzd'], ['translate("abc", "x", "cab-")', 'xxx-'], ['translate("krasp", "otsku", "spark")', 'kusto'], ['translate("ab", "", "banana")', 'nn'], ['translate("é𝒳", "ea", "é𝒳y")', 'eay'], ['translate("", "x", "abc")', 'abc'], ['translate("aa", "xy", "a")', 'x'], ['translate("]^-", "(", "a]b^c-")', 'a(b(c('], ['translate("a", "b", string(null))', null],
  ['unicode_codepoints_from_string("aé")', [97, 233]], ['unicode_codepoints_from_string("€😀\\n")', [8364, 128_512, 10]], ['unicode_codepoints_from_string("")', []], ['unicode_codepoints_from_string(string(null))', null],
  ['tohex(255)', 'ff'], ['tohex(0)', '0'], ['tohex(-1)', 'ffffffffffffffff'], ['tohex(256, 6)', '000100'], ['tohex(4096, 2)', '1000'], ['tohex(-9223372036854775808)', '8000000000000000'], ['tohex(long(null))', null],
]; // prettier-ignore

const NUMBER_CASES: readonly FunctionCase[] = [
  ['binary_and(12, 10)', 8], ['binary_or(12, 10)', 14], ['binary_xor(12, 10)', 6], ['binary_not(0)', -1], ['binary_not(5)', -6], ['binary_and(-1, 255)', 255], ['binary_and(long(null), 1)', null], ['binary_or(-8, 1)', -7],
  ['binary_shift_left(1, 10)', 1024], ['tostring(binary_shift_left(1, 63))', '-9223372036854775808'], ['binary_shift_left(1, 65)', 2], ['binary_shift_left(1, -1)', null], ['binary_shift_right(-16, 2)', -4], ['binary_shift_right(1024, 3)', 128], ['binary_shift_right(7, 64)', 7],
  ['bitset_count_ones(42)', 3], ['bitset_count_ones(-1)', 64], ['bitset_count_ones(0)', 0],
]; // prettier-ignore

const TIME_CASES: readonly FunctionCase[] = [
  ["format_timespan(1d + 2h + 3m + 4s + 56ms, 'd.HH:mm:ss.fff')", '1.02:03:04.056'], ["format_timespan(90s, 'hh:mm:ss')", '00:01:30'], ["format_timespan(26h, 'H-m-s')", '2-0-0'], ["format_timespan(400d, 'dddd')", '0400'], ["format_timespan(1500ms, 's.FFF')", '1.5'], ["format_timespan(2s, 's.FFF')", '2.'], ["format_timespan(-90s, 'm:ss')", '-1:30'],
  ["format_timespan(totimespan(-9223372036854775808), 'd')", '-106751'], ["format_timespan(timespan(null), 'd')", null], ["format_timespan(1ns, 'fffffff')", '0000000'],
  ['make_datetime(2026, 2, 28)', '2026-02-28T00:00:00Z'], ['make_datetime(2024, 2, 29, 23, 59)', '2024-02-29T23:59:00Z'], ['make_datetime(2026, 12, 31, 23, 59, 58.5)', '2026-12-31T23:59:58.5Z'], ['make_datetime(1950, 1, 1, 12)', '1950-01-01T12:00:00Z'],
  ['make_datetime(2026, 2, 29)', null], ['make_datetime(2026, 13, 1)', null], ['make_datetime(2026, 1, 0)', null], ['make_datetime(1899, 1, 1)', null], ['make_datetime(2262, 12, 31)', null], ['make_datetime(2026, 1, 1, 24)', null], ['make_datetime(2026, 1, 1, 0, 60)', null], ['make_datetime(2026, 1, 1, 0, 0, 60)', null], ['make_datetime(2026, 1, 1, 0, 0, -1)', null], ['make_datetime(long(null), 1, 1)', null],
  ['make_datetime(9223372036854775807, 1, 1)', null], ['make_datetime(2026, 1, 1, 0, 0, sqrt(-1))', null],
]; // prettier-ignore

const COLUMN_CASES: readonly FunctionCase[] = [
  ['column_ifexists("no_such_field", "else")', 'else'],
  ['column_ifexists("no_such_field", 1 + 1)', 2],
  ['column_ifexists("no.such", long(null))', null],
];

export const FUNCTION_CASES: readonly (readonly [name: string, cases: readonly FunctionCase[]])[] = [
  ['arrays', ARRAY_CASES],
  ['objects and sets', BAG_CASES],
  ['addresses', NETWORK_CASES],
  ['texts', TEXT_CASES],
  ['numbers', NUMBER_CASES],
  ['times', TIME_CASES],
  ['columns', COLUMN_CASES],
];
