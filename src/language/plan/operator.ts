/**
 * The entries of the table of operators: names, how to read one from the text, its effect on the columns, and its line in the
 * documentation. Reading gives plain data, its form, which anyone may plan, as often as needed, once the columns before it are known.
 */
import { FUNCTIONS } from '../functions/table.ts';
import { analyze, type NameScope } from './analysis.ts';
import { wrongType } from './arguments.ts';
import { freeName, nameWithNumber } from './scope.ts';
import type { Column, ColumnScope, Node, QueryStage } from './tree.ts';
import type { Parser } from '../syntax/parser.ts';
import { EACH, fieldNameOf, type Assignment, type Expression } from '../syntax/tree.ts';

export type OperatorUse = 'queries' | 'transforms';

export interface Operator<Form = unknown> {
  readonly names: readonly [string, ...string[]];
  readonly syntax: string;
  readonly doc: string;
  /** Where it works, when it does not in both. */
  readonly only?: OperatorUse;
  /** It takes fields away: an event that cannot be taken apart must not leave in clear. */
  readonly hides?: true;
  /** Reads what follows the operator's name. */
  read(parser: Parser, at: number, use: OperatorUse): Form;
  /** The stages of the form. */
  plan(form: Form, names: NameScope): OperatorResult;
}

/** An operator with the type of its form left to it. */
export const operator = <Form>(each: Operator<Form>): Operator => each;

/** One operator as it was read. */
export interface OperatorStep {
  /** The name that it was called by. */
  readonly name: string;
  /** As it was written, and its offset in the whole text. */
  readonly text: string;
  readonly at: number;
  /** Result of the operator's `read`. */
  readonly form: unknown;
}

export interface OperatorResult {
  readonly stages: readonly QueryStage[];
  /** The columns after it. */
  readonly scope: ColumnScope;
}

/** The name of the column that an expression makes when it is given none. `used` are taken. */
export function defaultName(expression: Expression, used: ReadonlySet<string>): string {
  const own = fieldNameOf(expression);
  if (own !== undefined) return own;
  const argument =
    expression.kind === 'call' ? expression.args.map(fieldNameOf).find((name) => name !== undefined) : undefined;
  if (expression.kind !== 'call' || expression.operator || argument === undefined)
    return nameWithNumber('Column', used);
  return FUNCTIONS.get(expression.name)?.keepsName === true
    ? argument
    : freeName(`${expression.name}_${argument}`, used);
}

/** Columns of a list of assignments, each named, the later of two with the same name kept. */
export function assignedColumns(assignments: readonly Assignment[], names: NameScope): Column[] {
  const columns = new Map<string, Column>();
  for (const { name, value, text } of assignments) {
    const called = name ?? defaultName(value, new Set(columns.keys()));
    columns.delete(called);
    columns.set(called, {
      name: called,
      node: analyze(value, called.includes(EACH) ? { ...names, item: called } : names),
      text,
    });
  }
  return [...columns.values()];
}

/** An expression that is a condition. */
export function conditionOf(expression: Expression, names: NameScope): Node {
  const node = analyze(expression, names);
  if (node.type !== 'bool' && node.type !== 'dynamic') throw wrongType(expression.at, 'a condition', node.type);
  return node;
}
