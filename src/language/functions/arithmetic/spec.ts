/** + - * / %, of numbers, datetimes and timespans. */
import { added, divided, multiplied, remained, subtracted } from '../../result-types.ts';
import type { FunctionTable } from '../../function-spec.ts';

export const ARITHMETIC = {
  '+': { syntax: 'a + b', doc: 'Sum of numbers or timespans; a datetime and a timespan.', args: ['any', 'any'], returns: added },
  '-': { syntax: 'a - b', doc: 'Difference; of two datetimes a timespan. `-a` is the negative.', args: ['any', 'any'], optional: 1, returns: subtracted },
  '*': { syntax: 'a * b', doc: 'Product; a timespan and a number.', args: ['any', 'any'], returns: multiplied },
  '/': { syntax: 'a / b', doc: 'Quotient. Integers give an integer; two timespans a number; by zero null.', args: ['any', 'any'], returns: divided },
  '%': { syntax: 'a % b', doc: 'Remainder, with the sign of a; by zero null.', args: ['any', 'any'], returns: remained },
} satisfies FunctionTable; // prettier-ignore
