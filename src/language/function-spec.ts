/**
 * The entries of the tables of functions: names, arguments and result, and the line in the documentation. A function is one entry in
 * `functions/<topic>/spec.ts`. Each back end has its own table from the same names to how it computes them.
 */
import type { Constant, Type } from './types.ts';

/** What an argument must be. Each of them may be a field. `constant` forms are known before the query runs. */
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
  /** A key that comes from outside the text: `env(…)` or `secret_file(…)`. */
  | 'secret'
  /** The same, or a literal integer of 1 or more. */
  | 'secret or count'
  | 'constant';

export interface FunctionSpec {
  /** Other names that are accepted, too. */
  readonly aliases?: readonly string[];
  /** As the documentation shows it. */
  readonly syntax: string;
  readonly doc: string;
  /** Where it works, when it does not in both. */
  readonly only?: 'queries' | 'transforms';
  readonly args: readonly ArgType[];
  /** How many of `args`, from the end, may be missing. */
  readonly optional?: number;
  /** More arguments of this type may follow. */
  readonly rest?: ArgType;
  /** A type, or a function of the arguments' types that gives undefined when they do not go together. */
  readonly returns: Type | ((types: readonly Type[]) => Type | undefined);
  /** The column that `f(x)` makes is called `x`. */
  readonly keepsName?: boolean;
  /** It compares its arguments: a constant text beside a datetime is read as one. */
  readonly compares?: boolean;
  /** It hides a part or all of its first argument: an event that cannot be taken apart must not leave in clear. */
  readonly hides?: true;
  /** Its first argument may be `*`: every field of the event. */
  readonly everything?: boolean;
  /** An argument may be `*`: all columns; in queries alone. */
  readonly columns?: true;
  /** For aggregations: the name in results (`agg.name`), where it differs. */
  readonly wire?: string;
}

/** Functions by their names. */
export type FunctionTable = Readonly<Record<string, FunctionSpec>>;

/** A function with its names, the first of which is the one that tables know. */
export interface NamedFunction<Name extends string = string> extends FunctionSpec {
  readonly name: Name;
  readonly names: readonly [Name, ...string[]];
}

export function namedFunctions<Name extends string>(
  table: Readonly<Record<Name, FunctionSpec>>,
): readonly NamedFunction<Name>[] {
  return Object.entries<FunctionSpec>(table).map(([name, spec]) => ({
    ...spec,
    name: name as Name,
    names: [name as Name, ...(spec.aliases ?? [])] as const,
  }));
}

/** The constant's value as JSON has it. */
export function plainOf({ type, value }: Constant): unknown {
  if (type === 'dynamic' && typeof value === 'string') return JSON.parse(value);
  return typeof value === 'bigint' ? Number(value) : value;
}
