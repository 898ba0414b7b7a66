/** top-nested: each level is a summarize of the rows that the level before kept, and all levels are joined in the end. */
import type { GroupKey, JoinKey, NestedLevel, Node } from '../../../../language/plan/tree.ts';
import { join } from './join.ts';
import { SelectNames } from './select-names.ts';
import { orderSql } from './order.ts';
import { checkedLevel, whereSql, type RelationColumn } from '../relation-parts.ts';
import { Relation } from './relation.ts';
import { list, NOTHING, sql } from '../../values/sql.ts';
import { summarize } from './summarize.ts';
import { facetsOf } from '../../values/value.ts';

const column = ({ name, node }: GroupKey): Node => ({ kind: 'column', type: node.type, name });

export function topNested(relation: Relation, levels: readonly NestedLevel[], window: bigint): Relation {
  const keys = levels.map(({ key }): GroupKey => ({ ...key, binOfTime: undefined }));
  const named = relation.extend(keys);
  let rows = named;
  let result: Relation | undefined;
  for (const [n, level] of levels.entries()) {
    const outer = keys.slice(0, n);
    const on = (by: readonly GroupKey[]): JoinKey[] => by.map((key) => ({ left: column(key), right: column(key) }));
    const groups = keys.slice(0, n + 1).map((key) => ({ ...key, node: column(key) }));
    const largest = firstOfEach(summarize(rows, [level.aggregation], groups, window), level, outer);
    result =
      result === undefined
        ? largest
        : join(largest, result, { how: 'inner', keys: on(outer), dropped: outer.map(({ name }) => name) });
    if (n < levels.length - 1)
      rows = join(rows, largest, { how: 'leftsemi', keys: on(keys.slice(0, n + 1)), dropped: [] });
  }
  const names = levels.flatMap(({ key, aggregation }) => [key.name, aggregation.name]);
  const { columns } = result!.parts;
  return sorted(
    new Relation({ ...result!.parts, columns: new Map(names.map((name) => [name, columns.get(name)!])) }),
    levels,
  );
}

/** The first groups in each of the outer ones. */
function firstOfEach(
  groups: Relation,
  { count, aggregation, desc }: NestedLevel,
  outer: readonly GroupKey[],
): Relation {
  const rows = sorted(groups, [{ aggregation, desc }]);
  const { parts } = rows;
  const names = new SelectNames(checkedLevel(parts.level + 1));
  const columns = new Map(
    [...parts.columns].map(([name, column]): [string, RelationColumn] => [
      name,
      { ...column, value: names.take('c', column.value) },
    ]),
  );
  const by = outer.flatMap(({ name }) => facetsOf(parts.columns.get(name)!.value).map(([, facet]) => facet));
  const limit = by.length === 0 ? sql` limit ${count}` : sql` limit ${count} by ${list(by)}`;
  return new Relation({
    ...parts,
    columns,
    level: parts.level + 1,
    where: [],
    order: undefined,
    limit: undefined,
    matched: undefined,
    item: undefined,
    from: sql`(select ${list(names.columns)} from ${parts.from}${whereSql(parts.where)}${orderSql(parts)}${outer.length > 0 && by.length === 0 ? NOTHING : limit})`,
  });
}

const sorted = (rows: Relation, levels: readonly Pick<NestedLevel, 'aggregation' | 'desc'>[]): Relation =>
  rows.sort(
    levels.map(({ aggregation: { name, type }, desc }) => ({
      node: { kind: 'column', type, name },
      name,
      desc,
      nullsFirst: false,
    })),
  );
