/** buildschema: what types the values of a group have, by their paths. */
import { SERVICE_QUERY_SCHEMA } from '../../limits.ts';
import type { ValueKind } from './kind.ts';
import { list, sql, type Sql, type SqlParams } from './sql.ts';
import { facetsOf, one, type SqlValue } from './value.ts';

/** Names of types as JSON texts; those of JSON values are found in their text. */
const TYPES: Readonly<Record<Exclude<ValueKind, 'json'>, Sql>> = {
  int: sql`'"long"'`,
  real: sql`'"double"'`,
  string: sql`'"string"'`,
  bool: sql`'"bool"'`,
  datetime: sql`'"datetime"'`,
  timespan: sql`'"timespan"'`,
};

/** Paths are arrays of keys as JSON texts. */
const NO_ENTRIES = sql`cast([], 'Array(Tuple(Array(String), String))')`;
const NO_PATH = sql`cast([], 'Array(String)')`;
/** Markers beside types: a value with children, and the items of an array, which may be empty. */
const PARENT = sql`'{'`;
const ITEMS = sql`''`;
const INDEXER = sql`'"\`indexer\`"'`;

const TOKENS = String.raw`"(?:[^"\\]|\\.)*"\s*:?|[{}\[\]]|[-+0-9.eE]+|true|false|null`;

/** Of a JSON text the path and type of each value in it. */
function entriesOf(json: Sql, params: SqlParams): Sql {
  const tokens = sql`extractAll(assumeNotNull(${json}), ${params.string(TOKENS)})`;
  const isKey = sql`endsWith(t, ':')`;
  const path = sql`multiIf(${isKey}, arrayPushBack(arrayPopBack(a.1), trimRight(substring(t, 1, length(t) - 1))), t = '{', arrayPushBack(a.1, ''), t = '[', arrayPushBack(a.1, ${INDEXER}), t in ('}', ']'), arrayPopBack(a.1), a.1)`;
  const type = sql`multiIf(startsWith(t, '"'), '"string"', t in ('true', 'false'), '"bool"', match(t, '[.eE]'), '"double"', '"long"')`;
  const entries = sql`multiIf(t = '{', arrayPushBack(a.2, tuple(a.1, ${PARENT})), t = '[', arrayConcat(a.2, [tuple(a.1, ${PARENT}), tuple(arrayPushBack(a.1, ${INDEXER}), ${ITEMS})]), ${isKey} or t in ('}', ']', 'null'), a.2, arrayPushBack(a.2, tuple(a.1, ${type})))`;
  return sql`if(isNull(${json}), ${NO_ENTRIES}, arrayDistinct(arrayFold((a, t) -> tuple(${path}, ${entries}), ${tokens}, tuple(${NO_PATH}, ${NO_ENTRIES})).2))`;
}

/** The entries `s` of all values as one JSON text: paths in their order are a tree from the root down. */
const WRITTEN = ((): Sql => {
  const types = sql`arraySort(arrayMap(y -> y.2, arrayFilter(y -> y.1 = q and y.2 not in (${PARENT}, ${ITEMS}), s)))`;
  const isParent = sql`arrayExists(y -> y.1 = q and y.2 = ${PARENT}, s)`;
  const opened = sql`multiIf(c, if(empty(w), '{', concat('[', arrayStringConcat(w, ','), ',{')), length(w) = 1, w[1], concat('[', arrayStringConcat(w, ','), ']'))`;
  const closed = sql`multiIf(not c, '', empty(w), '}', '}]')`;
  const before = sql`concat(if(n > 1 and length(p[n - 1]) >= length(q), ',', ''), if(empty(q), '', concat(q[-1], ':')))`;
  const piece = sql`arrayMap((w, c) -> tuple(length(q), concat(${before}, ${opened}), ${closed}), [${types}], [${isParent}])[1]`;
  const pieces = sql`arrayMap((q, n) -> ${piece}, p, arrayEnumerate(p))`;
  const ends = (array: Sql): Sql => sql`arrayStringConcat(arrayReverse(${array}))`;
  const folded = sql`arrayFold((a, x) -> tuple(concat(a.1, ${ends(sql`arraySlice(a.2, x.1 + 1)`)}, x.2), arrayPushBack(arraySlice(a.2, 1, x.1), x.3)), ${pieces}, tuple('', ${NO_PATH}))`;
  const paths = sql`arraySort(arrayReduce('groupUniqArrayArray', arrayMap(y -> arrayMap(n -> arraySlice(y.1, 1, n), range(length(y.1) + 1)), s)))`;
  return sql`arrayMap(p -> arrayMap(f -> concat(f.1, ${ends(sql`f.2`)}), [${folded}])[1], [${paths}])[1]`;
})();

/** Of the values of a group, as an aggregation. */
export function typeSchema(value: SqlValue, params: SqlParams): SqlValue {
  const facets = facetsOf(value);
  if (facets.length === 0) return { facets: {} };
  const entries = facets.map(([kind, facet]) =>
    kind === 'json'
      ? entriesOf(facet, params)
      : sql`if(isNull(${facet}), ${NO_ENTRIES}, [tuple(${NO_PATH}, ${TYPES[kind]})])`,
  );
  const all = sql`groupUniqArrayArray(${SERVICE_QUERY_SCHEMA})(${entries.length === 1 ? entries[0]! : sql`arrayConcat(${list(entries)})`})`;
  return one('json', sql`arrayMap(s -> if(empty(s), null, ${WRITTEN}), [${all}])[1]`);
}
