/** + - * / %, of numbers, datetimes and timespans. */
import { added, divided, multiplied, remained, subtracted } from '../../result-types.ts';
import type { FunctionTable } from '../../function-spec.ts';

export const ARITHMETIC = {
  '+': { syntax: 'a + b', doc: 'Adds numbers or timespans, or a timespan to a datetime.', args: ['any', 'any'], returns: added },
  '-': { syntax: 'a - b', doc: 'Subtracts numbers or timespans; two datetimes give a timespan. `-a` negates a.', args: ['any', 'any'], optional: 1, returns: subtracted },
  '*': { syntax: 'a * b', doc: 'Multiplies numbers, or a timespan by a number.', args: ['any', 'any'], returns: multiplied },
  '/': { syntax: 'a / b', doc: 'Divides. Two integers give an integer, two timespans a number; division by zero gives null.', args: ['any', 'any'], returns: divided },
  '%': { syntax: 'a % b', doc: 'Returns the remainder of a division, with the sign of a; null for division by zero.', args: ['any', 'any'], returns: remained },
} satisfies FunctionTable; // prettier-ignore
