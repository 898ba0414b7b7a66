/** A reply's rows as series over time, or over another number. */
import type { ChartSeries } from '../../parts/chart-series.ts';
import { formatCell } from '../../parts/show-text.ts';
import type { CellValue, ColumnTable } from './api.ts';
import { CURSOR } from './results.ts';

export interface QuerySeries {
  /** Seconds where the axis is of times; ascending. */
  readonly xs: readonly number[];
  readonly isTime: boolean;
  /** Between two of them; 0 where they are not evenly spaced. */
  readonly step: number;
  readonly series: readonly ChartSeries[];
  /** Groups that are not among them. */
  readonly left: number;
}

/** What a query's `render` names. */
export interface SeriesWish {
  readonly x?: string | undefined;
  readonly ys?: readonly string[] | undefined;
  /** Each row is a place of its own on the axis. */
  readonly isByRow?: boolean;
}

interface TypedColumn {
  readonly name: string;
  readonly type: string;
  readonly values: readonly CellValue[];
}

/** As many as the theme has colours. */
const MOST_SERIES = 6;
/** Steps that are filled in where there are no rows. */
const MOST_FILLED = 2000;
/** Steps of arrays that are taken apart. */
const MOST_STEPS = 500_000;

/** Undefined where no column can be the axis, or none has numbers. */
export function seriesOf(given: ColumnTable, { x, ys, isByRow = false }: SeriesWish = {}): QuerySeries | undefined {
  const table = unfold(given);
  const columns = shownColumns(table);
  const grouped = (name: string) => table.groups.some((group) => group.name === name);
  const axis =
    columns.find(({ name }) => name === (x ?? table.buckets?.field)) ??
    columns.find(isTimes) ??
    columns.find(isNumbers);
  if (!axis || (!isTimes(axis) && !isNumbers(axis))) return undefined;
  const others = columns.filter((column) => column !== axis);
  const numbers = others.filter(
    (column) => isNumbers(column) && (ys ? ys.includes(column.name) : !grouped(column.name)),
  );
  if (numbers.length === 0) return undefined;
  // The texts of whole events are no groups.
  const isEvents = columns.some(({ name }) => name === '_sysTime');
  const keys = isEvents
    ? []
    : others.filter(
        (column) =>
          !numbers.includes(column) && (grouped(column.name) || (table.groups.length === 0 && isTexts(column))),
      );
  const isTime = isTimes(axis);
  const places = axis.values.map((value) => placeOf(value, isTime));
  const step = table.buckets && axis.name === table.buckets.field ? table.buckets.size / 1e9 : 0;
  const { xs, indexes } = isByRow ? eachRow(places) : eachPlace(places, step, table.range);

  const lines = new Map<string, (number | null)[]>();
  for (const [row, index] of indexes.entries()) {
    if (index === undefined) continue;
    const group = keys.map(({ values }) => formatCell(values[row] ?? null, 40) || 'none').join(', ');
    for (const { name, values } of numbers) {
      const label = [group, ...(keys.length === 0 || numbers.length > 1 ? [name] : [])]
        .filter((part) => part !== '')
        .join(' ');
      let line = lines.get(label);
      if (!line) lines.set(label, (line = Array<number | null>(xs.length).fill(isCount(table, name) ? 0 : null)));
      const value = values[row];
      line[index] = typeof value === 'number' ? value : null;
    }
  }
  const weight = (line: readonly (number | null)[]) =>
    line.reduce<number>((sum, value) => sum + Math.abs(value ?? 0), 0);
  const sorted = [...lines]
    .map(([label, line]) => [label, line, weight(line)] as const)
    .sort(([, , a], [, , b]) => b - a);
  const series = sorted
    .slice(0, MOST_SERIES)
    .map(([label, line], index) => ({ label, color: index + 1, values: line }));
  return { xs, isTime, step, series, left: sorted.length - series.length };
}

/** Without the one that the service adds. */
export function shownColumns({ fields, columns }: ColumnTable): TypedColumn[] {
  return fields
    .map(({ name, type }, index) => ({ name, type, values: columns[index] ?? [] }))
    .filter(({ name }) => name !== CURSOR);
}

export const isNumbers = ({ values }: TypedColumn): boolean => values.some((value) => typeof value === 'number');
const isTexts = ({ values }: TypedColumn): boolean =>
  values.some((value) => typeof value === 'string' || typeof value === 'boolean');
const isTimes = ({ type, values }: TypedColumn): boolean =>
  type.startsWith('datetime') && values.some((value) => value !== null);

function placeOf(value: CellValue, isTime: boolean): number | undefined {
  const place = isTime ? Date.parse(formatCell(value)) / 1000 : value;
  return typeof place === 'number' && Number.isFinite(place) ? place : undefined;
}

interface Places {
  readonly xs: readonly number[];
  /** By row; undefined for one without a place. */
  readonly indexes: readonly (number | undefined)[];
}

function eachRow(places: readonly (number | undefined)[]): Places {
  const rows = places
    .flatMap((place, row) => (place === undefined ? [] : [{ place, row }]))
    .sort((a, b) => a.place - b.place);
  const indexes = Array<number | undefined>(places.length).fill(undefined);
  for (const [index, { row }] of rows.entries()) indexes[row] = index;
  return { xs: rows.map(({ place }) => place), indexes };
}

/** Every step of the query's range, or from the first to the last, also those without rows, unless they are too many. */
function eachPlace(places: readonly (number | undefined)[], step: number, range: ColumnTable['range']): Places {
  let xs = [...new Set(places.filter((place) => place !== undefined))].sort((a, b) => a - b);
  const [first = 0, last = 0] = [xs[0], xs.at(-1)];
  const whole = range && ([range.start, range.end].map((time) => Date.parse(time) / 1000) as [number, number]);
  // Steps begin where those with rows do.
  const before = whole ? Math.max(0, Math.ceil((first - whole[0]) / step)) : 0;
  const after = whole ? Math.max(0, Math.ceil((whole[1] - last) / step) - 1) : 0;
  const inner = Math.round((last - first) / step) + 1;
  const fill = (from: number, count: number) => {
    if (!(step > 0) || count > MOST_FILLED || count < xs.length) return false;
    xs = [...new Set([...xs, ...Array.from({ length: count }, (_, index) => from + index * step)])].sort(
      (a, b) => a - b,
    );
    return true;
  };
  if (xs.length > 0 && !fill(first - before * step, before + inner + after)) fill(first, inner);
  const at = new Map(xs.map((place, index) => [place, index]));
  return { xs, indexes: places.map((place) => (place === undefined ? undefined : at.get(place))) };
}

/** Where nothing was counted, nothing was there. */
function isCount({ fields }: ColumnTable, name: string): boolean {
  return fields.find((field) => field.name === name)?.agg?.name.startsWith('count') === true;
}

/** Whether `make-series` made the rows: one of the columns has the times of each row's arrays. */
export function hasArraysOverTime(table: ColumnTable): boolean {
  return timesAt(table) >= 0;
}

function timesAt({ fields, columns }: ColumnTable): number {
  if (fields.some(({ name }) => name === '_sysTime')) return -1;
  return columns.findIndex(([first]) => {
    if (!Array.isArray(first) || first.length === 0) return false;
    const [time] = first as readonly CellValue[];
    return typeof time === 'string' && /^\d{4}-\d\d-\d\dT/.test(time) && !Number.isNaN(Date.parse(time));
  });
}

/** One row for each step of the arrays that `make-series` makes. */
function unfold(table: ColumnTable): ColumnTable {
  const at = timesAt(table);
  if (at < 0) return table;
  const lengthOf = (value: CellValue | undefined) => (Array.isArray(value) ? value.length : -1);
  const steps = lengthOf(table.columns[at]![0]);
  const rows = Math.min(table.columns[at]!.length, Math.floor(MOST_STEPS / steps));
  const columns = table.columns.map((column) =>
    column
      .slice(0, rows)
      .flatMap((value) =>
        Array.from({ length: steps }, (_, step) =>
          lengthOf(value) === steps ? ((value as readonly CellValue[])[step] ?? null) : value,
        ),
      ),
  );
  return {
    ...table,
    fields: table.fields.map((field, index) => (index === at ? { ...field, type: 'datetime' } : field)),
    columns,
  };
}
