/** Which columns there are at a point of a query. Over events every name is a field; behind project or summarize only what those made. */
import type { Type } from '../types.ts';
import { matchesPattern, type Column, type NamePattern } from './tree.ts';

/** What the service itself knows of each event. */
const SYSTEM_TYPES: ReadonlyMap<string, Type> = new Map([
  ['_time', 'datetime'],
  ['_sysTime', 'datetime'],
  ['_rowId', 'string'],
  ['_cursor', 'string'],
]);

export interface Scope {
  /** Fields of events that no stage has named are there. */
  readonly open: boolean;
  readonly columns: ReadonlyMap<string, Type>;
  /** Fields that were taken away. */
  readonly removed: readonly NamePattern[];
}

export const EVENTS: Scope = { open: true, columns: new Map(), removed: [] };

/** Undefined when there is no such column. */
export function typeOf(scope: Scope, name: string): Type | undefined {
  const type = scope.columns.get(name);
  if (type !== undefined || !scope.open || scope.removed.some((pattern) => matchesPattern(pattern, name))) return type;
  return SYSTEM_TYPES.get(name) ?? 'dynamic';
}

export function extended(scope: Scope, columns: readonly Column[]): Scope {
  const names = new Set(columns.map(({ name }) => name));
  const kept = [...scope.columns].filter(([name]) => !names.has(name));
  return { ...scope, columns: new Map([...kept, ...columns.map(({ name, node }) => [name, node.type] as const)]) };
}

export const closed = (columns: readonly (readonly [string, Type])[]): Scope => ({ open: false, columns: new Map(columns), removed: [] });

export function without(scope: Scope, patterns: readonly NamePattern[]): Scope {
  const columns = new Map([...scope.columns].filter(([name]) => !patterns.some((pattern) => matchesPattern(pattern, name))));
  return { open: scope.open, columns, removed: [...scope.removed, ...patterns] };
}
