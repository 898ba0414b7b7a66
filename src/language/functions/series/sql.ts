/** Functions of arrays of numbers as SQL, over the JSON texts of the items. */
import type { SERIES } from './spec.ts';
import { sql, type Sql } from '../../../service/query/values/sql.ts';
import { jsonOf } from '../../../service/query/values/text.ts';
import { asReal, one } from '../../../service/query/values/value.ts';
import type { SqlBuild, SqlBuilders, SqlCall } from '../../../service/query/values/call.ts';
import { arrayOf, isArray, jsonText, ofItems, once, rawItems } from '../arrays/sql.ts';

const real = (item: Sql): Sql => sql`toFloat64OrNull(${item})`;
const numberText = (value: Sql): Sql => sql`ifNull(${jsonOf('real', value)}, 'null')`;
const boolText = (value: Sql): Sql => sql`ifNull(${jsonOf('bool', value)}, 'null')`;

/** Item by item of two arrays, or of an array and a number. */
const paired =
  (build: Sql, text: (value: Sql) => Sql): SqlBuild =>
  (call) => {
    const values = [call.value(0), call.value(1)];
    const made = once('sr', [...values.map(jsonText), ...values.map(asReal)], ([a, b, x, y]) => {
      const side = (json: Sql, number: Sql, other: Sql): Sql =>
        sql`if(${isArray(json)}, arrayMap(e -> ${real(sql`e`)}, ${rawItems(json)}), arrayWithConstant(length(${rawItems(other)}), ${number}))`;
      const items = once('si', [side(a!, x!, b!), side(b!, y!, a!)], ([left, right]) => {
        const size = sql`least(length(${left!}), length(${right!}))`;
        return arrayOf(
          sql`arrayMap((l, r) -> ${text(build)}, arraySlice(${left!}, 1, ${size}), arraySlice(${right!}, 1, ${size}))`,
        );
      });
      const given = (json: Sql, number: Sql): Sql => sql`(${isArray(json)} or isNotNull(${number}))`;
      return sql`if((${isArray(a!)} or ${isArray(b!)}) and ${given(a!, x!)} and ${given(b!, y!)}, ${items}, null)`;
    });
    return one('json', made);
  };

const ofFirst =
  (kind: 'json' | 'real', build: (items: Sql) => Sql): SqlBuild =>
  (call) =>
    one(
      kind,
      ofItems([call.value(0)], [], ([items]) => build(items!)),
    );

function stats(items: Sql): Sql {
  return once('st', [sql`arrayMap(e -> ${real(sql`e`)}, ${items})`], ([all]) =>
    once('sf', [sql`arrayMap(e -> assumeNotNull(e), arrayFilter(e -> isNotNull(e), ${all!}))`], ([found]) =>
      once('sa', [sql`arrayAvg(${found!})`], ([avg]) =>
        once(
          'sv',
          [sql`arraySum(e -> pow(e - ${avg!}, 2), ${found!}) / greatest(length(${found!}) - 1, 1)`],
          ([variance]) => {
            const place = (value: Sql): Sql => sql`toString(indexOf(${all!}, ${value}) - 1)`;
            const [min, max] = [sql`arrayMin(${found!})`, sql`arrayMax(${found!})`];
            const text = sql`concat('{"min":', toString(${min}), ',"min_idx":', ${place(min)}, ',"max":', toString(${max}), ',"max_idx":', ${place(max)}, ',"avg":', toString(${avg!}), ',"variance":', toString(${variance!}), ',"stdev":', toString(sqrt(${variance!})), '}')`;
            return sql`if(empty(${found!}), '{"min":null,"min_idx":null,"max":null,"max_idx":null,"avg":null,"variance":null,"stdev":null}', ${text})`;
          },
        ),
      ),
    ),
  );
}

/** `build` gets the items, the value of a missing one, and the other arguments as items. */
const filled =
  (missingAt: number, build: (items: Sql, missing: Sql, given: readonly Sql[], call: SqlCall) => Sql): SqlBuild =>
  (call) => {
    const others = Array.from({ length: call.count - 1 }, (_, n) => call.value(n + 1));
    return one(
      'json',
      ofItems(
        [call.value(0)],
        [],
        ([items], _, given) => arrayOf(build(items!, given[missingAt - 1] ?? sql`'null'`, given, call)),
        others,
      ),
    );
  };

function linear(items: Sql, missing: Sql, [, edges, constant]: readonly Sql[]): Sql {
  const places = sql`arrayMap((e, n) -> if(e = ${missing}, 0, toInt64(n)), ${items}, arrayEnumerate(${items}))`;
  const [left, right] = [real(sql`${items}[f]`), real(sql`${items}[t]`)];
  const between = sql`${left} + (${right} - ${left}) * (toInt64(n) - f) / (t - f)`;
  const edge = edges ? sql`if(${edges} = 'false', e, ${items}[greatest(f, t)])` : sql`${items}[greatest(f, t)]`;
  const item = sql`multiIf(e != ${missing}, e, f = 0 and t = 0, ${constant ?? sql`'0'`}, f = 0 or t = 0, ${edge}, ${numberText(between)})`;
  return sql`arrayMap((e, n, f, t) -> ${item}, ${items}, arrayEnumerate(${items}), arrayFill(p -> p > 0, ${places}), arrayReverseFill(p -> p > 0, ${places}))`;
}

export const SERIES_SQL: SqlBuilders<typeof SERIES> = {
  series_add: paired(sql`(l + r + 0)`, numberText),
  series_subtract: paired(sql`(l - r + 0)`, numberText),
  series_multiply: paired(sql`(l * r + 0)`, numberText),
  series_divide: paired(sql`(l / r + 0)`, numberText),
  series_equals: paired(sql`(l = r)`, boolText),
  series_not_equals: paired(sql`(l != r)`, boolText),
  series_less: paired(sql`(l < r)`, boolText),
  series_less_equals: paired(sql`(l <= r)`, boolText),
  series_greater: paired(sql`(l > r)`, boolText),
  series_greater_equals: paired(sql`(l >= r)`, boolText),
  series_abs: ofFirst('json', (items) =>
    arrayOf(sql`arrayMap(e -> ${numberText(sql`abs(${real(sql`e`)})`)}, ${items})`),
  ),
  series_sum: ofFirst('real', (items) => sql`arraySum(arrayMap(e -> toFloat64OrZero(e), ${items}))`),
  series_stats: ofFirst('json', stats),
  series_fill_const: filled(
    2,
    (items, missing, [value]) => sql`arrayMap(e -> if(e = ${missing}, ${value!}, e), ${items})`,
  ),
  series_fill_forward: filled(1, (items, missing) => sql`arrayFill(e -> e != ${missing}, ${items})`),
  series_fill_backward: filled(1, (items, missing) => sql`arrayReverseFill(e -> e != ${missing}, ${items})`),
  series_fill_linear: filled(1, linear),
};
