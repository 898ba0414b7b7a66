/**
 * Aggregations, which leave out missing values. Each has a form with `if` at its end, which takes a condition as its last argument;
 * `arg_max` and `arg_min` make several columns and are in the summarize operator.
 */
import {
  SERVICE_QUERY_LIST_ITEMS,
  SERVICE_QUERY_TOPK,
  SERVICE_QUERY_SPOTLIGHT_DISTINCT,
  SERVICE_QUERY_SPOTLIGHT_VALUES,
} from '../../../service/limits.ts';
import type { ValueKind } from '../../../service/query/values/kind.ts';
import { list, sql, type Sql } from '../../../service/query/values/sql.ts';
import { jsonOf, jsonString } from '../../../service/query/values/text.ts';
import { typeSchema } from '../../../service/query/values/type-schema.ts';
import { asJson, exists, facetsOf, one, oneRequired, type SqlValue } from '../../../service/query/values/value.ts';
import { numberOf } from '../../plan/literals.ts';
import { plainOf } from '../../function-spec.ts';
import { PHRASE_GAPS, type AGGREGATES } from './spec.ts';
import type { AggregateBuilders, AggregateCall } from '../../../service/query/values/call.ts';
import { nodeName } from '../../plan/tree.ts';

const counted = (condition: Sql): SqlValue => oneRequired('int', sql`toInt64(countIf(${condition}))`);

/** In 128 bits: a sum of 64-bit integers would wrap around without a word. Of nothing it is 0. */
function sumOf(call: AggregateCall, n: number): { kind: 'int' | 'real'; sql: Sql } {
  const { kind, sql: number } = call.number(n);
  return {
    kind,
    sql: sql`ifNull(${kind === 'int' ? sql`sumOrNull(toInt128(${number}))` : sql`sumOrNull(${number})`}, 0)`,
  };
}

function sum(call: AggregateCall): SqlValue {
  if (call.types[0] === 'timespan')
    return oneRequired('timespan', sql`ifNull(accurateCastOrNull(sumOrNull(toInt128(${call.span(0)})), 'Int64'), 0)`);
  const { kind, sql: total } = sumOf(call, 0);
  return one(kind, total);
}

function average(call: AggregateCall): SqlValue {
  if (call.types[0] === 'timespan')
    return one('timespan', sql`accurateCastOrNull(trunc(avgOrNull(${call.span(0)})), 'Int64')`);
  // As floats: the engine adds integers up in 64 bits, and would wrap around.
  return one('real', sql`avgOrNull(${call.real(0)})`);
}

/** Compares as numbers if the field ever held one, else by its own type. */
function extreme(call: AggregateCall, engine: Sql): SqlValue {
  const value = call.value(0);
  const { int, real } = value.facets;
  if (int || real) {
    const { kind, sql: number } = call.number(0);
    return one(kind, sql`${engine}(${number})`);
  }
  const [facet] = facetsOf(value);
  return facet ? one(facet[0], sql`${engine}(${facet[1]})`) : { facets: {} };
}

function distinct(call: AggregateCall): SqlValue {
  const value = call.value(0);
  const facets = facetsOf(value);
  if (facets.length === 0) return oneRequired('int', sql`toInt64(0 * count())`);
  return oneRequired('int', sql`toInt64(uniqExact(${facets.length === 1 ? facets[0]![1] : asJson(value)}))`);
}

const jsonArray = (items: Sql): Sql => sql`concat('[', arrayStringConcat(${items}, ','), ']')`;

/** The one facet of a value, or its JSON text when it may be of several types. */
function itemsOf(value: SqlValue): { readonly item: Sql; readonly json: (item: Sql) => Sql } {
  const facets = facetsOf(value);
  const [first] = facets;
  if (facets.length !== 1) return { item: asJson(value), json: (item) => item };
  const kind: ValueKind = first![0];
  return { item: first![1], json: (item) => jsonOf(kind, item) };
}

function most(call: AggregateCall): number {
  if (call.count < 2) return SERVICE_QUERY_LIST_ITEMS;
  const size = Number(call.constant(1).value);
  if (size < 1) throw call.fail(1, 'wanted a number of items of 1 or more');
  return Math.min(size, SERVICE_QUERY_LIST_ITEMS);
}

function makeList(call: AggregateCall): SqlValue {
  const { item, json } = itemsOf(call.value(0));
  return oneRequired(
    'json',
    jsonArray(sql`arrayMap(e -> ifNull(${json(sql`e`)}, 'null'), groupArray(${most(call)})(${item}))`),
  );
}

/** Takes the items of arrays. */
function makeSet(call: AggregateCall): SqlValue {
  const value = call.value(0);
  const { json: array } = value.facets;
  if (array) {
    const text = asJson(value);
    const items = sql`multiIf(isNull(${text}), [], startsWith(ifNull(${array}, ''), '['), arrayFilter(e -> e != 'null', JSONExtractArrayRaw(ifNull(${array}, ''))), [ifNull(${text}, '')])`;
    return oneRequired('json', jsonArray(sql`arraySort(groupUniqArrayArray(${most(call)})(${items}))`));
  }
  const { item, json } = itemsOf(value);
  return oneRequired(
    'json',
    jsonArray(sql`arrayMap(e -> ifNull(${json(sql`e`)}, 'null'), arraySort(groupUniqArray(${most(call)})(${item})))`),
  );
}

/** Exact while the engine has a counter for each different value: it keeps ten for each value of its answer. */
function topk(call: AggregateCall): SqlValue {
  const size = numberOf(call, 1, 'a number of values', 1, SERVICE_QUERY_TOPK);
  const { item, json } = itemsOf(call.value(0));
  const entry = sql`concat('{"key":', ifNull(${json(sql`e.1`)}, 'null'), ',"count":', toString(e.2), ',"error":', toString(e.3), '}')`;
  // Among equal counts take the values that sort first, so that the same events give the same answer.
  const sorted = sql`arraySort(e -> (-toInt64(e.2), e.1), topK(${SERVICE_QUERY_TOPK}, 10, 'counts')(${item}))`;
  return oneRequired('json', jsonArray(sql`arrayMap(e -> ${entry}, arraySlice(${sorted}, 1, ${size}))`));
}

/** Words in a row, the most frequent first; of equal counts those that sort first. */
function phrases(call: AggregateCall): SqlValue {
  const size = numberOf(call, 1, 'a number of phrases', 1, SERVICE_QUERY_TOPK, 10);
  const parts = sql`splitByRegexp(${call.params.string(PHRASE_GAPS)}, lowerUTF8(ifNull(${call.string(0)}, '')))`;
  const found = sql`arrayFilter(e -> e != '', arrayMap(e -> trimBoth(replaceRegexpAll(e, '\\\\s+', ' ')), ${parts}))`;
  const sorted = sql`arraySort(e -> (-toInt64(e.2), e.1), topKArray(${SERVICE_QUERY_TOPK}, 10, 'counts')(${found}))`;
  return oneRequired(
    'json',
    jsonArray(sql`arrayMap(e -> ${jsonOf('string', sql`e.1`)}, arraySlice(${sorted}, 1, ${size}))`),
  );
}

/** Percentiles from `from` on, those of a `dynamic([…])` too. */
function levels(call: AggregateCall, from: number): number[] {
  const given = Array.from({ length: call.count - from }, (_, n) => plainOf(call.constant(n + from))).flat();
  return given.map((value) => {
    if (typeof value !== 'number' || !(value >= 0 && value <= 100))
      throw call.fail(from, 'wanted percentiles from 0 to 100');
    return value;
  });
}

/**
 * The engine takes the value at floor(level · n) of the sorted ones; nearest rank is at ceil(level · n) - 1. They are the same a little
 * below the level, by less than a fraction of an event makes a difference and more than rounding does, up to 10^9 events.
 */
const nearestRank = (percentile: number): number => Math.max(0, percentile / 100 - 1e-14);

function quantiles(
  call: AggregateCall,
  percentiles: readonly number[],
): { readonly kind: ValueKind; readonly sql: Sql } {
  const parameters = list(percentiles.map((percentile) => sql`${nearestRank(percentile)}`));
  const [kind, number] =
    call.types[0] === 'timespan' ? (['timespan', call.span(0)] as const) : [call.number(0).kind, call.number(0).sql];
  return { kind, sql: sql`quantilesExactOrNull(${parameters})(${number})` };
}

function percentile(call: AggregateCall): SqlValue {
  const [level] = levels(call, 1);
  if (level === undefined) throw call.fail(1, 'wanted a percentile from 0 to 100');
  const { kind, sql: values } = quantiles(call, [level]);
  return one(kind, sql`arrayMap(e -> if(empty(e), null, e[1]), [ifNull(${values}, [])])[1]`);
}

function percentiles(call: AggregateCall): SqlValue {
  const wanted = levels(call, 1);
  if (wanted.length === 0) throw call.fail(1, 'wanted percentiles from 0 to 100');
  const { kind, sql: values } = quantiles(call, wanted);
  const json = sql`arrayMap(e -> ifNull(${jsonOf(kind, sql`e`)}, 'null'), ifNull(${values}, []))`;
  return one('json', sql`arrayMap(e -> if(empty(e), null, ${jsonArray(sql`e`)}), [${json}])[1]`);
}

/** Bins of equal width from the least to the greatest value. */
function histogram(call: AggregateCall): SqlValue {
  const size = numberOf(call, 1, 'a number of bins', 1, SERVICE_QUERY_TOPK);
  const values = sql`groupArray(${call.real(0)})`;
  const width = sql`((h - l) / ${size})`;
  const bin = sql`least(${size - 1}, toInt64(if(h > l, floor((e - l) / ${width}), 0)))`;
  const counts = sql`arrayReduce('sumMap', arrayMap(e -> map(${bin}, 1), v))`;
  const text = sql`arrayMap(b -> concat('{"from":', toString(l + b * ${width}), ',"to":', toString(if(b = ${size - 1}, h, l + (b + 1) * ${width})), ',"count":', toString(c[b]), '}'), range(toInt64(0), toInt64(if(h > l, ${size}, 1))))`;
  const filled = sql`arrayMap((v, l, h) -> ${jsonArray(sql`arrayMap(c -> ${text}, [${counts}])[1]`)}, [${values}], [arrayMin(${values})], [arrayMax(${values})])[1]`;
  return oneRequired('json', sql`if(empty(${values}), '[]', ${filled})`);
}

/** How much per second: of the numbers, or of events when there is no argument. */
function rate(call: AggregateCall): SqlValue {
  const seconds = sql`(${call.params.int(call.window)} / 1e9)`;
  return call.count === 0
    ? oneRequired('real', sql`(count() / ${seconds})`)
    : one('real', sql`(${sumOf(call, 0).sql} / ${seconds})`);
}

/** Returns 0 for fewer than two numbers. */
const spread =
  (engine: Sql) =>
  (call: AggregateCall): SqlValue =>
    one('real', sql`if(count(${call.real(0)}) < 2, 0, ${engine}(${call.real(0)}))`);

export const AGGREGATES_SQL: AggregateBuilders<typeof AGGREGATES> = {
  count: (call) => (call.count === 0 ? oneRequired('int', sql`toInt64(count())`) : counted(exists(call.value(0)))),
  countif: (call) => counted(call.condition(0)),
  dcount: distinct,
  sum,
  avg: average,
  min: (call) => extreme(call, sql`minOrNull`),
  max: (call) => extreme(call, sql`maxOrNull`),
  percentile,
  percentiles_array: percentiles,
  topk,
  histogram,
  make_list: makeList,
  make_set: makeSet,
  buildschema: (call) => typeSchema(call.value(0), call.params),
  stdev: spread(sql`stddevSampStableOrNull`),
  variance: spread(sql`varSampStableOrNull`),
  rate,
  phrases,
  spotlight,
};

/** The values of one field as tuples of text, count there and count in the rest; exact while neither side has more different ones than it keeps. */
function countsOf(text: Sql, condition: Sql): Sql {
  const counted = (where: Sql): Sql => sql`topKIf(${SERVICE_QUERY_SPOTLIGHT_DISTINCT}, 2, 'counts')(${text}, ${where})`;
  const texts = (side: Sql): Sql => sql`arrayMap(e -> ifNull(e.1, ''), ${side})`;
  const counts = (side: Sql): Sql => sql`arrayMap(e -> e.2, ${side})`;
  const zeros = (side: Sql): Sql => sql`arrayMap(e -> toUInt64(0), ${side})`;
  const sums = sql`arrayReduce('sumMap', [${texts(sql`s`)}, ${texts(sql`r`)}], [${counts(sql`s`)}, ${zeros(sql`r`)}], [${zeros(sql`s`)}, ${counts(sql`r`)}])`;
  const both = sql`arrayMap((s, r) -> ${sums}, [${counted(condition)}], [${counted(sql`not (${condition})`)}])[1]`;
  return sql`arrayMap(t -> arrayZip(t.1, t.2, t.3), [${both}])[1]`;
}

/** One field as a tuple of its largest difference and its object. */
function fieldOf(call: AggregateCall, n: number, condition: Sql): Sql {
  const difference = sql`(e.2 / greatest(a, 1) - e.3 / greatest(b, 1))`;
  const ratio = sql`${difference} / greatest(e.2 / greatest(a, 1), e.3 / greatest(b, 1))`;
  const entry = sql`concat('{"value":', ${jsonString(sql`e.1`)}, ',"comparison_count":', toString(e.2), ',"comparison_share":', toString(e.2 / greatest(a, 1)), ',"baseline_count":', toString(e.3), ',"baseline_share":', toString(e.3 / greatest(b, 1)), ',"difference":', toString(${difference}), ',"frequency_ratio":', toString(${ratio}), '}')`;
  const largest = sql`arraySlice(arraySort(e -> (-abs(${difference}), e.1), v), 1, ${SERVICE_QUERY_SPOTLIGHT_VALUES})`;
  const name = call.params.string(
    `{"dimension":${JSON.stringify(nodeName(call.node(n)) ?? `field ${n}`)},"delta_score":`,
  );
  const object = sql`concat(${name}, toString(d), ',"differences":[', arrayStringConcat(arrayMap(e -> ${entry}, ${largest}), ','), ']}')`;
  const scored = sql`arrayMap(d -> (d, ${object}), [arrayMax(arrayMap(e -> abs(${difference}), v))])[1]`;
  const totals = [sql`countIf(${condition})`, sql`countIf(not (${condition}))`];
  return sql`arrayMap((v, a, b) -> ${scored}, [${countsOf(call.string(n), condition)}], [${totals[0]!}], [${totals[1]!}])[1]`;
}

/** The fields, the largest difference first; those that are equal in the order of the text. */
function spotlight(call: AggregateCall): SqlValue {
  const condition = call.condition(0);
  const fields = list(Array.from({ length: call.count - 1 }, (_, n) => fieldOf(call, n + 1, condition)));
  return oneRequired(
    'json',
    sql`concat('[', arrayStringConcat(arrayMap(f -> f.2, arraySort(f -> -f.1, [${fields}])), ','), ']')`,
  );
}
