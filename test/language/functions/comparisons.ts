/** What comparisons and what combines conditions give. */
import type { FunctionCases } from '../function-cases.ts';
import type { COMPARISONS } from '../../../src/language/functions/comparisons/spec.ts';

export const COMPARISONS_CASES: FunctionCases<typeof COMPARISONS> = {
  '==': [['1 == 1.0', true], ['n == 42', true], ['n == 42.0', true], ['text == "Hello, World_wide web"', true],
    ['text == "hello, world_wide web"', false], ['yes == true', true], ['no == false', true], ['big == 9007199254740993', true],
    ['big == 9007199254740992', false], ['_time == datetime(2026-03-04T05:06:07.089012345Z)', true], ['dur == 1500ms', true],
    ['null == null', null], ['gone == gone', null], ['gone == 1', false], ['1 == gone', false], ['missing == "x"', false],
    ['missing == gone', null], ['word == 1', false], ['five == "5"', false], ['yes == 1', false], ['items == items', true],
    ['9007199254740993 == 9007199254740992.0', false]],
  '!=': [['1 != 2', true], ['n != 41', true], ['n <> 41', true], ['null != null', null], ['gone != 1', true], ['missing != "x"', true]],
  '=~': [['"Ab" =~ "aB"', true], ['text =~ "HELLO, world_WIDE web"', true], ['greek =~ "ΩΜΈΓΑ"', true]],
  '!~': [['"Ab" !~ "x"', true], ['text !~ "x"', true]],
  '<': [['1 < 2', true], ['n < 42', false], ['"abc" < "abd"', true], ['gone < 1', null], ['items < items', null], ['"￿" < "𝒳"', true]],
  '<=': [['2 <= 2', true], ['n <= 42', true]],
  '>': [['2 > 1', true], ['n > 41.5', true], ['_time > datetime(2026-01-01)', true], ['_time > "2026-03-05"', false], ['dur > 1s', true],
    ['1h > 59m', true], ['2 > 1.5', true], ['gone > 1', null], ['word > 1', null], ['huge > most', true]],
  '>=': [['2 >= 2', true], ['n >= 42', true]],
  between: [['5 between (1 .. 5)', true], ['n between (1 .. 42)', true], ['1 between (gone .. 2)', null],
    ['3 between (gone .. 2)', false, { only: 'transforms' }]],
  '!between': [['6 !between (1 .. 5)', true], ['n !between (1 .. 41)', true]],
  in: [['2 in (1, 2)', true], ['1.5 in (1, 1.5)', true], ['n in (1, 42)', true], ['text in ("a", "b")', false],
    ['n in (dynamic([1, [42]]))', true], ['n in ()', false], ['gone in (1, 2)', false], ['gone in (1)', false],
    ['"x" in (dynamic(["x", 5]))', true]],
  '!in': [['3 !in (1, 2)', true], ['n !in (1, 2)', true], ['gone !in (1, 2)', true], ['gone !in (1)', true]],
  'in~': [['"B" in~ ("a", "b")', true], ['text in~ ("HELLO, WORLD_WIDE WEB")', true]],
  '!in~': [['"C" !in~ ("a", "b")', true], ['text !in~ ("x")', true]],
  and: [['true and false', false], ['1 + 2 == 3 and 2 * 3 > 5', true], ['gone > 1 and false', false], ['gone > 1 and true', null],
    ['gone and false', false], ['gone and true', null]],
  or: [['true or false', true], ['true or true and false', true], ['false and true or true', true], ['gone > 1 or true', true],
    ['gone or true', true], ['gone or false', null]],
}; // prettier-ignore
