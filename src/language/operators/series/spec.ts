/** make-series: an array of values over equal steps of time, for each group. */
import { analyze, type NameScope } from '../../plan/analysis.ts';
import { wrongType } from '../../plan/arguments.ts';
import { closed } from '../../plan/scope.ts';
import type { SeriesColumn } from '../../plan/tree.ts';
import { meaningError } from '../../syntax/apl-error.ts';
import { readAssignment, readExpression } from '../../syntax/expressions.ts';
import type { Parser } from '../../syntax/parser.ts';
import { fieldNameOf, type Assignment, type Expression } from '../../syntax/tree.ts';
import type { Constant } from '../../types.ts';
import { assignedColumns, operator, type Operator, type OperatorResult } from '../../plan/operator.ts';
import { aggregatedOf, readAggregation } from '../summarize/spec.ts';

interface Wanted {
  readonly value: Assignment;
  readonly fallback: Expression | undefined;
}

interface SeriesText {
  readonly wanted: readonly Wanted[];
  readonly on: Expression;
  readonly from: Expression | undefined;
  readonly to: Expression | undefined;
  readonly step: Expression;
  readonly by: readonly Assignment[];
}

function readSeries(parser: Parser): SeriesText {
  const wanted = parser.list(() => {
    const value = readAggregation(parser);
    return { value, fallback: parser.option('default') ? readExpression(parser) : undefined };
  });
  parser.expect('on', 'and the field of time after the aggregations');
  const on = readExpression(parser);
  const from = parser.accept('from') ? readExpression(parser) : undefined;
  const to = parser.accept('to') ? readExpression(parser) : undefined;
  parser.expect('step', 'after the range of time');
  const step = readExpression(parser);
  return { wanted, on, from, to, step, by: parser.accept('by') ? parser.list(() => readAssignment(parser)) : [] };
}

function constantOf(expression: Expression, names: NameScope, wanted: string): Constant {
  const node = analyze(expression, { ...names, scope: closed([]) });
  if (node.kind !== 'constant') throw meaningError(expression.at, `make-series wants ${wanted}`);
  return node.constant;
}

function series({ wanted, on, from, to, step, by }: SeriesText, names: NameScope): OperatorResult {
  const time = analyze(on, names);
  const name = fieldNameOf(on);
  if (name === undefined || (time.type !== 'datetime' && time.type !== 'dynamic'))
    throw wrongType(on.at, 'a field of time', time.type, 'make-series');
  const width = constantOf(step, names, 'a timespan such as 1m as its step');
  if (width.type !== 'timespan' || (width.value as bigint) <= 0n)
    throw meaningError(step.at, 'make-series wants a timespan such as 1m as its step');
  const bound = (expression: Expression | undefined) => {
    if (!expression) return undefined;
    const node = analyze(expression, { ...names, scope: closed([]) });
    if (node.type !== 'datetime') throw wrongType(expression.at, 'a datetime', node.type, 'make-series');
    return { node, at: expression.at };
  };
  const keys = assignedColumns(by, names);
  const used = new Set([...keys.map((key) => key.name), name]);
  const columns = wanted.map(({ value, fallback }): SeriesColumn => {
    const aggregation = aggregatedOf(value, names, used);
    return {
      aggregation,
      fallback: fallback ? constantOf(fallback, names, 'a literal as default') : { type: 'int', value: 0n },
    };
  });
  const types = [
    ...keys.map((key) => [key.name, key.node.type] as const),
    ...[...columns.map(({ aggregation }) => aggregation.name), name].map((each) => [each, 'dynamic'] as const),
  ];
  return {
    stages: [
      {
        kind: 'series',
        columns,
        on: { name, node: time },
        from: bound(from),
        to: bound(to),
        step: width.value as bigint,
        keys,
      },
    ],
    scope: closed(types),
  };
}

export const SERIES: readonly Operator[] = [
  operator({
    names: ['make-series'],
    only: 'queries',
    syntax:
      'make-series [<name> =] <aggregation> [default=<literal>], … on <field> [from <time>] [to <time>] step <timespan> [by <expression>, …]',
    doc: 'Makes one row for each group, with an array of the values of each aggregation over equal steps of time, and an array of these times. The end is exclusive; without from and to the range of the query counts for `_time` of events, else that of the rows. Steps without rows get the default, 0 unless given.',
    read: readSeries,
    plan: series,
  }),
];
