/**
 * What the tables of functions say of each: its names, what it takes and gives, how it becomes SQL, and its line in the documentation.
 * A function is one entry in one of the tables beside this file; nothing else knows its name.
 */
import type { Params, Sql } from '../sql/sql.ts';
import type { Numeric, Value } from '../sql/value.ts';
import type { Constant, Type } from '../types.ts';

/** What an argument has to be. A field may be given for all of them. `constant` forms are known before the query runs. */
export type ArgType =
  | 'any'
  | 'bool'
  | 'int'
  | 'number'
  | 'string'
  | 'datetime'
  | 'timespan'
  | 'constant string'
  | 'constant int'
  | 'constant';

/** Known when a query is compiled. */
export interface Environment {
  readonly params: Params;
  /** ns since 1970, the same in the whole query. */
  readonly now: bigint;
  /** [start, end) of the query in ns. */
  readonly start: bigint;
  readonly end: bigint;
  /** The width of `bin_auto`, ns. */
  readonly step: bigint;
}

/** One use of a function: its arguments as SQL, each computed when it is asked for. */
export interface Call extends Environment {
  readonly count: number;
  readonly types: readonly Type[];
  value(n: number): Value;
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
  /** The argument's constant; throws where it has none. */
  constant(n: number): Constant;
  /** True where a result that is null may as well be false. */
  readonly filtering: boolean;
  /** The error of a constant argument that cannot be. */
  fail(n: number, message: string): Error;
}

interface Documented {
  /** The first is its name, the others are accepted too. */
  readonly names: readonly [string, ...string[]];
  /** As the documentation shows it. */
  readonly syntax: string;
  readonly doc: string;
  readonly args: readonly ArgType[];
  /** How many of `args`, from the end, may be missing. */
  readonly optional?: number;
  /** More arguments of this type may follow. */
  readonly rest?: ArgType;
}

export interface ScalarFunction extends Documented {
  /** A function of the arguments' types, or undefined when they do not go together. */
  readonly returns: Type | ((types: readonly Type[]) => Type | undefined);
  readonly build: (call: Call) => Value;
  /** The column that `f(x)` makes is called `x`. */
  readonly keepsName?: boolean;
  /** It compares its arguments: a constant text beside a datetime is read as one. */
  readonly compares?: boolean;
  /** Its first argument may be `*`: every field of the event. */
  readonly everything?: boolean;
}

export interface AggregateFunction extends Documented {
  /** Its name in results (`agg.name`), where it differs. */
  readonly wire?: string;
  readonly returns: Type | ((types: readonly Type[]) => Type | undefined);
  readonly build: (call: AggregateCall) => Value;
}

export interface AggregateCall extends Call {
  /** Length of the time that one row of the result stands for, ns. */
  readonly window: bigint;
}

/** What a constant says, as JSON has it. */
export function plainOf({ type, value }: Constant): unknown {
  if (type === 'dynamic' && typeof value === 'string') return JSON.parse(value);
  return typeof value === 'bigint' ? Number(value) : value;
}

/** Values of the same type keep it, numbers become floats, anything else may be anything. */
export function commonType(types: readonly Type[]): Type {
  const [head, ...rest] = types;
  if (head === undefined) return 'dynamic';
  if (rest.every((type) => type === head)) return head;
  return types.every((type) => type === 'int' || type === 'real') ? 'real' : 'dynamic';
}
