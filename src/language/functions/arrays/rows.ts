/** Functions of arrays, of one row. */
import { SERVICE_QUERY_MADE_ROWS } from '../../limits.ts';
import { readText } from '../../plan/literals.ts';
import { PATH_WANTED, pathSteps, type ARRAYS } from './spec.ts';
import type { Evaluate, Of, RowBuild, RowBuilders, RowCall, RowScope } from '../../../shaping/rows/call/call.ts';
import { ofValue } from '../../../shaping/rows/call/lift.ts';
import { asInt, heldText, rawItemOf } from '../../../shaping/rows/values/convert.ts';
import { writeJson } from '../../../json/numbers.ts';
import { bounded, compareText, lengthOf } from '../../../shaping/rows/values/text.ts';
import { canonical, DateTime, isObject, TimeSpan, type RowValue } from '../../../shaping/rows/values/value.ts';
import { timeOf } from '../arithmetic/rows.ts';

export type Items = readonly RowValue[];

/** The value as an item of an array: what JSON does not have becomes text or null. */
export function asArrayItem(value: RowValue): RowValue {
  if (value instanceof DateTime || value instanceof TimeSpan) return value.toJSON();
  return typeof value === 'number' && !Number.isFinite(value) ? null : value;
}

/** Items are the same when this is. */
export const identityOf = (item: RowValue): string => writeJson(item);

export const all = (call: RowCall, from = 0): Evaluate[] =>
  Array.from({ length: call.count - from }, (_, n) => call.value(n + from));

/** Builds from arrays; null if one argument is not an array. */
export const ofArrays =
  (parts: readonly Evaluate[], build: (arrays: readonly Items[], scope: RowScope) => RowValue): Evaluate =>
  (scope) => {
    const found = parts.map((part) => part(scope));
    return found.every((value) => Array.isArray(value)) ? build(found as Items[], scope) : null;
  };

/** Builds from the first argument and whole numbers. */
const changed =
  (
    build: (items: Items, numbers: readonly number[], scope: RowScope) => RowValue,
    places: readonly number[] = [],
  ): RowBuild =>
  (call) => {
    const numbers = places.filter((n) => n < call.count).map((n) => call.int(n));
    return ofArrays([call.value(0)], ([items], scope) => {
      const found = numbers.map((number) => number(scope));
      return found.includes(null) ? null : build(items!, found.map(Number), scope);
    });
  };

/** A place from 0 through the end; below 0 it counts from the end. */
const placeIn = (items: Items, place: number): number =>
  Math.min(Math.max(place < 0 ? items.length + place : place, 0), items.length);

function slice(items: Items, [first = 0, last = 0]: readonly number[]): RowValue {
  const to = Math.min(last < 0 ? items.length + last : last, items.length - 1);
  return items.slice(placeIn(items, first), Math.max(to + 1, 0));
}

function split(call: RowCall): Evaluate {
  const wanted = call.value(1);
  return ofArrays([call.value(0)], ([items], scope) => {
    const given = wanted(scope);
    const places = (Array.isArray(given) ? (given as Items) : [given]).map((place) => asInt(canonical(place)));
    if (places.includes(null)) return null;
    const cuts = places.map((place) => placeIn(items!, Number(place))).sort((a, b) => a - b);
    return [0, ...cuts].map((from, n) => items!.slice(from, Math.max(from, cuts[n] ?? items!.length)));
  });
}

/** Numbers before texts before truth values before the rest; null last. */
function rank(item: RowValue): number {
  if (item === null) return 4;
  if (typeof item === 'string') return 1;
  return typeof item === 'boolean' ? 2 : typeof item === 'object' ? 3 : 0;
}

function compareItems(a: RowValue, b: RowValue): number {
  const numbers = rank(a) === 0 ? Number(a) - Number(b) : 0;
  const text = (item: RowValue): string => (typeof item === 'string' ? item : identityOf(item));
  return numbers === 0 ? compareText(text(a), text(b)) : numbers;
}

const sorted = (direction: 1 | -1): RowBuild =>
  ofValue((value) =>
    Array.isArray(value)
      ? (value as Items).toSorted((a, b) => rank(a) - rank(b) || direction * compareItems(a, b))
      : [],
  );

const rotated = (direction: 1 | -1): RowBuild =>
  changed(
    (items, [count = 0]) => {
      const by =
        items.length === 0 ? 0 : (((direction * (count % items.length)) % items.length) + items.length) % items.length;
      return [...items.slice(by), ...items.slice(0, by)];
    },
    [1],
  );

const shifted =
  (direction: 1 | -1): RowBuild =>
  (call) => {
    const fallback: Evaluate = call.count > 2 ? call.value(2) : () => null;
    return changed(
      (items, [count = 0], scope) => {
        const by = Math.min(Math.max(direction * count, -items.length), items.length);
        const fill = Array<RowValue>(Math.abs(by)).fill(asArrayItem(fallback(scope)));
        return by >= 0 ? [...items.slice(by), ...fill] : [...fill, ...items.slice(0, by)];
      },
      [1],
    )(call);
  };

function indexOf(call: RowCall): Evaluate {
  const [value, start] = [call.value(1), call.count > 2 ? call.int(2) : (): bigint => 0n];
  return ofArrays([call.value(0)], ([items], scope) => {
    const from = start(scope);
    const wanted = identityOf(asArrayItem(value(scope)));
    if (from === null) return null;
    const place = placeIn(items!, Number(from));
    return BigInt(items!.findIndex((item, n) => n >= place && identityOf(item) === wanted));
  });
}

function chosen(call: RowCall): Evaluate {
  const sides = [call.value(1), call.value(2)] as const;
  return ofArrays([call.value(0)], ([conditions], scope) => {
    const [a, b] = sides.map((side) => asArrayItem(side(scope)));
    const at = (side: RowValue, n: number): RowValue => (Array.isArray(side) ? ((side as Items)[n] ?? null) : side);
    return conditions!.map((condition, n) => {
      const test = typeof condition === 'number' || typeof condition === 'bigint' ? Number(condition) !== 0 : condition;
      return typeof test === 'boolean' ? at(test ? a! : b!, n) : null;
    });
  });
}

function summed(items: Items): RowValue {
  if (items.length === 0 || !items.every((item) => typeof item === 'number' || typeof item === 'bigint')) return null;
  return items.reduce<number>((sum, item) => sum + Number(item), 0);
}

const countOf = (gap: number): number => Math.min(Math.max(gap, 0), SERVICE_QUERY_MADE_ROWS - 1) + 1;

/** As many values as fit between the two, one step apart. */
function ranged(call: RowCall): Evaluate {
  const [isTime, isSpan] = [call.types[0] === 'datetime', call.types[0] === 'timespan'];
  const part = (n: number): Of<bigint | number | null> =>
    isTime && n < 2 ? call.time(n) : isTime || isSpan ? call.span(n) : call.number(n);
  const fallback = isTime || isSpan ? 3_600_000_000_000n : 1n;
  const [first, last, step] = [part(0), part(1), call.count > 2 ? part(2) : () => fallback];
  const written = (ns: bigint): RowValue => asArrayItem(isTime ? timeOf(ns) : isSpan ? new TimeSpan(ns) : ns);
  return (scope) => {
    const found = [first(scope), last(scope), step(scope)];
    if (found.includes(null) || Number(found[2]) === 0) return null;
    const [from, to, by] = found as [bigint | number, bigint | number, bigint | number];
    if (to !== from && to >= from !== by > 0) return [];
    if (typeof from === 'bigint' && typeof to === 'bigint' && typeof by === 'bigint')
      return Array.from({ length: countOf(Number((to - from) / by)) }, (_, n) => written(from + BigInt(n) * by));
    const gap = Math.floor((Number(to) - Number(from)) / Number(by));
    return Number.isNaN(gap)
      ? null
      : Array.from({ length: countOf(gap) }, (_, n) => asArrayItem(Number(from) + n * Number(by)));
  };
}

function selected(call: RowCall): Evaluate {
  const [key, value] = [call.string(1), call.value(2)];
  return ofArrays([call.value(0)], ([items], scope) => {
    const [name, wanted] = [key(scope), identityOf(asArrayItem(value(scope)))];
    if (name === null) return null;
    return (
      items!.find((item) => isObject(item) && Object.hasOwn(item, name) && identityOf(item[name]!) === wanted) ?? null
    );
  });
}

const joined = (call: RowCall): Evaluate => {
  const delimiter = String(call.constant(1).value);
  return ofArrays([call.value(0)], ([items]) => bounded(items!.map((item) => heldText(item) ?? '').join(delimiter)));
};

const packed: RowBuild = (call) => {
  const values = all(call);
  return (scope) => values.map((value) => asArrayItem(value(scope)));
};

function extracted(call: RowCall): Evaluate {
  const steps = readText(call, 1, pathSteps, PATH_WANTED);
  const value = call.value(0);
  const below = (item: RowValue, { key, place }: (typeof steps)[number]): readonly (RowValue | undefined)[] => {
    if (key !== undefined) return [rawItemOf(item, key)];
    if (!Array.isArray(item)) return [];
    return place === undefined ? (item as Items) : [(item as Items)[place]];
  };
  return (scope) => {
    const whole = value(scope);
    if (!Array.isArray(whole) && !isObject(whole)) return null;
    const found = steps.reduce<Items>(
      (items, step) => items.flatMap((item) => below(item, step).flatMap((each) => (each === undefined ? [] : [each]))),
      [whole],
    );
    return found.map(heldText);
  };
}

export const ARRAYS_ROWS: RowBuilders<typeof ARRAYS> = {
  array_length: changed((items) => BigInt(items.length)),
  len: ofValue((value) =>
    Array.isArray(value) ? BigInt(value.length) : typeof value === 'string' ? BigInt(lengthOf(value)) : null,
  ),
  isarray: ofValue((value) => Array.isArray(value)),
  pack_array: packed,
  range: ranged,
  array_concat: (call) => ofArrays(all(call), (arrays) => arrays.flat()),
  array_slice: changed(slice, [1, 2]),
  array_split: split,
  array_sort_asc: sorted(1),
  array_sort_desc: sorted(-1),
  array_reverse: changed((items) => items.toReversed()),
  array_rotate_left: rotated(1),
  array_rotate_right: rotated(-1),
  array_shift_left: shifted(1),
  array_shift_right: shifted(-1),
  array_index_of: indexOf,
  array_extract: extracted,
  array_iff: chosen,
  array_sum: changed(summed),
  array_select_dict: selected,
  strcat_array: joined,
  zip: (call) =>
    ofArrays(all(call), (arrays) =>
      Array.from({ length: Math.max(...arrays.map(({ length }) => length)) }, (_, n) =>
        arrays.map((items) => items[n] ?? null),
      ),
    ),
};
