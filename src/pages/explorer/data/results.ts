/** A query's reply as rows and columns, and as text to take away. */
import { PREFERRED_FIELDS } from '../../../core/text/event-line.ts';
import type { CellValue, ColumnTable, QueryResult } from './api.ts';

export interface TableRows {
  readonly names: readonly string[];
  readonly columns: readonly (readonly CellValue[])[];
  readonly count: number;
  /** Columns whose values are times. */
  readonly times: ReadonlySet<string>;
  /** Events as they were stored, not results computed from them. */
  readonly areEvents: boolean;
  /** Of each row, where rows are events. */
  readonly cursors: readonly string[] | undefined;
}

const SHOWN_OF_EVENTS = 7;
const SHOWN_OF_TABLES = 50;
/** A column that the service adds. */
export const CURSOR = '_cursor';

/** The one with the rows. */
export function tableOf({ tables }: QueryResult): ColumnTable | undefined {
  return tables.find(({ name }) => name !== '_totals');
}

export function rowsOf(result: QueryResult): TableRows {
  const table = tableOf(result);
  if (!table) return { names: [], columns: [], count: 0, times: new Set(), areEvents: false, cursors: undefined };
  const all = table.fields.map(({ name }) => name);
  const names = all.filter((name) => name !== CURSOR);
  const places = names.map((name) => all.indexOf(name));
  return {
    names,
    columns: places.map((place) => table.columns[place]!),
    count: table.columns[0]?.length ?? 0,
    times: new Set(table.fields.filter(({ type }) => type.startsWith('datetime')).map(({ name }) => name)),
    areEvents: table.groups.length === 0 && names.includes('_sysTime'),
    cursors: table.columns[all.indexOf(CURSOR)]?.map(String),
  };
}

/** The columns to begin with: of events those that say most, of a table all. */
export function chooseColumns({ names, columns, count, areEvents }: TableRows): string[] {
  if (!areEvents) return names.slice(0, SHOWN_OF_TABLES);
  const sample = Math.min(count, 200);
  const filled = new Map(
    names.map((name, index) => [
      name,
      columns[index]!.slice(0, sample).filter((value) => value !== null && value !== '').length,
    ]),
  );
  const known = (name: string) => (filled.get(name) ?? 0) > 0;
  const first = PREFERRED_FIELDS.filter(known);
  const rest = names.filter((name) => known(name) && !first.includes(name) && name !== '_time' && name !== '_sysTime');
  rest.sort((a, b) => filled.get(b)! - filled.get(a)!);
  const chosen = [...first, ...rest].slice(0, SHOWN_OF_EVENTS);
  return ['_time', ...chosen];
}

export function eventAt({ names, columns }: TableRows, row: number): [name: string, value: CellValue][] {
  return names.flatMap((name, index) => {
    const value = columns[index]![row] ?? null;
    return value === null ? [] : [[name, value] as [string, CellValue]];
  });
}

export function toJson(rows: TableRows): string {
  return Array.from({ length: rows.count }, (_, row) => JSON.stringify(Object.fromEntries(eventAt(rows, row)))).join(
    '\n',
  );
}

/** These columns alone, in this order. */
export function pickColumns(rows: TableRows, names: readonly string[]): TableRows {
  return { ...rows, names, columns: names.map((name) => rows.columns[rows.names.indexOf(name)] ?? []) };
}

/** RFC 4180. */
export function toCsv({ names, columns, count }: TableRows): string {
  const cell = (value: CellValue): string => {
    const text =
      value === null
        ? ''
        : typeof value === 'string'
          ? value
          : typeof value === 'object'
            ? JSON.stringify(value)
            : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = Array.from({ length: count }, (_, row) => columns.map((column) => cell(column[row] ?? null)).join(','));
  return [names.map(cell).join(','), ...lines].join('\r\n');
}
