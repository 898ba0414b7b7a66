/** Writes rows page by page as a table, lines, CSV or NDJSON. The first page decides the columns of CSV, and of a table, which leaves out those that hold nothing. */
import { styleText } from 'node:util';
import { isRawNumber } from '../../../json/numbers.ts';
import { printable } from '../../../config/quote.ts';
import { PREFERRED_FIELDS } from '../../../core/text/event-line.ts';
import { areEvents, linesOfEvents, type Paint, type Widths } from './event-lines.ts';
import { heading, terminalColumns, write, writeLines } from './print.ts';
import { plural, say } from '../../output/say.ts';
import type { OutputRows } from './rows.ts';
import { fitWidths, renderRow } from './table.ts';

export type OutputFormat = 'table' | 'json' | 'ndjson' | 'csv' | 'lines';

export type WriteRows = (rows: OutputRows) => Promise<void>;

export function rowWriter(output: Exclude<OutputFormat, 'json'>): WriteRows {
  if (output === 'ndjson') return writeNdjson;
  if (output === 'lines') return lineWriter();
  return output === 'csv' ? csvWriter() : tableWriter();
}

/** One object a row; null values are left out, like fields that the event does not have. */
async function writeNdjson({ columns, rows }: OutputRows): Promise<void> {
  const objectOf = (row: readonly unknown[]): object =>
    Object.fromEntries(
      columns.map((column, index) => [column, row[index]]).filter(([, value]) => value !== null && value !== undefined),
    );
  await writeLines(mapped(rows, (row) => JSON.stringify(objectOf(row))));
}

function* mapped<T>(items: readonly T[], map: (item: T) => string): Generator<string> {
  for (const item of items) yield map(item);
}

function csvWriter(): WriteRows {
  let header: readonly string[] | undefined;
  const missing = new Set<string>();
  return async ({ columns, rows }) => {
    if (header === undefined) {
      header = columns;
      await write(`${columns.map(csvCell).join(',')}\n`);
    }
    for (const name of columns) {
      if (header.includes(name) || missing.has(name)) continue;
      missing.add(name);
      say(`tailrace: the field ${name} came up after the first page and is left out; -o ndjson has it`);
    }
    const places = header.map((name) => columns.indexOf(name));
    await writeLines(mapped(rows, (row) => places.map((place) => csvCell(row[place])).join(',')));
  };
}

/** An empty text is quoted, so that it differs from none. */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (isRawNumber(value)) return value.rawJSON;
  const plain = typeof value === 'string' ? value : JSON.stringify(value);
  const text = process.stdout.isTTY ? printable(plain) : plain;
  // A text that looks like a number or a truth value would be read back as one.
  const needsQuotes = typeof value === 'string' && /^$|[",\r\n]|^\s|\s$|^(?:true|false|[-+.\d][\d.eE+-]*)$/.test(text);
  return needsQuotes || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Rows that are no events, such as those of a summary, are a table all the same. */
function lineWriter(): WriteRows {
  const widths: Widths = { hasDate: false, severity: 0, source: 0 };
  const paint: Paint = (style, text) => styleText(style, text, { stream: process.stdout });
  const writeTable = tableWriter();
  return (rows) =>
    areEvents(rows) ? writeLines(linesOfEvents(rows, widths, terminalColumns(), Date.now(), paint)) : writeTable(rows);
}

function tableWriter(): WriteRows {
  let layout: { readonly names: readonly string[]; readonly widths: readonly number[] } | undefined;
  // A pipe gets a line for each row, as grep wants it.
  const form = process.stdout.isTTY ? 'lines' : 'line';
  return async ({ columns, rows }) => {
    // Without rows nothing tells which of the dataset's columns would matter to a person.
    if (rows.length === 0 && process.stdout.isTTY) return;
    if (layout === undefined) {
      const names = inReadingOrder(
        columns.filter((_, index) => rows.length === 0 || rows.some((row) => isSomething(row[index]))),
      );
      const places = names.map((name) => columns.indexOf(name));
      const shown = rows.map((row) => places.map((place) => row[place]));
      layout = { names, widths: fitWidths(names, shown, terminalColumns(), form) };
      const hidden = names.length - layout.widths.length;
      if (hidden > 0)
        say(`${plural(hidden, 'column')} more than fit the terminal: choose some with project, or -o ndjson`);
      if (names.length > 0) await write(`${heading(renderRow(names, layout.widths))}\n`);
    }
    const { names, widths } = layout;
    const places = names.map((name) => columns.indexOf(name));
    const picked = (row: readonly unknown[]): unknown[] => places.map((place) => row[place]);
    await writeLines(mapped(rows, (row) => renderRow(picked(row), widths, form)));
  };
}

const isSomething = (value: unknown): boolean => value !== null && value !== undefined && value !== '';

/**
 * Where no columns were chosen, the service's own come after the events': last, and on a terminal not at all. There the most telling come
 * first, as in the explorer, since not all may fit.
 */
function inReadingOrder(names: readonly string[]): readonly string[] {
  const isWhole =
    (names[0] === '_sysTime' && names[1] === '_time') || (names[0] === '_time' && names.at(-1) === '_rowId');
  if (!isWhole || names.length < 3) return names;
  const own = names.filter((name) => !OF_THE_SERVICE.includes(name));
  if (terminalColumns() === undefined) return [...own, ...names.filter((name) => OF_THE_SERVICE.includes(name))];
  const first = ['_time', ...PREFERRED_FIELDS].filter((name) => own.includes(name));
  return [...first, ...own.filter((name) => !first.includes(name))];
}

const OF_THE_SERVICE = ['_sysTime', '_rowId'];
