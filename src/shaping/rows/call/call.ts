/** One use of a function as its builder sees it: arguments as closures over a row. */
import type { Node } from '../../../language/plan/tree.ts';
import type { Constant, Type } from '../../../language/types.ts';
import type { RowContext } from './context.ts';
import type { EventRow, RowValue } from '../values/value.ts';

/** The input of an expression. */
export interface RowScope {
  readonly row: EventRow;
  readonly context: RowContext;
}

export type Of<T> = (scope: RowScope) => T;
export type Evaluate = Of<RowValue>;

export interface RowCall {
  readonly count: number;
  readonly types: readonly Type[];
  value(n: number): Evaluate;
  /** The argument as it was written. */
  node(n: number): Node;
  /** The argument as that type, null for values of others. */
  string(n: number): Of<string | null>;
  int(n: number): Of<bigint | null>;
  number(n: number): Of<bigint | number | null>;
  real(n: number): Of<number | null>;
  bool(n: number): Of<boolean | null>;
  time(n: number): Of<bigint | null>;
  span(n: number): Of<bigint | null>;
  /** The argument's constant, or undefined. */
  literal(n: number): Constant | undefined;
  /** The argument's constant; throws where it has none. */
  constant(n: number): Constant;
  /** The error of an argument that cannot be. */
  fail(n: number, message: string, fix?: string): Error;
}

export type RowBuild = (call: RowCall) => Evaluate;
/** A builder for each function of a table: one that is missing is an error of types. */
export type RowBuilders<Table> = Readonly<Record<keyof Table & string, RowBuild>>;
