/** A legacy query as the stages of the typed tree, the same that the query language makes. */
import { SERVICE_QUERY_BUCKETS, SERVICE_QUERY_PARTS } from '../../limits.ts';
import { badRequest, quote } from '../../http/api-error.ts';
import { analyze } from '../../../language/plan/analysis.ts';
import { conditionOf } from '../../../language/plan/operator.ts';
import { EVENTS, extended, typeOf } from '../../../language/plan/scope.ts';
import {
  type Column,
  type ColumnScope,
  constantNode,
  numberedName,
  shown,
  type GroupKey,
  type Node,
  type SortKey,
  type QueryStage,
} from '../../../language/plan/tree.ts';
import { virtualStages } from '../../../language/plan/virtual.ts';
import { AplError } from '../../../language/syntax/apl-error.ts';
import { readExpression } from '../../../language/syntax/expressions.ts';
import { Parser } from '../../../language/syntax/parser.ts';
import { aggregationNode, type LegacyAggregation } from './aggregations.ts';
import { apply, FALSE, literal, settled, TRUE } from './nodes.ts';
import { type LegacyBody, FILTER } from './schema.ts';
import { SERVICE_QUERY_DEPTH } from '../../../language/limits.ts';
import { parseTime } from '../plan/times.ts';

export interface LegacyFrame {
  readonly now: bigint;
  /** Width of the series' buckets and length of the range, ns. */
  readonly step: bigint;
  readonly range: bigint;
  /** Virtual fields of the dataset that the body names. */
  readonly columns: readonly Column[];
}

/** Throws an `ApiError` 400. */
export function legacyStages(body: LegacyBody, { now, step, range, columns: virtual }: LegacyFrame): QueryStage[] {
  let scope = extended(EVENTS, virtual);
  const stages: QueryStage[] = virtualStages(virtual);
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

  if (range / step >= BigInt(SERVICE_QUERY_BUCKETS))
    throw badRequest(`resolution ${step}ns makes more than ${SERVICE_QUERY_BUCKETS} buckets: use a coarser one`);
  const condition = (argument: unknown): Node =>
    typeof argument === 'string'
      ? expression('argument', argument, scope, true)
      : (filterNode(argument, { column, now }) ?? fail('an aggregation with a condition wants it as its argument'));
  const keys = groupKeys(body.groupBy ?? [], column);
  const nodes = aggregations.map((aggregation, n) =>
    aggregationNode(aggregation, numberedName(aggregation.name, n), { column, condition }),
  );
  stages.push({ kind: 'summarize', aggregations: nodes, keys: [...keys, timeKey(step)] });
  const sorting = order
    .filter(({ field }) => field !== '_time')
    .map(({ field, desc }) => {
      const at = aggregations.findIndex(({ name, op }) => field === name || field === op);
      const key = keys.find(({ name }) => shown(name) === field);
      if (at < 0 && !key) throw badRequest(`order by ${quote(field)}: wanted an aggregation or a field of groupBy`);
      const name = at >= 0 ? numberedName(aggregations[at]!.name, at) : key!.name;
      return sortKey({ kind: 'column', type: 'dynamic', name }, name, desc === true);
    });
  if (sorting.length > 0) stages.push({ kind: 'sort', keys: sorting });
  return stages;
}

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

function groupKeys(groupBy: readonly string[], column: (name: string) => Node): GroupKey[] {
  return groupBy.map((field, n) => {
    if (field === '_time') throw badRequest('groupBy _time is not available: use resolution');
    return { name: numberedName(field, n), node: column(field), binOfTime: undefined };
  });
}

/** The series that every result of aggregations has. */
function timeKey(step: bigint): GroupKey {
  const node = apply(
    'bin',
    { kind: 'column', type: 'datetime', name: '_time' },
    constantNode({ type: 'timespan', value: step }),
  );
  return { name: '_time', node, binOfTime: step };
}

/** An expression of the query language inside the body. */
function expression(place: string, text: string, scope: ColumnScope, isCondition = false): Node {
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

interface FilterNames {
  readonly column: (name: string) => Node;
  readonly now: bigint;
}

interface LegacyFilter {
  readonly op: string;
  readonly field: string;
  readonly value: unknown;
  readonly caseSensitive: boolean;
}

/** Undefined when there is no filter: null, or an empty `op`. Throws an `ApiError` 400. */
function filterNode(raw: unknown, names: FilterNames): Node | undefined {
  let parts = 0;
  const read = (part: unknown, depth: number): Node | undefined => {
    if (part === null || part === undefined) return undefined;
    if (++parts > SERVICE_QUERY_PARTS) throw badRequest(`the filter has more than ${SERVICE_QUERY_PARTS} parts`);
    if (depth > SERVICE_QUERY_DEPTH) throw badRequest(`the filter is nested deeper than ${SERVICE_QUERY_DEPTH}`);
    const parsed = FILTER.safeParse(part);
    if (!parsed.success)
      throw badRequest(
        `the filter is not valid: ${parsed.error.issues[0]?.path.join('.')}: ${parsed.error.issues[0]?.message}`,
      );
    const { op, field, value, caseSensitive, children } = parsed.data;
    const name = (op ?? '').toLowerCase();
    if (name === '') return undefined;
    if (name !== 'and' && name !== 'or' && name !== 'not')
      return condition({ op: name, field: field ?? '', value, caseSensitive: caseSensitive ?? false }, names);
    const nodes = (children ?? []).map((child) => read(child, depth + 1)).filter((node) => node !== undefined);
    const joined =
      nodes.length > 1 ? apply(name === 'not' ? 'and' : name, ...nodes) : (nodes[0] ?? (name === 'not' ? FALSE : TRUE));
    return name === 'not' ? apply('not', joined) : joined;
  };
  return read(raw, 1);
}

const COMPARE: ReadonlyMap<string, string> = new Map(
  Object.entries({ eq: '==', ne: '!=', gt: '>', gte: '>=', lt: '<', lte: '<=' }),
);
const SIGNS = new Set(['==', '!=', '>', '>=', '<', '<=']);
const TEXT: ReadonlyMap<string, string> = new Map(
  Object.entries({ contains: 'contains', 'starts-with': 'startswith', 'ends-with': 'endswith', has: 'has' }),
);

function condition(filter: LegacyFilter, names: FilterNames): Node {
  const isNegated = filter.op.startsWith('not-');
  const name = isNegated ? filter.op.slice(4) : filter.op;
  const sign = COMPARE.get(name) ?? name;
  const isUnequal = sign === '!=';
  const node = plain({ ...filter, op: isUnequal ? '==' : sign }, names);
  return isNegated === isUnequal ? node : apply('not', node);
}

function plain({ op, field, value, caseSensitive }: LegacyFilter, names: FilterNames): Node {
  const column = names.column(field);
  if (op === 'exists') return apply('isnotnull', column);
  if (SIGNS.has(op)) return settled(apply(op, column, compared(op, field, value, column, names)));
  const word = TEXT.get(op);
  if (word === undefined && op !== 'regexp') throw badRequest(`the filter operation ${quote(op)} is not known`);
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
    throw badRequest(`the filter on ${quote(field)}: ${op} wants a string`);
  const text = String(value);
  const searched = column.type === 'dynamic' || column.type === 'string' ? column : apply('tostring', column);
  return op === 'regexp'
    ? apply('matches regex', searched, literal(caseSensitive ? text : `(?i)${text}`))
    : apply(caseSensitive ? `${word!}_cs` : word!, searched, literal(text));
}

function compared(op: string, field: string, value: unknown, column: Node, { now }: FilterNames): Node {
  if (column.type === 'datetime' && typeof value === 'string')
    return constantNode({ type: 'datetime', value: parseTime(field, value, now) });
  const fits = typeof value === 'number' || typeof value === 'string' || (typeof value === 'boolean' && op === '==');
  if (!fits) throw badRequest(`the filter on ${quote(field)}: ${op} wants a number or a string, == also a boolean`);
  return literal(value);
}
