/** How a reply is drawn: as its `render` asks, else over time where its rows are steps in time. */
import type { ChartShape } from '../../parts/chart-series.ts';
import { formatCell } from '../../parts/show-text.ts';
import type { CellValue, ColumnTable, QueryResult } from './api.ts';
import { tableOf } from './results.ts';
import { shownColumns, hasArraysOverTime, isNumbers, type QuerySeries, seriesOf, type SeriesWish } from './series.ts';

export interface ChartPart {
  readonly label: string;
  readonly value: number;
}

export type Drawing =
  | ({ readonly kind: 'axes'; readonly title: string; readonly shape: ChartShape } & QuerySeries)
  | {
      readonly kind: 'bars';
      readonly title: string;
      readonly isUpright: boolean;
      readonly parts: readonly ChartPart[];
      readonly left: number;
    }
  | { readonly kind: 'pie'; readonly title: string; readonly parts: readonly ChartPart[] }
  | {
      readonly kind: 'card';
      readonly title: string;
      readonly facts: readonly (readonly [name: string, value: CellValue])[];
    }
  | {
      readonly kind: 'none';
      /** Why the requested chart is not drawn; empty without a request. */
      readonly note: string;
    };

const SHAPES: Readonly<Record<string, ChartShape>> = {
  timechart: 'lines',
  linechart: 'lines',
  areachart: 'areas',
  stackedareachart: 'stacked',
  columnchart: 'columns',
  barchart: 'columns',
  scatterchart: 'points',
};
const DRAWN = [...Object.keys(SHAPES), 'piechart', 'card', 'table'].join(', ');
const MOST_BARS = 30;
const MOST_COLUMNS = 20;
/** The last one is the rest. */
const MOST_SLICES = 6;
const MOST_FACTS = 12;

const NOTHING: Drawing = { kind: 'none', note: '' };
const note = (text: string): Drawing => ({ kind: 'none', note: `${text} The rows are below.` });

export function drawingOf(result: QueryResult, titleGiven = 'Over time'): Drawing {
  const table = tableOf(result);
  if (!table || (table.columns[0]?.length ?? 0) === 0) return NOTHING;
  if (!result.render) {
    const series = table.buckets || hasArraysOverTime(table) ? seriesOf(table) : undefined;
    return series
      ? { kind: 'axes', title: titleGiven, shape: series.series.length === 1 ? 'columns' : 'lines', ...series }
      : NOTHING;
  }
  const { chart, properties } = result.render;
  const ys = properties['ycolumns']?.split(',').map((name) => name.trim());
  const wish: SeriesWish = { x: properties['xcolumn'], ys, isByRow: chart === 'scatterchart' };
  const title = properties['title'];
  switch (chart) {
    case 'table':
      return NOTHING;
    case 'card':
      return { kind: 'card', title: title ?? '', facts: factsOf(table) };
    case 'piechart':
      return pieOf(table, wish, title);
    case 'barchart':
    case 'columnchart': {
      const series = seriesOf(table, wish);
      // Rows that are no steps in time are a bar each.
      return series?.isTime
        ? { kind: 'axes', title: title ?? 'Over time', shape: 'columns', ...series }
        : barsOf(table, wish, chart, title);
    }
    default:
      return overAxes(table, wish, result.render, title);
  }
}

function overAxes(
  table: ColumnTable,
  wish: SeriesWish,
  { chart, properties }: QueryResult['render'] & object,
  title?: string,
): Drawing {
  const shape = SHAPES[chart];
  if (shape === undefined) return note(`This page does not draw ${formatCell(chart, 40)}; it draws ${DRAWN}.`);
  const series = seriesOf(table, wish);
  if (!series || (chart === 'timechart' && !series.isTime))
    return note(
      `${chart} needs a column of ${chart === 'timechart' ? 'times' : 'times or numbers'}, and another of numbers.`,
    );
  const isStacked = shape === 'areas' && properties['kind']?.startsWith('stacked') === true;
  return {
    kind: 'axes',
    title: title ?? (series.isTime ? 'Over time' : chart),
    shape: isStacked ? 'stacked' : shape,
    ...series,
  };
}

/** One for each row, and each of its numbers; undefined where no column has numbers. */
function partsOf(
  table: ColumnTable,
  { x, ys }: SeriesWish,
): { readonly names: string; readonly parts: readonly ChartPart[] } | undefined {
  const columns = shownColumns(table);
  const grouped = columns.filter(({ name }) =>
    x === undefined ? table.groups.some((group) => group.name === name) : name === x,
  );
  const texts = columns.filter((column) => !isNumbers(column));
  const labels =
    grouped.length > 0 ? grouped : texts.length > 0 ? texts.slice(0, 3) : columns.slice(0, columns.length > 1 ? 1 : 0);
  const numbers = columns.filter(
    (column) => isNumbers(column) && !labels.includes(column) && (!ys || ys.includes(column.name)),
  );
  if (numbers.length === 0) return undefined;
  const parts = (columns[0]?.values ?? []).flatMap((_, row) => {
    const group = labels.map(({ values }) => formatCell(values[row] ?? null, 40) || 'none').join(', ');
    return numbers.map(({ name, values }) => {
      const value = values[row];
      const label = [group, ...(group === '' || numbers.length > 1 ? [name] : [])]
        .filter((part) => part !== '')
        .join(' ');
      return { label, value: typeof value === 'number' ? value : 0 };
    });
  });
  return { names: numbers.map(({ name }) => name).join(', '), parts };
}

function barsOf(table: ColumnTable, wish: SeriesWish, chart: string, title: string | undefined): Drawing {
  const found = partsOf(table, wish);
  if (!found) return note(`${chart} needs a column of numbers.`);
  const isUpright = chart === 'columnchart';
  const parts = found.parts.slice(0, isUpright ? MOST_COLUMNS : MOST_BARS);
  return { kind: 'bars', title: title ?? found.names, isUpright, parts, left: found.parts.length - parts.length };
}

function pieOf(table: ColumnTable, wish: SeriesWish, title: string | undefined): Drawing {
  const found = partsOf(table, wish);
  if (!found || found.parts.some(({ value }) => value < 0) || found.parts.every(({ value }) => value === 0))
    return note('piechart needs a column of numbers, none of them below zero and one above.');
  const sorted = found.parts.toSorted((a, b) => b.value - a.value);
  const shown = sorted.slice(0, sorted.length > MOST_SLICES ? MOST_SLICES - 1 : MOST_SLICES);
  const rest = sorted.slice(shown.length);
  const sum = rest.reduce((total, { value }) => total + value, 0);
  return {
    kind: 'pie',
    title: title ?? found.names,
    parts: rest.length > 0 ? [...shown, { label: `${rest.length} others`, value: sum }] : shown,
  };
}

/** Of the first row. */
function factsOf(table: ColumnTable): readonly (readonly [string, CellValue])[] {
  return shownColumns(table)
    .map(({ name, values }) => [name, values[0] ?? null] as const)
    .slice(0, MOST_FACTS);
}
