/** The queries that this browser ran, newest first, with range and columns; gone on signing out. */
import type { KeptQuery } from './api.ts';
import { isRange } from './link-state.ts';

const KEPT = 'tailrace-history';
const MOST = 50;
/** Longer texts are not kept: the browser's room is small. */
const MOST_CHARACTERS = 20_000;

export interface PastQuery extends KeptQuery {
  /** When it ran last, in milliseconds. */
  readonly at: number;
}

export function readHistory(): PastQuery[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEPT) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isPastQuery) : [];
  } catch {
    return [];
  }
}

export function addToHistory({ query, range, columns }: KeptQuery): void {
  const text = query.trim();
  if (text === '' || text.length > MOST_CHARACTERS) return;
  const others = readHistory().filter((other) => other.query !== text || other.range !== range);
  try {
    localStorage.setItem(
      KEPT,
      JSON.stringify([{ query: text, range, columns, at: Date.now() }, ...others].slice(0, MOST)),
    );
  } catch {
    // No room: the history stays as it was.
  }
}

export function forgetHistory(): void {
  localStorage.removeItem(KEPT);
}

function isPastQuery(value: unknown): value is PastQuery {
  const { query, range, columns, at } = (value ?? {}) as Partial<Record<keyof PastQuery, unknown>>;
  return typeof query === 'string' && isRange(range) && Array.isArray(columns) && typeof at === 'number';
}
