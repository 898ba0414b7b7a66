/** Values that are hard to get right, computed by hand. */
import { expect, test } from 'vitest';
import { MAX_FIELD_PATTERN_CHARS } from '../../../src/shaping/limits.ts';
import { compileRows } from '../../../src/shaping/rows/program.ts';
import { writeJson } from '../../../src/json/numbers.ts';
import { context, rowOf } from './support.ts';

/** The value of an expression as JSON; `null` where the key stays absent. */
function valueOf(expression: string, event = '{}'): string {
  const [row] = compileRows(`project v = ${expression}`, { from: 'test' }).run(rowOf(event), context);
  return writeJson(row!.get('v') ?? null);
}

const EVENT =
  '{"i":5,"f":2.5,"t":"text","b":true,"n":null,"e":"","a":[1,"x",null],"o":{"k":1},"big":9223372036854775807,"huge":99999999999999999999,"w":3.0}';

/** [expression, value] */
const CASES: readonly (readonly [string, string])[] = [
  // What is not there.
  ['n == n', 'null'], ['never == n', 'null'], ['n == 1', 'false'], ['n != 1', 'true'], ['n < 1', 'null'], ['1 between (n .. 2)', 'null'], ['3 between (n .. 2)', 'false'],
  ['n and false', 'false'], ['n and true', 'null'], ['n or true', 'true'], ['n or false', 'null'], ['not(bool(null))', 'null'],
  ['n contains "x"', 'false'], ['n !contains "x"', 'true'], ['n in (1)', 'false'], ['n !in (1)', 'true'], ['n matches regex "."', 'false'], ['n !matches regex "."', 'true'],
  ['tostring(n)', '""'], ['strcat("a", n, 1)', '"a1"'], ['coalesce(n, e, "x")', '"x"'], ['iff(n == 1, 1, 2)', '2'], ['case(bool(null), 1, 2)', '2'], ['min_of(n, 3, 2)', '2'], ['max_of(n, n)', 'null'],
  ['isnull(n)', 'true'], ['isempty(e)', 'true'], ['isnotempty(i)', 'true'], ['gettype(n)', '"null"'], ['strlen(n)', 'null'], ['strlen(never)', 'null'],
  // Types that do not fit.
  ['t + 1', 'null'], ['t > 1', 'null'], ['t == 1', 'false'], ['i == "5"', 'false'], ['b == 1', 'false'], ['a == a', 'true'], ['a < a', 'null'], ['o + 1', 'null'], ['strlen(i)', '1'], ['a contains "x"', 'true'],
  ['dayofweek(t)', 'null'], ['toint("5x")', 'null'], ['toint(" 5")', 'null'], ['todouble("")', 'null'], ['tobool("yes")', 'null'], ['todatetime("nope")', 'null'], ['totimespan(t)', 'null'],
  ['gettype(i)', '"long"'], ['gettype(f)', '"real"'], ['gettype(w)', '"long"'], ['gettype(a)', '"array"'], ['gettype(o)', '"dictionary"'], ['gettype(1h)', '"timespan"'], ['gettype(now())', '"datetime"'],
  // Integers, up to 64 bits and over.
  ['7 / 2', '3'], ['-7 / 2', '-3'], ['-7 % 3', '-1'], ['i / 2', '2'], ['i / 2.0', '2.5'], ['w / 2', '1'], ['i / 0', 'null'], ['i % 0', 'null'], ['f / 0', 'null'],
  ['big + 1', '-9223372036854775808'], ['big', '9223372036854775807'], ['huge > big', 'true'], ['gettype(huge)', '"real"'], ['9007199254740993 == 9007199254740992.0', 'false'],
  ['toint(9223372036854775807.0)', 'null'], ['toint(-2.9)', '-2'], ['toint("9223372036854775808")', 'null'], ['-9223372036854775808 / -1', 'null'], ['abs(-9223372036854775808)', '-9223372036854775808'],
  ['round(2.5)', '3'], ['round(-2.5)', '-3'], ['round(i, 1)', '5'], ['round(1234.5678, -2)', '1200'], ['floor(-0.5)', '-1'], ['ceiling(1e300)', 'null'], ['bin(-7, 5)', '-10'], ['bin(7.5, 0.5)', '7.5'],
  // Floats that are none.
  ['isnan(sqrt(-1))', 'true'], ['isinf(1.0 / 0)', 'true'], ['isfinite(log(0))', 'false'], ['sqrt(-1) == sqrt(-1)', 'false'], ['tostring(sqrt(-1))', '"nan"'], ['tostring(-1.0 / 0)', '"-inf"'], ['todouble("-inf") < 0', 'true'],
  ['tostring(1e21)', '"1e21"'], ['tostring(1e-7)', '"1e-7"'], ['tostring(100000000000000000000.0)', '"100000000000000000000"'], ['-0.0', '0'], ['dynamic_to_json(1.5)', '"1.5"'],
  // Texts of more than one unit a character.
  ['strlen("𝒳é")', '2'], ['string_size("𝒳é")', '6'], ['reverse("a𝒳b")', '"b𝒳a"'], ['substring("a𝒳b", 1, 1)', '"𝒳"'], ['substring("abc", -2, 2)', '"ab"'], ['substring("abc", 5)', '""'], ['indexof("𝒳ab", "b")', '2'], ['indexof("ab", "c")', '-1'],
  ['"\u{ffff}" < "𝒳"', 'true'], ['strcmp("\u{ffff}", "𝒳")', '-1'], ['toupper("é")', '"É"'], ['trim(" Ω", "Ω a Ω")', '"a"'], ['"straße" has "stra"', 'false'], ['"a_b" has "b"', 'true'], ['"ab" has ""', 'true'],
  ['url_decode("%F0%9F%98%80%zz")', '"😀%zz"'], ['url_decode("%ff")', '"\ufffd"'], ['url_encode("a b/ü")', '"a%20b%2F%C3%BC"'], ['base64_decode_tostring("###")', 'null'], ['base64_decode_tostring("/w==")', '"\ufffd"'],
  ['quote("a\\"/")', '"\\"a\\\\\\"/\\""'], ['regex_quote("a.b")', '"a\\\\.b"'], ['split("a,,b", ",")', '["a","","b"]'], ['replace_regex("(a)(b)?", "[$2$1]", "ab a")', '"[ba] [a]"'], ['replace_string("", "x", "ab")', '"ab"'],
  ['extract("(a)(b)?", 2, "a")', '""'], ['extract("x", 0, "a")', 'null'], ['extract("(?i)A", 0, "a")', '"a"'], ['extract("a.b", 0, "a\\nb")', 'null'], ['extract("(?s)a.b", 0, "a\\nb")', '"a\\nb"'], ['extract_all("(\\\\d)", "a1b2")', '["1","2"]'],
  ['hash_md5("")', '"d41d8cd98f00b204e9800998ecf8427e"'], ['isascii("é")', 'false'], ['totitle("éa")', '"Éa"'], ['totitle("")', '""'], ['strrep("ab", 2, "-")', '"ab-ab"'], ['strrep("a", -1)', '""'], ['countof("", "aaa")', '0'], ['countof("aa", "aaaa")', '2'],
  // Times: UTC has no gaps; a zone counts where it is written.
  ['todatetime("2026-03-29T02:30:00+02:00")', '"2026-03-29T00:30:00Z"'], ['todatetime("2026-10-25T02:30:00+01:00") - todatetime("2026-10-25T02:30:00+02:00")', '"1h0m0s"'],
  ['datetime_add("month", 1, datetime(2024-01-31))', '"2024-02-29T00:00:00Z"'], ['datetime_diff("day", datetime(2026-01-02), datetime(2026-01-01T23:59:59Z))', '1'], ['endofyear(datetime(2026-05-05))', '"2026-12-31T23:59:59.999999999Z"'],
  ['startofweek(datetime(1970-01-01))', '"1969-12-28T00:00:00Z"'], ['week_of_year(datetime(2021-01-03))', '53'], ['dayofweek(datetime(2026-11-22))', '0'], ['datetime_part("nanosecond", datetime(1969-12-31T23:59:59.5Z))', '500000000'],
  ['datetime(2262-04-11) + 365d', 'null'], ['datetime_add("year", 300, datetime(2026-01-01))', 'null'], ['unixtime_seconds_todatetime(1700000000.5)', '"2023-11-14T22:13:20.5Z"'], ['unixtime_milliseconds_todatetime(-1)', '"1969-12-31T23:59:59.999Z"'],
  ['bin(datetime(1969-12-31T23:59:59Z), 1m)', '"1969-12-31T23:59:00Z"'], ['now()', '"2026-11-22T16:08:49Z"'], ['ago(90s)', '"2026-11-22T16:07:19Z"'], ['_time', '"2026-11-22T16:08:49Z"'], ['1h / 15m', '4'], ['1h * 1.5', '"1h30m0s"'], ['-1.5ms', '"-1.5ms"'],
  // Inside arrays and objects.
  ['a[0]', '1'], ['a[-1]', 'null'], ['a[1]', '"x"'], ['a[5]', 'null'], ['o.k', '1'], ["o['k']", '1'], ['o.none', 'null'], ['t[0]', 'null'], ['array_length(a)', '3'], ['array_length(o)', 'null'], ['tostring(a)', '"[1,\\"x\\",null]"'],
  ['parse_json("{\\"a\\":[12345678901234567890]}").a[0] > 1', 'true'], ['parse_json("[9007199254740993]")[0]', '9007199254740993'], ['parse_json("nope")', 'null'], ['parse_json("5") + 1', '6'], ['parse_json(a)[1]', '"x"'], ['"x" in (dynamic(["x", 5]))', 'true'], ['parse_json("{\\"__proto__\\":1}").constructor', 'null'],
]; // prettier-ignore

test.each(CASES)('%s is %s', (expression, expected) => {
  expect(valueOf(expression, EVENT)).toBe(expected);
});

test('a float that a step made stays one in the next', () => {
  const [row] = compileRows('extend x = 8.0 / 2 | extend y = x / 8, z = gettype(x)', { from: 'test' }).run(rowOf('{}'), context);
  expect(writeJson(Object.fromEntries(row!))).toBe('{"x":4,"y":0.5,"z":"real"}');
});

test('invalid units of a text become U+FFFD at the latest where bytes are made of it', () => {
  expect(valueOf('url_encode(t)', String.raw`{"t":"\ud800"}`)).toBe('"%EF%BF%BD"');
  expect(valueOf('strlen(t)', String.raw`{"t":"\ud800a"}`)).toBe('2');
});

test('regular expression out of a field is none when it has more than 256 characters, as each may cost as much as the text', () => {
  const found = (length: number): string => valueOf('a matches regex b', JSON.stringify({ a: 'x'.repeat(999), b: 'x'.repeat(length) }));
  expect([found(MAX_FIELD_PATTERN_CHARS), found(MAX_FIELD_PATTERN_CHARS + 1)]).toEqual(['true', 'false']);
});
