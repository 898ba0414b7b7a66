/**
 * CSV after RFC 4180 to events whose keys are the columns. The first record of a stream names them, unless the configuration
 * does. A record ends at the first newline outside of quotes; one that does not fit the columns is whole in `message`.
 */
import { parse } from 'csv-parse/sync';
import { messageOf } from '../../core/errors.ts';
import { MAX_CSV_COLUMNS } from '../../core/limits.ts';
import { MAX_CSV_HEADER_BYTES } from '../limits.ts';
import type { Grouping, GroupingLimits } from '../text/grouping.ts';
import type { FormatParser } from './line-parser.ts';
import { emptyFields, type EventFields, unparsed } from '../values/fields.ts';

export interface CsvRules {
  /** One ASCII character. */
  readonly delimiter: string;
  /** Undefined where the stream's first record names them. */
  readonly columns: readonly string[] | undefined;
  /** How many of the last columns a record may lack. */
  readonly optional?: number;
}

export function createCsvParser({ delimiter, columns: configured, optional = 0 }: CsvRules): FormatParser {
  let columns = configured;
  return {
    restart() {
      columns = configured;
    },
    learn(head) {
      if (!configured)
        columns = namesOf(head.length > MAX_CSV_HEADER_BYTES ? [] : (firstRecord(head, delimiter) ?? []));
    },
    parse(text) {
      let record: string[] | undefined;
      try {
        record = readRecord(text, delimiter);
      } catch (error) {
        return [unparsed(text, `no CSV record: ${messageOf(error)}`)];
      }
      if (!record) return [];
      if (!columns) {
        // A header that could not be found again after a restart does not count.
        columns = namesOf(Buffer.byteLength(text) > MAX_CSV_HEADER_BYTES - 8 ? [] : record);
        return [];
      }
      return [
        eventOf(record, columns, optional) ?? unparsed(text, `${record.length} values for ${columns.length} columns`),
      ];
    },
  };
}

/** Joins the lines of a record: a newline inside of quotes ends none. */
export function createCsvGrouping(limits: GroupingLimits): Grouping {
  let isInQuotes = false;
  return {
    ...limits,
    begins(bytes, start, end) {
      const isFirst = !isInQuotes;
      const line = bytes.subarray(start, end);
      // A quote inside of quotes is doubled, so each of them changes sides.
      for (let at = line.indexOf(QUOTE); at !== -1; at = line.indexOf(QUOTE, at + 1)) isInQuotes = !isInQuotes;
      return isFirst;
    },
    isWhole: () => !isInQuotes,
    reset() {
      isInQuotes = false;
    },
  };
}

const QUOTE = 34;

function readRecord(text: string, delimiter: string): string[] | undefined {
  return splitRecord(text, delimiter) ?? parseRecord(text, delimiter);
}

/**
 * The values of a record whose quotes are all where RFC 4180 wants them; undefined for any other. csv-parse decides about those; it would
 * give the same for these, at a hundred times the cost (85 µs a record against less than 1).
 */
function splitRecord(text: string, delimiter: string): string[] | undefined {
  if (!text.includes('"')) return text === '' ? undefined : text.split(delimiter);
  const values: string[] = [];
  for (let at = 0; ;) {
    let end: number;
    if (text[at] === '"') {
      end = text.indexOf('"', at + 1);
      while (end !== -1 && text[end + 1] === '"') end = text.indexOf('"', end + 2);
      if (end === -1) return undefined;
      values.push(text.slice(at + 1, end).replaceAll('""', '"'));
      end += 1;
    } else {
      const next = text.indexOf(delimiter, at);
      end = next === -1 ? text.length : next;
      const value = text.slice(at, end);
      if (value.includes('"')) return undefined;
      values.push(value);
    }
    if (end === text.length) return values;
    if (text[end] !== delimiter) return undefined;
    at = end + 1;
  }
}

function parseRecord(text: string, delimiter: string): string[] | undefined {
  const records = parse(text, { delimiter, relax_column_count: true, bom: false });
  if (records.length > 1) throw new Error('a quote is not closed, or there are more records than one');
  return records[0];
}

function firstRecord(head: string, delimiter: string): string[] | undefined {
  try {
    return parse(head, { delimiter, relax_column_count: true, bom: true, to: 1 })[0];
  } catch {
    return undefined;
  }
}

/** Unique names: an empty one gets its number, a repeated one a number appended. */
function namesOf(record: readonly string[]): string[] {
  const names = new Set<string>();
  for (const [index, value] of record.slice(0, MAX_CSV_COLUMNS).entries()) {
    const wanted = value.trim() === '' ? `column_${index + 1}` : value.trim();
    let name = wanted;
    for (let n = 2; names.has(name); n += 1) name = `${wanted}_${n}`;
    names.add(name);
  }
  return [...names];
}

function eventOf(record: readonly string[], columns: readonly string[], optional: number): EventFields | undefined {
  if (record.length > columns.length || record.length < columns.length - optional) return undefined;
  const event = emptyFields();
  record.forEach((value, index) => (event[columns[index]!] = value));
  return event;
}
