/** Values on their way into an engine and rows on their way out. */
import { SERVICE_BOUND_VALUE_BYTES } from '../limits.ts';
import { badRequest } from '../http/api-error.ts';
import type { Cell, Param, QueryResult } from './engine.ts';

/**
 * Bound values as the engines take them. UTF-8: half of a surrogate pair becomes U+FFFD, as it does in what is stored. Throws an `ApiError` 400 for a
 * value that is too long for a field of a request to a server, escaped.
 */
export function wellFormed(params: Readonly<Record<string, Param>>): Record<string, Param> {
  const clean = (value: Param): Param => {
    if (typeof value !== 'string') return value;
    if (Buffer.byteLength(value) > SERVICE_BOUND_VALUE_BYTES)
      throw badRequest(`a value in the query is longer than ${SERVICE_BOUND_VALUE_BYTES} bytes`);
    return value.toWellFormed();
  };
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
  const { data, statistics } = JSON.parse(start > 0 ? text.slice(start) : text) as {
    data: Cell[][];
    statistics: { rows_read: number; bytes_read: number };
  };
  return { rows: data, rowsRead: statistics.rows_read, bytesRead: statistics.bytes_read };
}
