/** Values out of JSON text: what `parse_json` reads and `[…]` takes out of arrays and objects. */
import { sql, type Sql, type SqlParams } from './sql.ts';
import { NULL_VALUE, type SqlValue } from './value.ts';

export function jsonValue(json: Sql): SqlValue {
  const when = (types: Sql, value: Sql): Sql => sql`if(JSONType(${json}) in (${types}), ${value}, null)`;
  return {
    facets: {
      int: when(sql`'Int64', 'UInt64'`, sql`JSONExtract(${json}, 'Nullable(Int64)')`),
      real: when(sql`'Double'`, sql`JSONExtractFloat(${json})`),
      string: when(sql`'String'`, sql`JSONExtractString(${json})`),
      bool: when(sql`'Bool'`, sql`JSONExtractBool(${json})`),
      json: when(sql`'Array', 'Object'`, json),
    },
  };
}

/** An item of an array (from 0, or from the end below it) or of an object; null where it has none. */
export function jsonItem(value: SqlValue, key: string | bigint, params: SqlParams): SqlValue {
  const { json } = value.facets;
  if (typeof key === 'string' && value.item) return value.item(key);
  if (!json) return NULL_VALUE;
  if (typeof key === 'string') return jsonValue(sql`nullIf(JSONExtractRaw(${json}, ${params.string(key)}), '')`);
  return itemAt(value, params.int(key));
}

/** The same for an index that is computed per row. */
export function itemAt(value: SqlValue, index: Sql): SqlValue {
  const { json } = value.facets;
  return json
    ? jsonValue(
        sql`if(startsWith(${json}, '['), nullIf(JSONExtractRaw(${json}, if(${index} < 0, ${index}, ${index} + 1)), ''), null)`,
      )
    : NULL_VALUE;
}
