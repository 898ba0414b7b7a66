/** How uPlot draws a chart: its shapes, axes and marks, in the page's own colours. */
import uPlot from 'uplot';
import type { ChartMark, ChartSeries, ChartShape } from './chart-series.ts';
import { formatBytes } from './format.ts';
import { currentZone, stampOf } from './zone.ts';

export function drawMarks(chart: uPlot, marks: readonly ChartMark[]): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.strokeStyle = getComputedStyle(chart.root).getPropertyValue('--chart-3').trim();
  ctx.lineWidth = 2;
  ctx.fillStyle = `${ctx.strokeStyle}22`;
  for (const { at, to = at } of marks) {
    const x = chart.valToPos(at, 'x', true);
    const [from, end] = [x, chart.valToPos(to, 'x', true)].map((place) =>
      Math.min(bbox.left + bbox.width, Math.max(bbox.left, place)),
    );
    ctx.fillRect(from!, bbox.top, end! - from!, bbox.height);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

export interface OptionsFor {
  readonly target: HTMLElement;
  /** As they are drawn. */
  readonly series: readonly ChartSeries[];
  readonly format: (value: number) => string;
  readonly height: number;
  readonly shape: ChartShape;
  /** The axis below is of times; else of numbers. */
  readonly isTime: boolean;
  /** How wide a column is on it; 0 for as wide as the smallest distance. */
  readonly step: number;
  readonly isSelectable: boolean;
}

/** Opacity of the area below a line. */
const FILLS: Readonly<Record<ChartShape, string>> = { lines: '18', areas: '66', stacked: '', columns: '', points: '' };

export function optionsOf({
  target,
  series,
  format,
  height,
  shape,
  isTime,
  step,
  isSelectable,
}: OptionsFor): Omit<uPlot.Options, 'hooks'> {
  const style = getComputedStyle(target);
  const ink = style.getPropertyValue('--faint').trim();
  const grid = { stroke: style.getPropertyValue('--line').trim(), width: 1 };
  const axis = { stroke: ink, font: '11px system-ui, sans-serif', ticks: { show: false } };
  const [isColumns, isPoints] = [shape === 'columns', shape === 'points'];
  const width = (plot: uPlot) => step || stepOf(plot.data[0]);
  const paths = isColumns ? { paths: columnsOf(width) } : isPoints ? { paths: () => null } : {};
  // A column begins at its time: it is under the pointer up to its end, not where its time is the nearest.
  const pointer = isColumns
    ? {
        points: { show: false },
        dataIdx: (plot: uPlot, _s: number, _i: number, x: number) => columnAt(plot.data[0], x, width(plot)),
      }
    : { points: { size: 6 } };
  return {
    width: target.clientWidth,
    height,
    padding: [6, 18, 0, 0],
    tzDate: (seconds) =>
      currentZone() === 'UTC' ? uPlot.tzDate(new Date(seconds * 1000), 'UTC') : new Date(seconds * 1000),
    legend: { show: false },
    cursor: { y: false, drag: { x: isSelectable, y: false, setScale: false }, ...pointer },
    scales: {
      // A column begins at its time and is a step wide.
      x: {
        time: isTime,
        ...(isColumns
          ? { range: (plot: uPlot, from: number, to: number): [number, number] => [from, to + width(plot)] }
          : {}),
      },
      y: { range: (_plot, least, most) => rangeOfValues(least, most) },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 24,
        space: 70,
        ...(isTime ? {} : { incrs: (plot: uPlot) => stepsOfAxis([plot.data[0]], format) }),
        values: (_plot, ticks) => (isTime ? labelTimes(ticks) : ticks.map((tick) => format(tick))),
      },
      {
        ...axis,
        incrs: (plot) => stepsOfAxis(plot.data.slice(1), format),
        grid,
        size: 58,
        space: 32,
        values: (_plot, ticks) => ticks.map((tick) => format(tick)),
      },
    ],
    series: [
      {},
      ...series.map(({ label, color }) => {
        const stroke = style.getPropertyValue(`--chart-${color}`).trim();
        return {
          label,
          stroke,
          width: isColumns || isPoints ? 0 : 1.5,
          ...(isPoints ? {} : { fill: `${stroke}${FILLS[shape]}` }),
          points: isPoints ? { show: true, size: 6, width: 0, fill: `${stroke}b0` } : { show: false },
          spanGaps: true,
          ...paths,
        };
      }),
    ],
  };
}

/** From zero, with room at the end. */
function rangeOfValues(least: number, most: number): [number, number] {
  const [low, high] = [Number.isFinite(least) ? Math.min(0, least) : 0, Number.isFinite(most) ? Math.max(0, most) : 0];
  return low === 0 && high === 0 ? [0, 1] : [low * 1.1, high * 1.1];
}

const POWERS_OF_TWO = Array.from({ length: 50 }, (_, power) => 2 ** power);
const TENS = Array.from({ length: 28 }, (_, index) =>
  [1, 2, 5].map((digit) => Number(`${digit}e${index - 12}`)),
).flat();
const WHOLE_TENS = TENS.filter((step) => step >= 1);

/** How far apart an axis may have its numbers: bytes are read in powers of two, and there is no half of an event. */
function stepsOfAxis(values: readonly ArrayLike<number | null | undefined>[], format: OptionsFor['format']): number[] {
  if (format === formatBytes) return POWERS_OF_TWO;
  const isWhole = values.every((series) =>
    Array.from(series).every((value) => value === null || Number.isInteger(value)),
  );
  return isWhole ? WHOLE_TENS : TENS;
}

/** Columns as wide as nine tenths of a step, whichever of them there are. */
function columnsOf(width: (plot: uPlot) => number): uPlot.Series.PathBuilder {
  const disp = {
    x0: { unit: 1, values: (plot: uPlot) => Array.from(plot.data[0]) },
    size: { unit: 1, values: (plot: uPlot) => [0.9 * width(plot)] },
  };
  return uPlot.paths.bars!({ align: 1, disp });
}

/** The column that this place is in; null beside all. */
function columnAt(xs: ArrayLike<number>, x: number, width: number): number | null {
  let [first, end] = [0, xs.length];
  while (first < end) {
    const middle = (first + end) >>> 1;
    if (xs[middle]! <= x) first = middle + 1;
    else end = middle;
  }
  return first > 0 && (width === 0 || x < xs[first - 1]! + width) ? first - 1 : null;
}

/** The smallest distance of two times. */
function stepOf(times: ArrayLike<number>): number {
  let step = Number.POSITIVE_INFINITY;
  for (let index = 1; index < times.length; index++) step = Math.min(step, times[index]! - times[index - 1]!);
  return Number.isFinite(step) ? step : 0;
}

/** Times of day, with seconds where they are that close; days where they are further apart. */
function labelTimes(ticks: readonly number[]): string[] {
  const step = ticks.length > 1 ? ticks[1]! - ticks[0]! : 60;
  return ticks.map((tick) => {
    const [day = '', time = ''] = stampOf(tick * 1000).split(' ');
    return step >= 86_400 ? day.slice(5) : time.slice(0, step < 60 ? 8 : 5);
  });
}
