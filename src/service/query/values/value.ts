/**
 * A value in SQL. A field's type may differ from event to event, so a value is a set of facets: one nullable SQL expression for each type it may
 * have, of which at most one is not null. A value without facets is null.
 */
import type { Constant, Type } from '../../../language/types.ts';
import { KINDS, type ValueKind } from './kind.ts';
import { any, first, list, sql, type Sql, type SqlParams } from './sql.ts';
import { durationText, jsonOf, timeText } from './text.ts';

export type Facets = Readonly<Partial<Record<ValueKind, Sql>>>;

export interface SqlValue {
  readonly facets: Facets;
  /** Cheaper forms of facets, for conditions that 0, '' and false cannot meet: a missing value reads as those. */
  readonly plain?: Facets;
  /** A cheaper test for a value than its facets, if there is one. */
  readonly exists?: Sql;
  /** True when it is never null. */
  readonly required?: boolean;
  /** Its constant, if it is one. */
  readonly constant?: Constant;
  /** Of a map field: the value of a key, which costs less than taking it out of the object. */
  readonly item?: (key: string) => SqlValue;
}

export const NULL_VALUE: SqlValue = { facets: {} };

/** In parentheses, unless it is a name, so that operators beside it bind right. */
const atom = (facet: Sql): Sql => (/^\w+$/.test(facet) ? facet : sql`(${facet})`);
export const one = (kind: ValueKind, facet: Sql): SqlValue => ({ facets: { [kind]: atom(facet) } });
export const oneRequired = (kind: ValueKind, facet: Sql): SqlValue => ({
  facets: { [kind]: atom(facet) },
  required: true,
});

/** The facet of a constant that is not null. */
const CONSTANTS: Readonly<Record<Type, (value: NonNullable<Constant['value']>, params: SqlParams) => Facets>> = {
  bool: (value) => ({ bool: value === true ? sql`true` : sql`false` }),
  int: (value, params) => ({ int: params.bind('Int64', value as bigint) }),
  real: (value, params) => ({ real: params.bind('Float64', value as number) }),
  string: (value, params) => ({ string: params.string(value as string) }),
  datetime: (value, params) => ({ datetime: params.time(value as bigint) }),
  timespan: (value, params) => ({ timespan: params.int(value as bigint) }),
  dynamic: (value, params) => ({ json: params.string(value as string) }),
};

export function constantValue(constant: Constant, params: SqlParams): SqlValue {
  const { type, value } = constant;
  return value === null
    ? { facets: {}, constant }
    : { facets: CONSTANTS[type](value, params), constant, required: true };
}

export const facetsOf = (value: SqlValue): [ValueKind, Sql][] =>
  KINDS.flatMap((kind) => (value.facets[kind] ? [[kind, value.facets[kind]]] : []));

/** A condition, never null: the value is there. */
export function exists(value: SqlValue): Sql {
  if (value.required === true) return sql`true`;
  return value.exists ?? any(facetsOf(value).map(([, facet]) => sql`isNotNull(${facet})`));
}

export const isNull = (value: SqlValue): Sql => sql`not ${exists(value)}`;

const NO_STRING = sql`cast(null, 'Nullable(String)')`;
const NO_INT = sql`cast(null, 'Nullable(Int64)')`;
const NO_REAL = sql`cast(null, 'Nullable(Float64)')`;
const NO_BOOL = sql`cast(null, 'Nullable(Bool)')`;
const NO_TIME = sql`cast(null, 'Nullable(DateTime64(9, ''UTC''))')`;

/** Text of one facet as `tostring` writes it. */
const TEXTS: Readonly<Record<ValueKind, (facet: Sql) => Sql>> = {
  string: (facet) => facet,
  json: (facet) => facet,
  int: (facet) => sql`toString(${facet})`,
  real: (facet) => sql`toString(${facet})`,
  bool: (facet) => sql`if(isNull(${facet}), null, if(${facet}, 'true', 'false'))`,
  datetime: timeText,
  timespan: durationText,
};

/** Nullable(String): the text of the value, whatever its type. */
export function asString(value: SqlValue): Sql {
  const facets = facetsOf(value);
  return facets.length === 0 ? NO_STRING : first(facets.map(([kind, facet]) => TEXTS[kind](facet)));
}

/** Nullable(String): the value as JSON. */
export function asJson(value: SqlValue): Sql {
  const facets = facetsOf(value);
  return facets.length === 0 ? NO_STRING : first(facets.map(([kind, facet]) => jsonOf(kind, facet)));
}

export interface Numeric {
  readonly kind: 'int' | 'real';
  readonly sql: Sql;
}

/** The value where it is a number: an integer when it never has a fraction, else a float. */
export function asNumber(value: SqlValue): Numeric {
  const { int, real } = value.facets;
  if (int && real) return { kind: 'real', sql: sql`coalesce(${real}, toFloat64(${int}))` };
  return real ? { kind: 'real', sql: real } : { kind: 'int', sql: int ?? NO_INT };
}

export function asReal(value: SqlValue): Sql {
  const { kind, sql: number } = asNumber(value);
  return kind === 'real' ? number : value.facets.int ? sql`toFloat64(${number})` : NO_REAL;
}

/** Nullable(Int64); a float counts when it is whole and fits. */
export function asInt(value: SqlValue): Sql {
  const { int, real } = value.facets;
  const parts = [...(int ? [int] : []), ...(real ? [sql`accurateCastOrNull(${real}, 'Int64')`] : [])];
  return parts.length === 0 ? NO_INT : first(parts);
}

export const asBool = (value: SqlValue): Sql => value.facets.bool ?? NO_BOOL;
export const asTime = (value: SqlValue): Sql => value.facets.datetime ?? NO_TIME;

/** Nullable(Int64) of ns; plain numbers count as ns. */
export function asSpan(value: SqlValue): Sql {
  const { timespan, int, real } = value.facets;
  const parts = [
    ...(timespan ? [timespan] : []),
    ...(int ? [int] : []),
    ...(real ? [sql`accurateCastOrNull(trunc(${real}), 'Int64')`] : []),
  ];
  return parts.length === 0 ? NO_INT : first(parts);
}

/** `condition ? a : b`, where a condition that is null counts as false. */
export const choose = (condition: Sql, a: SqlValue, b: SqlValue): SqlValue => chooseAmong([[condition, a]], b);

/** The value behind the first condition that is true. Flat, as the engine takes long for one inside another. */
export function chooseAmong(
  branches: readonly (readonly [condition: Sql, value: SqlValue])[],
  otherwise: SqlValue,
): SqlValue {
  const facets: Partial<Record<ValueKind, Sql>> = {};
  const values = [...branches.map(([, value]) => value), otherwise];
  for (const kind of KINDS) {
    if (!values.some((value) => value.facets[kind])) continue;
    const cases = branches.map(
      ([condition, value]) => sql`ifNull(${condition}, false), ${value.facets[kind] ?? sql`null`}`,
    );
    const chosen = list([...cases, otherwise.facets[kind] ?? sql`null`]);
    facets[kind] = branches.length === 1 ? sql`if(${chosen})` : sql`multiIf(${chosen})`;
  }
  return { facets, ...(values.every((value) => value.required) && { required: true }) };
}

/** The first of the values that is there. */
export function firstOf(values: readonly SqlValue[]): SqlValue {
  const facets: Partial<Record<ValueKind, Sql>> = {};
  for (const kind of KINDS) {
    if (!values.some((value) => value.facets[kind])) continue;
    const cases = values.map((value) => sql`${exists(value)}, ${value.facets[kind] ?? sql`null`}`);
    facets[kind] = values.length === 1 ? values[0]!.facets[kind]! : sql`multiIf(${list(cases)}, null)`;
  }
  return { facets, ...(values.some((value) => value.required) && { required: true }) };
}

/** The length of the value's SQL: a long one that is used several times is better computed once. */
export const sizeOf = (value: SqlValue): number => facetsOf(value).reduce((sum, [, facet]) => sum + facet.length, 0);
