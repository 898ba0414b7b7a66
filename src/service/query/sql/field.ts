/**
 * The one place where a field of an event becomes SQL. A field's name is a key of the maps s, i, f, b and j, one for each type of value
 * (`engine/tables`); it may be in several of them (its type differed between events), and where it is in none the value is null. The name is bound.
 */
import { EMPTY_BIT, HUGE_BIT, OLD_BIT, TYPE_BITS, ZERO_BIT } from '../../datasets/catalog.ts';
import { any, sql, type Params, type Sql } from './sql.ts';
import { NULL_VALUE, type Facets, type Value } from './value.ts';

/** The maps of an event at one level of a statement, and what the service itself knows of it. */
export interface EventSql {
  readonly s: Sql;
  readonly i: Sql;
  readonly f: Sql;
  readonly b: Sql;
  readonly j: Sql;
  readonly time: Sql;
  readonly sysTime: Sql;
  readonly rowId: Sql;
}

export const TABLE_EVENT: EventSql = { s: sql`s`, i: sql`i`, f: sql`f`, b: sql`b`, j: sql`j`, time: sql`_time`, sysTime: sql`_sysTime`, rowId: sql`_rowId` }; // prettier-ignore

/** The event with what `change` makes of each part. */
export function mapEvent(event: EventSql, change: (part: Sql) => Sql): EventSql {
  const { s, i, f, b, j, time, sysTime, rowId } = event;
  return {
    s: change(s),
    i: change(i),
    f: change(f),
    b: change(b),
    j: change(j),
    time: change(time),
    sysTime: change(sysTime),
    rowId: change(rowId),
  };
}

/** A field with the types that it has had (`TYPE_BITS`). */
export function fieldValue(event: EventSql, name: string, bits: number, params: Params): Value {
  if (bits === 0) return NULL_VALUE;
  const key = params.string(name);
  const json = sql`${event.j}[${key}]`;
  const facets: { -readonly [K in keyof Facets]: Facets[K] } = {};
  const plain: { -readonly [K in keyof Facets]: Facets[K] } = {};
  const present: Sql[] = [];
  /** `missing`: what a missing key reads as; `marker`: how `j` holds a value that is that, when the field ever had one. */
  const add = (kind: 'int' | 'real' | 'string' | 'bool', map: Sql, missing: Sql, marker: Sql | undefined): void => {
    const value = sql`${map}[${key}]`;
    const there = bits & OLD_BIT ? sql`mapContains(${map}, ${key})` : sql`${value} != ${missing}`;
    plain[kind] = value;
    if (marker) facets[kind] = sql`multiIf(${there}, ${value}, ${json} = ${marker}, ${missing}, null)`;
    else facets[kind] = bits & OLD_BIT ? sql`if(${there}, ${value}, null)` : sql`nullIf(${value}, ${missing})`;
    present.push(there, ...(marker ? [sql`${json} = ${marker}`] : []));
  };
  if (bits & TYPE_BITS.string) add('string', event.s, sql`''`, bits & EMPTY_BIT ? sql`'""'` : undefined);
  if (bits & TYPE_BITS.integer) add('int', event.i, sql`0`, bits & ZERO_BIT ? sql`'0'` : undefined);
  // A float is never 0: what has no fraction is an integer.
  if (bits & TYPE_BITS.float) add('real', event.f, sql`0`, undefined);
  if (bits & TYPE_BITS.boolean) add('bool', event.b, sql`false`, sql`'false'`);
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
  return { facets, plain, exists: any(present) };
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

/** The time and number of a row id, or undefined when the text is none. */
export function readRowId(text: string): { readonly time: bigint; readonly rowId: bigint } | undefined {
  if (!/^[0-9a-f]{32}$/i.test(text)) return undefined;
  return { time: BigInt.asIntN(64, BigInt(`0x${text.slice(0, 16)}`) ^ SIGN), rowId: BigInt(`0x${text.slice(16)}`) };
}
