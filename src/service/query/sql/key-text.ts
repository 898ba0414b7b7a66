/** Values as texts to compare and to join by, whatever their types. */
import { list, sql, type Sql } from '../values/sql.ts';
import { facetsOf, type Value } from '../values/value.ts';

/**
 * The value as text that is the same for values that `==` takes for the same, and null where there is none. Whole floats are
 * written as integers.
 */
export function keyText(value: Value): Sql {
  const parts = facetsOf(value).map(([kind, facet]) => {
    switch (kind) {
      case 'int':
      case 'timespan':
        return sql`concat('n', toString(${facet}))`;
      case 'real':
        return sql`concat('n', coalesce(toString(accurateCastOrNull(${facet}, 'Int64')), toString(${facet})))`;
      case 'string':
        return sql`concat('s', ${facet})`;
      case 'bool':
        return sql`concat('b', toString(${facet}))`;
      case 'datetime':
        return sql`concat('t', toString(toUnixTimestamp64Nano(${facet})))`;
      case 'json':
        return sql`concat('j', ${facet})`;
    }
  });
  return parts.length === 0 ? sql`cast(null, 'Nullable(String)')` : sql`coalesce(${list(parts)}, null)`;
}
