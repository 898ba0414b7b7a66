/** What functions that look at other rows give. */
import type { FunctionCases } from '../function-cases.ts';
import type { WINDOWS } from '../../../src/language/functions/windows/spec.ts';

const NUMBERS = 'range x from 1 to 4 step 1 | sort by x asc | project v =';

export const WINDOWS_CASES: FunctionCases<typeof WINDOWS> = {
  row_number: [[`${NUMBERS} row_number()`, [[1], [2], [3], [4]]], [`${NUMBERS} row_number(5)`, [[5], [6], [7], [8]]],
    [`${NUMBERS} row_number(1, x == 3)`, [[1], [2], [1], [2]], { source: 'Kusto' }], [`${NUMBERS} row_number(0, prev(x) == 1) + 10`, [[10], [10], [11], [12]]]],
  prev: [[`${NUMBERS} prev(x)`, [[null], [1], [2], [3]]], [`${NUMBERS} prev(x, 2, 0)`, [[0], [0], [1], [2]]]],
  next: [[`${NUMBERS} next(x, 1, 0)`, [[2], [3], [4], [0]]], [`${NUMBERS} next(x, 3)`, [[4], [null], [null], [null]]]],
  row_cumsum: [[`${NUMBERS} row_cumsum(x)`, [[1], [3], [6], [10]]], [`${NUMBERS} row_cumsum(x, x % 2 != prev(x) % 2 and x != 2)`, [[1], [3], [3], [4]], { source: 'Kusto' }]],
}; // prettier-ignore
