/** Functions of arrays of numbers, item by item, computed as floats. An item that is not a number is null; without an array the result is null. */
import type { FunctionTable } from '../../function-spec.ts';

const BOTH = 'of two arrays, up to the end of the shorter one, or of an array and a number.';

export const SERIES = {
  series_add: { syntax: 'series_add(a, b)', doc: `Adds the items ${BOTH}`, args: ['any', 'any'], returns: 'dynamic' },
  series_subtract: { syntax: 'series_subtract(a, b)', doc: `Subtracts the items ${BOTH}`, args: ['any', 'any'], returns: 'dynamic' },
  series_multiply: { syntax: 'series_multiply(a, b)', doc: `Multiplies the items ${BOTH}`, args: ['any', 'any'], returns: 'dynamic' },
  series_divide: { syntax: 'series_divide(a, b)', doc: `Divides the items ${BOTH} Null for division by zero.`, args: ['any', 'any'], returns: 'dynamic' },
  series_equals: { syntax: 'series_equals(a, b)', doc: `Compares the items ${BOTH} True where they are equal.`, args: ['any', 'any'], returns: 'dynamic' },
  series_not_equals: { syntax: 'series_not_equals(a, b)', doc: `Compares the items ${BOTH} True where they differ.`, args: ['any', 'any'], returns: 'dynamic' },
  series_less: { syntax: 'series_less(a, b)', doc: `Compares the items ${BOTH} True where that of a is less.`, args: ['any', 'any'], returns: 'dynamic' },
  series_less_equals: { syntax: 'series_less_equals(a, b)', doc: `Compares the items ${BOTH} True where that of a is less or equal.`, args: ['any', 'any'], returns: 'dynamic' },
  series_greater: { syntax: 'series_greater(a, b)', doc: `Compares the items ${BOTH} True where that of a is greater.`, args: ['any', 'any'], returns: 'dynamic' },
  series_greater_equals: { syntax: 'series_greater_equals(a, b)', doc: `Compares the items ${BOTH} True where that of a is greater or equal.`, args: ['any', 'any'], returns: 'dynamic' },
  series_abs: { syntax: 'series_abs(array)', doc: 'Returns each number without its sign.', args: ['any'], returns: 'dynamic' },
  series_sum: { syntax: 'series_sum(array)', doc: 'Adds up the items that are numbers; 0 if there is none.', args: ['any'], returns: 'real' },
  series_stats: { aliases: ['series_stats_dynamic'], syntax: 'series_stats(array)', doc: 'Describes the items that are numbers: `{min, min_idx, max, max_idx, avg, variance, stdev}`. Variance and deviation are those of the sample, 0 for fewer than two; without a number all are null. Positions count from 0.', args: ['any'], returns: 'dynamic' },
  series_fill_const: { syntax: 'series_fill_const(array, 0, missing)', doc: 'Puts the value in place of each null, or of each item that equals `missing`.', args: ['any', 'any', 'any'], optional: 1, returns: 'dynamic' },
  series_fill_forward: { syntax: 'series_fill_forward(array, missing)', doc: 'Puts the item before it in place of each null, or of each item that equals `missing`; at the start they stay.', args: ['any', 'any'], optional: 1, returns: 'dynamic' },
  series_fill_backward: { syntax: 'series_fill_backward(array, missing)', doc: 'Puts the item behind it in place of each null, or of each item that equals `missing`; at the end they stay.', args: ['any', 'any'], optional: 1, returns: 'dynamic' },
  series_fill_linear: { syntax: 'series_fill_linear(array, missing, edges, constant)', doc: 'Puts numbers on a straight line between its neighbours in place of each null, or of each item that equals `missing`. At the start and the end the nearest item stands for them, unless `edges` is false; where there is no other item the constant does, by default 0.', args: ['any', 'any', 'bool', 'any'], optional: 3, returns: 'dynamic' },
} satisfies FunctionTable; // prettier-ignore
