/** Functions that look at other rows, in the order of the sort before them. In queries alone. */
import { firstType, summable } from '../../result-types.ts';
import type { FunctionTable } from '../../function-spec.ts';

export const WINDOWS = {
  row_number: { only: 'queries', syntax: 'row_number(1)', doc: 'The number of the row, from 1 or the given number.', args: ['constant int'], optional: 1, returns: 'int' },
  prev: { only: 'queries', syntax: 'prev(value, 1, default)', doc: 'The value in the row before, or that many rows before; the default where there is none.', args: ['any', 'constant int', 'any'], optional: 2, returns: firstType },
  next: { only: 'queries', syntax: 'next(value, 1, default)', doc: 'The value in the row behind, or that many rows behind; the default where there is none.', args: ['any', 'constant int', 'any'], optional: 2, returns: firstType },
  row_cumsum: { only: 'queries', syntax: 'row_cumsum(number)', doc: 'The sum of this row and all before it.', args: ['any'], returns: summable },
} satisfies FunctionTable; // prettier-ignore
