/** Functions of objects, and of arrays as sets, as SQL over JSON texts. */
import { pathOf, type BAGS } from './spec.ts';
import { plainOf } from '../../function-spec.ts';
import { keysOf } from '../../plan/literals.ts';
import { alias, all, list, NOTHING, sql, type Sql } from '../../../service/query/values/sql.ts';
import { jsonString } from '../../../service/query/values/text.ts';
import { one, oneRequired, type SqlValue } from '../../../service/query/values/value.ts';
import { arrayOf, jsonText, lengthOf, ofItems, once, rawItem, valuesOf } from '../arrays/sql.ts';
import type { SqlBuilders, SqlCall } from '../../../service/query/values/call.ts';

const isBag = (json: Sql): Sql => sql`startsWith(ifNull(${json}, ''), '{')`;
/** Tuples of key and JSON text. */
const entries = (json: Sql): Sql => sql`JSONExtractKeysAndValuesRaw(ifNull(${json}, ''))`;
const bagOf = (pairs: Sql): Sql =>
  sql`concat('{', arrayStringConcat(arrayMap(e -> concat(${jsonString(sql`e.1`)}, ':', e.2), ${pairs}), ','), '}')`;

/** Builds from objects; null if one argument is not an object. */
const ofBags = (values: readonly SqlValue[], build: (texts: readonly Sql[]) => Sql): Sql =>
  once('bg', values.map(jsonText), (texts) => sql`if(${all(texts.map(isBag))}, ${build(texts)}, null)`);

function packed(call: SqlCall): SqlValue {
  const keys = keysOf(call);
  const pairs = keys.map(
    (key, n) => sql`${call.params.string(`${JSON.stringify(key)}:`)}, ${rawItem(call.value(2 * n + 1))}`,
  );
  return oneRequired(
    'json',
    sql`concat('{', ${list(pairs.map((pair, n) => (n === 0 ? pair : sql`',', ${pair}`)))}, '}')`,
  );
}

/** The first entry of each key. */
function firstEntries(given: Sql): Sql {
  const firsts = (pairs: Sql): Sql =>
    sql`arrayFilter((e, n) -> n = 1, ${pairs}, arrayEnumerateUniq(arrayMap(e -> e.1, ${pairs})))`;
  return once('pr', [given], ([pairs]) => bagOf(firsts(pairs!)));
}

const merged = (texts: readonly Sql[]): Sql => firstEntries(sql`arrayConcat(${list(texts.map(entries))})`);

/** Keys that are texts with the value at their place. */
function zipped([keys, values]: readonly Sql[]): Sql {
  const size = sql`least(length(${keys!}), length(${values!}))`;
  const pairs = sql`arrayFilter(e -> startsWith(e.1, '"'), arrayZip(arraySlice(${keys!}, 1, ${size}), arraySlice(${values!}, 1, ${size})))`;
  return firstEntries(sql`arrayMap(e -> (JSONExtractString(e.1), e.2), ${pairs})`);
}

/** Objects inside of objects: each lambda needs a name of its own. */
function withoutPath(json: Sql, [key, ...rest]: readonly string[], call: SqlCall, depth = 0): Sql {
  const [entry, name] = [alias('pt', depth), call.params.string(key!)];
  const kept =
    rest.length === 0 ? sql`arrayFilter(${entry} -> ${entry}.1 != ${name}, ${entries(json)})` : entries(json);
  const inside =
    rest.length === 0
      ? sql`${entry}.2`
      : sql`if(${entry}.1 = ${name} and startsWith(${entry}.2, '{'), ${withoutPath(sql`${entry}.2`, rest, call, depth + 1)}, ${entry}.2)`;
  const members = sql`arrayMap(${entry} -> concat(${jsonString(sql`${entry}.1`)}, ':', ifNull(${inside}, '')), ${kept})`;
  return sql`if(isNull(${json}), null, concat('{', arrayStringConcat(${members}, ','), '}'))`;
}

/** The key, or what a path in quotes leads to. */
function hasKey(call: SqlCall): SqlValue {
  const { constant } = call.value(1);
  const path = typeof constant?.value === 'string' ? pathOf(constant.value) : undefined;
  const made = ofBags([call.value(0)], ([json]) => {
    const inside = path
      ? sql` or JSONHas(ifNull(${json!}, ''), ${list(path.map((key) => call.params.string(key)))})`
      : NOTHING;
    return sql`if(isNull(${call.string(1)}), null, (has(JSONExtractKeys(ifNull(${json!}, '')), ifNull(${call.string(1)}, ''))${inside}))`;
  });
  return one('bool', made);
}

function removed(call: SqlCall): SqlValue {
  const made = ofItems([call.value(1)], [], ([names]) =>
    once('nm', [sql`arrayMap(e -> if(startsWith(e, '"'), JSONExtractString(e), e), ${names!})`], ([keys]) =>
      ofBags([call.value(0)], ([json]) => bagOf(sql`arrayFilter(e -> not has(${keys!}, e.1), ${entries(json!)})`)),
    ),
  );
  const { constant } = call.value(1);
  const names: unknown = constant?.type === 'dynamic' ? plainOf(constant) : [];
  const paths = (Array.isArray(names) ? names : [])
    .flatMap((name) => [pathOf(String(name)) ?? []])
    .filter((path) => path.length > 0);
  return one(
    'json',
    paths.reduce((json, path) => withoutPath(json, path, call), made),
  );
}

const distinct = (items: Sql): Sql => sql`arrayDistinct(${items})`;
/** The items of the last array that are met there for the nth time, counted over all of them. */
function met(others: readonly Sql[], items: Sql, times: number): Sql {
  const before = sql`arrayConcat(cast([], 'Array(String)'), ${list(others)})`;
  return once('st', [before, items], ([known, own]) => {
    const counts = sql`arraySlice(arrayEnumerateUniq(arrayConcat(${known!}, ${own!})), ${lengthOf(known!)} + 1)`;
    return arrayOf(sql`arrayFilter((e, n) -> n = ${times}, ${own!}, ${counts})`);
  });
}

const ofSets =
  (build: (sets: readonly Sql[]) => Sql) =>
  (call: SqlCall): SqlValue =>
    one('json', ofItems(valuesOf(call), [], build));

export const BAGS_SQL: SqlBuilders<typeof BAGS> = {
  bag_pack: packed,
  bag_keys: (call) =>
    one(
      'json',
      ofBags([call.value(0)], ([json]) =>
        arrayOf(sql`arrayMap(e -> ${jsonString(sql`e`)}, JSONExtractKeys(ifNull(${json!}, '')))`),
      ),
    ),
  bag_has_key: hasKey,
  bag_merge: (call) => one('json', ofBags(valuesOf(call), merged)),
  bag_remove_keys: removed,
  bag_zip: (call) => one('json', ofItems(valuesOf(call), [], zipped)),
  set_union: ofSets((sets) => arrayOf(distinct(sql`arrayConcat(${list(sets)})`))),
  set_intersect: ofSets(([items, ...others]) => met(others.map(distinct), distinct(items!), others.length + 1)),
  set_difference: ofSets(([items, ...others]) => met(others, items!, 1)),
  set_has_element: (call) =>
    one(
      'bool',
      ofItems([call.value(0)], [], ([items], _, [value]) => sql`has(${items!}, ${value!})`, [call.value(1)]),
    ),
};
