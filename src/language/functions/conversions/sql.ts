/** From one type to another. */
import type { ValueKind } from '../../../service/query/values/kind.ts';
import { sql, type Sql } from '../../../service/query/values/sql.ts';
import {
  asJson,
  constantValue,
  facetsOf,
  firstOf,
  one,
  oneRequired,
  type SqlValue,
} from '../../../service/query/values/value.ts';
import { readDatetime, readSpanText } from '../../syntax/literals.ts';
import { jsonValue } from '../../../service/query/values/json.ts';
import type { Type } from '../../types.ts';
import { timeOf } from '../arithmetic/sql.ts';
import type { CONVERSIONS } from './spec.ts';
import type { SqlBuild, SqlBuilders, SqlCall } from '../../../service/query/values/call.ts';

/** A conversion by the facet's kind; kinds left out become null. */
function conversion(
  returns: Type & ValueKind,
  by: (call: SqlCall) => Partial<Record<ValueKind, (facet: Sql) => Sql>>,
  fixed?: (text: string) => bigint | undefined,
): SqlBuild {
  return (call) => {
    const value = call.value(0);
    if (fixed && value.constant?.type === 'string') {
      const read = fixed(value.constant.value as string);
      return constantValue({ type: returns, value: read ?? null }, call.params);
    }
    const ways = by(call);
    const parts = facetsOf(value).flatMap(([kind, facet]) => (ways[kind] ? [one(returns, ways[kind](facet))] : []));
    return parts.length === 0 ? { facets: {} } : parts.length === 1 ? parts[0]! : firstOf(parts);
  };
}

const same = (facet: Sql): Sql => facet;
const nanos = (facet: Sql): Sql => sql`toUnixTimestamp64Nano(${facet})`;
const whole = (facet: Sql): Sql => sql`accurateCastOrNull(trunc(${facet}), 'Int64')`;
const float = (facet: Sql): Sql => sql`toFloat64(${facet})`;

const SPAN = sql`'([0-9]+(?:\\\\.[0-9]+)?)(ns|us|µs|ms|s|m|h|d)'`;
/** ns of a duration as Go writes it. */
const spanOf = (text: Sql): Sql =>
  sql`if(match(${text}, '^[+-]?(?:[0-9]+(?:\\\\.[0-9]+)?(?:ns|us|µs|ms|s|m|h|d))+$'),
 if(startsWith(${text}, '-'), -1, 1) * accurateCastOrNull(arraySum(e -> toFloat64(e[1]) * transform(e[2], ['ns', 'us', 'µs', 'ms', 's', 'm', 'h', 'd'], [1., 1e3, 1e3, 1e6, 1e9, 60e9, 3600e9, 86400e9], 0.), extractAllGroupsVertical(ifNull(${text}, ''), ${SPAN})), 'Int64'), null)`;

/** Decimal, or hexadecimal after 0x. */
export const integerOf = (text: Sql): Sql =>
  sql`if(match(${text}, '^0[xX][0-7]?[0-9a-fA-F]{1,15}$'), reinterpretAsInt64(reverse(unhex(leftPad(substring(ifNull(${text}, ''), 3), 16, '0')))), toInt64OrNull(${text}))`;

const CONVERSIONS_OF_TYPE = {
  toint: conversion('int', () => ({
    int: same,
    real: whole,
    bool: (facet) => sql`toInt64(${facet})`,
    datetime: nanos,
    timespan: same,
    string: integerOf,
  })),
  todouble: conversion('real', () => ({
    int: float,
    real: same,
    bool: float,
    datetime: (facet) => float(nanos(facet)),
    timespan: float,
    string: (facet) => sql`toFloat64OrNull(${facet})`,
  })),
  tobool: conversion('bool', () => ({
    bool: same,
    int: (facet) => sql`${facet} != 0`,
    real: (facet) => sql`${facet} != 0`,
    timespan: (facet) => sql`${facet} != 0`,
    datetime: (facet) => sql`${nanos(facet)} != 0`,
    string: (facet) =>
      sql`multiIf(lower(${facet}) in ('1', 't', 'true', 'yes'), true, lower(${facet}) in ('0', 'f', 'false', 'no'), false, null)`,
  })),
  todatetime: conversion(
    'datetime',
    (call) => ({
      datetime: same,
      string: (facet) => sql`parseDateTime64BestEffortOrNull(${facet}, 9, 'UTC')`,
      int: (facet) => timeOf(call, sql`toInt128(${facet})`).facets.datetime!,
      real: (facet) => timeOf(call, sql`toInt128(${whole(facet)})`).facets.datetime!,
    }),
    readDatetime,
  ),
  totimespan: conversion('timespan', () => ({ timespan: same, int: same, real: whole, string: spanOf }), readSpanText),
};

const GETTYPE: Readonly<Record<ValueKind, (facet: Sql) => Sql>> = {
  int: () => sql`'long'`,
  real: () => sql`'real'`,
  string: () => sql`'string'`,
  bool: () => sql`'bool'`,
  datetime: () => sql`'datetime'`,
  timespan: () => sql`'timespan'`,
  json: (facet) => sql`if(startsWith(${facet}, '['), 'array', 'dictionary')`,
};

function getType(call: SqlCall): SqlValue {
  const parts = facetsOf(call.value(0)).map(([kind, facet]) => sql`isNotNull(${facet}), ${GETTYPE[kind](facet)}, `);
  return oneRequired(
    'string',
    parts.length === 0 ? sql`'null'` : sql`multiIf(${parts.reduce((text, part) => sql`${text}${part}`)}'null')`,
  );
}

const parsed = (text: Sql): SqlValue => jsonValue(sql`if(isValidJSON(${text}), ${text}, null)`);

function textOf(call: SqlCall): Sql {
  const { string, json } = call.value(0).facets;
  return string && json ? sql`coalesce(${string}, ${json})` : (string ?? json ?? call.string(0));
}

export const CONVERSIONS_SQL: SqlBuilders<typeof CONVERSIONS> = {
  ...CONVERSIONS_OF_TYPE,
  tostring: (call) => oneRequired('string', sql`ifNull(${call.string(0)}, '')`),
  parse_json: (call) => {
    const text = textOf(call);
    return firstOf([parsed(text), one('string', sql`if(isValidJSON(${text}), null, ${text})`)]);
  },
  todynamic: (call) => parsed(textOf(call)),
  dynamic_to_json: (call) => one('string', asJson(call.value(0))),
  gettype: getType,
};
