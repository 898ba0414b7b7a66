/** Values on their way into an engine and rows on their way out. */
import { SERVICE_BOUND_VALUE_BYTES } from '../limits.ts';
import { badRequest } from '../http/api-error.ts';
import type { Cell, Param, QueryResult } from './engine.ts';

/**
 * Bound values as the engines take them: half a surrogate pair becomes U+FFFD, as in stored events. Throws an `ApiError` 400 for a value that is
 * too long, escaped, for a request to a server.
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

/** Rows of the format JSONCompactEachRow. Each line is one array without a newline inside, so all rows are parsed at once. */
export function readRows(text: string): Cell[][] {
  return text === '' ? [] : (JSON.parse(`[${text.trimEnd().replaceAll('\n', ',')}]`) as Cell[][]);
}

const RESULT_START = '{\n\t"meta":';

/**
 * A result of the format JSONCompact, which states what the engine read. The embedded engine puts the output of a failed query in front of the
 * next result, so the last beginning counts. It cannot be inside a string, as JSON strings hold no newline.
 */
export function readResult(text: string): QueryResult {
  const start = text.lastIndexOf(RESULT_START);
  const { data, statistics } = JSON.parse(start > 0 ? text.slice(start) : text) as {
    data: Cell[][];
    statistics: { rows_read: number; bytes_read: number };
  };
  return { rows: data, rowsRead: statistics.rows_read, bytesRead: statistics.bytes_read };
}
