/** Typed expressions as SQL. */
import type { AggregateCall, QueryEnvironment, SqlCall } from '../values/call.ts';
import { aggregateBuilder, scalarBuilder } from './functions.ts';
import { constantNode, isColumns, type Aggregation, type Node, type Tree } from '../../../language/plan/tree.ts';
import { meaningError } from '../../../language/syntax/apl-error.ts';
import { itemAt, jsonItem } from '../values/json.ts';
import { type InnerRows, whereSql } from './relation-parts.ts';
import { sql, type Sql } from '../values/sql.ts';
import {
  asBool,
  asInt,
  asNumber,
  asReal,
  asSpan,
  asString,
  asTime,
  choose,
  constantValue,
  NULL_VALUE,
  type SqlValue,
  facetsOf,
  oneRequired,
} from '../values/value.ts';
import { keyText } from './key-text.ts';

export interface ExpressionContext {
  readonly environment: QueryEnvironment;
  /** A column's value, or undefined when no event ever had the field. */
  readonly column: (name: string) => SqlValue | undefined;
  readonly everything: () => Sql;
  /** The names of all columns. */
  readonly columns: () => readonly string[];
  /** Called with the name of a field that no event ever had. */
  readonly missing: (name: string) => void;
  /** The rows of a query inside the expression. */
  readonly relationOf: (tree: Tree) => InnerRows;
  /** ` order by …` of the rows, for functions that look at other rows. */
  readonly windowOrder: () => Sql;
}

/** `filtering`: the result only decides whether a row stays, so it may be false instead of null, which is cheaper. */
export function compile(node: Node, context: ExpressionContext, filtering = false): SqlValue {
  switch (node.kind) {
    case 'constant':
      return constantValue(node.constant, context.environment.params);
    case 'column':
      return columnValue(node, context);
    case 'everything':
      return { facets: { string: context.everything() }, required: true };
    case 'columns':
      throw new RangeError('* stands among arguments');
    case 'item': {
      const object = compile(node.object, context);
      const { key } = node;
      if (typeof key !== 'object') return jsonItem(object, key, context.environment.params);
      return itemAt(object, asInt(compile(key, context)));
    }
    case 'scalar':
      return scalar(context.relationOf(node.query));
    case 'among':
      return among(compile(node.value, context), context.relationOf(node.query), node);
    case 'apply':
      return scalarBuilder(node.spec.name)(callOf(node, context, filtering));
  }
}

function columnValue(node: Node & { readonly kind: 'column' }, context: ExpressionContext): SqlValue {
  const value = context.column(node.name);
  if (value) return value;
  const inside = node.otherwise && compile(node.otherwise, { ...context, missing: () => undefined });
  if (inside && (node.otherwise?.kind === 'constant' || Object.keys(inside.facets).length > 0)) return inside;
  context.missing(node.name);
  return NULL_VALUE;
}

/** A condition that is never null. */
export function compileCondition(node: Node, context: ExpressionContext): Sql {
  const value = compile(node, context, true);
  if (value.required) return asBool(value);
  return value.plain?.bool ?? sql`ifNull(${asBool(value)}, false)`;
}

type Arguments = Pick<Aggregation & { readonly kind: 'value' }, 'spec' | 'args' | 'places' | 'at'>;

/** The arguments with all columns in place of `*`; an object has its keys before them. */
function written({ spec, args }: Arguments, context: ExpressionContext): readonly Node[] {
  if (!args.some(isColumns)) return args;
  const columns = context.columns().map((name): Node[] => {
    const column: Node = { kind: 'column', type: 'dynamic', name };
    return spec.name === 'bag_pack' ? [constantNode({ type: 'string', value: name }), column] : [column];
  });
  return args.flatMap((arg) => (isColumns(arg) ? columns.flat() : [arg]));
}

function callOf(
  given: Arguments,
  context: ExpressionContext,
  filtering: boolean,
  wrap?: (value: SqlValue) => SqlValue,
): SqlCall {
  const { places, at } = given;
  const args = written(given, context);
  const values: (SqlValue | undefined)[] = [];
  const value = (n: number): SqlValue => {
    const known = values[n];
    if (known) return known;
    const compiled = compile(args[n]!, context);
    return (values[n] = n === 0 && wrap ? wrap(compiled) : compiled);
  };
  return {
    ...context.environment,
    count: args.length,
    types: args.map(({ type }) => type),
    filtering,
    value,
    node: (n) => args[n]!,
    string: (n) => asString(value(n)),
    int: (n) => asInt(value(n)),
    number: (n) => asNumber(value(n)),
    real: (n) => asReal(value(n)),
    bool: (n) => asBool(value(n)),
    time: (n) => asTime(value(n)),
    span: (n) => asSpan(value(n)),
    condition: (n) => compileCondition(args[n]!, context),
    constant(n) {
      const arg = args[n];
      if (arg?.kind !== 'constant') throw meaningError(places[n] ?? at, 'wanted a literal here');
      return arg.constant;
    },
    order: context.windowOrder,
    fail: (n, message) => meaningError(places[n] ?? at, message),
  };
}

/** An aggregation as SQL. `window`: ns of time that a row of the result covers. */
export function compileAggregation(
  aggregation: Aggregation & { readonly kind: 'value' },
  context: ExpressionContext,
  window: bigint,
): SqlValue {
  const { condition } = aggregation;
  // A value that fails the condition becomes null, and aggregations skip null.
  const wrap =
    condition && ((value: SqlValue): SqlValue => choose(compileCondition(condition, context), value, NULL_VALUE));
  const call: AggregateCall = { ...callOf(aggregation, context, false, wrap), window };
  return aggregateBuilder(aggregation.spec)(call);
}

/** Queries inside of expressions: `toscalar(…)` and `in (…)`. */
const firstColumn = ({ parts }: InnerRows): SqlValue => [...parts.columns.values()][0]?.value ?? NULL_VALUE;

/** The first column of the first row; null without rows. */
function scalar(relation: InnerRows): SqlValue {
  const rows = relation.ordered();
  const facets = facetsOf(firstColumn(rows)).map(
    ([kind, facet]) =>
      [kind, sql`(${rows.select([sql`toNullable(${facet})`], Math.min(1, rows.parts.limit ?? 1))})`] as const,
  );
  return { facets: Object.fromEntries(facets) };
}

const lower = (text: Sql, caseless: boolean): Sql => (caseless ? sql`lowerUTF8(${text})` : text);

/** Whether the value is in the first column. Null is in no list. */
function among(
  value: SqlValue,
  relation: InnerRows,
  { negated, caseless }: Node & { readonly kind: 'among' },
): SqlValue {
  const rows = relation.parts.limit === undefined ? relation : relation.nest();
  const { from, where } = rows.parts;
  const key = lower(keyText(firstColumn(rows)), caseless);
  const found = sql`ifNull(${lower(keyText(value), caseless)} global in (select ${key} from ${from}${whereSql(where)}), false)`;
  return oneRequired('bool', negated ? sql`not ${found}` : found);
}
