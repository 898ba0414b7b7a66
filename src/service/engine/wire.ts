/** Values on their way into an engine and rows on their way out. */
import type { Cell, Param, QueryResult } from './engine.ts';

/** The engine takes UTF-8: half of a surrogate pair becomes U+FFFD, as it does in what is stored. */
export function wellFormed(params: Readonly<Record<string, Param>>): Record<string, Param> {
  const clean = (value: Param): Param => (typeof value === 'string' ? value.toWellFormed() : value);
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, typeof value === 'object' ? value.map((item) => clean(item)) : clean(value)]),
  ) as Record<string, Param>;
}

/** Rows of the format JSONCompactEachRow: one array a line, and no newline inside one, so that one parse does for all. */
export function readRows(text: string): Cell[][] {
  return text === '' ? [] : (JSON.parse(`[${text.trimEnd().replaceAll('\n', ',')}]`) as Cell[][]);
}

const RESULT_START = '{\n\t"meta":';

/**
 * A result of the format JSONCompact, which says what the engine read. The embedded engine puts what a query had written before it failed in
 * front of the next one's result: the last beginning counts. Strings in JSON hold no newline, so it cannot be inside of one.
 */
export function readResult(text: string): QueryResult {
  const start = text.lastIndexOf(RESULT_START);
  const { data, statistics } = JSON.parse(start > 0 ? text.slice(start) : text) as { data: Cell[][]; statistics: { rows_read: number } };
  return { rows: data, rowsRead: statistics.rows_read };
}
