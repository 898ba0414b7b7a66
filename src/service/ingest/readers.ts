/**
 * The formats of ingest bodies: NDJSON, JSON and CSV text becomes a list of events, of which each can fail alone. Reading is
 * lazy where it can be, so that a value may be read again exactly (`ingest/exact-json`).
 */
import { CsvError, parse as parseCsv } from 'csv-parse/sync';
import { messageOf } from '../../core/errors.ts';
import { SERVICE_CSV_COLUMNS, SERVICE_CSV_QUOTED_CHARS, SERVICE_REQUEST_EVENTS } from '../limits.ts';
import { ApiError, badRequest, quote } from '../http/api-error.ts';
import { isTiny, parseExact } from '../../json/exact-reader.ts';
import { parseObject } from '../../json/numbers.ts';

export interface EventReader {
  readonly count: number;
  /** The value of an event. Throws an error whose message is the reason why that event cannot be read. */
  read(index: number): unknown;
  /** The same, by the reader that loses nothing. */
  readExact(index: number): unknown;
  /** True where `read` may have made 0 of a number in this event that a double cannot come near. */
  mayBeTiny(index: number): boolean;
  /** False when `read` is exact already. */
  readonly lossy: boolean;
  /** Elements may be `{time, data, labels}` envelopes. */
  readonly envelopes: boolean;
  /** A value that is no object is stored under `value`; else it fails. */
  readonly scalars: boolean;
}

export type RequestFormat = 'ndjson' | 'json' | 'csv';

/** The format that a `Content-Type` names. Throws an `ApiError` 415. */
export function formatOf(contentType: string | undefined): RequestFormat {
  switch ((contentType ?? '').split(';')[0]!.trim().toLowerCase()) {
    case 'application/json':
      return 'json';
    case 'application/x-ndjson':
    case 'application/nd-json':
      return 'ndjson';
    case 'text/csv':
      return 'csv';
  }
  const given = contentType ? `Content-Type ${quote(contentType)}` : 'no Content-Type';
  throw new ApiError(415, `${given}: wanted application/json, application/x-ndjson or text/csv`);
}

function checkCount(count: number): void {
  if (count > SERVICE_REQUEST_EVENTS)
    throw new ApiError(
      413,
      `more than ${SERVICE_REQUEST_EVENTS} events in one request: send fewer; nothing was stored`,
    );
}

const tooManyValues = (most: number): ApiError =>
  new ApiError(413, `more than ${most} values in one request: send fewer; nothing was stored`);

const BLANK = /^[ \t\r]*$/;

/** A single character that takes 16 bits makes V8 hold its whole text in them and parse it slower: bodies become text in pieces of whole lines. */
const PIECE_BYTES = 16 * 1024;

function linesOfBody(body: Buffer): string[] {
  const lines: string[] = [];
  for (let at = 0; at < body.length;) {
    const found = body.indexOf(10, at + PIECE_BYTES);
    const end = found < 0 ? body.length : found + 1;
    addLines(lines, body.toString('utf8', at, end));
    at = end;
  }
  return lines;
}

function addLines(lines: string[], text: string): void {
  for (let at = 0; at < text.length;) {
    const found = text.indexOf('\n', at);
    const end = found < 0 ? text.length : found;
    const line = text.slice(at, end);
    at = end + 1;
    if (line.charCodeAt(0) !== 123 && BLANK.test(line)) continue;
    lines.push(line);
    checkCount(lines.length);
  }
}

/** One JSON value a line; blank lines do not count. */
export const readNdjson = (body: Buffer, mostValues = Number.POSITIVE_INFINITY): EventReader =>
  readLines(linesOfBody(body), mostValues);

/** What a number that is too small for a double has in its text: a long exponent, or many zeros. */
const TINY = /[eE]-\d{3}|0{200}/;

function readLines(lines: readonly string[], mostValues: number): EventReader {
  const lineOf = (index: number): string => {
    if (hasMoreValues(lines[index]!, mostValues)) throw new Error(`more than ${mostValues} values in one event`);
    return lines[index]!;
  };
  let asked = -1;
  let mayBe = false;
  return {
    count: lines.length,
    read: (index) => JSON.parse(lineOf(index)),
    readExact: (index) => parseExact(lineOf(index)),
    mayBeTiny(index) {
      if (index !== asked) mayBe = TINY.test(lines[index]!);
      asked = index;
      return mayBe;
    },
    lossy: true,
    envelopes: false,
    scalars: true,
  };
}

/** Objects one behind another: those of lines, of which one that is broken costs itself, else those of the whole text. */
function objectsIn(text: string): readonly string[] | undefined {
  const lines: string[] = [];
  addLines(lines, text);
  for (const parts of [lines, [text]]) {
    const objects = parts.flatMap(cut);
    checkCount(objects.length);
    if (objects.length > 1 && parseObject(objects[0]!)) return objects;
  }
  return undefined;
}

/** Cuts a text where an object ended and another begins. */
function cut(text: string): string[] {
  const pieces: string[] = [];
  let depth = 0;
  let from = 0;
  let hasBegun = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) at = endOfText(text, at);
    else if (char === BRACE && depth++ === 0) {
      if (hasBegun) from = pieces.push(text.slice(from, at)) && at;
      hasBegun = true;
    } else if (char === BRACE_END && depth > 0) depth--;
  }
  return [...pieces, text.slice(from)];
}

/** Where the quoted text that begins at `at` has its last quote. */
function endOfText(text: string, at: number): number {
  for (at++; at < text.length && text.charCodeAt(at) !== QUOTE; at++) if (text.charCodeAt(at) === BACKSLASH) at++;
  return at;
}

/** An array of events, one object, or objects one behind another. Throws an `ApiError` 400 for anything else. */
export function readJson(text: string, mostValues = Number.POSITIVE_INFINITY): EventReader {
  if (hasMoreValues(text, mostValues)) throw tooManyValues(mostValues);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    const objects = text.trimStart().startsWith('{') ? objectsIn(text) : undefined;
    if (!objects) throw badRequest(`the body is not JSON: ${messageOf(error)}`);
    return { ...readLines(objects, mostValues), envelopes: true, scalars: false };
  }
  if (typeof parsed !== 'object' || parsed === null)
    throw badRequest('the body is not a JSON array of events, nor an event');
  const values = listOf(parsed);
  checkCount(values.length);
  let exact: unknown[] | undefined;
  let mayBe: boolean | undefined;
  return {
    count: values.length,
    read: (index) => values[index],
    readExact: (index) => (exact ??= listOf(parseExact(text)))[index],
    mayBeTiny: () => (mayBe ??= TINY.test(text)),
    lossy: true,
    envelopes: true,
    scalars: false,
  };
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);

/** Rows of values under the names of the first line, or under `columns` when given. Throws an `ApiError` 400 for bad parameters. */
export function readCsv(
  text: string,
  delimiter: string,
  columns: readonly string[] | undefined,
  mostValues = Number.POSITIVE_INFINITY,
): EventReader {
  if (delimiter.length === 0 || delimiter.length > 8 || /["\r\n]/.test(delimiter))
    throw badRequest(`csv-delimiter ${quote(delimiter)}: wanted 1 to 8 characters, none of them a quote or a line end`);
  const rows: (unknown[] | Error)[] = [];
  const push = (row: unknown[] | Error): void => {
    rows.push(row);
    // One more than the events: the first line may be names.
    if (rows.length > SERVICE_REQUEST_EVENTS) checkCount(rows.length - (columns ? 0 : 1));
  };
  /** Each quote in the wrong place makes csv-parse copy all of its field so far into an error. */
  let quoted = 0;
  let values = 0;
  try {
    parseCsv(text, {
      bom: true,
      delimiter,
      // The first record is the names, unless they were given.
      cast: (value, { quoting, records, index }) => {
        if (++values > mostValues) throw tooManyValues(mostValues);
        if (index >= SERVICE_CSV_COLUMNS)
          throw badRequest(`line ${records + 1} has more than ${SERVICE_CSV_COLUMNS} columns`);
        return quoting || (!columns && records === 0) ? value : held(typed(value));
      },
      relax_column_count: true,
      skip_empty_lines: true,
      skip_records_with_error: true,
      on_skip: (error) => {
        push(error ?? new Error('the row cannot be read'));
        quoted += error?.message.length ?? 0;
        if (quoted > SERVICE_CSV_QUOTED_CHARS)
          throw badRequest('the body is not CSV: too many quotes stand in the wrong place');
        return undefined;
      },
      on_record: (record: unknown[]) => {
        push(record);
        return null;
      },
    });
  } catch (error) {
    if (error instanceof CsvError) throw badRequest(`the body is not CSV: ${error.message}`);
    throw error;
  }
  const names = columns ?? headerOf(rows.shift());
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) throw badRequest(`the column ${quote(name)} is named twice`);
    seen.add(name);
  }
  const read = (index: number): unknown => {
    const row = rows[index]!;
    if (row instanceof Error) throw row;
    if (row.length !== names.length) throw new Error(`the row has ${row.length} values for ${names.length} columns`);
    const event = Object.create(null) as Record<string, unknown>;
    for (const [column, value] of row.entries())
      if (value !== undefined) event[names[column]!] = value instanceof BigCell ? value.value : value;
    return event;
  };
  return {
    count: rows.length,
    read,
    readExact: read,
    mayBeTiny: () => false,
    lossy: false,
    envelopes: false,
    scalars: false,
  };
}

function headerOf(row: unknown[] | Error | undefined): string[] {
  if (row instanceof Error) throw badRequest(`the first line, which names the columns, is not CSV: ${row.message}`);
  return (row ?? []).map((name) => (typeof name === 'string' ? name.trim() : ''));
}

/** An integer beyond 2^53 until its row is read: csv-parse writes a faulty row as JSON, which takes no bigint. */
class BigCell {
  readonly #value: bigint;
  constructor(value: bigint) {
    this.#value = value;
  }
  get value(): bigint {
    return this.#value;
  }
}

const held = (value: ReturnType<typeof typed>) => (typeof value === 'bigint' ? new BigCell(value) : value);

const INTEGER = /^-?(?:0|[1-9]\d*)$/;
const FLOAT = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The value of an unquoted cell. */
function typed(text: string): string | number | bigint | boolean | undefined {
  if (text === '') return undefined;
  if (text === 'true') return true;
  if (text === 'false') return false;
  const number = Number(text);
  if (INTEGER.test(text)) {
    if (Number.isSafeInteger(number)) return number;
    const big = BigInt.asIntN(64, BigInt(text.slice(0, 25)));
    return String(big) === text ? big : text;
  }
  // A short hash may look like a number that no double holds: it stays a text.
  const isNumber = FLOAT.test(text) && Number.isFinite(number) && (number !== 0 || !isTiny(text));
  return isNumber ? number : text;
}

const [QUOTE, COMMA, BRACKET, BACKSLASH, BRACE, BRACE_END] = [34, 44, 91, 92, 123, 125];

/** Whether a text has more than `most` numbers, texts, arrays and objects. Counts too many in a text that is not JSON. */
function hasMoreValues(text: string, most: number): boolean {
  // Each takes two characters at least, itself and what separates it.
  if (text.length <= 2 * most) return false;
  let count = 1;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) at = endOfText(text, at);
    else if ((char === COMMA || char === BRACKET || char === BRACE) && ++count > most) return true;
  }
  return false;
}
