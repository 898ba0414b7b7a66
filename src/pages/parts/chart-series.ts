/** What a chart shows: series of numbers, the shape that they are drawn in, and marks. Pure. */

/** Columns and stacked areas of several series are stacked; the others share the ground. */
export type ChartShape = 'lines' | 'areas' | 'stacked' | 'columns' | 'points';

export interface ChartSeries {
  readonly label: string;
  /** Which of the theme's chart colours, from 1. */
  readonly color: number;
  readonly values: readonly (number | null)[];
}

/** One of the theme's chart colours, from 1. */
export const chartColor = (color: number): string => `var(--chart-${color})`;

/** What happened at a time, as a line across the chart, or between two times. */
export interface ChartMark {
  /** Seconds. */
  readonly at: number;
  readonly to?: number;
  readonly label: string;
}

/** As they are drawn: of a stack the sums from the first one up, the highest first, so that each covers the one behind it. */
export function drawnSeries(shape: ChartShape, series: readonly ChartSeries[]): readonly ChartSeries[] {
  if (series.length < 2 || (shape !== 'stacked' && shape !== 'columns')) return series;
  const sums: ChartSeries[] = [];
  for (const { label, color, values } of series) {
    const below = sums[0]?.values;
    sums.unshift({ label, color, values: values.map((value, index) => (below?.[index] ?? 0) + (value ?? 0)) });
  }
  return sums;
}
