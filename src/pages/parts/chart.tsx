/** A small chart over time: lines or bars, drawn by uPlot in the page's own colours, with what is under the pointer written above it. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { formatBytes, formatTime } from './format.ts';

export interface ChartSeries {
  readonly label: string;
  /** Which of the theme's chart colours, from 1. */
  readonly color: number;
  readonly values: readonly (number | null)[];
}

/** What happened at a time, as a line across the chart. */
export interface ChartMark {
  /** Seconds. */
  readonly at: number;
  readonly label: string;
}

export interface ChartProps {
  readonly title: string;
  /** Seconds, ascending. */
  readonly times: readonly number[];
  readonly series: readonly ChartSeries[];
  readonly format: (value: number) => string;
  readonly height?: number;
  readonly bars?: boolean;
  /** Shown in place of an empty chart. */
  readonly empty: string;
  /** Told the range, in seconds, that was dragged over. */
  readonly onSelect?: (from: number, to: number) => void;
  readonly marks?: readonly ChartMark[];
}

const NO_MARKS: readonly ChartMark[] = [];

export function Chart({ title, times, series, format, height = 128, bars = false, empty, onSelect, marks = NO_MARKS }: ChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const select = useRef(onSelect);
  select.current = onSelect;
  const [hovered, setHovered] = useState<number | undefined>();
  const isDark = useDarkScheme();
  const data = useMemo(() => [times, ...series.map(({ values }) => values)] as unknown as uPlot.AlignedData, [times, series]);
  const shape = JSON.stringify([series.map(({ label, color }) => [label, color]), bars, height, isDark, marks]);
  const isEmpty = times.length < 2;
  useEffect(() => {
    const target = holder.current;
    if (!target || isEmpty) return undefined;
    const options = optionsOf({ target, series, format, height, bars, isSelectable: select.current !== undefined });
    const made = new uPlot(
      {
        ...options,
        hooks: {
          draw: [(chart) => drawMarks(chart, marks)],
          setCursor: [({ cursor }) => setHovered(cursor.idx ?? undefined)],
          setSelect: [
            (chart) => {
              const { left, width } = chart.select;
              if (width > 4) select.current?.(chart.posToVal(left, 'x'), chart.posToVal(left + width, 'x'));
              chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            },
          ],
        },
      },
      data,
      target,
    );
    plot.current = made;
    const resizing = new ResizeObserver(() => made.setSize({ width: target.clientWidth, height }));
    resizing.observe(target);
    return () => {
      resizing.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [shape, isEmpty]);
  useEffect(() => plot.current?.setData(data), [data]);
  const at = hovered !== undefined && hovered < times.length ? hovered : times.length - 1;
  const valueOf = (values: ChartSeries['values']) => {
    const value = values[at];
    return value === null || value === undefined ? '–' : format(value);
  };
  return (
    <figure class="chart">
      <figcaption>
        <span class="chart-title">{title}</span>
        <span class="chart-values">
          {!isEmpty && hovered !== undefined && <time>{formatTime(times[at]! * 1000)}</time>}
          {!isEmpty &&
            series.map(({ label, color, values }) => (
              <span key={label}>
                <i class={`swatch swatch-${color}`} aria-hidden="true" />
                {label} <b>{valueOf(values)}</b>
              </span>
            ))}
        </span>
      </figcaption>
      {isEmpty ? (
        <p class="chart-empty">{empty}</p>
      ) : (
        <div ref={holder} class="chart-plot" role="img" aria-label={describe(title, series, format)} />
      )}
      {marks.length > 0 && (
        <ul class="chart-marks" aria-label="Annotations">
          {marks.map(({ at: second, label }) => (
            <li key={`${second} ${label}`}>
              <time>{formatTime(second * 1000)}</time> <bdi>{label}</bdi>
            </li>
          ))}
        </ul>
      )}
    </figure>
  );
}

function describe(title: string, series: readonly ChartSeries[], format: (value: number) => string): string {
  const parts = series.map(({ label, values }) => {
    const known = values.filter((value) => value !== null);
    if (known.length === 0) return `${label}: nothing measured`;
    return `${label}: last ${format(known.at(-1)!)}, highest ${format(known.reduce((a, b) => Math.max(a, b)))}`;
  });
  return `Chart, ${title}. ${parts.join('; ')}`;
}

function drawMarks(chart: uPlot, marks: readonly ChartMark[]): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.strokeStyle = getComputedStyle(chart.root).getPropertyValue('--chart-3').trim();
  ctx.lineWidth = 2;
  for (const { at } of marks) {
    const x = chart.valToPos(at, 'x', true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

interface OptionsFor extends Pick<ChartProps, 'series' | 'format'> {
  readonly target: HTMLElement;
  readonly height: number;
  readonly bars: boolean;
  readonly isSelectable: boolean;
}

function optionsOf({ target, series, format, height, bars, isSelectable }: OptionsFor): Omit<uPlot.Options, 'hooks'> {
  const style = getComputedStyle(target);
  const ink = style.getPropertyValue('--faint').trim();
  const grid = { stroke: style.getPropertyValue('--line').trim(), width: 1 };
  // Bytes are read in powers of two.
  const steps = format === formatBytes ? { incrs: Array.from({ length: 50 }, (_, power) => 2 ** power) } : {};
  const axis = { stroke: ink, font: '11px system-ui, sans-serif', ticks: { show: false } };
  const paths = bars && uPlot.paths.bars ? { paths: uPlot.paths.bars({ size: [0.9, 60], align: 1 }) } : {};
  return {
    width: target.clientWidth,
    height,
    padding: [6, 4, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: isSelectable, y: false, setScale: false }, points: { size: 6 } },
    scales: {
      // A bar begins at its time and is a step wide.
      ...(bars ? { x: { range: (plot, from, to) => [from, to + stepOf(plot.data[0])] } } : {}),
      y: { range: (_plot, _least, most) => [0, Number.isFinite(most) && most > 0 ? most * 1.1 : 1] },
    },
    axes: [
      { ...axis, grid: { show: false }, size: 24, space: 70, values: (_plot, ticks) => labelTimes(ticks) },
      { ...axis, ...steps, grid, size: 58, space: 32, values: (_plot, ticks) => ticks.map((tick) => format(tick)) },
    ],
    series: [
      {},
      ...series.map(({ label, color }) => {
        const stroke = style.getPropertyValue(`--chart-${color}`).trim();
        return {
          label,
          stroke,
          width: bars ? 0 : 1.5,
          fill: `${stroke}${bars ? 'cc' : '18'}`,
          points: { show: false },
          spanGaps: true,
          ...paths,
        };
      }),
    ],
  };
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

function useDarkScheme(): boolean {
  const [isDark, setDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)');
    const follow = () => setDark(query.matches);
    query.addEventListener('change', follow);
    return () => query.removeEventListener('change', follow);
  }, []);
  return isDark;
}
