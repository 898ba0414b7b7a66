/** What conversions give. */
import type { FunctionCases } from '../function-cases.ts';
import type { CONVERSIONS } from '../../../src/language/functions/conversions/spec.ts';

export const CONVERSIONS_CASES: FunctionCases<typeof CONVERSIONS> = {
  toint: [['"5"', 5], ['"0xfF"', 255], ['"0x"', null], ['"0x8000000000000000"', null], ['tolong("7")', 7], ['"5.5"', null], ['"x"', null], ['2.9', 2], ['-2.9', -2], ['true', 1], ['1s', 1_000_000_000],
    ['datetime(1970-01-01 00:00:01)', 1_000_000_000], ['"5x"', null], ['" 5"', null], ['9223372036854775807.0', null],
    ['"9223372036854775808"', null]],
  todouble: [['"1e3"', 1000], ['toreal("x")', null], ['n', 42], ['true', 1], ['""', null], ['todouble("-inf") < 0', true]],
  tobool: [['"true"', true], ['"T"', true], ['"0"', false], ['"yes"', true], ['"NO"', false], ['"x"', null], ['2', true], ['zero', false]],
  todatetime: [['"2024/01/15 12:35:35"', '2024-01-15T12:35:35Z'], ['"14 jun 2025"', '2025-06-14T00:00:00Z'], ['"14 June 2025 10:00"', '2025-06-14T10:00:00Z'],
    ['"2026-01-02T03:04:05.006Z"', '2026-01-02T03:04:05.006Z'], ['"x"', null], ['1000000000', '1970-01-01T00:00:01Z'],
    ['strcat("2026-01-0", "2")', '2026-01-02T00:00:00Z'], ['"nope"', null], ['"2026-03-29T02:30:00+02:00"', '2026-03-29T00:30:00Z'],
    ['todatetime("2026-10-25T02:30:00+01:00") - todatetime("2026-10-25T02:30:00+02:00")', '1h0m0s']],
  totimespan: [['"1h30m"', '1h30m0s'], ['1000000000', '1s'], ['strcat("1h", "30m0.5s")', '1h30m0.5s'], ['strcat("x", "")', null],
    ['word', null]],
  tostring: [['binary_shift_left(1, 63)', '-9223372036854775808'], ['gone', ''], ['n', '42'], ['f', '2.5'], ['yes', 'true'],
    ['_time', '2026-03-04T05:06:07.089012345Z'], ['90s', '1m30s'], ['1500us', '1.5ms'], ['list', '[1,"two",{"three":[3]},null,true]'],
    ['datetime(2026-01-01)', '2026-01-01T00:00:00Z'], ['sqrt(-1)', 'nan'], ['-1.0 / 0', '-inf'], ['1e21', '1e21'], ['1e-7', '1e-7'],
    ['100000000000000000000.0', '100000000000000000000'], ['items', '[1,"x",null]']],
  parse_json: [['parse_json(\'{"a":{"b":[1,2]}}\').a.b[1]', 2], ['"x"', 'x'], ['parse_json(strcat("{\\"a\\":", "1.5}")).a', 1.5],
    ['parse_json("{\\"a\\":[12345678901234567890]}").a[0] > 1', true, { only: 'transforms' }],
    ['parse_json("[9007199254740993]")[0]', 9_007_199_254_740_993n],
    ['""', ''], ['parse_json("5") + 1', 6], ['parse_json(items)[1]', 'x'], ['parse_json("{\\"__proto__\\":1}").constructor', null]],
  todynamic: [['"x"', null], ['todynamic("[1]")[0]', 1]],
  dynamic_to_json: [['dynamic({"a": [1, 2]})', '{"a":[1,2]}'], ['list', '[1,"two",{"three":[3]},null,true]'], ['1.5', '1.5']],
  gettype: [['1h', 'timespan'], ['gone', 'null'], ['n', 'long'], ['f', 'real'], ['text', 'string'], ['yes', 'bool'], ['list', 'array'],
    ['_time', 'datetime'], ['dynamic({"a":1})', 'dictionary'], ['five', 'long'], ['whole', 'long'], ['items', 'array'],
    ['bag', 'dictionary', { only: 'transforms' }], ['now()', 'datetime'], ['huge', 'real']],
}; // prettier-ignore
