/** summarize, and what it is the general form of: distinct and count. */
import { findAggregate, functionNames, unknownFunction } from '../../functions/table.ts';
import { analyze, columnsOperand, type NameScope } from '../../plan/analysis.ts';
import { checkArguments, wrongType } from '../../plan/arguments.ts';
import { closed, freeName } from '../../plan/scope.ts';
import {
  ALL_COLUMNS,
  type Aggregation,
  type AggregationInfo,
  type Column,
  type GroupKey,
  type Node,
  type ValueAggregation,
} from '../../plan/tree.ts';
import { meaningError } from '../../syntax/apl-error.ts';
import { readAssignment } from '../../syntax/expressions.ts';
import type { Parser } from '../../syntax/parser.ts';
import { fieldNameOf, type Assignment, type Expression } from '../../syntax/tree.ts';
import type { Type } from '../../types.ts';
import { conditionOf, defaultName, operator, type Operator, type OperatorResult } from '../../plan/operator.ts';

type CallExpression = Expression & { readonly kind: 'call' };

/** Names that are taken, and the columns so far. */
interface Columns {
  readonly used: Set<string>;
  readonly types: [string, Type][];
}

const add = (columns: Columns, name: string, type: Type): string => {
  columns.used.add(name);
  columns.types.push([name, type]);
  return name;
};

interface SummarizeClauses {
  readonly by: readonly Assignment[];
  readonly aggregations: readonly Assignment[];
}

export function summarized({ by, aggregations }: SummarizeClauses, names: NameScope): OperatorResult {
  const columns: Columns = { used: new Set(), types: [] };
  const isWhole = by.length === 1 && by[0]!.value.kind === 'star';
  const keys = isWhole ? allColumns(names, columns) : by.map((assignment) => key(assignment, names, columns));
  const stage = {
    kind: 'summarize',
    keys,
    aggregations: aggregations.map((item) => aggregation(item, names, columns)),
  } as const;
  if (isWhole && names.scope.open) return { stages: [stage], scope: names.scope };
  return { stages: [stage], scope: openWhenWhole(stage.aggregations, columns) };
}

/** Columns of `distinct *`. The fields of events are known when the query runs. */
function allColumns({ scope }: NameScope, columns: Columns): GroupKey[] {
  if (scope.open) return [{ name: '*', node: ALL_COLUMNS, binOfTime: undefined }];
  return [...scope.columns].map(([name, type]) => ({
    name: add(columns, name, type),
    node: { kind: 'column', type, name },
    binOfTime: undefined,
  }));
}

/** With the whole row taken (`arg_max(x, *)`), every field of it is there. */
function openWhenWhole(aggregations: readonly Aggregation[], columns: Columns): OperatorResult['scope'] {
  const scope = closed(columns.types);
  return aggregations.some((item) => item.kind === 'row' && item.take === '*') ? { ...scope, open: true } : scope;
}

function key({ at, name, value }: Assignment, names: NameScope, columns: Columns): GroupKey {
  const node = analyze(value, names);
  const called = name ?? defaultName(value, columns.used);
  if (columns.used.has(called)) throw meaningError(at, `two columns would be called ${JSON.stringify(called)}`);
  return { name: add(columns, called, node.type), node, binOfTime: binOfTime(node, names) };
}

/** The width of the bins when the key is `_time` in bins. */
function binOfTime(node: Node, { scope }: NameScope): bigint | 'auto' | undefined {
  if (node.kind !== 'apply' || node.type !== 'datetime') return undefined;
  const [time, size] = node.args;
  if (time?.kind !== 'column' || time.name !== '_time' || (!scope.open && !scope.columns.has('_time')))
    return undefined;
  if (node.spec.name === 'bin_auto') return 'auto';
  return node.spec.name === 'bin' && size?.kind === 'constant' ? (size.constant.value as bigint) : undefined;
}

function aggregation(assignment: Assignment, names: NameScope, columns: Columns): Aggregation {
  const { name, value } = assignment;
  if (value.kind === 'call' && (value.name === 'arg_max' || value.name === 'arg_min'))
    return rowOf(value, name, names, columns);
  if (!aggregateIn(value)) return computed(value, name, names, columns);
  const found = aggregatedOf(assignment, names, columns.used);
  columns.types.push([found.name, found.type]);
  return found;
}

/** The expression where it is a call of an aggregation. */
const aggregateIn = (expression: Expression): CallExpression | undefined =>
  expression.kind === 'call' && !expression.operator && findAggregate(expression.name) ? expression : undefined;

export function readAggregation(parser: Parser): Assignment {
  parser.inAggregation = true;
  const read = readAssignment(parser);
  parser.inAggregation = false;
  return read;
}

/** One aggregation with its name; `used` are taken. */
export function aggregatedOf({ at, name, value }: Assignment, names: NameScope, used: Set<string>): ValueAggregation {
  const call = aggregateIn(value);
  if (!call) throw meaningError(value.at, 'wanted an aggregation here, such as count() or avg(duration)');
  const found = single(call, names);
  const argument = call.args[0] && fieldNameOf(call.args[0]);
  const called = name ?? freeName(`${call.name}_${argument ?? ''}`, used);
  if (used.has(called)) throw meaningError(at, `two columns would be called ${JSON.stringify(called)}`);
  used.add(called);
  return { ...found, name: called };
}

/** `sum(a) / count()`: the aggregations in it become columns of their own, which only the expression sees. */
function computed(value: Expression, name: string | undefined, names: NameScope, columns: Columns): Aggregation {
  const parts: (Aggregation & { readonly kind: 'value' })[] = [];
  const replace = (expression: Expression): Expression => {
    const aggregate = aggregateIn(expression);
    if (aggregate) {
      const part = { ...single(aggregate, names), name: `part ${parts.length}` };
      parts.push(part);
      return { kind: 'name', at: expression.at, name: part.name };
    }
    if (expression.kind === 'call') return { ...expression, args: expression.args.map(replace) };
    if (expression.kind === 'index')
      return { ...expression, object: replace(expression.object), index: replace(expression.index) };
    if (expression.kind === 'member') return { ...expression, object: replace(expression.object) };
    return expression;
  };
  const replaced = replace(value);
  if (parts.length === 0) {
    const wrong = value.kind === 'call' && !value.operator ? value.name : undefined;
    if (wrong !== undefined && !functionNames().includes(wrong)) throw unknownFunction(wrong, value.at);
    const fix =
      wrong === undefined
        ? undefined
        : `${wrong} is of one row: make a column of it with extend before, or write ${wrong}(make_list(field))`;
    throw meaningError(value.at, `wanted an aggregation here, such as count() or avg(duration)`, fix);
  }
  const node = analyze(replaced, { scope: closed(parts.map((part) => [part.name, part.type])), lets: names.lets });
  const called = add(columns, name ?? freeName('Column1', columns.used), node.type);
  return { kind: 'computed', name: called, node, parts, info: { name: 'computed', fields: [], args: [] } };
}

/** One aggregation of a value; its name is still to be given. */
function single(expression: CallExpression, names: NameScope): Aggregation & { readonly kind: 'value' } {
  const { spec, conditional } = findAggregate(expression.name)!;
  const { at } = expression;
  // The condition comes before the size, as APL writes it, or last.
  const [value, middle, size] = expression.args;
  const isSizeLast =
    conditional &&
    spec.args[1] === 'constant int' &&
    middle &&
    size?.kind === 'constant' &&
    size.constant.type === 'int';
  const written = isSizeLast ? [value!, size, middle] : expression.args;
  const given = conditional ? written.slice(0, -1) : written;
  const last = written.at(-1);
  if (conditional && (last === undefined || given.length === 0))
    throw meaningError(at, `${expression.name} wants a condition as its last argument`);
  const star = given.length === 1 && given[0]!.kind === 'star' && spec.names[0] === 'count';
  const nodes = star ? [] : given.map((arg) => columnsOperand(spec, arg, names) ?? analyze(arg, names));
  const places = given.map((arg) => arg.at);
  const args = checkArguments(spec, nodes, at, places);
  const type = typeof spec.returns === 'function' ? spec.returns(args.map((arg) => arg.type)) : spec.returns;
  if (type === undefined) throw wrongType(places[0] ?? at, 'a number', args[0]!.type, expression.name);
  const condition = conditional ? conditionOf(last!, names) : undefined;
  return {
    kind: 'value',
    name: '',
    type,
    spec,
    args,
    condition,
    at,
    places,
    info: infoOf(spec.wire ?? spec.names[0], conditional, given, args),
  };
}

function infoOf(
  wire: string,
  conditional: boolean,
  given: readonly Expression[],
  args: readonly Node[],
): AggregationInfo {
  const fields = given.flatMap((expression) => fieldNameOf(expression) ?? []);
  const constants = args.slice(1).flatMap((arg) => (arg.kind === 'constant' ? [jsonOf(arg.constant.value)] : []));
  return { name: conditional ? `${wire}if` : wire, fields, args: constants };
}

const jsonOf = (value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : value);

/** `arg_max(by, a, name = b)` and `arg_max(by, *)`. */
function rowOf(expression: CallExpression, name: string | undefined, names: NameScope, columns: Columns): Aggregation {
  const [first, ...others] = expression.args;
  if (first === undefined || others.length === 0)
    throw meaningError(
      expression.at,
      `${expression.name} wants what to compare and what to take: ${expression.name}(duration, message)`,
    );
  const column = (argument: Expression, called?: string): Column => {
    const [own, value] = argument.kind === 'named' ? [argument.name, argument.value] : [called, argument];
    const node = analyze(value, names);
    return { name: add(columns, freeName(own ?? defaultName(value, columns.used), columns.used), node.type), node };
  };
  const by = column(first, name);
  if (by.node.type === 'bool') throw wrongType(first.at, 'something with an order', 'bool', expression.name);
  const isWhole = others.length === 1 && others[0]!.kind === 'star';
  // Columns that stages made come by name; of events the rest comes, too.
  const made = isWhole ? [...names.scope.columns].filter(([called]) => !columns.used.has(called)) : [];
  for (const [called, type] of made) add(columns, called, type);
  const named = isWhole
    ? made.map(([called, type]): Column => ({ name: called, node: { kind: 'column', type, name: called } }))
    : others.map((argument) => column(argument));
  const take = isWhole && names.scope.open ? '*' : named;
  const fields = take === '*' ? ['*'] : take.map((taken) => taken.name);
  const wire = expression.name === 'arg_max' ? 'argmax' : 'argmin';
  return {
    kind: 'row',
    greatest: wire === 'argmax',
    by,
    take,
    info: { name: wire, fields: [by.name, ...fields], args: [] },
  };
}

const call = (name: string, at: number): Expression => ({ kind: 'call', at, name, args: [], operator: false });

export const SUMMARIZE: readonly Operator[] = [
  operator({
    names: ['summarize'],
    only: 'queries',
    syntax: 'summarize [<name> =] <aggregation>, … [by [<name> =] <expression>, …]',
    doc: 'Groups rows by the expressions after `by` and aggregates each group to one row.',
    read(parser) {
      const aggregations = parser.is('by') ? [] : parser.list(() => readAggregation(parser));
      return { aggregations, by: parser.accept('by') ? parser.list(() => readAssignment(parser)) : [] };
    },
    plan: summarized,
  }),
  operator({
    names: ['distinct'],
    only: 'queries',
    syntax: 'distinct <expression>, … | *',
    doc: 'Keeps each combination of values once; `*` stands for all columns.',
    read: (parser) => ({ by: parser.list(() => readAssignment(parser)), aggregations: [] }),
    plan: summarized,
  }),
  operator({
    names: ['count'],
    only: 'queries',
    syntax: 'count',
    doc: 'Counts the rows, in the column `count`.',
    read: (_, at) => ({ by: [], aggregations: [{ at, name: 'count', value: call('count', at), text: 'count()' }] }),
    plan: summarized,
  }),
];
