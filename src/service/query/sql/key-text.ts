/** Values as texts to compare and to join by, whatever their types. */
import type { ValueKind } from '../values/kind.ts';
import { list, sql, type Sql } from '../values/sql.ts';
import { facetsOf, type SqlValue } from '../values/value.ts';

const KEYS: Readonly<Record<ValueKind, (facet: Sql) => Sql>> = {
  int: (facet) => sql`concat('n', toString(${facet}))`,
  timespan: (facet) => sql`concat('n', toString(${facet}))`,
  // Whole floats are written as integers.
  real: (facet) => sql`concat('n', coalesce(toString(accurateCastOrNull(${facet}, 'Int64')), toString(${facet})))`,
  string: (facet) => sql`concat('s', ${facet})`,
  bool: (facet) => sql`concat('b', toString(${facet}))`,
  datetime: (facet) => sql`concat('t', toString(toUnixTimestamp64Nano(${facet})))`,
  json: (facet) => sql`concat('j', ${facet})`,
};

/** Values that `==` takes for the same have the same text; null has none. */
export function keyText(value: SqlValue): Sql {
  const parts = facetsOf(value).map(([kind, facet]) => KEYS[kind](facet));
  return parts.length === 0 ? sql`cast(null, 'Nullable(String)')` : sql`coalesce(${list(parts)}, null)`;
}
