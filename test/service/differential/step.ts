/** What random queries are put together of. */
import type { Expression, Row } from './expression.ts';
import type { Value } from './values.ts';

export interface Query {
  readonly text: string;
  readonly names: readonly string[];
  /** The rows in their order; lists without an order as they come. */
  readonly of: (rows: readonly Row[]) => unknown[][];
  /** Of a series by time. */
  readonly totals?: (rows: readonly Row[]) => unknown[][];
}

export interface Step {
  readonly text: string;
  readonly columns: readonly Expression[];
  readonly of: (rows: readonly Row[]) => readonly Row[];
}

let made = 0;
/** A name that no column has. */
export const freshName = (): string => `x${made++ % 1000}`;

/** JSON numbers without a fraction are integers, whatever they were. */
export function stored(value: unknown): Value {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  return value as Value;
}
