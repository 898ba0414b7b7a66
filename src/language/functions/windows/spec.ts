/** Functions that look at other rows, in the order of the sort before them. In queries alone. */
import { firstType, summable } from '../../result-types.ts';
import type { FunctionTable } from '../../function-spec.ts';

export const WINDOWS = {
  row_number: { only: 'queries', syntax: 'row_number(1, restart)', doc: 'Numbers the rows, from 1 or the given number; anew from each row for which `restart` is true.', args: ['constant int', 'bool'], optional: 2, returns: 'int' },
  prev: { only: 'queries', syntax: 'prev(value, 1, default)', doc: 'Returns the value of the row before, or of that many rows before; the default if there is none.', args: ['any', 'constant int', 'any'], optional: 2, returns: firstType },
  next: { only: 'queries', syntax: 'next(value, 1, default)', doc: 'Returns the value of the row after, or of that many rows after; the default if there is none.', args: ['any', 'constant int', 'any'], optional: 2, returns: firstType },
  row_cumsum: { only: 'queries', syntax: 'row_cumsum(number, restart)', doc: 'Returns the sum up to and with this row; anew from each row for which `restart` is true.', args: ['any', 'bool'], optional: 1, returns: summable },
} satisfies FunctionTable; // prettier-ignore
