/** A query's reply as rows and columns, as lines over time, and as text to take away. */
import type { ChartSeries } from '../../parts/chart.tsx';
import { formatCell } from '../../parts/show-text.ts';
import type { QueryResult, Table, Value } from './api.ts';

export interface Rows {
  readonly names: readonly string[];
  readonly columns: readonly (readonly Value[])[];
  readonly count: number;
  /** Events as they were stored, not what was made of them. */
  readonly areEvents: boolean;
  /** Of each row, where rows are events. */
  readonly cursors: readonly string[] | undefined;
}

/** In this order columns are shown first, where events have them. */
const PREFERRED = ['level', 'severity', 'service', 'message', 'msg', 'status', 'method', 'path', 'host'];
const SHOWN_OF_EVENTS = 7;
const SHOWN_OF_TABLES = 50;
const MOST_LINES = 6;
/** A column that the service adds. */
const CURSOR = '_cursor';

export function rowsOf({ tables }: QueryResult): Rows {
  const table = tables.find(({ name }) => name !== '_totals');
  if (!table) return { names: [], columns: [], count: 0, areEvents: false, cursors: undefined };
  const all = table.fields.map(({ name }) => name);
  const names = all.filter((name) => name !== CURSOR);
  const places = names.map((name) => all.indexOf(name));
  return {
    names,
    columns: places.map((place) => table.columns[place]!),
    count: table.columns[0]?.length ?? 0,
    areEvents: table.groups.length === 0 && names.includes('_sysTime'),
    cursors: table.columns[all.indexOf(CURSOR)]?.map(String),
  };
}

/** The columns to begin with: of events those that say most, of a table all. */
export function chooseColumns({ names, columns, count, areEvents }: Rows): string[] {
  if (!areEvents) return names.slice(0, SHOWN_OF_TABLES);
  const sample = Math.min(count, 200);
  const filled = new Map(
    names.map((name, index) => [name, columns[index]!.slice(0, sample).filter((value) => value !== null && value !== '').length]),
  );
  const known = (name: string) => (filled.get(name) ?? 0) > 0;
  const first = PREFERRED.filter(known);
  const rest = names.filter((name) => known(name) && !first.includes(name) && name !== '_time' && name !== '_sysTime');
  rest.sort((a, b) => filled.get(b)! - filled.get(a)!);
  const chosen = [...first, ...rest].slice(0, SHOWN_OF_EVENTS);
  return ['_time', ...chosen];
}

export function eventAt({ names, columns }: Rows, row: number): [name: string, value: Value][] {
  return names.flatMap((name, index) => {
    const value = columns[index]![row] ?? null;
    return value === null ? [] : [[name, value] as [string, Value]];
  });
}

/** Lines over time of a reply whose rows are steps in time; undefined for any other. */
export function linesOf({
  tables,
}: QueryResult): { readonly times: number[]; readonly series: ChartSeries[]; readonly left: number } | undefined {
  const table = tables.find(({ name }) => name !== '_totals');
  if (!table?.buckets) return undefined;
  const columnOf = (name: string) => table.columns[table.fields.findIndex((field) => field.name === name)] ?? [];
  const time = columnOf(table.buckets.field).map((value) => Date.parse(formatCell(value)) / 1000);
  const times = stepsOf(time, table.buckets.size / 1e9);
  const places = new Map(times.map((at, index) => [at, index]));
  const keys = table.groups.map(({ name }) => name).filter((name) => name !== table.buckets!.field);
  const values = table.fields.filter(
    ({ name, type }) => name !== table.buckets!.field && !keys.includes(name) && /^(?:integer|float|timespan)/.test(type),
  );
  const lines = new Map<string, (number | null)[]>();
  for (const [row, at] of time.entries()) {
    const group = keys.map((key) => formatCell(columnOf(key)[row] ?? null, 40)).join(', ');
    for (const { name } of values) {
      const label = [group, ...(keys.length === 0 || values.length > 1 ? [name] : [])].filter((part) => part !== '').join(' ');
      let line = lines.get(label);
      if (!line) lines.set(label, (line = times.map(() => (isCount(table, name) ? 0 : null))));
      const value = columnOf(name)[row];
      line[places.get(at)!] = typeof value === 'number' ? value : null;
    }
  }
  const weight = (line: readonly (number | null)[]) => line.reduce<number>((sum, value) => sum + Math.abs(value ?? 0), 0);
  const sorted = [...lines].sort(([, a], [, b]) => weight(b) - weight(a));
  const series = sorted.slice(0, MOST_LINES).map(([label, line], index) => ({ label, color: index + 1, values: line }));
  return { times, series, left: sorted.length - series.length };
}

/** Where nothing was counted, nothing was there. */
function isCount({ fields }: Table, name: string): boolean {
  return fields.find((field) => field.name === name)?.agg?.name.startsWith('count') === true;
}

/** Every step from the first to the last, also those without rows, unless they are too many. */
function stepsOf(times: readonly number[], step: number): number[] {
  const sorted = [...new Set(times)].sort((a, b) => a - b);
  const [first = 0, last = 0] = [sorted[0], sorted.at(-1)];
  const count = Math.round((last - first) / step) + 1;
  if (!(step > 0) || count > 10_000 || count < sorted.length) return sorted;
  return [...new Set([...sorted, ...Array.from({ length: count }, (_, index) => first + index * step)])].sort((a, b) => a - b);
}

export function toJson(rows: Rows): string {
  return Array.from({ length: rows.count }, (_, row) => JSON.stringify(Object.fromEntries(eventAt(rows, row)))).join('\n');
}

/** RFC 4180. */
export function toCsv({ names, columns, count }: Rows): string {
  const cell = (value: Value): string => {
    const text =
      value === null ? '' : typeof value === 'string' ? value : typeof value === 'object' ? JSON.stringify(value) : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = Array.from({ length: count }, (_, row) => columns.map((column) => cell(column[row] ?? null)).join(','));
  return [names.map(cell).join(','), ...lines].join('\r\n');
}
