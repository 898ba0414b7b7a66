/** What +, -, *, / and % give. */
import type { FunctionCases } from '../function-cases.ts';
import type { ARITHMETIC } from '../../../src/language/functions/arithmetic/spec.ts';

export const ARITHMETIC_CASES: FunctionCases<typeof ARITHMETIC> = {
  '+': [['1 + 2 * 3', 7], ['gone + 1', null], ['n + 1', 43], ['_time + 1d', '2026-03-05T05:06:07.089012345Z'],
    ['1h + _time', '2026-03-04T06:06:07.089012345Z'], ['1h + 30m', '1h30m0s'], ['word + 1', null], ['bag + 1', null],
    ['most + 1', -(2n ** 63n)], ['datetime(2262-04-11) + 365d', null]],
  '-': [['1h - 90s', '58m30s'], ['2 + 3 * 4 - 6 / 2', 11], ['n - 0.5', 41.5], ['-n', -42], ['-(n + 1)', -43], ['10 - 3 - 2', 5],
    ['_time - 1h', '2026-03-04T04:06:07.089012345Z'], ['_time - datetime(2026-03-04)', '5h6m7.089012345s']],
  '*': [['2 * 3', 6], ['n * f', 105], ['(1 + 2) * 3', 9], ['1h * 2', '2h0m0s'], ['2.5 * 1s', '2.5s'], ['1h * 1.5', '1h30m0s']],
  '/': [['7 / 2', 3], ['-7 / 2', -3], ['7 / 2.0', 3.5], ['1 / 0', null], ['10m / 1s', 600], ['1h / 2', '30m0s'], ['dur / 1ms', 1500],
    ['five / 2', 2], ['five / 2.0', 2.5], ['whole / 2', 1], ['five / 0', null], ['f / 0', null], ['-9223372036854775808 / -1', null],
    ['1h / 15m', 4]],
  '%': [['7 % 4', 3], ['-7 % 4', -3], ['1 % 0', null], ['1h % 7m', '4m0s'], ['-7 % 3', -1], ['five % 0', null]],
}; // prettier-ignore
