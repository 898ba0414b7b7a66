/**
 * Turns a field of an event into SQL. A field's name is a key of the maps s, i, f, b and j, one for each type of value (`engine/tables`): of several
 * of them when its type differed between events, of none when the value is null. The name is bound. A common field has columns of its own instead
 * (`engine/own-columns`).
 */
import type { OwnFields, OwnMap } from '../../engine/own-columns.ts';
import { EMPTY_BIT, HUGE_BIT, MAP_KEY, OLD_BIT, storedNames, TYPE_BITS, ZERO_BIT } from '../../datasets/field-types.ts';
import { any, list, ownColumnSql, sql, type Sql, type SqlParams } from '../values/sql.ts';
import { firstOf, NULL_VALUE, type Facets, type SqlValue } from '../values/value.ts';
import { jsonString } from '../values/text.ts';

/** The maps of an event at one level of a statement, and the service's own columns. */
export interface EventSql {
  readonly s: Sql;
  readonly i: Sql;
  readonly f: Sql;
  readonly b: Sql;
  readonly j: Sql;
  readonly time: Sql;
  readonly sysTime: Sql;
  readonly rowId: Sql;
  /** By field, the own columns that replace its values in the maps s, i, f and b. */
  readonly own: ReadonlyMap<string, OwnSql>;
}
export type OwnSql = Readonly<Partial<Record<OwnMap, Sql>>>;

/** The kind of value that each map holds. */
export const OWN_KINDS = { s: 'string', i: 'int', f: 'real', b: 'bool' } as const;

export const ownSql = (own: OwnFields): EventSql['own'] =>
  new Map([...own].map(([field, columns]) => [field, mapOwn(columns, ownColumnSql)]));

function mapOwn<T extends string>(own: Readonly<Partial<Record<OwnMap, T>>>, change: (column: T) => Sql): OwnSql {
  return Object.fromEntries(Object.entries(own).map(([map, column]) => [map, change(column)]));
}

export const TABLE_EVENT: EventSql = {
  s: sql`s`,
  i: sql`i`,
  f: sql`f`,
  b: sql`b`,
  j: sql`j`,
  time: sql`_time`,
  sysTime: sql`_sysTime`,
  rowId: sql`_rowId`,
  own: new Map(),
};

/** Events as a table holds them. */
export const isStored = (event: EventSql | undefined): event is EventSql => event?.s === TABLE_EVENT.s;

/** The event with what `change` makes of each part. */
export function mapEvent(event: EventSql, change: (part: Sql) => Sql): EventSql {
  const { s, i, f, b, j, time, sysTime, rowId, own } = event;
  return {
    s: change(s),
    i: change(i),
    f: change(f),
    b: change(b),
    j: change(j),
    time: change(time),
    sysTime: change(sysTime),
    rowId: change(rowId),
    own: new Map([...own].map(([field, columns]) => [field, mapOwn(columns, change)])),
  };
}

/** A field by the name that a query gives it; undefined where no event ever had it. */
export function namedValue(
  event: EventSql,
  fields: ReadonlyMap<string, number>,
  name: string,
  params: SqlParams,
): SqlValue | undefined {
  const values = storedNames(fields, name).map((stored) => fieldValue(event, stored, fields.get(stored)!, params));
  const value = values.length < 2 ? values[0] : firstOf(values);
  if (value === undefined || !((fields.get(name) ?? 0) & TYPE_BITS.map)) return value;
  const keyOf = (key: string): SqlValue => ({
    ...(fields.has(key) ? fieldValue(event, key, fields.get(key)!, params) : NULL_VALUE),
    item: (inside) => keyOf(`${key}.${inside}`),
  });
  return { ...value, item: (key) => keyOf(`${name}${MAP_KEY}${key}`) };
}

/** A field with the types that it has had (`TYPE_BITS`). */
export function fieldValue(event: EventSql, name: string, bits: number, params: SqlParams): SqlValue {
  if (bits === 0) return NULL_VALUE;
  const key = params.string(name);
  const json = sql`${event.j}[${key}]`;
  const facets: { -readonly [K in keyof Facets]: Facets[K] } = {};
  const plain: { -readonly [K in keyof Facets]: Facets[K] } = {};
  const present: Sql[] = [];
  /** `missing`: what a missing key reads as; `marker`: how `j` holds a value that is that, when the field ever had one. */
  const add = (
    kind: 'int' | 'real' | 'string' | 'bool',
    letter: OwnMap,
    missing: Sql,
    marker: Sql | undefined,
  ): void => {
    const own = event.own.get(name)?.[letter];
    if (own !== undefined) {
      facets[kind] = own;
      present.push(sql`isNotNull(${own})`);
      return;
    }
    const map = event[letter];
    const value = sql`${map}[${key}]`;
    const there = bits & OLD_BIT ? sql`mapContains(${map}, ${key})` : sql`${value} != ${missing}`;
    plain[kind] = value;
    if (marker) facets[kind] = sql`multiIf(${there}, ${value}, ${json} = ${marker}, ${missing}, null)`;
    else facets[kind] = bits & OLD_BIT ? sql`if(${there}, ${value}, null)` : sql`nullIf(${value}, ${missing})`;
    present.push(there, ...(marker ? [sql`${json} = ${marker}`] : []));
  };
  if (bits & TYPE_BITS.string) add('string', 's', sql`''`, bits & EMPTY_BIT ? sql`'""'` : undefined);
  if (bits & TYPE_BITS.integer) add('int', 'i', sql`0`, bits & ZERO_BIT ? sql`'0'` : undefined);
  // A float is never 0: a number without a fraction is stored as an integer.
  if (bits & TYPE_BITS.float) add('real', 'f', sql`0`, undefined);
  if (bits & TYPE_BITS.boolean) add('bool', 'b', sql`false`, sql`'false'`);
  if (bits & HUGE_BIT) {
    // A number beyond 64 bits is kept as text among the JSON values.
    const huge = sql`if(${json} = '0', null, toFloat64OrNull(${json}))`;
    facets.real = facets.real ? sql`coalesce(${facets.real}, ${huge})` : huge;
    delete plain.real;
    present.push(sql`isNotNull(${huge})`);
  }
  if (bits & (TYPE_BITS.array | TYPE_BITS.object)) {
    // JSON text is never empty, so the default of a missing key tells.
    const array = sql`if(startsWith(${json}, '[') or startsWith(${json}, '{'), ${json}, null)`;
    facets.json = array;
    present.push(sql`isNotNull(${array})`);
  }
  if (bits & TYPE_BITS.map) {
    const members = mapMembers(event, name, params);
    const object = sql`nullIf(concat('{', arrayStringConcat(${members}, ','), '}'), '{}')`;
    facets.json = facets.json ? sql`coalesce(${facets.json}, ${object})` : object;
    present.push(sql`notEmpty(${members})`);
  }
  return { facets, plain, exists: any(present) };
}

/** `"key":value` of each key that an event has in a map field. Keys have no columns of their own. */
function mapMembers({ s, i, f, b, j }: EventSql, name: string, params: SqlParams): Sql {
  const prefix = params.string(name + MAP_KEY);
  const texts = [
    [s, jsonString(sql`v`)],
    [i, sql`toString(v)`],
    [f, sql`toString(v)`],
    [b, sql`if(v, 'true', 'false')`],
    [j, sql`v`],
  ] as const;
  const key = jsonString(sql`substring(k, length(${prefix}) + 1)`);
  const members = texts.map(
    ([map, value]) =>
      sql`arrayMap((k, v) -> if(startsWith(k, ${prefix}), concat(${key}, ':', ${value}), ''), mapKeys(${map}), mapValues(${map}))`,
  );
  return sql`arrayFilter(m -> m != '', arrayConcat(${list(members)}))`;
}

/** The text of all fields. */
export function eventText({ s, i, f, j, own }: EventSql): Sql {
  const maps = sql`arrayStringConcat(arrayConcat(mapValues(${s}), arrayMap(e -> toString(e), mapValues(${i})), arrayMap(e -> toString(e), mapValues(${f})), mapValues(${j})), '\\x01')`;
  const columns = [...own.values()].flatMap((column) => [
    ...(column.s ? [sql`if(${column.s} = '', '""', ifNull(${column.s}, ''))`] : []),
    ...(column.i ? [sql`ifNull(toString(${column.i}), '')`] : []),
    ...(column.f ? [sql`ifNull(toString(${column.f}), '')`] : []),
    // Like the JSON values, which hold false but not true.
    ...(column.b ? [sql`if(${column.b} = false, 'false', '')`] : []),
  ]);
  return columns.length === 0 ? maps : sql`concatWithSeparator('\\x01', ${list([maps, ...columns])})`;
}

/** Ids sort as text in the order of time, then of arrival: 16 hex digits each. */
export function rowIdText({ time, rowId }: EventSql): Sql {
  const hex = (value: Sql): Sql => sql`leftPad(lower(hex(${value})), 16, '0')`;
  return sql`concat(${hex(sql`bitXor(reinterpretAsUInt64(toUnixTimestamp64Nano(${time})), 9223372036854775808)`)}, ${hex(rowId)})`;
}

const SIGN = 1n << 63n;

/** The same in TypeScript, of the cells of a result. */
export function writeRowId(timeNs: bigint, rowId: bigint): string {
  return (
    BigInt.asUintN(64, timeNs ^ SIGN)
      .toString(16)
      .padStart(16, '0') + rowId.toString(16).padStart(16, '0')
  );
}

/** The time and number of a row id, or undefined for other text. */
export function readRowId(text: string): { readonly time: bigint; readonly rowId: bigint } | undefined {
  if (!/^[0-9a-f]{32}$/i.test(text)) return undefined;
  return { time: BigInt.asIntN(64, BigInt(`0x${text.slice(0, 16)}`) ^ SIGN), rowId: BigInt(`0x${text.slice(16)}`) };
}
