/** The columns at a point of a query. Over events every name is a field; after project or summarize only the columns that those made. */
import type { Expression } from '../syntax/tree.ts';
import type { Type } from '../types.ts';
import { matchesPattern, type Column, type ColumnScope, type JoinKind, type NamePattern, type Node } from './tree.ts';

/** Types of the fields that the service adds to each stored event. */
const STORED_TYPES: ReadonlyMap<string, Type> = new Map([
  ['_time', 'datetime'],
  ['_sysTime', 'datetime'],
  ['_rowId', 'string'],
  ['_cursor', 'string'],
]);

/** Where a query begins: the events of a dataset. */
export const EVENTS: ColumnScope = {
  open: true,
  columns: new Map(),
  known: STORED_TYPES,
  removed: [],
  kept: undefined,
};
/** Where a transform begins: one event on its way. */
export const EVENT_ON_ITS_WAY: ColumnScope = { ...EVENTS, known: new Map([['_time', 'datetime']]) };

/** Undefined when there is no such column. */
export function typeOf(scope: ColumnScope, name: string): Type | undefined {
  const type = scope.columns.get(name);
  if (type !== undefined || !scope.open || scope.removed.some((pattern) => matchesPattern(pattern, name))) return type;
  if (scope.kept && !scope.kept.some((pattern) => matchesPattern(pattern, name))) return undefined;
  return scope.known.get(name) ?? 'dynamic';
}

/** A column that an earlier stage left out is null among the choices of `coalesce`: programs wrap queries that they have not read in it. */
export function leftOut(
  called: string,
  arg: Expression,
  { scope, lets }: { readonly scope: ColumnScope; readonly lets: Taken },
): Node | undefined {
  if (called !== 'coalesce' || arg.kind !== 'name' || (scope.columns.size === 0 && !scope.open)) return undefined;
  const { name } = arg;
  return lets.has(name) || typeOf(scope, name) !== undefined
    ? undefined
    : { kind: 'column', type: typeOf(EVENTS, name)!, name };
}

export function extended(scope: ColumnScope, columns: readonly Column[]): ColumnScope {
  const names = new Set(columns.map(({ name }) => name));
  const kept = [...scope.columns].filter(([name]) => !names.has(name));
  return { ...scope, columns: new Map([...kept, ...columns.map(({ name, node }) => [name, node.type] as const)]) };
}

export const closed = (columns: readonly (readonly [string, Type])[]): ColumnScope => ({
  open: false,
  columns: new Map(columns),
  known: new Map(),
  removed: [],
  kept: undefined,
});

/** The columns of rows that are put one after the other; `inner`: those that all have. A name of several types is dynamic. */
export function merged(scopes: readonly ColumnScope[], inner: boolean): ColumnScope {
  const names = new Set(scopes.flatMap(({ columns }) => [...columns.keys()]));
  const typeIn = (name: string): Type => {
    const types = new Set(scopes.flatMap((scope) => typeOf(scope, name) ?? []));
    return types.size === 1 ? [...types][0]! : 'dynamic';
  };
  const kept = inner
    ? [...names].filter((name) => scopes.every((scope) => typeOf(scope, name) !== undefined))
    : [...names];
  const open = inner ? scopes.every((scope) => scope.open) : scopes.some((scope) => scope.open);
  const known = open ? new Map([['_time', typeIn('_time')] as const]) : new Map<string, Type>();
  return { open, columns: new Map(kept.map((name) => [name, typeIn(name)])), known, removed: [], kept: undefined };
}

/** The columns of two tables side by side; of two with the same name that of the right one is called name1. */
export function joined(left: ColumnScope, right: ColumnScope, how: JoinKind, dropped: readonly string[]): ColumnScope {
  if (how === 'leftsemi' || how === 'leftanti') return flattened(left);
  if (how === 'rightsemi' || how === 'rightanti') return flattened(right);
  const columns = new Map(left.columns);
  for (const name of left.open ? ['_time'] : []) columns.set(name, typeOf(left, name) ?? 'dynamic');
  const others = [...(right.open ? ['_time'] : []), ...right.columns.keys()].filter((name) => !dropped.includes(name));
  for (const name of others) columns.set(freeName(name, columns), typeOf(right, name) ?? 'dynamic');
  return { open: left.open || right.open, columns, known: new Map(), removed: [], kept: undefined };
}

/** Events as rows with columns: `_time` is one of them. */
const flattened = (scope: ColumnScope): ColumnScope =>
  scope.open ? { ...scope, known: new Map([['_time', typeOf(scope, '_time') ?? 'dynamic']]) } : scope;

interface Taken {
  has(name: string): boolean;
}

/** The name, with a number appended if it is taken. */
export const freeName = (name: string, taken: Taken): string => (taken.has(name) ? nameWithNumber(name, taken) : name);

/** The name with the first free number appended. */
export function nameWithNumber(name: string, taken: Taken): string {
  for (let n = 1; ; n++) if (!taken.has(`${name}${n}`)) return `${name}${n}`;
}

export const withColumn = (scope: ColumnScope, name: string, type: Type): ColumnScope => ({
  ...scope,
  columns: new Map([...scope.columns, [name, type]]),
});

export function without(scope: ColumnScope, patterns: readonly NamePattern[]): ColumnScope {
  const columns = new Map(
    [...scope.columns].filter(([name]) => !patterns.some((pattern) => matchesPattern(pattern, name))),
  );
  return { ...scope, columns, removed: [...scope.removed, ...patterns] };
}

/** Only what matches one of the patterns is left. */
export function keeping(scope: ColumnScope, patterns: readonly NamePattern[]): ColumnScope {
  const matches = (name: string): boolean => patterns.some((pattern) => matchesPattern(pattern, name));
  const columns = new Map([...scope.columns].filter(([name]) => matches(name)));
  // Fields that an earlier one removed stay out.
  const removed = [...scope.removed];
  return { ...scope, columns, removed, kept: scope.kept ? scope.kept.filter(({ text }) => matches(text)) : patterns };
}
