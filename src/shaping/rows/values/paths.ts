/**
 * Fields by their names with dots, however the event holds them: `req.id` is the key `req.id` at the top level, the key `id` in the
 * object `req`, or any mixture. Objects inside the row are never changed in place: siblings may share them.
 */
import { matchesPattern, type NamePattern } from '../../../language/plan/tree.ts';
import { isObject, type JsonObject, type Row, type Value } from './value.ts';

/** Every way to divide a name at its dots: head and what is left behind it. */
export function splitsOf(name: string): readonly (readonly [head: string, rest: string])[] {
  const splits: [string, string][] = [];
  for (let dot = name.lastIndexOf('.'); dot > 0; dot = name.lastIndexOf('.', dot - 1))
    if (dot < name.length - 1) splits.push([name.slice(0, dot), name.slice(dot + 1)]);
  return splits;
}

/** The top-level keys under which a field of that name may stand. */
export const topLevelNames = (name: string): string[] => [name, ...splitsOf(name).map(([head]) => head)];

/** Reads the field; undefined where there is none. */
export function fieldReader(name: string): (row: Row) => Value | undefined {
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

function readInside(object: JsonObject, name: string): Value | undefined {
  if (Object.hasOwn(object, name)) return object[name];
  for (const [head, rest] of splitsOf(name)) {
    const inside = Object.hasOwn(object, head) ? object[head] : undefined;
    const value = isObject(inside) ? readInside(inside, rest) : undefined;
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Sets the field where it stands, else in the object that its name leads into, else at the top level. */
export function fieldWriter(name: string): (row: Row, value: Value) => void {
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

function writeInside(object: JsonObject, name: string, value: Value): JsonObject {
  if (!Object.hasOwn(object, name))
    for (const [head, rest] of splitsOf(name)) {
      const inside = Object.hasOwn(object, head) ? object[head] : undefined;
      if (isObject(inside)) return { ...object, [head]: writeInside(inside, rest, value) };
    }
  return { ...object, [name]: value };
}

/** Whether a field below the path may match. */
const leadsTo = ({ text, prefix }: NamePattern, path: string): boolean => text.startsWith(`${path}.`) || (prefix && path.startsWith(text));

const matchesAny = (patterns: readonly NamePattern[], name: string): boolean => patterns.some((pattern) => matchesPattern(pattern, name));

/** Removes what matches, inside objects, too; an object that was emptied stays. */
export function removeFields(row: Row, patterns: readonly NamePattern[]): void {
  for (const pattern of patterns) {
    if (pattern.prefix) removeMatching(row, pattern);
    else removeNamed(row, pattern.text);
  }
}

function removeNamed(row: Row, name: string): void {
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

function removeMatching(row: Row, pattern: NamePattern): void {
  for (const [name, value] of row) {
    if (matchesPattern(pattern, name)) row.delete(name);
    else if (isObject(value) && leadsTo(pattern, name)) {
      const left = withoutMatching(value, name, pattern);
      if (left !== value) row.set(name, left);
    }
  }
}

function withoutMatching(object: JsonObject, path: string, pattern: NamePattern): JsonObject {
  let changed = false;
  const left: [string, Value][] = [];
  for (const [key, value] of Object.entries(object)) {
    const name = `${path}.${key}`;
    if (matchesPattern(pattern, name)) {
      changed = true;
      continue;
    }
    const kept = isObject(value) && leadsTo(pattern, name) ? withoutMatching(value, name, pattern) : value;
    changed ||= kept !== value;
    left.push([key, kept]);
  }
  return changed ? Object.fromEntries(left) : object;
}

/** Keeps only what matches; of objects with a match inside, that. */
export function keepFields(row: Row, patterns: readonly NamePattern[]): void {
  for (const [name, value] of row) {
    if (matchesAny(patterns, name)) continue;
    const kept = isObject(value) && patterns.some((pattern) => leadsTo(pattern, name)) ? keepInside(value, name, patterns) : undefined;
    if (kept === undefined) row.delete(name);
    else row.set(name, kept);
  }
}

function keepInside(object: JsonObject, path: string, patterns: readonly NamePattern[]): JsonObject | undefined {
  const kept = Object.entries(object).flatMap(([key, value]): [string, Value][] => {
    const name = `${path}.${key}`;
    if (matchesAny(patterns, name)) return [[key, value]];
    const inside = isObject(value) && patterns.some((pattern) => leadsTo(pattern, name)) ? keepInside(value, name, patterns) : undefined;
    return inside === undefined ? [] : [[key, inside]];
  });
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** The top-level keys that a pattern may reach; undefined where those are not known. */
export const reachedNames = ({ text, prefix }: NamePattern): string[] | undefined => (prefix ? undefined : topLevelNames(text));
