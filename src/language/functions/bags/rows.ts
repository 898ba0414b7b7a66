/** Functions of objects, and of arrays as sets, of one row. */
import { pathOf, type BAGS } from './spec.ts';
import { keysOf } from '../../plan/literals.ts';
import type { Evaluate, RowBuild, RowBuilders, RowCall } from '../../../shaping/rows/call/call.ts';
import { lift2 } from '../../../shaping/rows/call/lift.ts';
import { isObject, type JsonObject, type RowValue } from '../../../shaping/rows/values/value.ts';
import { all, asArrayItem, identityOf, ofArrays, type Items } from '../arrays/rows.ts';

/** Builds from objects; null if one argument is not an object. */
const ofBags =
  (parts: readonly Evaluate[], build: (bags: readonly JsonObject[]) => RowValue): Evaluate =>
  (scope) => {
    const found = parts.map((part) => part(scope));
    return found.every((value) => isObject(value)) ? build(found) : null;
  };

function packed(call: RowCall): Evaluate {
  const keys = keysOf(call);
  const values = keys.map((_, n) => call.value(2 * n + 1));
  return (scope) => Object.fromEntries(keys.map((key, n) => [key, asArrayItem(values[n]!(scope))]));
}

function merged(bags: readonly JsonObject[]): RowValue {
  const entries = new Map<string, RowValue>();
  for (const bag of bags)
    for (const [key, value] of Object.entries(bag)) if (!entries.has(key)) entries.set(key, value);
  return Object.fromEntries(entries);
}

function withoutPath(bag: JsonObject, [key, ...rest]: readonly string[]): JsonObject {
  if (key === undefined || !Object.hasOwn(bag, key)) return bag;
  const { [key]: inside, ...others } = bag;
  if (rest.length === 0) return others;
  return isObject(inside) ? { ...bag, [key]: withoutPath(inside, rest) } : bag;
}

/** The key, or what a path leads to. */
const hasKey = (bag: RowValue, name: string): boolean => hasPath(bag, [name]) || hasPath(bag, pathOf(name) ?? [name]);

const hasPath = (at: RowValue, [key, ...rest]: readonly string[]): boolean =>
  key === undefined || (isObject(at) && Object.hasOwn(at, key) && hasPath(at[key]!, rest));

function without(call: RowCall): Evaluate {
  return lift2(call.value(0), call.value(1), (bag, names) => {
    if (!isObject(bag) || !Array.isArray(names)) return null;
    const removed = new Set((names as Items).map((name) => (typeof name === 'string' ? name : identityOf(name))));
    const paths = [...removed].flatMap((name) => [pathOf(name) ?? []]);
    return paths.reduce(withoutPath, Object.fromEntries(Object.entries(bag).filter(([key]) => !removed.has(key))));
  });
}

const identitiesOf = (items: Items): Set<string> => new Set(items.map(identityOf));

/** The different items of the first array that pass. */
function distinct(items: Items, passes: (identity: string) => boolean = () => true): Items {
  const found = new Map<string, RowValue>();
  for (const item of items) {
    const identity = identityOf(item);
    if (!found.has(identity) && passes(identity)) found.set(identity, item);
  }
  return [...found.values()];
}

const ofSets =
  (build: (first: Items, others: readonly Items[]) => RowValue): RowBuild =>
  (call) =>
    ofArrays(all(call), ([first, ...others]) => build(first!, others));

export const BAGS_ROWS: RowBuilders<typeof BAGS> = {
  bag_pack: packed,
  bag_keys: (call) => ofBags([call.value(0)], ([bag]) => Object.keys(bag!)),
  bag_has_key: (call) =>
    lift2(call.value(0), call.string(1), (bag, name) => (isObject(bag) ? hasKey(bag, name) : null)),
  bag_merge: (call) => ofBags(all(call), merged),
  bag_remove_keys: without,
  bag_zip: (call) =>
    ofArrays(all(call), ([keys, values]) =>
      merged(
        keys!
          .slice(0, values!.length)
          .flatMap((key, n): JsonObject[] => (typeof key === 'string' ? [{ [key]: values![n]! }] : [])),
      ),
    ),
  set_union: ofSets((first, others) => distinct([first, ...others].flat())),
  set_intersect: ofSets((first, others) => {
    const sets = others.map(identitiesOf);
    return distinct(first, (identity) => sets.every((set) => set.has(identity)));
  }),
  set_difference: ofSets((first, others) => {
    const sets = others.map(identitiesOf);
    return distinct(first, (identity) => !sets.some((set) => set.has(identity)));
  }),
  set_has_element: (call) => {
    const value = call.value(1);
    return ofArrays([call.value(0)], ([items], scope) =>
      identitiesOf(items!).has(identityOf(asArrayItem(value(scope)))),
    );
  },
};
