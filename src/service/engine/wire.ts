/** Values on their way into an engine and rows on their way out. */
import { SERVICE_BOUND_VALUE_BYTES } from '../limits.ts';
import { badRequest } from '../http/api-error.ts';
import { tooLargeResult } from './settings.ts';
import type { EngineResult, EngineRow, Param, QueryLimits, ResultRows } from './engine.ts';

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
    Object.entries(params).map(([name, value]) => [
      name,
      typeof value === 'object' ? value.map((item) => clean(item)) : clean(value),
    ]),
  ) as Record<string, Param>;
}

type TextLimits = Pick<QueryLimits, 'resultBytes' | 'rowBytes'>;

const RESULT_START = '{\n\t"meta":';
const ROWS_START = '\n\t"data":\n\t[\n';
const ROWS_END = '\n\t],\n';

/** Throws an `ApiError` 400 for a text that is too long. */
export function readRows(bytes: Buffer, limits?: TextLimits, from = 0, to = bytes.length): ResultRows {
  if (limits && to - from > 2 * limits.resultBytes) throw tooLargeResult(limits.resultBytes);
  return TextRows.read(bytes, limits?.rowBytes ?? Number.POSITIVE_INFINITY, from, to);
}

/**
 * A result of the format JSONCompact, which states what the engine read. The embedded engine puts the output of a failed query in front of the
 * next result, so the last beginning counts. None of these marks can be inside a string, as JSON strings hold no newline.
 */
export function readResult(bytes: Buffer, limits?: TextLimits): EngineResult {
  const start = Math.max(0, bytes.lastIndexOf(RESULT_START));
  const from = bytes.indexOf(ROWS_START, start) + ROWS_START.length;
  // Without rows the list ends where it begins.
  const to = bytes.indexOf(ROWS_END, from - 1);
  const { statistics } = JSON.parse(`{${bytes.toString('utf8', bytes.indexOf('"rows":', to))}`) as {
    statistics: { rows_read: number; bytes_read: number };
  };
  return { rows: readRows(bytes, limits, from, to), rowsRead: statistics.rows_read, bytesRead: statistics.bytes_read };
}

const LF = 10;
const COMMA = 44;

/** Rows kept as the engine wrote them: one JSON array a line. A row is parsed when it is asked for and forgotten after. */
class TextRows implements ResultRows {
  readonly #bytes: Buffer;
  /** Where each row begins. */
  readonly #starts: readonly number[];

  constructor(bytes: Buffer, starts: readonly number[]) {
    this.#bytes = bytes;
    this.#starts = starts;
  }

  /** Rows in lines from one place to another, each with blanks before it and a comma behind it, or without. Throws a 400 for a row over `mostBytes`. */
  static read(bytes: Buffer, mostBytes: number, from = 0, to = bytes.length): TextRows {
    const starts: number[] = [];
    for (let at = from; at < to;) {
      const found = bytes.indexOf(LF, at);
      const end = found < 0 ? to : found;
      if (end - at > mostBytes)
        throw badRequest(
          `a row of the result is larger than ${Math.floor(mostBytes / 2 ** 20)} MiB: ask for less of it`,
        );
      if (end > at) starts.push(at);
      at = end + 1;
    }
    return new TextRows(bytes, starts);
  }

  get length(): number {
    return this.#starts.length;
  }

  /** Undefined beyond the rows. A negative index counts from the end. */
  at(index: number): EngineRow | undefined {
    const start = this.#starts.at(index);
    return start === undefined ? undefined : this.#parse(start);
  }

  *[Symbol.iterator](): Iterator<EngineRow> {
    for (const start of this.#starts) yield this.#parse(start);
  }

  /** The first rows. */
  take(count: number): ResultRows {
    return count >= this.length ? this : new TextRows(this.#bytes, this.#starts.slice(0, count));
  }

  filter(isWanted: (row: EngineRow) => boolean): ResultRows {
    return new TextRows(
      this.#bytes,
      this.#starts.filter((start) => isWanted(this.#parse(start))),
    );
  }

  #parse(start: number): EngineRow {
    const found = this.#bytes.indexOf(LF, start);
    const end = found < 0 ? this.#bytes.length : found;
    return JSON.parse(this.#bytes.toString('utf8', start, this.#bytes[end - 1] === COMMA ? end - 1 : end)) as EngineRow;
  }
}
