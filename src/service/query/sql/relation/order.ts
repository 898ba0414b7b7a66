/** The order of rows: the keys that a value sorts by, and the clause that makes the order total. */
import type { SortKey } from '../../../../language/plan/tree.ts';
import type { RelationColumn, RelationParts } from '../relation-parts.ts';
import { list, NOTHING, sql, type Sql } from '../../values/sql.ts';
import { exists, facetsOf, type SqlValue } from '../../values/value.ts';

/** Numbers sort before texts, those before the rest; missing values come last by default. */
export function sortKeys(value: SqlValue, desc: boolean, nullsFirst: boolean): { sql: Sql; desc: boolean }[] {
  const { int, real, ...others } = value.facets;
  const number = int && real ? [sql`coalesce(${real}, toFloat64(${int}))`, int] : [int ?? real ?? []].flat();
  const rest = Object.values(others);
  const keys = [...number, ...rest].map((key) => ({ sql: key, desc }));
  return nullsFirst ? [{ sql: exists(value), desc: false }, ...keys] : keys;
}

/** ` order by …` with what makes the order total, or nothing. */
export function orderSql({ order, event, columns, item }: RelationParts): Sql {
  const keys = [...(order?.keys ?? [])];
  if (event) {
    if (!keys.some((key) => key.sql === event.time)) keys.push({ sql: event.time, desc: true });
    keys.push({ sql: event.rowId, desc: order?.byTime !== 'asc' });
  } else {
    const groups = [...columns.values()].filter(({ role }) => role === 'key');
    for (const { value } of groups)
      for (const [, facet] of facetsOf(value))
        if (!keys.some((key) => key.sql === facet)) keys.push({ sql: facet, desc: false });
  }
  if (item) keys.push({ sql: item, desc: false });
  return keys.length === 0
    ? NOTHING
    : sql` order by ${list(keys.map((key) => (key.desc ? sql`${key.sql} desc` : key.sql)))}`;
}

/** How groups are sorted when the query does not say: a series by time, then by the first aggregation, the largest first, else by the keys. */
export function defaultOrder(columns: ReadonlyMap<string, RelationColumn>): readonly SortKey[] {
  const computed = [...columns];
  const bin = computed.find(([, { timeBin }]) => timeBin === true);
  const largest = computed.find(
    ([, { role, type, value }]) => role === 'aggregation' && type !== 'bool' && !value.facets.json,
  );
  const chosen = [...(bin ? [[bin[0], false] as const] : []), ...(largest ? [[largest[0], true] as const] : [])];
  const names =
    chosen.length > 0
      ? chosen
      : computed.flatMap(([name, { role }]) => (role === 'key' ? [[name, false] as const] : []));
  return names.map(([name, desc]) => ({
    node: { kind: 'column', type: columns.get(name)!.type, name },
    name,
    desc,
    nullsFirst: false,
  }));
}
