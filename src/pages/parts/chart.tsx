/** A small chart over time, or over another number: drawn by uPlot, with the values under the pointer above it. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { drawMarks, optionsOf } from './chart-options.ts';
import { chartColor, type ChartMark, type ChartSeries, type ChartShape, drawnSeries } from './chart-series.ts';
import { formatTime } from './format.ts';
import { currentZone } from './zone.ts';

export interface ChartProps {
  readonly title: string;
  /** Seconds where the axis is of times; ascending. */
  readonly xs: readonly number[];
  readonly isTime?: boolean;
  /** How wide a column is; without it as wide as the smallest distance, of which one alone has none. */
  readonly step?: number;
  readonly series: readonly ChartSeries[];
  readonly format: (value: number) => string;
  readonly height?: number;
  readonly shape?: ChartShape;
  /** Shown in place of an empty chart. */
  readonly empty: string;
  /** Called with the range, in seconds, that was dragged over. */
  readonly onSelect?: (from: number, to: number) => void;
  readonly marks?: readonly ChartMark[];
  /** The last values are above the chart while no others are pointed at. */
  readonly isLastShown?: boolean;
}

const NO_MARKS: readonly ChartMark[] = [];

export function Chart(props: ChartProps) {
  const {
    title,
    xs,
    isTime = true,
    step = 0,
    series,
    format,
    height = 128,
    shape = 'lines',
    empty,
    onSelect,
    marks = NO_MARKS,
    isLastShown = true,
  } = props;
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const select = useRef(onSelect);
  select.current = onSelect;
  const [hovered, setHovered] = useState<number | undefined>();
  const isDark = useDarkScheme();
  const drawn = useMemo(() => drawnSeries(shape, series), [shape, series]);
  const data = useMemo(() => [xs, ...drawn.map(({ values }) => values)] as unknown as uPlot.AlignedData, [xs, drawn]);
  const form = JSON.stringify([
    drawn.map(({ label, color }) => [label, color]),
    shape,
    isTime,
    step,
    height,
    isDark,
    currentZone(),
    marks,
  ]);
  const isEmpty = xs.length < (shape === 'columns' && step > 0 ? 1 : 2);
  // A layout effect draws before the browser paints, so no figure is ever without its picture.
  useLayoutEffect(() => {
    const target = holder.current;
    if (!target || isEmpty) return undefined;
    const isSelectable = select.current !== undefined;
    const made = new uPlot(
      {
        ...optionsOf({ target, series: drawn, format, height, shape, isTime, step, isSelectable }),
        hooks: {
          draw: [(chart) => drawMarks(chart, marks)],
          setCursor: [({ cursor }) => setHovered((cursor.idx === null ? undefined : cursor.idxs?.[1]) ?? undefined)],
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
  }, [form, isEmpty]);
  useLayoutEffect(() => plot.current?.setData(data), [data]);
  const at = hovered !== undefined && hovered < xs.length ? hovered : xs.length - 1;
  const within = marks.filter(({ at: second, to = second }) => to >= (xs[0] ?? 0));
  const valueOf = (values: ChartSeries['values']) => {
    const value = values[at];
    return value === null || value === undefined ? '–' : format(value);
  };
  return (
    <figure class="surface chart">
      <figcaption>
        <bdi class="chart-title">{title}</bdi>
        <span class="chart-values">
          {!isEmpty && hovered !== undefined && <time>{isTime ? formatTime(xs[at]! * 1000) : format(xs[at]!)}</time>}
          {!isEmpty &&
            series.map(({ label, color, values }) => (
              <span key={label}>
                <i class="swatch" style={{ background: chartColor(color) }} aria-hidden="true" />
                <bdi>{label}</bdi> {(isLastShown || hovered !== undefined) && <b>{valueOf(values)}</b>}
              </span>
            ))}
        </span>
      </figcaption>
      {isEmpty ? (
        <p class="chart-empty">{empty}</p>
      ) : (
        <div ref={holder} class="chart-plot" role="img" aria-label={describe(title, series, format)} />
      )}
      {within.length > 0 && (
        <ul class="chart-marks" aria-label="Annotations">
          {within.map(({ at: second, label }) => (
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
