/** From one type to another, what is there and what is not, and choosing between values. */
import type { Kind } from '../sql/kind.ts';
import { sql, type Sql } from '../sql/sql.ts';
import { asJson, choose, constantValue, exists, facetsOf, firstOf, isNull, one, oneRequired, type Value } from '../sql/value.ts';
import { readDatetime, readSpanText } from '../syntax/literals.ts';
import { jsonValue } from '../sql/json.ts';
import type { Type } from '../types.ts';
import { timeOf } from './arithmetic.ts';
import { commonType, type Call, type ScalarFunction } from './spec.ts';

/** A conversion: how a facet of each kind becomes the wanted type; what is not named becomes null. */
function conversion(
  names: readonly [string, ...string[]],
  returns: Type & Kind,
  doc: string,
  by: (call: Call) => Partial<Record<Kind, (facet: Sql) => Sql>>,
  fixed?: (text: string) => bigint | undefined,
): ScalarFunction {
  const build = (call: Call): Value => {
    const value = call.value(0);
    if (fixed && value.constant?.type === 'string') {
      const read = fixed(value.constant.value as string);
      return constantValue({ type: returns, value: read ?? null }, call.params);
    }
    const ways = by(call);
    const parts = facetsOf(value).flatMap(([kind, facet]) => (ways[kind] ? [one(returns, ways[kind](facet))] : []));
    return parts.length === 0 ? { facets: {} } : parts.length === 1 ? parts[0]! : firstOf(parts);
  };
  return { names, syntax: `${names[0]}(value)`, doc, args: ['any'], returns, build, keepsName: true };
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

const CONVERSIONS_OF_TYPE: readonly ScalarFunction[] = [
  conversion(['toint', 'tolong'], 'int', 'The value as an integer: floats lose their fraction, times are ns since 1970, timespans ns; null where a text is none.', () => ({
    int: same, real: whole, bool: (facet) => sql`toInt64(${facet})`, datetime: nanos, timespan: same, string: (facet) => sql`toInt64OrNull(${facet})`,
  })),
  conversion(['todouble', 'toreal'], 'real', 'The value as a float; null where a text is none.', () => ({
    int: float, real: same, bool: float, datetime: (facet) => float(nanos(facet)), timespan: float, string: (facet) => sql`toFloat64OrNull(${facet})`,
  })),
  conversion(['tobool', 'toboolean'], 'bool', 'The value as a truth value: numbers that are not 0, the texts 1, t, true, 0, f, false.', () => ({
    bool: same, int: (facet) => sql`${facet} != 0`, real: (facet) => sql`${facet} != 0`, timespan: (facet) => sql`${facet} != 0`, datetime: (facet) => sql`${nanos(facet)} != 0`,
    string: (facet) => sql`multiIf(${facet} in ('1', 't', 'T', 'TRUE', 'true', 'True'), true, ${facet} in ('0', 'f', 'F', 'FALSE', 'false', 'False'), false, null)`,
  })),
  conversion(['todatetime'], 'datetime', 'The value as a time: texts of ISO 8601 and its relatives, numbers as ns since 1970.', (call) => ({
    datetime: same, string: (facet) => sql`parseDateTime64BestEffortOrNull(${facet}, 9, 'UTC')`,
    int: (facet) => timeOf(call, sql`toInt128(${facet})`).facets.datetime!, real: (facet) => timeOf(call, sql`toInt128(${whole(facet)})`).facets.datetime!,
  }), readDatetime),
  conversion(['totimespan', 'totime'], 'timespan', 'The value as a timespan: texts such as 1h30m, numbers as ns.', () => ({ timespan: same, int: same, real: whole, string: spanOf }), readSpanText),
]; // prettier-ignore

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

const test = (name: string, doc: string, build: (value: Value) => Sql): ScalarFunction => ({
  names: [name], syntax: `${name}(value)`, doc, args: ['any'], returns: 'bool', build: (call) => oneRequired('bool', build(call.value(0))),
}); // prettier-ignore
const holds = (kind: Kind) => (value: Value): Sql => (value.facets[kind] ? sql`isNotNull(${value.facets[kind]})` : sql`false`); // prettier-ignore

export const CONVERSIONS: readonly ScalarFunction[] = [
  ...CONVERSIONS_OF_TYPE,
  { names: ['tostring'], syntax: 'tostring(value)', doc: 'The value as text; null becomes the empty text.', args: ['any'], returns: 'string', keepsName: true,
    build: (call) => oneRequired('string', sql`ifNull(${call.string(0)}, '')`) },
  { names: ['parse_json', 'todynamic'], syntax: 'parse_json(text)', doc: 'What the JSON text says, null when it is none.', args: ['any'], returns: 'dynamic',
    build: (call) => {
      const { string, json } = call.value(0).facets;
      const text = string && json ? sql`coalesce(${string}, ${json})` : (string ?? json ?? call.string(0));
      return jsonValue(sql`if(isValidJSON(${text}), ${text}, null)`);
    } },
  { names: ['dynamic_to_json'], syntax: 'dynamic_to_json(value)', doc: 'The value as JSON text.', args: ['any'], returns: 'string', build: (call) => one('string', asJson(call.value(0))) },
  { names: ['gettype'], syntax: 'gettype(value)', doc: 'The type of the value: string, long, real, bool, datetime, timespan, array, dictionary or null.', args: ['any'], returns: 'string', build: getType },
  { names: ['array_length'], syntax: 'array_length(array)', doc: 'How many items the array has.', args: ['any'], returns: 'int',
    build: (call) => {
      const { json } = call.value(0).facets;
      return json ? one('int', sql`if(startsWith(${json}, '['), toInt64(JSONLength(${json})), null)`) : { facets: {} };
    } },
]; // prettier-ignore

export const CONDITIONALS: readonly ScalarFunction[] = [
  { names: ['iff', 'iif'], syntax: 'iff(condition, a, b)', doc: 'a where the condition is true, else b.', args: ['bool', 'any', 'any'], returns: (types) => commonType(types.slice(1)),
    build: (call) => choose(call.condition(0), call.value(1), call.value(2)) },
  { names: ['case'], syntax: 'case(condition, a, …, b)', doc: 'The result of the first condition that is true, else the last one.', args: ['bool', 'any', 'any'], rest: 'any',
    returns: (types) => commonType(types.filter((_, n) => n % 2 === 1 || n === types.length - 1)), build: cases },
  { names: ['coalesce'], syntax: 'coalesce(a, b, …)', doc: 'The first value that is there and no empty text.', args: ['any'], rest: 'any', returns: commonType, build: coalesce },
  test('isnull', 'There is no value.', isNull),
  test('isnotnull', 'There is a value.', exists),
  test('isempty', 'There is no value, or an empty text.', (value) => sql`not ${given(value)}`),
  test('isnotempty', 'There is a value other than the empty text.', given),
  test('isbool', 'The value is a truth value.', holds('bool')),
  test('isstring', 'The value is a text.', holds('string')),
  test('isreal', 'The value is a float.', holds('real')),
  { names: ['not'], syntax: 'not(condition)', doc: 'True where the condition is false.', args: ['bool'], returns: 'bool',
    build: (call) => {
      const value = call.value(0);
      return value.required ? oneRequired('bool', sql`not ${value.facets.bool!}`) : one('bool', sql`not ${call.bool(0)}`);
    } },
]; // prettier-ignore
