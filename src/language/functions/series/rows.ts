/** Functions of arrays of numbers, of one row. */
import type { SERIES } from './spec.ts';
import type { Evaluate, RowBuild, RowBuilders, RowCall } from '../../../shaping/rows/call/call.ts';
import type { RowValue } from '../../../shaping/rows/values/value.ts';
import { asArrayItem, identityOf, ofArrays, type Items } from '../arrays/rows.ts';

/** Null unless it is a number. */
const realOf = (item: RowValue): number | null =>
  typeof item === 'number' || typeof item === 'bigint' ? Number(item) : null;
const finite = (value: number): RowValue => (Number.isFinite(value) ? value + 0 : null);

/** Item by item of two arrays, or of an array and a number. */
const paired =
  (build: (a: number, b: number) => RowValue): RowBuild =>
  (call) => {
    const sides = [call.value(0), call.value(1)] as const;
    return (scope) => {
      const [a, b] = sides.map((side) => side(scope)) as [RowValue, RowValue];
      const lengths = [a, b].flatMap((side) => (Array.isArray(side) ? [side.length] : []));
      if (lengths.length === 0 || [a, b].some((side) => !Array.isArray(side) && realOf(side) === null)) return null;
      const at = (side: RowValue, n: number): number | null => realOf(Array.isArray(side) ? (side as Items)[n]! : side);
      return Array.from({ length: Math.min(...lengths) }, (_, n) => {
        const [left, right] = [at(a, n), at(b, n)];
        return left === null || right === null ? null : build(left, right);
      });
    };
  };

const ofItems =
  (build: (items: Items) => RowValue): RowBuild =>
  (call) =>
    ofArrays([call.value(0)], ([items]) => build(items!));

function stats(items: Items): RowValue {
  const all = items.map(realOf);
  const found = all.filter((item) => item !== null);
  if (found.length === 0)
    return { min: null, min_idx: null, max: null, max_idx: null, avg: null, variance: null, stdev: null };
  const [min, max] = [Math.min(...found), Math.max(...found)];
  const avg = found.reduce((sum, item) => sum + item, 0) / found.length;
  const variance = found.reduce((sum, item) => sum + (item - avg) ** 2, 0) / Math.max(found.length - 1, 1);
  return { min, min_idx: all.indexOf(min), max, max_idx: all.indexOf(max), avg, variance, stdev: Math.sqrt(variance) };
}

/** `build` gets the items and which of them are missing. */
const filled =
  (
    missingAt: number,
    build: (items: Items, isMissing: (item: RowValue) => boolean, call: readonly RowValue[]) => RowValue,
  ): RowBuild =>
  (call: RowCall): Evaluate => {
    const others = Array.from({ length: call.count - 1 }, (_, n) => call.value(n + 1));
    return ofArrays([call.value(0)], ([items], scope) => {
      const given = others.map((other) => asArrayItem(other(scope)));
      const missing = identityOf(given[missingAt - 1] ?? null);
      return build(items!, (item) => identityOf(item) === missing, given);
    });
  };

/** Each item that is missing as the last one before it that is not. */
function forward(items: Items, isMissing: (item: RowValue) => boolean): Items {
  let last: RowValue | undefined;
  return items.map((item) => (isMissing(item) ? (last ?? item) : (last = item)));
}

function linear(
  items: Items,
  isMissing: (item: RowValue) => boolean,
  [, edges, constant = 0n]: readonly RowValue[],
): RowValue {
  const places = items.map((item, n): number => (isMissing(item) ? -1 : n));
  const before = forward(places.map(BigInt), (place) => place === -1n).map(Number);
  const after = forward(places.toReversed().map(BigInt), (place) => place === -1n)
    .map(Number)
    .toReversed();
  return items.map((item, n) => {
    const [from, to] = [before[n]!, after[n]!];
    if (!isMissing(item)) return item;
    if (from < 0 && to < 0) return constant;
    if (from < 0 || to < 0) return edges === false ? item : items[Math.max(from, to)]!;
    const [left, right] = [realOf(items[from]!), realOf(items[to]!)];
    return left === null || right === null ? null : finite(left + ((right - left) * (n - from)) / (to - from));
  });
}

export const SERIES_ROWS: RowBuilders<typeof SERIES> = {
  series_add: paired((a, b) => finite(a + b)),
  series_subtract: paired((a, b) => finite(a - b)),
  series_multiply: paired((a, b) => finite(a * b)),
  series_divide: paired((a, b) => finite(a / b)),
  series_equals: paired((a, b) => a === b),
  series_not_equals: paired((a, b) => a !== b),
  series_less: paired((a, b) => a < b),
  series_less_equals: paired((a, b) => a <= b),
  series_greater: paired((a, b) => a > b),
  series_greater_equals: paired((a, b) => a >= b),
  series_abs: ofItems((items) => items.map((item) => (realOf(item) === null ? null : Math.abs(realOf(item)!)))),
  series_sum: ofItems((items) => items.reduce<number>((sum, item) => sum + (realOf(item) ?? 0), 0)),
  series_stats: ofItems(stats),
  series_fill_const: filled(2, (items, isMissing, [value = null]) =>
    items.map((item) => (isMissing(item) ? value : item)),
  ),
  series_fill_forward: filled(1, forward),
  series_fill_backward: filled(1, (items, isMissing) => forward(items.toReversed(), isMissing).toReversed()),
  series_fill_linear: filled(1, linear),
};
