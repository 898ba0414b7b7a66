/** Rounding to bins: numbers, timespans, datetimes. */
import type { FunctionTable } from '../../function-spec.ts';
import { binned } from '../../result-types.ts';

export const ROUNDING = {
  bin: { syntax: 'bin(value, size)', doc: 'Rounds down to a multiple of the size: numbers, timespans, datetimes (counted from 1970).', args: ['any', 'constant'], returns: binned, keepsName: true },
  bin_auto: { only: 'queries', syntax: 'bin_auto(_time)', doc: 'Rounds a time down to a bin whose size follows from the range of the query.', args: ['datetime'], returns: 'datetime', keepsName: true },
} satisfies FunctionTable; // prettier-ignore
