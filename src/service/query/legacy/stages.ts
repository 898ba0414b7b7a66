/** A legacy query as the stages of the typed tree, the same that the query language makes. */
import { SERVICE_QUERY_BUCKETS } from '../../limits.ts';
import { badRequest, quote } from '../../http/api-error.ts';
import { analyze } from '../../../language/plan/analysis.ts';
import { conditionOf } from '../../../language/plan/operator.ts';
import { EVENTS, extended, typeOf } from '../../../language/plan/scope.ts';
import type { Column, Scope } from '../../../language/plan/tree.ts';
import { virtualStages } from '../../../language/plan/virtual.ts';
import { constantNode, numberedName, shown, type Key, type Node, type SortKey, type Stage } from '../../../language/plan/tree.ts';
import { AplError } from '../../../language/syntax/apl-error.ts';
import { readExpression } from '../../../language/syntax/expressions.ts';
import { Parser } from '../../../language/syntax/parser.ts';
import { aggregationNode, type LegacyAggregation } from './aggregations.ts';
import { filterNode } from './filter.ts';
import { apply } from './nodes.ts';
import type { LegacyBody } from './schema.ts';

export interface LegacyFrame {
  readonly now: bigint;
  /** Width of the series' buckets and length of the range, ns. */
  readonly step: bigint;
  readonly range: bigint;
  /** Virtual fields of the dataset that the body names. */
  readonly columns: readonly Column[];
}

/** Throws an `ApiError` 400. */
export function legacyStages(body: LegacyBody, { now, step, range, columns: virtual }: LegacyFrame): Stage[] {
  let scope = extended(EVENTS, virtual);
  const stages: Stage[] = virtualStages(virtual);
  for (const [n, { alias, expr }] of (body.virtualFields ?? []).entries()) {
    const node = expression(`virtualFields[${n}]`, expr, scope);
    const columns = [{ name: alias, node, text: expr }];
    stages.push({ kind: 'extend', columns });
    scope = extended(scope, columns);
  }
  const column = (name: string): Node => ({ kind: 'column', type: typeOf(scope, name) ?? 'dynamic', name });
  const filter = filterNode(body.filter, { column, now });
  if (filter) stages.push({ kind: 'where', condition: filter });

  const order = body.order ?? [];
  const aggregations = aggregationsOf(body);
  if (aggregations.length === 0) {
    const keys = order.map(({ field, desc }) => sortKey(column(field), field, desc === true));
    if (keys.length > 0) stages.push({ kind: 'sort', keys });
    const columns = (body.project ?? []).map(({ field, alias }) => ({ name: alias || field, node: column(field) }));
    if (columns.length > 0) stages.push({ kind: 'project', columns });
    return stages;
  }

  if (range / step >= BigInt(SERVICE_QUERY_BUCKETS)) throw badRequest(`resolution ${step}ns makes more than ${SERVICE_QUERY_BUCKETS} buckets: use a coarser one`);
  const condition = (argument: unknown): Node =>
    typeof argument === 'string' ? expression('argument', argument, scope, true) : (filterNode(argument, { column, now }) ?? fail('an aggregation with a condition wants it as its argument'));
  const keys = groupKeys(body.groupBy ?? [], column);
  const nodes = aggregations.map((aggregation, n) => aggregationNode(aggregation, numberedName(aggregation.name, n), { column, condition }));
  stages.push({ kind: 'summarize', aggregations: nodes, keys: [...keys, timeKey(step)] });
  const sorting = order.filter(({ field }) => field !== '_time').map(({ field, desc }) => {
    const at = aggregations.findIndex(({ name, op }) => field === name || field === op);
    const key = keys.find(({ name }) => shown(name) === field);
    if (at < 0 && !key) throw badRequest(`order by ${quote(field)}: wanted an aggregation or a field of groupBy`);
    const name = at >= 0 ? numberedName(aggregations[at]!.name, at) : key!.name;
    return sortKey({ kind: 'column', type: 'dynamic', name }, name, desc === true);
  });
  if (sorting.length > 0) stages.push({ kind: 'sort', keys: sorting });
  return stages;
} // prettier-ignore

function fail(message: string): never {
  throw badRequest(message);
}

const sortKey = (node: Node, name: string, desc: boolean): SortKey => ({ node, name, desc, nullsFirst: false });

function aggregationsOf({ aggregations }: LegacyBody): LegacyAggregation[] {
  return (aggregations ?? []).map(({ op, field, alias, argument }) => ({
    op: op.toLowerCase(),
    field: field ?? '',
    name: alias || op.toUpperCase(),
    argument,
  }));
}

function groupKeys(groupBy: readonly string[], column: (name: string) => Node): Key[] {
  return groupBy.map((field, n) => {
    if (field === '_time') throw badRequest('groupBy _time is not available: use resolution');
    return { name: numberedName(field, n), node: column(field), binOfTime: undefined };
  });
}

/** The series that every result of aggregations has. */
function timeKey(step: bigint): Key {
  const node = apply('bin', { kind: 'column', type: 'datetime', name: '_time' }, constantNode({ type: 'timespan', value: step }));
  return { name: '_time', node, binOfTime: step };
}

/** An expression of the query language inside the body. */
function expression(place: string, text: string, scope: Scope, isCondition = false): Node {
  try {
    const parser = new Parser(text);
    const value = readExpression(parser);
    if (parser.token.kind !== 'end') throw parser.unexpected('the end of the expression');
    const names = { scope, lets: new Map() };
    return isCondition ? conditionOf(value, names) : analyze(value, names);
  } catch (error) {
    if (error instanceof AplError) throw badRequest(`${place} ${quote(text)}: ${error.message}`);
    throw error;
  }
}
