/** Cases of conditionals and null checks. */
import type { FunctionCases } from '../function-cases.ts';
import type { CONDITIONALS } from '../../../src/language/functions/conditionals/spec.ts';

export const CONDITIONALS_CASES: FunctionCases<typeof CONDITIONALS> = {
  iff: [['1 < 2, "yes", "no"', 'yes'], ['gone > 1, "a", "b"', 'b'], ['n > 1, "a", "b"', 'a'], ['iif(1 > 2, 1, "b")', 'b'],
    ['n > 50, 1, "b"', 'b'], ['yes, gone, 1', null], ['gone == 1, 1, 2', 2]],
  case: [['1 > 2, "a", 2 > 1, "b", "c"', 'b'], ['n < 10, "low", n < 50, "mid", "high"', 'mid'], ['false, 1, 2', 2],
    ['bool(null), 1, 2', 2]],
  coalesce: [['"", 1, 2', 1], ['gone, empty, n', 42], ['gone, missing', null], ['gone, empty, "x"', 'x']],
  column_ifexists: [['"no_such_field", "else"', 'else'], ['"no_such_field", 1 + 1', 2], ['"no.such", long(null)', null]],
  ensure_field: [['"no_such_field", typeof(string)', null, { source: 'APL' }], ['"n", typeof(long)', 42], ['strlen(ensure_field("text", typeof(string)))', 21]],
  isnull: [['dynamic(null)', true], ['gone', true], ['empty', false]],
  isnotnull: [['""', true], ['n', true]],
  isempty: [['""', true], ['empty', true], ['gone', true], ['n', false]],
  isnotempty: [['"a"', true], ['text', true], ['five', true]],
  isbool: [['true', true]],
  isstring: [['"5"', true]],
  isreal: [['1.5', true]],
  not: [['false', true], ['gone > 1', null], ['yes', false], ['bool(null)', null]],
}; // prettier-ignore
