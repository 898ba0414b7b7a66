/** Rows put together in groups: aggregations and keys as the columns of a select around the rows. */
import type { Aggregation, Column, GroupKey, Node } from '../../../../language/plan/tree.ts';
import { compile, compileAggregation, type ExpressionContext } from '../expressions.ts';
import { mapEvent, type EventSql } from '../field.ts';
import { SelectNames } from './select-names.ts';
import { checkedLevel, countSql, whereSql, type RelationColumn, type RelationParts } from '../relation-parts.ts';
import { Relation } from './relation.ts';
import { alias, list, NOTHING, sql, type Sql } from '../../values/sql.ts';
import { refuseWindows } from './windows.ts';
import { asNumber, facetsOf, type SqlValue } from '../../values/value.ts';

/** One row for each group. `window`: ns that a row covers when no key is a bin of time. */
export function summarize(
  relation: Relation,
  aggregations: readonly Aggregation[],
  keys: readonly GroupKey[],
  window: bigint,
): Relation {
  if (relation.parts.limit !== undefined) return summarize(relation.nest(), aggregations, keys, window);
  const args = aggregations.flatMap((item) => (item.kind === 'value' ? item.args : []));
  refuseWindows([...keys.map(({ node }) => node), ...args], 'summarize');
  const { context, parts } = relation;
  const level = parts.level + 1;
  const names = new SelectNames(level);
  const columns = new Map<string, RelationColumn>();
  const all = keys.flatMap((key): readonly GroupKey[] =>
    key.node.kind === 'columns'
      ? context.columns().map((name) => ({ ...key, name, node: { kind: 'column', type: 'dynamic', name } }))
      : [key],
  );
  const grouped = all.map(({ name, node, binOfTime }) => {
    const value = compile(node, context);
    columns.set(name, {
      ...originOf(node, parts),
      value: names.take('k', value),
      type: node.type,
      role: 'key',
      timeBin: binOfTime !== undefined,
    });
    return value;
  });
  const groupBy = grouped.flatMap((value) => facetsOf(value).map(([, facet]) => facet));
  const bin = keys.find(({ binOfTime }) => binOfTime !== undefined)?.binOfTime;
  const span = bin === undefined ? window : bin === 'auto' ? parts.environment.step : bin;
  let event: EventSql | undefined;
  for (const aggregation of aggregations) {
    if (aggregation.kind === 'row') event = takeRow(relation, aggregation, names, columns) ?? event;
    else {
      const value =
        aggregation.kind === 'value'
          ? compileAggregation(aggregation, context, span)
          : computed(aggregation, context, span);
      const { type } = aggregation.kind === 'value' ? aggregation : aggregation.node;
      columns.set(aggregation.name, {
        value: names.take('a', value),
        type,
        role: 'aggregation',
        info: aggregation.info,
      });
    }
  }
  const { matching } = parts;
  const matched = matching === undefined ? sql`sum(count()) over ()` : undefined;
  const select = [...names.columns, sql`${matched ?? sql`count()`} as ${alias('m', level)}`];
  // A key that is always null still makes one group; an empty input has none.
  const by = keys.length === 0 ? NOTHING : sql` group by ${groupBy.length === 0 ? sql`'x'` : list(groupBy)}`;
  return new Relation({
    ...parts,
    from: sql`(select ${list(select)} from ${parts.from}${whereSql(parts.where)}${by})`,
    where: [],
    level: checkedLevel(level),
    columns,
    event,
    open: event !== undefined,
    removed: event ? parts.removed : [],
    order: undefined,
    item: undefined,
    label: undefined,
    limit: undefined,
    matching: matching ?? countSql(parts),
    matched: matched && alias('m', level),
  });
}

/** The same with rows in place of groups, whose own columns come first. */
export function fold(...given: Parameters<typeof summarize>): Relation {
  const { parts } = summarize(...given);
  const names = new Set([...given[0].parts.columns.keys(), ...parts.columns.keys()]);
  const columns = new Map<string, RelationColumn>();
  for (const name of names) {
    const column = parts.columns.get(name);
    if (column) columns.set(name, { value: column.value, type: column.type, role: 'row' });
  }
  return new Relation({ ...parts, columns, matched: undefined });
}

/** The types that the field has had, where the node is nothing but a field. */
function originOf(node: Node, { columns, open, dataset }: RelationParts): { bits?: number } {
  if (node.kind !== 'column') return {};
  const bits =
    columns.get(node.name)?.bits ?? (open && !columns.has(node.name) ? dataset.fields.get(node.name) : undefined);
  return bits === undefined ? {} : { bits };
}

/** Aggregations first, then the expression of them. */
function computed(
  aggregation: Aggregation & { readonly kind: 'computed' },
  context: ExpressionContext,
  window: bigint,
): SqlValue {
  const parts = new Map(
    aggregation.parts.flatMap((part) =>
      part.kind === 'value' ? [[part.name, compileAggregation(part, context, window)] as const] : [],
    ),
  );
  return compile(aggregation.node, { ...context, column: (name) => parts.get(name) });
}

/** arg_max and arg_min: of equal rows the last and the first. Returns the event when all of it is taken. */
function takeRow(
  { context, parts }: Relation,
  aggregation: Aggregation & { readonly kind: 'row' },
  names: SelectNames,
  columns: Map<string, RelationColumn>,
): EventSql | undefined {
  const { greatest, by, take, info } = aggregation;
  const compared = compile(by.node, context);
  const engine = greatest ? sql`argMaxIf` : sql`argMinIf`;
  const { int, real } = compared.facets;
  const facet = int || real ? asNumber(compared).sql : facetsOf(compared)[0]?.[1];
  if (!facet) context.missing(by.name);
  const there = facet ? sql`isNotNull(${facet})` : sql`false`;
  // Compare by the value, then by time and row id: unique, so that all columns come from the same row.
  const order = list([
    facet ? sql`assumeNotNull(${facet})` : sql`0`,
    ...(parts.event ? [parts.event.time, parts.event.rowId] : []),
  ]);
  const from = (value: Sql): Sql => sql`${engine}(tuple(${value}), tuple(${order}), ${there}).1`;
  const add = ({ name, node }: Column, value: SqlValue): void => {
    const facets = Object.fromEntries(
      facetsOf(value).map(([kind, taken]) => [kind, sql`if(countIf(${there}) = 0, null, ${from(taken)})`]),
    );
    columns.set(name, {
      ...originOf(node, parts),
      value: names.take('a', { facets }),
      type: node.type,
      role: 'aggregation',
      info,
    });
  };
  add(by, compared);
  if (take !== '*') {
    for (const column of take) add(column, compile(column.node, context));
    return undefined;
  }
  for (const [name, column] of parts.columns)
    if (!columns.has(name)) add({ name, node: { kind: 'column', type: column.type, name } }, column.value);
  return parts.event && mapEvent(parts.event, (part) => names.add('e', from(part)));
}
