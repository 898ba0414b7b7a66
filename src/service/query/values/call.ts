/** One use of a function as its SQL builder sees it, and the tables of builders. */
import type { Node } from '../../../language/plan/tree.ts';
import type { Constant, Type } from '../../../language/types.ts';
import type { Sql, SqlParams } from './sql.ts';
import type { Numeric, SqlValue } from './value.ts';

/** Known when a query is compiled. */
export interface QueryEnvironment {
  readonly params: SqlParams;
  /** ns since 1970, the same in the whole query. */
  readonly now: bigint;
  /** [start, end) of the query in ns. */
  readonly start: bigint;
  readonly end: bigint;
  /** The width of `bin_auto`, ns. */
  readonly step: bigint;
}

/** One use of a function: its arguments as SQL, each computed when it is asked for. */
export interface SqlCall extends QueryEnvironment {
  readonly count: number;
  readonly types: readonly Type[];
  value(n: number): SqlValue;
  /** The argument as it was written. */
  node(n: number): Node;
  /** Nullable SQL of the argument as that type. */
  string(n: number): Sql;
  int(n: number): Sql;
  number(n: number): Numeric;
  real(n: number): Sql;
  bool(n: number): Sql;
  time(n: number): Sql;
  span(n: number): Sql;
  /** A condition that is never null: null counts as false. */
  condition(n: number): Sql;
  /** ` order by …` of the rows, for functions that look at other rows. */
  order(): Sql;
  /** The argument's constant; throws where it has none. */
  constant(n: number): Constant;
  /** True where a result that is null may as well be false. */
  readonly filtering: boolean;
  /** The error of a constant argument that cannot be. */
  fail(n: number, message: string): Error;
}

export interface AggregateCall extends SqlCall {
  /** Length of the time that one row of the result covers, ns. */
  readonly window: bigint;
}

export type SqlBuild = (call: SqlCall) => SqlValue;
/** A builder for each function of a table: one that is missing is an error of types. */
export type SqlBuilders<Table> = Readonly<Record<keyof Table & string, SqlBuild>>;
export type AggregateBuilders<Table> = Readonly<Record<keyof Table & string, (call: AggregateCall) => SqlValue>>;
