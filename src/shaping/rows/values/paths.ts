/**
 * Fields by their names with dots, however the event holds them: `req.id` is the key `req.id` at the top level, the key `id` in the
 * object `req`, or any mixture. Objects inside the row are never changed in place: siblings may share them.
 */
import { matchesPattern, type NamePattern } from '../../../language/plan/tree.ts';
import { EACH } from '../../../language/syntax/tree.ts';
import { isObject, type EventRow, type JsonObject, type RowValue } from './value.ts';

/** Every way to divide a name at its dots: head and rest. */
export function splitsOf(name: string): readonly (readonly [head: string, rest: string])[] {
  const splits: [string, string][] = [];
  for (let dot = name.lastIndexOf('.'); dot > 0; dot = name.lastIndexOf('.', dot - 1))
    if (dot < name.length - 1) splits.push([name.slice(0, dot), name.slice(dot + 1)]);
  return splits;
}

/** The top-level keys that may hold a field of that name. */
export function topLevelNames(name: string): string[] {
  const heads = [name, ...splitsOf(name).map(([head]) => head)];
  return name.includes(EACH) ? [...new Set([...heads, ...heads.map(listOf)])] : heads;
}

/** Without the `[]` at the end. */
const listOf = (name: string): string => (name.endsWith(EACH) ? name.slice(0, -EACH.length) : name);
/** The path of the items of the list at `path`; lists in lists share it. */
export const itemsPath = (path: string): string => (path.endsWith(EACH) ? path : path + EACH);

/** Reads the field; undefined if it is missing. */
export function fieldReader(name: string): (row: EventRow) => RowValue | undefined {
  const splits = splitsOf(name);
  if (splits.length === 0) return (row) => row.get(name);
  return (row) => {
    const flat = row.get(name);
    if (flat !== undefined) return flat;
    for (const [head, rest] of splits) {
      const inside = row.get(head);
      const value = isObject(inside) ? readInside(inside, rest) : undefined;
      if (value !== undefined) return value;
    }
    return undefined;
  };
}

function readInside(object: JsonObject, name: string): RowValue | undefined {
  if (Object.hasOwn(object, name)) return object[name];
  for (const [head, rest] of splitsOf(name)) {
    const inside = Object.hasOwn(object, head) ? object[head] : undefined;
    const value = isObject(inside) ? readInside(inside, rest) : undefined;
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Sets the field in its place, else in the object that its name leads into, else at the top level. */
export function fieldWriter(name: string): (row: EventRow, value: RowValue) => void {
  const splits = splitsOf(name);
  return (row, value) => {
    if (!row.has(name))
      for (const [head, rest] of splits) {
        const inside = row.get(head);
        if (!isObject(inside)) continue;
        row.set(head, writeInside(inside, rest, value));
        return;
      }
    row.set(name, value);
  };
}

function writeInside(object: JsonObject, name: string, value: RowValue): JsonObject {
  if (!Object.hasOwn(object, name))
    for (const [head, rest] of splitsOf(name)) {
      const inside = Object.hasOwn(object, head) ? object[head] : undefined;
      if (isObject(inside)) return { ...object, [head]: writeInside(inside, rest, value) };
    }
  return { ...object, [name]: value };
}

/** Whether a field below the path may match. */
export const leadsTo = ({ text, prefix }: NamePattern, path: string): boolean =>
  text.startsWith(`${path}.`) || text.startsWith(`${path}${EACH}`) || (prefix && path.startsWith(text));

const matchesAny = (patterns: readonly NamePattern[], name: string): boolean =>
  patterns.some((pattern) => matchesPattern(pattern, name));

/** Removes what matches, inside objects, too; an object that was emptied stays. */
export function removeFields(row: EventRow, patterns: readonly NamePattern[]): void {
  for (const pattern of patterns) {
    if (pattern.prefix || pattern.text.includes(EACH)) removeMatching(row, pattern);
    else removeNamed(row, pattern.text);
  }
}

function removeNamed(row: EventRow, name: string): void {
  row.delete(name);
  for (const [head, rest] of splitsOf(name)) {
    const value = row.get(head);
    const left = isObject(value) ? withoutNamed(value, rest) : value;
    if (left !== value) row.set(head, left!);
  }
}

function withoutNamed(object: JsonObject, name: string): JsonObject {
  let left = object;
  if (Object.hasOwn(left, name)) {
    const { [name]: _removed, ...others } = left;
    left = others;
  }
  for (const [head, rest] of splitsOf(name)) {
    const value = Object.hasOwn(left, head) ? left[head] : undefined;
    const inside = isObject(value) ? withoutNamed(value, rest) : value;
    if (inside !== value) left = { ...left, [head]: inside! };
  }
  return left;
}

function removeMatching(row: EventRow, pattern: NamePattern): void {
  for (const [name, value] of row) {
    if (matchesPattern(pattern, name)) row.delete(name);
    else if (leadsTo(pattern, name)) {
      const left = withoutMatching(value, name, pattern);
      if (left !== value) row.set(name, left);
    }
  }
}

function withoutMatching(value: RowValue, path: string, pattern: NamePattern): RowValue {
  if (Array.isArray(value)) {
    const items = itemsPath(path);
    if (matchesPattern(pattern, items)) return [];
    return leadsTo(pattern, items) ? changedItems(value, (item) => withoutMatching(item, items, pattern)) : value;
  }
  if (!isObject(value)) return value;
  let changed = false;
  const left: [string, RowValue][] = [];
  for (const [key, inside] of Object.entries(value)) {
    const name = `${path}.${key}`;
    if (matchesPattern(pattern, name)) {
      changed = true;
      continue;
    }
    const kept = leadsTo(pattern, name) ? withoutMatching(inside, name, pattern) : inside;
    changed ||= kept !== inside;
    left.push([key, kept]);
  }
  return changed ? Object.fromEntries(left) : value;
}

/** The same list where no item changed. */
function changedItems(items: readonly RowValue[], change: (item: RowValue) => RowValue): readonly RowValue[] {
  const changed = items.map(change);
  return changed.some((item, n) => item !== items[n]) ? changed : items;
}

/**
 * Changes each value that the name reaches: however it is nested, and in lists where it has `[]`. Null takes it away. Objects and lists in the row are
 * not changed in place.
 */
export function changeReached(row: EventRow, name: string, change: (value: RowValue) => RowValue): void {
  const pattern = { text: name, prefix: false };
  for (const [key, value] of row) {
    const isReached = key === name;
    if (!isReached && !leadsTo(pattern, key)) continue;
    const changed = isReached ? change(value) : changedInside(value, key, pattern, change);
    if (changed === value) continue;
    if (isReached && changed === null) row.delete(key);
    else row.set(key, changed);
  }
}

function changedInside(
  value: RowValue,
  path: string,
  pattern: NamePattern,
  change: (value: RowValue) => RowValue,
): RowValue {
  if (Array.isArray(value)) {
    const items = itemsPath(path);
    const isReached = items === pattern.text;
    if (!isReached && !leadsTo(pattern, items)) return value;
    return changedItems(value, (item) =>
      isReached && !Array.isArray(item) ? change(item) : changedInside(item, items, pattern, change),
    );
  }
  if (!isObject(value)) return value;
  let left = value;
  for (const [key, inside] of Object.entries(value)) {
    const name = `${path}.${key}`;
    const changed =
      name === pattern.text
        ? change(inside)
        : leadsTo(pattern, name)
          ? changedInside(inside, name, pattern, change)
          : inside;
    if (changed === inside) continue;
    if (changed !== null) left = { ...left, [key]: changed };
    else left = Object.fromEntries(Object.entries(left).filter(([other]) => other !== key));
  }
  return left;
}

/** Whether the event has a field of that name, in a list, too. */
export function hasField(row: EventRow, name: string): boolean {
  let isThere = false;
  changeReached(row, name, (value) => {
    isThere = true;
    return value;
  });
  return isThere;
}

/** Keeps only what matches; of objects with a match inside, that. */
export function keepFields(row: EventRow, patterns: readonly NamePattern[]): void {
  for (const [name, value] of row) {
    if (matchesAny(patterns, name)) continue;
    const kept = patterns.some((pattern) => leadsTo(pattern, name)) ? keepInside(value, name, patterns) : undefined;
    if (kept === undefined) row.delete(name);
    else row.set(name, kept);
  }
}

function keepInside(value: RowValue, path: string, patterns: readonly NamePattern[]): RowValue | undefined {
  if (Array.isArray(value)) {
    const items = itemsPath(path);
    if (matchesAny(patterns, items)) return value;
    if (!patterns.some((pattern) => leadsTo(pattern, items))) return undefined;
    return value.map((item) => keepInside(item, items, patterns) ?? {});
  }
  if (!isObject(value)) return undefined;
  const kept = Object.entries(value).flatMap(([key, inside]): [string, RowValue][] => {
    const name = `${path}.${key}`;
    if (matchesAny(patterns, name)) return [[key, inside]];
    const left = patterns.some((pattern) => leadsTo(pattern, name)) ? keepInside(inside, name, patterns) : undefined;
    return left === undefined ? [] : [[key, left]];
  });
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** The top-level keys that a pattern may reach; undefined where those are not known. */
export const reachedNames = ({ text, prefix }: NamePattern): string[] | undefined =>
  prefix ? undefined : topLevelNames(text);
