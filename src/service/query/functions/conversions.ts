/** From one type to another, what is there and what is not, and choosing between values. */
import type { Kind } from '../values/kind.ts';
import { sql, type Sql } from '../values/sql.ts';
import { asJson, choose, constantValue, exists, facetsOf, firstOf, isNull, one, oneRequired, type Value } from '../values/value.ts';
import { readDatetime, readSpanText } from '../../../language/syntax/literals.ts';
import { jsonValue } from '../values/json.ts';
import type { Type } from '../../../language/types.ts';
import { timeOf } from './arithmetic.ts';
import type { CONDITIONALS, CONVERSIONS } from '../../../language/functions/conversions.ts';
import type { Build, Builders, Call } from './call.ts';

/** A conversion: how a facet of each kind becomes the wanted type; what is not named becomes null. */
function conversion(
  returns: Type & Kind,
  by: (call: Call) => Partial<Record<Kind, (facet: Sql) => Sql>>,
  fixed?: (text: string) => bigint | undefined,
): Build {
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

const CONVERSIONS_OF_TYPE = {
  toint: conversion('int', () => ({
    int: same, real: whole, bool: (facet) => sql`toInt64(${facet})`, datetime: nanos, timespan: same, string: (facet) => sql`toInt64OrNull(${facet})`,
  })),
  todouble: conversion('real', () => ({
    int: float, real: same, bool: float, datetime: (facet) => float(nanos(facet)), timespan: float, string: (facet) => sql`toFloat64OrNull(${facet})`,
  })),
  tobool: conversion('bool', () => ({
    bool: same, int: (facet) => sql`${facet} != 0`, real: (facet) => sql`${facet} != 0`, timespan: (facet) => sql`${facet} != 0`, datetime: (facet) => sql`${nanos(facet)} != 0`,
    string: (facet) => sql`multiIf(${facet} in ('1', 't', 'T', 'TRUE', 'true', 'True'), true, ${facet} in ('0', 'f', 'F', 'FALSE', 'false', 'False'), false, null)`,
  })),
  todatetime: conversion('datetime', (call) => ({
    datetime: same, string: (facet) => sql`parseDateTime64BestEffortOrNull(${facet}, 9, 'UTC')`,
    int: (facet) => timeOf(call, sql`toInt128(${facet})`).facets.datetime!, real: (facet) => timeOf(call, sql`toInt128(${whole(facet)})`).facets.datetime!,
  }), readDatetime),
  totimespan: conversion('timespan', () => ({ timespan: same, int: same, real: whole, string: spanOf }), readSpanText),
}; // prettier-ignore

const GETTYPE: Readonly<Record<Kind, (facet: Sql) => Sql>> = {
  int: () => sql`'long'`, real: () => sql`'real'`, string: () => sql`'string'`, bool: () => sql`'bool'`, datetime: () => sql`'datetime'`, timespan: () => sql`'timespan'`,
  json: (facet) => sql`if(startsWith(${facet}, '['), 'array', 'dictionary')`,
}; // prettier-ignore

function getType(call: Call): Value {
  const parts = facetsOf(call.value(0)).map(([kind, facet]) => sql`isNotNull(${facet}), ${GETTYPE[kind](facet)}, `);
  return oneRequired('string', parts.length === 0 ? sql`'null'` : sql`multiIf(${parts.reduce((text, part) => sql`${text}${part}`)}'null')`);
}

/** A text that is empty counts as missing. */
const given = (value: Value): Sql =>
  value.facets.string ? sql`(${exists(value)} and ifNull(${value.facets.string} != '', true))` : exists(value);

function coalesce(call: Call): Value {
  const values = Array.from({ length: call.count }, (_, n) => call.value(n));
  return values.reduceRight<Value>((rest, value) => choose(given(value), value, rest), { facets: {} });
}

function cases(call: Call): Value {
  if (call.count % 2 === 0) throw call.fail(call.count - 1, 'wanted pairs of condition and result, then the result of no match');
  let result = call.value(call.count - 1);
  for (let n = call.count - 3; n >= 0; n -= 2) result = choose(call.condition(n), call.value(n + 1), result);
  return result;
}

const test =
  (build: (value: Value) => Sql): Build =>
  (call) =>
    oneRequired('bool', build(call.value(0)));
const holds = (kind: Kind) => (value: Value): Sql => (value.facets[kind] ? sql`isNotNull(${value.facets[kind]})` : sql`false`); // prettier-ignore

export const CONVERSIONS_SQL: Builders<typeof CONVERSIONS> = {
  ...CONVERSIONS_OF_TYPE,
  tostring: (call) => oneRequired('string', sql`ifNull(${call.string(0)}, '')`),
  parse_json: (call) => {
      const { string, json } = call.value(0).facets;
      const text = string && json ? sql`coalesce(${string}, ${json})` : (string ?? json ?? call.string(0));
      return jsonValue(sql`if(isValidJSON(${text}), ${text}, null)`);
    },
  dynamic_to_json: (call) => one('string', asJson(call.value(0))),
  gettype: getType,
}; // prettier-ignore

export const CONDITIONALS_SQL: Builders<typeof CONDITIONALS> = {
  iff: (call) => choose(call.condition(0), call.value(1), call.value(2)),
  case: cases,
  coalesce,
  // What it gives where there never was the field is in the column's node.
  column_ifexists: (call) => call.value(0),
  isnull: test(isNull),
  isnotnull: test(exists),
  isempty: test((value) => sql`not ${given(value)}`),
  isnotempty: test(given),
  isbool: test(holds('bool')),
  isstring: test(holds('string')),
  isreal: test(holds('real')),
  not: (call) => {
      const { required, facets } = call.value(0);
      return required && facets.bool ? oneRequired('bool', sql`not ${facets.bool}`) : one('bool', sql`not ${call.bool(0)}`);
    },
}; // prettier-ignore
