/** Functions of objects, and of arrays as sets, as SQL over JSON texts. */
import type { BAGS } from './spec.ts';
import { keysOf } from '../../plan/literals.ts';
import { all, list, sql, type Sql } from '../../../service/query/values/sql.ts';
import { jsonString } from '../../../service/query/values/text.ts';
import { one, oneRequired, type Value } from '../../../service/query/values/value.ts';
import { arrayOf, jsonText, lengthOf, ofItems, once, rawItem, valuesOf } from '../arrays/sql.ts';
import type { Builders, Call } from '../../../service/query/values/call.ts';

const isBag = (json: Sql): Sql => sql`startsWith(ifNull(${json}, ''), '{')`;
/** Tuples of key and JSON text. */
const entries = (json: Sql): Sql => sql`JSONExtractKeysAndValuesRaw(ifNull(${json}, ''))`;
const bagOf = (pairs: Sql): Sql =>
  sql`concat('{', arrayStringConcat(arrayMap(e -> concat(${jsonString(sql`e.1`)}, ':', e.2), ${pairs}), ','), '}')`;

/** What is made of objects; null where one is none. */
const ofBags = (values: readonly Value[], build: (texts: readonly Sql[]) => Sql): Sql =>
  once('bg', values.map(jsonText), (texts) => sql`if(${all(texts.map(isBag))}, ${build(texts)}, null)`);

function packed(call: Call): Value {
  const keys = keysOf(call);
  const pairs = keys.map((key, n) => sql`${call.params.string(`${JSON.stringify(key)}:`)}, ${rawItem(call.value(2 * n + 1))}`);
  return oneRequired('json', sql`concat('{', ${list(pairs.map((pair, n) => (n === 0 ? pair : sql`',', ${pair}`)))}, '}')`);
}

/** The first entry of each key. */
function merged(texts: readonly Sql[]): Sql {
  const firsts = (pairs: Sql): Sql => sql`arrayFilter((e, n) -> n = 1, ${pairs}, arrayEnumerateUniq(arrayMap(e -> e.1, ${pairs})))`;
  return once('pr', [sql`arrayConcat(${list(texts.map(entries))})`], ([pairs]) => bagOf(firsts(pairs!)));
}

function removed(call: Call): Value {
  const made = ofItems([call.value(1)], [], ([names]) =>
    once('nm', [sql`arrayMap(e -> if(startsWith(e, '"'), JSONExtractString(e), e), ${names!})`], ([keys]) =>
      ofBags([call.value(0)], ([json]) => bagOf(sql`arrayFilter(e -> not has(${keys!}, e.1), ${entries(json!)})`))));
  return one('json', made);
} // prettier-ignore

const distinct = (items: Sql): Sql => sql`arrayDistinct(${items})`;
/** The items of the last array that are met there for the nth time, counted over all of them. */
function met(others: readonly Sql[], items: Sql, times: number): Sql {
  const before = sql`arrayConcat(cast([], 'Array(String)'), ${list(others)})`;
  return once('st', [before, items], ([known, own]) => {
    const counts = sql`arraySlice(arrayEnumerateUniq(arrayConcat(${known!}, ${own!})), ${lengthOf(known!)} + 1)`;
    return arrayOf(sql`arrayFilter((e, n) -> n = ${times}, ${own!}, ${counts})`);
  });
}

const ofSets = (build: (sets: readonly Sql[]) => Sql) => (call: Call): Value => one('json', ofItems(valuesOf(call), [], build)); // prettier-ignore

export const BAGS_SQL: Builders<typeof BAGS> = {
  bag_pack: packed,
  bag_keys: (call) => one('json', ofBags([call.value(0)], ([json]) => arrayOf(sql`arrayMap(e -> ${jsonString(sql`e`)}, JSONExtractKeys(ifNull(${json!}, '')))`))),
  bag_has_key: (call) => one('bool', ofBags([call.value(0)], ([json]) => sql`if(isNull(${call.string(1)}), null, has(JSONExtractKeys(ifNull(${json!}, '')), ifNull(${call.string(1)}, '')))`)),
  bag_merge: (call) => one('json', ofBags(valuesOf(call), merged)),
  bag_remove_keys: removed,
  set_union: ofSets((sets) => arrayOf(distinct(sql`arrayConcat(${list(sets)})`))),
  set_intersect: ofSets(([items, ...others]) => met(others.map(distinct), distinct(items!), others.length + 1)),
  set_difference: ofSets(([items, ...others]) => met(others, items!, 1)),
  set_has_element: (call) => one('bool', ofItems([call.value(0)], [], ([items], _, [value]) => sql`has(${items!}, ${value!})`, [call.value(1)])),
}; // prettier-ignore
