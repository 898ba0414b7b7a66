/** A query's series over time as lines of bars for a terminal. Pure. */
import type { Table } from '../../../client/api-types.ts';
import { isRawNumber } from '../../../json/numbers.ts';
import { cellText, cut, textWidth } from './table.ts';

const BARS = '▁▂▃▄▅▆▇█';
const MOST_SERIES = 8;
/** A chart narrower than this shows nothing. */
const LEAST_BARS = 8;
const MOST_LABEL = 24;

interface ChartLine {
  readonly label: string;
  /** By step; null where there is nothing. */
  readonly values: (number | null)[];
}

/** Empty where the table is no series over time, has one step, or the terminal is too narrow. No line is wider than `columns`. */
export function chartLines(table: Table, columns: number): string[] {
  const { times, series } = seriesOf(table);
  if (times.length < 2 || series.length === 0) return [];
  const total = ({ values }: ChartLine): number => values.reduce<number>((sum, value) => sum + Math.abs(value ?? 0), 0);
  const shown = series.toSorted((a, b) => total(b) - total(a)).slice(0, MOST_SERIES);
  const labels = shown.map(({ label }) => cut(label, MOST_LABEL));
  const labelWidth = Math.max(...labels.map(textWidth));
  const ranges = shown.map(({ values }) => rangeOf(values));
  const width = Math.min(times.length, columns - labelWidth - Math.max(...ranges.map((range) => range.length)) - 4);
  if (width < LEAST_BARS && width < times.length) return [];
  const lines = shown.map(({ values }, index) => {
    const label = labels[index]!;
    return `${label}${' '.repeat(labelWidth - textWidth(label))}  ${barsOf(values, width)}  ${ranges[index]}`;
  });
  const [first, last] = [timeText(times[0]!), timeText(times.at(-1)!)];
  const axis = `${' '.repeat(labelWidth)}  ${first}${' '.repeat(Math.max(1, width - first.length - last.length))}${last}`;
  const left = series.length - shown.length;
  return [...lines, axis, ...(left > 0 ? [`${left} smaller series are in the table only`] : [])].map((line) =>
    cut(line.trimEnd(), columns),
  );
}

function seriesOf({ fields, columns, groups, buckets }: Table): {
  readonly times: number[];
  readonly series: ChartLine[];
} {
  if (!buckets) return { times: [], series: [] };
  const columnOf = (name: string): readonly unknown[] =>
    columns[fields.findIndex((field) => field.name === name)] ?? [];
  const rowTimes = columnOf(buckets.field).map((value) => Date.parse(cellText(value)));
  const times = stepsOf(rowTimes, buckets.size / 1e6);
  const places = new Map(times.map((time, index) => [time, index]));
  const keys = groups.map(({ name }) => name).filter((name) => name !== buckets.field);
  const values = fields.filter(
    ({ name, agg }) => agg !== undefined && columnOf(name).some((value) => numberOf(value) !== null),
  );
  const found = new Map<string, ChartLine>();
  for (const [row, time] of rowTimes.entries()) {
    const group = keys.map((key) => cellText(columnOf(key)[row]) || 'none').join(', ');
    for (const { name, agg } of values) {
      const label = [group, ...(keys.length === 0 || values.length > 1 ? [name] : [])]
        .filter((part) => part !== '')
        .join(' ');
      let series = found.get(label);
      // Where nothing was counted, nothing was there.
      if (!series)
        found.set(label, (series = { label, values: times.map(() => (agg?.name.startsWith('count') ? 0 : null)) }));
      const place = places.get(time);
      if (place !== undefined) series.values[place] = numberOf(columnOf(name)[row]);
    }
  }
  return { times, series: [...found.values()] };
}

/** Every step from the first to the last, also those without rows, unless they are too many. */
function stepsOf(times: readonly number[], stepMs: number): number[] {
  const sorted = [...new Set(times)].sort((a, b) => a - b);
  const [first = 0, last = 0] = [sorted[0], sorted.at(-1)];
  const count = Math.round((last - first) / stepMs) + 1;
  if (!(stepMs > 0) || count > 10_000 || count < sorted.length) return sorted;
  return [...new Set([...sorted, ...Array.from({ length: count }, (_, index) => first + index * stepMs)])].sort(
    (a, b) => a - b,
  );
}

/** Where there are more steps than places, a place shows the highest of its steps. */
function barsOf(values: readonly (number | null)[], width: number): string {
  const places = Array.from({ length: width }, (_, place) => {
    const part = values.slice(
      Math.floor((place * values.length) / width),
      Math.floor(((place + 1) * values.length) / width),
    );
    return part.reduce<number | null>((most, value) => (value === null ? most : Math.max(most ?? value, value)), null);
  });
  const known = places.filter((value) => value !== null);
  const [least, most] = [Math.min(0, ...known), Math.max(0, ...known)];
  const barOf = (value: number): string => {
    if (value === 0 && least === 0) return ' ';
    return BARS[Math.min(BARS.length - 1, Math.floor(((value - least) / (most - least || 1)) * BARS.length))]!;
  };
  return places.map((value) => (value === null ? ' ' : barOf(value))).join('');
}

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });

function rangeOf(values: readonly (number | null)[]): string {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? '' : `${compact.format(Math.min(...known))} to ${compact.format(Math.max(...known))}`;
}

function timeText(ms: number): string {
  return new Date(ms).toISOString().replace(/(?::00)?\.000Z$/, 'Z');
}

function numberOf(value: unknown): number | null {
  const number = isRawNumber(value) ? Number(value.rawJSON) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}
