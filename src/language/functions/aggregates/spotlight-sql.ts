/** `spotlight`: compares how often each value of some fields occurs in the rows that meet a condition and in the rest. */
import { SERVICE_QUERY_SPOTLIGHT_DISTINCT, SERVICE_QUERY_SPOTLIGHT_VALUES } from '../../../service/limits.ts';
import { list, sql, type Sql } from '../../../service/query/values/sql.ts';
import { jsonString } from '../../../service/query/values/text.ts';
import { oneRequired, type Value } from '../../../service/query/values/value.ts';
import { nodeName } from '../../plan/tree.ts';
import type { AggregateCall } from '../../../service/query/values/call.ts';

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
  const name = call.params.string(`{"dimension":${JSON.stringify(nodeName(call.node(n)) ?? `field ${n}`)},"delta_score":`);
  const object = sql`concat(${name}, toString(d), ',"differences":[', arrayStringConcat(arrayMap(e -> ${entry}, ${largest}), ','), ']}')`;
  const scored = sql`arrayMap(d -> (d, ${object}), [arrayMax(arrayMap(e -> abs(${difference}), v))])[1]`;
  const totals = [sql`countIf(${condition})`, sql`countIf(not (${condition}))`];
  return sql`arrayMap((v, a, b) -> ${scored}, [${countsOf(call.string(n), condition)}], [${totals[0]!}], [${totals[1]!}])[1]`;
}

/** The fields, the largest difference first; those that are equal in the order of the text. */
export function spotlight(call: AggregateCall): Value {
  const condition = call.condition(0);
  const fields = list(Array.from({ length: call.count - 1 }, (_, n) => fieldOf(call, n + 1, condition)));
  return oneRequired('json', sql`concat('[', arrayStringConcat(arrayMap(f -> f.2, arraySort(f -> -f.1, [${fields}])), ','), ']')`);
}
