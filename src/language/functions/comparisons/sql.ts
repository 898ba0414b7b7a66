/** Comparisons (==, <, in, between) and logical operators. How null counts in them: docs/service.md. */
import type { ValueKind } from '../../../service/query/values/kind.ts';
import { all, any, first, joinSql, list, sql, type Sql } from '../../../service/query/values/sql.ts';
import {
  asBool,
  constantValue,
  exists,
  facetsOf,
  one,
  oneRequired,
  type SqlValue,
} from '../../../service/query/values/value.ts';
import { constantOf, type Constant } from '../../types.ts';
import type { COMPARISONS } from './spec.ts';
import type { SqlBuild, SqlBuilders, SqlCall } from '../../../service/query/values/call.ts';

/** Facets of the same class can be compared with each other. */
const CLASSES: Readonly<Record<ValueKind, string>> = {
  int: 'number',
  real: 'number',
  timespan: 'number',
  string: 'string',
  bool: 'bool',
  datetime: 'datetime',
  json: 'json',
};

/** Classes that have an order. */
const SORTED = new Set(['number', 'string', 'datetime']);

const DEFAULTS: Readonly<Partial<Record<ValueKind, string | number | boolean>>> = {
  int: 0,
  real: 0,
  string: '',
  bool: false,
};

type Compare = '=' | '<' | '<=' | '>' | '>=';
const SIGNS: Readonly<Record<Compare, Sql>> = { '=': sql`=`, '<': sql`<`, '<=': sql`<=`, '>': sql`>`, '>=': sql`>=` };
const MIRRORED: Readonly<Record<Compare, Compare>> = { '=': '=', '<': '>', '<=': '>=', '>': '<', '>=': '<=' };

/** True when what a missing field reads as would meet `default <sign> constant`. */
function meetsDefault(kind: ValueKind, sign: Compare, { value }: Constant): boolean {
  const left = DEFAULTS[kind];
  if (left === undefined || value === null) return true;
  return typeof left === 'string' ? HOLDS[sign](left, String(value)) : HOLDS[sign](Number(left), Number(value));
}

const HOLDS: Readonly<Record<Compare, <T extends string | number>(a: T, b: T) => boolean>> = {
  '=': (a, b) => a === b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

/** The facet to compare with a constant: the cheap form where a missing value cannot meet the condition. */
function facetFor(value: SqlValue, kind: ValueKind, sign: Compare, other: SqlValue): Sql {
  const plain = value.plain?.[kind];
  return plain !== undefined && other.constant !== undefined && !meetsDefault(kind, sign, other.constant)
    ? plain
    : value.facets[kind]!;
}

/** Conditions for each pair of facets that can be compared. They are null or, with `cheaply`, false where one of them is missing. */
function pairs(a: SqlValue, b: SqlValue, sign: Compare, cheaply: boolean): Sql[] {
  return facetsOf(a).flatMap(([left, leftSql]) =>
    facetsOf(b)
      .filter(([right]) => CLASSES[left] === CLASSES[right] && (sign === '=' || SORTED.has(CLASSES[left])))
      .map(([right, rightSql]) =>
        cheaply
          ? sql`${facetFor(a, left, sign, b)} ${SIGNS[sign]} ${facetFor(b, right, MIRRORED[sign], a)}`
          : sql`${leftSql} ${SIGNS[sign]} ${rightSql}`,
      ),
  );
}

const settled = (condition: Sql): Sql => sql`ifNull(${condition}, false)`;

/** True when both are there and equal, else false. */
const equalsSql = (a: SqlValue, b: SqlValue): Sql => any(pairs(a, b, '=', true).map(settled));

/** As the language has it: null when both are null, false when one is. */
function equals(a: SqlValue, b: SqlValue, filtering: boolean): SqlValue {
  const condition = equalsSql(a, b);
  if (filtering || a.required || b.required) return oneRequired('bool', condition);
  return one('bool', sql`if(${exists(a)} or ${exists(b)}, ${condition}, null)`);
}

const notNull = (value: SqlValue): boolean => value.required === true;
/** The opposite of a truth value; null stays null. */
export const negate = (value: SqlValue): SqlValue =>
  notNull(value) ? oneRequired('bool', sql`not ${asBool(value)}`) : one('bool', sql`not ${asBool(value)}`);

function ordered(call: SqlCall, sign: Compare): SqlValue {
  const [a, b] = [call.value(0), call.value(1)];
  if (call.filtering) return oneRequired('bool', any(pairs(a, b, sign, true).map(settled)));
  const conditions = pairs(a, b, sign, false);
  return conditions.length === 0 ? { facets: {} } : one('bool', first(conditions));
}

const order =
  (sign: '<' | '<=' | '>' | '>='): SqlBuild =>
  (call) =>
    ordered(call, sign);

/** Items of a constant array, those of arrays inside it too. */
function itemsOf(constant: Constant): Constant[] {
  if (constant.type !== 'dynamic' || typeof constant.value !== 'string') return [constant];
  const flatten = (item: unknown): Constant[] => {
    if (Array.isArray(item)) return item.flatMap(flatten);
    return typeof item === 'object' ? [] : [constantOf(item)];
  };
  const parsed: unknown = JSON.parse(constant.value);
  return Array.isArray(parsed) ? flatten(parsed) : [constant];
}

/** The items of a list in parentheses, each a value; constant arrays are taken apart. */
export function listItems(call: SqlCall): SqlValue[] {
  return Array.from({ length: call.count - 1 }, (_, n) => call.value(n + 1)).flatMap((item) =>
    item.constant ? itemsOf(item.constant).map((constant) => constantValue(constant, call.params)) : [item],
  );
}

function isIn(call: SqlCall): SqlValue {
  const value = call.value(0);
  const items = listItems(call);
  const constants = items.filter(({ constant }) => constant !== undefined && constant.value !== null);
  const sets = facetsOf(value).flatMap(([kind]) => {
    const members = constants.flatMap((item) =>
      facetsOf(item).flatMap(([other, facet]) => (CLASSES[other] === CLASSES[kind] ? [facet] : [])),
    );
    if (members.length === 0) return [];
    const cheap =
      value.plain?.[kind] !== undefined && constants.every(({ constant }) => !meetsDefault(kind, '=', constant!));
    const facet = cheap ? value.plain?.[kind] : value.facets[kind];
    return facet ? [settled(sql`${facet} in (${list(members)})`)] : [];
  });
  const others = items.filter(({ constant }) => constant === undefined).map((item) => equalsSql(value, item));
  return oneRequired('bool', any([...sets, ...others]));
}

function isInIgnoringCase(call: SqlCall): SqlValue {
  const lower = (value: SqlValue): Sql => sql`lowerUTF8(${value.facets.string ?? sql`cast(null, 'Nullable(String)')`})`;
  const left = call.value(0);
  const items = listItems(call).map((item) =>
    item.facets.string ? settled(sql`${lower(left)} = ${lower(item)}`) : equalsSql(left, item),
  );
  return oneRequired('bool', any(items));
}

function between(call: SqlCall): SqlValue {
  const [value, low, high] = [call.value(0), call.value(1), call.value(2)];
  if (call.filtering)
    return oneRequired(
      'bool',
      all([any(pairs(value, low, '>=', true).map(settled)), any(pairs(value, high, '<=', true).map(settled))]),
    );
  const [above, below] = [pairs(value, low, '>=', false), pairs(value, high, '<=', false)];
  if (above.length === 0 || below.length === 0) return { facets: {} };
  return one('bool', sql`(${first(above)} and ${first(below)})`);
}

function connect(call: SqlCall, word: Sql): SqlValue {
  const parts = Array.from({ length: call.count }, (_, n) => n);
  if (call.filtering) {
    const conditions = parts.map((n) => call.condition(n));
    return oneRequired('bool', word === AND ? all(conditions) : any(conditions));
  }
  const values = parts.map((n) => call.value(n));
  const joined = sql`(${joinSql(values.map(asBool), word)})`;
  return values.every(notNull) ? oneRequired('bool', joined) : one('bool', joined);
}
const AND = sql` and `;
const OR = sql` or `;

const lower = (call: SqlCall, n: number): Sql => sql`lowerUTF8(${call.string(n)})`;
const sameIgnoringCase = (call: SqlCall): SqlValue =>
  oneRequired('bool', settled(sql`${lower(call, 0)} = ${lower(call, 1)}`));

export const COMPARISONS_SQL: SqlBuilders<typeof COMPARISONS> = {
  '==': (call) => equals(call.value(0), call.value(1), call.filtering),
  '!=': (call) => negate(equals(call.value(0), call.value(1), false)),
  '=~': sameIgnoringCase,
  '!~': (call) => negate(sameIgnoringCase(call)),
  '<': order('<'),
  '<=': order('<='),
  '>': order('>'),
  '>=': order('>='),
  between,
  '!between': (call) => negate(between({ ...call, filtering: false })),
  in: isIn,
  '!in': (call) => negate(isIn(call)),
  'in~': isInIgnoringCase,
  '!in~': (call) => negate(isInIgnoringCase(call)),
  and: (call) => connect(call, AND),
  or: (call) => connect(call, OR),
};
