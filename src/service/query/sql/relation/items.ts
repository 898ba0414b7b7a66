/** What mv-expand makes rows of: the items of arrays and objects. */
import { itemAt } from '../../values/json.ts';
import { sql, type Sql } from '../../values/sql.ts';
import { jsonString } from '../../values/text.ts';
import { choose, NULL_VALUE, type SqlValue } from '../../values/value.ts';

/** JSON text where it is an array, else null. */
export const arrayOf = (json: Sql): Sql => sql`if(startsWith(${json}, '['), ${json}, null)`;

/** An object as an array of its keys; anything else stays as it is. */
export function withItems(value: SqlValue, items: 'bag' | 'array'): SqlValue {
  const { json } = value.facets;
  if (!json) return value;
  const key = jsonString(sql`e.1`);
  const item = items === 'bag' ? sql`concat('{', ${key}, ':', e.2, '}')` : sql`concat('[', ${key}, ',', e.2, ']')`;
  const array = sql`concat('[', arrayStringConcat(arrayMap(e -> ${item}, JSONExtractKeysAndValuesRaw(ifNull(${json}, ''))), ','), ']')`;
  return { ...value, facets: { ...value.facets, json: sql`if(startsWith(${json}, '{'), ${array}, ${json})` } };
}

/** An item of an array; any other value is in the first row only. */
export function itemOrSelf(value: SqlValue, at: Sql): SqlValue {
  const { json } = value.facets;
  const alone = choose(sql`${at} = 0`, value, NULL_VALUE);
  return json ? choose(sql`startsWith(${json}, '[')`, itemAt(value, at), alone) : alone;
}
