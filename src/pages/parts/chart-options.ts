/** How uPlot draws a chart: its shapes, axes and marks, in the page's own colours. */
import uPlot from 'uplot';
import type { ChartMark, ChartSeries, ChartShape } from './chart-series.ts';
import { formatBytes } from './format.ts';

export function drawMarks(chart: uPlot, marks: readonly ChartMark[]): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.strokeStyle = getComputedStyle(chart.root).getPropertyValue('--chart-3').trim();
  ctx.lineWidth = 2;
  ctx.fillStyle = `${ctx.strokeStyle}22`;
  for (const { at, to = at } of marks) {
    const x = chart.valToPos(at, 'x', true);
    const [from, end] = [x, chart.valToPos(to, 'x', true)].map((place) => Math.min(bbox.left + bbox.width, Math.max(bbox.left, place)));
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

/** Opacity of what is below a line. */
const FILLS: Readonly<Record<ChartShape, string>> = { lines: '18', areas: '66', stacked: '', columns: '', points: '' };

export function optionsOf({ target, series, format, height, shape, isTime, step, isSelectable }: OptionsFor): Omit<uPlot.Options, 'hooks'> {
  const style = getComputedStyle(target);
  const ink = style.getPropertyValue('--faint').trim();
  const grid = { stroke: style.getPropertyValue('--line').trim(), width: 1 };
  // Bytes are read in powers of two.
  const steps = format === formatBytes ? { incrs: Array.from({ length: 50 }, (_, power) => 2 ** power) } : {};
  const axis = { stroke: ink, font: '11px system-ui, sans-serif', ticks: { show: false } };
  const [isColumns, isPoints] = [shape === 'columns', shape === 'points'];
  const paths =
    isColumns && uPlot.paths.bars ? { paths: uPlot.paths.bars({ size: [0.9, 60], align: 1 }) } : isPoints ? { paths: () => null } : {};
  return {
    width: target.clientWidth,
    height,
    padding: [6, 18, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: isSelectable, y: false, setScale: false }, points: { size: 6 } },
    scales: {
      // A column begins at its time and is a step wide.
      x: {
        time: isTime,
        ...(isColumns
          ? { range: (plot: uPlot, from: number, to: number): [number, number] => [from, to + (step || stepOf(plot.data[0]))] }
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
        values: (_plot, ticks) => (isTime ? labelTimes(ticks) : ticks.map((tick) => format(tick))),
      },
      { ...axis, ...steps, grid, size: 58, space: 32, values: (_plot, ticks) => ticks.map((tick) => format(tick)) },
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
    const date = new Date(tick * 1000);
    if (step >= 86_400) return date.toLocaleDateString('en-CA').slice(5);
    return date.toLocaleTimeString('en-GB').slice(0, step < 60 ? 8 : 5);
  });
}
