/** Functions of arrays as SQL, over the JSON texts of the items. */
import { SERVICE_QUERY_MADE_ROWS } from '../../limits.ts';
import { readText } from '../../plan/literals.ts';
import { PATH_WANTED, pathSteps, type ARRAYS } from './spec.ts';
import type { ValueKind } from '../../../service/query/values/kind.ts';
import { alias, all, list, sql, type Sql } from '../../../service/query/values/sql.ts';
import { jsonOf } from '../../../service/query/values/text.ts';
import { asJson, firstOf, NULL_VALUE, one, oneRequired, type SqlValue } from '../../../service/query/values/value.ts';
import type { SqlBuild, SqlBuilders, SqlCall } from '../../../service/query/values/call.ts';

/** Computes values once for an expression that uses them several times. `letters` must differ from those of an expression around it. */
export function once(letters: string, values: readonly Sql[], build: (names: readonly Sql[]) => Sql): Sql {
  const names = values.map((_, n) => alias(letters, n));
  return sql`arrayMap((${list(names)}) -> ${build(names)}, ${list(values.map((value) => sql`[${value}]`))})[1]`;
}

/** The JSON text of an array or object, null for anything else. */
export const jsonText = (value: SqlValue): Sql => value.facets.json ?? sql`cast(null, 'Nullable(String)')`;
/** The value as an item of an array. */
export const rawItem = (value: SqlValue): Sql => sql`ifNull(${asJson(value)}, 'null')`;
export const rawItems = (json: Sql): Sql => sql`JSONExtractArrayRaw(ifNull(${json}, ''))`;
export const isArray = (json: Sql): Sql => sql`startsWith(ifNull(${json}, ''), '[')`;
export const arrayOf = (items: Sql): Sql => sql`concat('[', arrayStringConcat(${items}, ','), ']')`;
export const lengthOf = (items: Sql): Sql => sql`toInt64(length(${items}))`;

/** Builds from the items of arrays, whole numbers and values as items; null if an argument is not an array or a number is null. */
export function ofItems(
  arrays: readonly SqlValue[],
  numbers: readonly Sql[],
  build: (arrays: readonly Sql[], numbers: readonly Sql[], items: readonly Sql[]) => Sql,
  values: readonly SqlValue[] = [],
): Sql {
  return once('ar', [...arrays.map(jsonText), ...numbers, ...values.map(rawItem)], (names) => {
    const [texts, given, raw] = [
      names.slice(0, arrays.length),
      names.slice(arrays.length, arrays.length + numbers.length),
      names.slice(arrays.length + numbers.length),
    ];
    const there = all([...texts.map(isArray), ...given.map((number) => sql`isNotNull(${number})`)]);
    const whole = given.map((number) => sql`assumeNotNull(${number})`);
    return sql`if(${there}, ${once('it', texts.map(rawItems), (items) => build(items, whole, raw))}, null)`;
  });
}

export const valuesOf = (call: SqlCall, from = 0): SqlValue[] =>
  Array.from({ length: call.count - from }, (_, n) => call.value(n + from));

/** An array made of the items of the first argument, and of the whole numbers after it. */
const changed =
  (build: (items: Sql, numbers: readonly Sql[]) => Sql, numbers: readonly number[] = []): SqlBuild =>
  (call) => {
    const given = numbers.filter((n) => n < call.count).map((n) => call.int(n));
    return one(
      'json',
      ofItems([call.value(0)], given, ([items], whole) => arrayOf(build(items!, whole))),
    );
  };

/** A place from 0 through the end; below 0 it counts from the end. */
const placeIn = (items: Sql, place: Sql): Sql =>
  sql`least(greatest(if(${place} < 0, ${lengthOf(items)} + ${place}, ${place}), 0), ${lengthOf(items)})`;

function slice(items: Sql, [first, last]: readonly Sql[]): Sql {
  const from = placeIn(items, first!);
  const to = sql`least(greatest(if(${last!} < 0, ${lengthOf(items)} + ${last!}, ${last!}), -1), ${lengthOf(items)} - 1)`;
  return sql`arraySlice(${items}, ${from} + 1, greatest(${to} - ${from} + 1, 0))`;
}

function split(call: SqlCall): SqlValue {
  const { json, int } = call.value(1).facets;
  const one64 = sql`[${int ?? sql`cast(null, 'Nullable(Int64)')`}]`;
  const places = json ? sql`if(isNull(${json}), ${one64}, arrayMap(e -> toInt64OrNull(e), ${rawItems(json)}))` : one64;
  const cut = ofItems([call.value(0)], [], ([items]) =>
    once('pl', [places], ([wanted]) => {
      const known = sql`arraySort(arrayMap(e -> ${placeIn(items!, sql`assumeNotNull(e)`)}, ${wanted!}))`;
      const part = sql`concat('[', arrayStringConcat(arraySlice(${items!}, lo + 1, greatest(hi - lo, 0)), ','), ']')`;
      const parts = sql`arrayMap((lo, hi) -> ${part}, arrayConcat([toInt64(0)], ${known}), arrayConcat(${known}, [${lengthOf(items!)}]))`;
      return sql`if(arrayExists(e -> isNull(e), ${wanted!}), null, ${arrayOf(parts)})`;
    }),
  );
  return one('json', cut);
}

/** Numbers before texts before truth values before the rest; null last. */
const rank = (item: Sql): Sql =>
  sql`multiIf(${item} = 'null', 4, startsWith(${item}, '"'), 1, ${item} in ('true', 'false'), 2, startsWith(${item}, '[') or startsWith(${item}, '{'), 3, 0)`;
export const textOf = (item: Sql): Sql => sql`if(startsWith(${item}, '"'), JSONExtractString(${item}), ${item})`;

function sorted(descending: boolean): SqlBuild {
  const ranked = sql`toInt8(${rank(sql`e`)})`;
  const key = sql`(${descending ? sql`negate(${ranked})` : ranked}, toFloat64OrZero(e), ${textOf(sql`e`)})`;
  const sort = changed((items) => sql`${descending ? sql`arrayReverseSort` : sql`arraySort`}(e -> ${key}, ${items})`);
  return (call) => oneRequired('json', sql`ifNull(${jsonText(sort(call))}, '[]')`);
}

const rotated = (direction: 'left' | 'right'): SqlBuild =>
  changed(
    (items, [count]) => {
      const size = sql`greatest(${lengthOf(items)}, 1)`;
      const left = sql`positiveModulo(${count!}, ${size})`;
      const by = direction === 'left' ? left : sql`positiveModulo(${size} - ${left}, ${size})`;
      return sql`arrayConcat(arraySlice(${items}, ${by} + 1), arraySlice(${items}, 1, ${by}))`;
    },
    [1],
  );

const shifted =
  (direction: 'left' | 'right'): SqlBuild =>
  (call) =>
    one(
      'json',
      ofItems(
        [call.value(0)],
        [call.int(1)],
        ([items], [count], [given]) => {
          const size = lengthOf(items!);
          const forward = sql`least(greatest(${count!}, 0), ${size})`;
          const backward = sql`greatest(negate(greatest(${count!}, negate(${size}))), 0)`;
          const [left, right] = direction === 'left' ? [forward, backward] : [backward, forward];
          const fill = given ?? sql`'null'`;
          return arrayOf(
            sql`arrayConcat(arrayWithConstant(${right}, ${fill}), arraySlice(${items!}, ${left} + 1, ${size} - ${left} - ${right}), arrayWithConstant(${left}, ${fill}))`,
          );
        },
        call.count > 2 ? [call.value(2)] : [],
      ),
    );

function indexOf(call: SqlCall): SqlValue {
  const start = call.count > 2 ? call.int(2) : sql`toInt64(0)`;
  return one(
    'int',
    ofItems(
      [call.value(0)],
      [start],
      ([items], [from], [wanted]) => {
        const place = placeIn(items!, from!);
        const found = sql`toInt64(indexOf(arraySlice(${items!}, ${place} + 1), ${wanted!}))`;
        return sql`if(${found} = 0, -1, ${found} + ${place} - 1)`;
      },
      [call.value(1)],
    ),
  );
}

function chosen(call: SqlCall): SqlValue {
  const made = ofItems(
    [call.value(0)],
    [],
    ([conditions], _, [a, b]) => {
      const side = (raw: Sql): Sql =>
        sql`if(startsWith(${raw}, '['), arrayResize(${rawItems(raw)}, length(${conditions!}), 'null'), arrayWithConstant(length(${conditions!}), ${raw}))`;
      const number = sql`toFloat64OrNull(c)`;
      const item = sql`multiIf(c = 'true' or ifNull(${number} != 0, false), x, c = 'false' or ifNull(${number} = 0, false), y, 'null')`;
      return arrayOf(sql`arrayMap((c, x, y) -> ${item}, ${conditions!}, ${side(a!)}, ${side(b!)})`);
    },
    [call.value(1), call.value(2)],
  );
  return one('json', made);
}

function zipped(call: SqlCall): SqlValue {
  return one(
    'json',
    ofItems(valuesOf(call), [], (arrays) => {
      const longest = sql`greatest(${list(arrays.map((items) => sql`length(${items})`))})`;
      const names = arrays.map((_, n) => alias('zp', n));
      const together = sql`concat('[', arrayStringConcat([${list(names)}], ','), ']')`;
      return arrayOf(
        sql`arrayMap((${list(names)}) -> ${together}, ${list(arrays.map((items) => sql`arrayResize(${items}, ${longest}, 'null')`))})`,
      );
    }),
  );
}

const summed = (items: Sql): Sql =>
  sql`if(arrayExists(e -> isNull(toFloat64OrNull(e)), ${items}), null, arraySum(arrayMap(e -> toFloat64OrZero(e), ${items})))`;

/** As many values as fit between the two, one step apart. */
function ranged(call: SqlCall): SqlValue {
  const isTime = call.types[0] === 'datetime';
  const numbers =
    isTime || call.types[0] === 'timespan' ? [] : [0, 1, ...(call.count > 2 ? [2] : [])].map((n) => call.number(n));
  const kind: ValueKind = isTime
    ? 'datetime'
    : numbers.length === 0
      ? 'timespan'
      : numbers.every((number) => number.kind === 'int')
        ? 'int'
        : 'real';
  const part = (n: number): Sql =>
    kind === 'real'
      ? call.real(n)
      : kind === 'int'
        ? call.int(n)
        : isTime && n < 2
          ? sql`toUnixTimestamp64Nano(${call.time(n)})`
          : call.span(n);
  const step =
    call.count > 2
      ? part(2)
      : kind === 'real'
        ? sql`toFloat64(1)`
        : kind === 'int'
          ? sql`toInt64(1)`
          : sql`toInt64(3600000000000)`;
  const made = once('ar', [part(0), part(1), step], ([first, last, by]) => {
    const gap =
      kind === 'real'
        ? sql`floor((${last!} - ${first!}) / nullIf(${by!}, 0))`
        : sql`intDiv(toInt128(${last!}) - toInt128(${first!}), nullIf(toInt128(${by!}), 0))`;
    // A step of the other direction gives a gap that is below 0, or 0 where it is longer than the way.
    const away = sql`(${last!} >= ${first!}) = (${by!} > 0) or ${last!} = ${first!}`;
    const count = sql`accurateCastOrNull(if(${away}, least(greatest(${gap}, 0), ${SERVICE_QUERY_MADE_ROWS - 1}) + 1, 0), 'UInt32')`;
    const value = sql`(assumeNotNull(${first!}) + ${kind === 'real' ? sql`e` : sql`toInt64(e)`} * assumeNotNull(${by!}))`;
    const item = jsonOf(kind, isTime ? sql`fromUnixTimestamp64Nano(${value}, 'UTC')` : value);
    const none = sql`isNull(${first!}) or isNull(${last!}) or ifNull(${by!}, 0) = 0 or isNull(${count})`;
    return sql`if(${none}, null, ${arrayOf(sql`arrayMap(e -> ifNull(${item}, 'null'), range(assumeNotNull(${count})))`)})`;
  });
  return one('json', made);
}

/** The first object among the items with that value. */
function selected(call: SqlCall): SqlValue {
  const found = ofItems(
    [call.value(0)],
    [],
    ([items], _, [wanted]) =>
      sql`nullIf(arrayFirst(e -> startsWith(e, '{') and JSONExtractRaw(e, ifNull(${call.string(1)}, '')) = ${wanted!}, ${items!}), '')`,
    [call.value(2)],
  );
  return one('json', found);
}

/** The JSON texts of what a path leads to. */
function extracted(call: SqlCall): SqlValue {
  const whole = jsonText(call.value(0));
  const items = readText(call, 1, pathSteps, PATH_WANTED).reduce<Sql>(
    (found, { key, place }) => {
      if (key !== undefined) return sql`arrayMap(e -> JSONExtractRaw(e, ${call.params.string(key)}), ${found})`;
      const arrays = sql`arrayMap(e -> JSONExtractArrayRaw(e), ${found})`;
      return place === undefined ? sql`arrayFlatten(${arrays})` : sql`arrayMap(e -> e[${place + 1}], ${arrays})`;
    },
    sql`[ifNull(${whole}, '')]`,
  );
  const texts = sql`arrayMap(e -> if(e = 'null', 'null', ${jsonOf('string', textOf(sql`e`))}), arrayFilter(e -> e != '', ${items}))`;
  return one('json', sql`if(isNull(${whole}), null, ${arrayOf(texts)})`);
}

const arrayLength = (value: SqlValue): SqlValue =>
  value.facets.json
    ? one('int', sql`if(startsWith(${value.facets.json}, '['), toInt64(JSONLength(${value.facets.json})), null)`)
    : NULL_VALUE;

export const ARRAYS_SQL: SqlBuilders<typeof ARRAYS> = {
  array_length: (call) => arrayLength(call.value(0)),
  len: (call) => {
    const { string } = call.value(0).facets;
    return firstOf([arrayLength(call.value(0)), ...(string ? [one('int', sql`toInt64(lengthUTF8(${string}))`)] : [])]);
  },
  isarray: (call) => oneRequired('bool', isArray(jsonText(call.value(0)))),
  pack_array: (call) => oneRequired('json', arrayOf(sql`[${list(valuesOf(call).map(rawItem))}]`)),
  range: ranged,
  array_concat: (call) =>
    one(
      'json',
      ofItems(valuesOf(call), [], (arrays) => arrayOf(sql`arrayConcat(${list(arrays)})`)),
    ),
  array_slice: changed(slice, [1, 2]),
  array_split: split,
  array_sort_asc: sorted(false),
  array_sort_desc: sorted(true),
  array_reverse: changed((items) => sql`arrayReverse(${items})`),
  array_rotate_left: rotated('left'),
  array_rotate_right: rotated('right'),
  array_shift_left: shifted('left'),
  array_shift_right: shifted('right'),
  array_index_of: indexOf,
  array_extract: extracted,
  array_iff: chosen,
  array_sum: (call) =>
    one(
      'real',
      ofItems([call.value(0)], [], ([items]) => sql`if(empty(${items!}), null, ${summed(items!)})`),
    ),
  array_select_dict: selected,
  strcat_array: (call) =>
    one(
      'string',
      ofItems([call.value(0)], [], ([items]) => {
        const texts = sql`arrayMap(e -> if(e = 'null', '', ${textOf(sql`e`)}), ${items!})`;
        return sql`arrayStringConcat(${texts}, ${call.string(1)})`;
      }),
    ),
  zip: zipped,
};
