/** + - * / %, of numbers, datetimes and timespans, and rounding to bins. */
import { added, binned, divided, multiplied, remained, subtracted } from './result-types.ts';
import type { FunctionTable } from './spec.ts';

export const ARITHMETIC = {
  '+': { syntax: 'a + b', doc: 'Sum of numbers or timespans; a datetime and a timespan.', args: ['any', 'any'], returns: added },
  '-': { syntax: 'a - b', doc: 'Difference; of two datetimes a timespan. `-a` is the negative.', args: ['any', 'any'], optional: 1, returns: subtracted },
  '*': { syntax: 'a * b', doc: 'Product; a timespan and a number.', args: ['any', 'any'], returns: multiplied },
  '/': { syntax: 'a / b', doc: 'Quotient. Integers give an integer; two timespans a number; by zero null.', args: ['any', 'any'], returns: divided },
  '%': { syntax: 'a % b', doc: 'Remainder, with the sign of a; by zero null.', args: ['any', 'any'], returns: remained },
} satisfies FunctionTable; // prettier-ignore

export const ROUNDING = {
  bin: { syntax: 'bin(value, size)', doc: 'The value rounded down to a multiple of the size: numbers, timespans, datetimes (counted from 1970).', args: ['any', 'constant'], returns: binned, keepsName: true },
  bin_auto: { only: 'queries', syntax: 'bin_auto(_time)', doc: 'The time rounded down to a bin whose size follows from the range of the query.', args: ['datetime'], returns: 'datetime', keepsName: true },
} satisfies FunctionTable; // prettier-ignore
