/** What functions of arrays of numbers give. */
import type { FunctionCases } from '../function-cases.ts';
import type { SERIES } from '../../../src/language/functions/series/spec.ts';

const SHORTER = { source: 'APL: as long as the shorter array' };

export const SERIES_CASES: FunctionCases<typeof SERIES> = {
  series_add: [['dynamic([1, 2.5, null, "x"]), dynamic([10, 20, 30, 40])', [11, 22.5, null, null]], ['dynamic([1, 2, 3]), dynamic([1, 1])', [2, 3], SHORTER],
    ['dynamic([1, 2]), 10', [11, 12]], ['10, dynamic([1, 2])', [11, 12]], ['dynamic([]), dynamic([])', []], ['1, 2', null], ['dynamic([1]), "x"', null], ['gone, dynamic([1])', null], ['list, f', [3.5, null, null, null, null]]],
  series_subtract: [['dynamic([5, 1]), dynamic([2, 1])', [3, 0]], ['dynamic([5, 1]), 1', [4, 0]]],
  series_multiply: [['dynamic([5, -1]), dynamic([2, 0])', [10, 0]], ['dynamic([5, 1]), 0.5', [2.5, 0.5]]],
  series_divide: [['dynamic([5, 1, 1]), dynamic([2, 4, 0])', [2.5, 0.25, null]]],
  series_equals: [['dynamic([150, 200, "200", null]), 200', [false, true, null, null], { source: 'APL' }], ['dynamic([1, 2]), dynamic([1, 3])', [true, false]]],
  series_not_equals: [['dynamic([150, 200]), 200', [true, false]]],
  series_less: [['dynamic([1, 2, 3]), dynamic([2, 2, 2])', [true, false, false]]],
  series_less_equals: [['dynamic([1, 2, 3]), 2', [true, true, false]]],
  series_greater: [['dynamic([1, 2, 3]), dynamic([2, 2, 2])', [false, false, true]]],
  series_greater_equals: [['dynamic([1, 2, 3]), dynamic([2, 2, 2])', [false, true, true]]],
  series_abs: [['dynamic([-1, 2.5, "x", null])', [1, 2.5, null, null]], ['"x"', null]],
  series_sum: [['dynamic([120, 300, 50])', 470, { source: 'APL' }], ['dynamic([])', 0, { source: 'APL' }], ['dynamic([1, "x", null])', 1], ['5', null]],
  series_stats: [['dynamic([2, 4, 4, 6, null])', { min: 2, min_idx: 0, max: 6, max_idx: 3, avg: 4, variance: 8 / 3, stdev: Math.sqrt(8 / 3) }],
    ['dynamic([7])', { min: 7, min_idx: 0, max: 7, max_idx: 0, avg: 7, variance: 0, stdev: 0 }], ['series_stats_dynamic(dynamic([1, 3])).avg', 2],
    ['dynamic([])', { min: null, min_idx: null, max: null, max_idx: null, avg: null, variance: null, stdev: null }], ['1', null]],
  series_fill_const: [['dynamic([null, 150, null, 200]), 0', [0, 150, 0, 200], { source: 'APL' }], ['dynamic([-1, 2]), 0, -1', [0, 2], { source: 'Kusto' }], ['"x", 0', null]],
  series_fill_forward: [['dynamic([null, 150, null, null, 200])', [null, 150, 150, 150, 200]], ['dynamic([1, -1, null]), -1', [1, 1, null]]],
  series_fill_backward: [['dynamic([null, 150, null, 200, null])', [150, 150, 200, 200, null], { source: 'APL' }]],
  series_fill_linear: [['dynamic([null, 111, null, 36, 41, null, null, 17])', [111, 111, 73.5, 36, 41, 33, 25, 17], { source: 'Kusto' }],
    ['dynamic([null, 1, null]), dynamic(null), false', [null, 1, null]], ['dynamic([null, null])', [0, 0]], ['dynamic([null, null]), dynamic(null), true, 3.5', [3.5, 3.5]],
    ['dynamic([1, -1, 2, "x", -1, 3]), -1', [1, 1.5, 2, 'x', null, 3]], ['dynamic([])', []]],
}; // prettier-ignore
