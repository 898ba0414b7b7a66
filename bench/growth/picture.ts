/** A picture of measured points: CPU at the left, memory at the right, each by what grows, on scales of powers of ten. */

export interface Series {
  readonly name: string;
  readonly values: readonly number[];
}

const [WIDTH, HEIGHT, MARGIN] = [380, 230, 46];
const COLOURS = ['#2563eb', '#dc2626'];

/** `panels`: a title and lines over the same `xs`; both scales are logarithmic, so that linear growth is a straight line of slope one. */
export function drawGrowth(
  title: string,
  xs: readonly number[],
  panels: readonly (readonly [string, readonly Series[]])[],
): string {
  const drawn = panels.map(
    ([label, series], n) => `<g transform="translate(${n * WIDTH} 24)">${panel(label, xs, series)}</g>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${panels.length * WIDTH} ${HEIGHT + 30}" font-family="sans-serif" font-size="11">
<rect width="100%" height="100%" fill="white"/>
<text x="8" y="16" font-size="13" font-weight="bold">${escape(title)}</text>
${drawn.join('\n')}
</svg>
`;
}

function panel(label: string, xs: readonly number[], series: readonly Series[]): string {
  const x = scale(xs, MARGIN, WIDTH - 16);
  const y = scale(
    series.flatMap(({ values }) => values),
    HEIGHT - MARGIN,
    22,
  );
  const across = xs.map(
    (value) => `<text x="${x(value)}" y="${HEIGHT - MARGIN + 16}" text-anchor="middle">${short(value)}</text>`,
  );
  const up = ticksOf(series.flatMap(({ values }) => values)).map(
    (value) =>
      `<path d="M${MARGIN} ${y(value)}H${WIDTH - 16}" stroke="#ddd"/><text x="${MARGIN - 4}" y="${y(value) + 4}" text-anchor="end">${short(value)}</text>`,
  );
  const lines = series.map(({ name, values }, n) => {
    const points = values.map((value, at) => `${x(xs[at]!).toFixed(1)},${y(value).toFixed(1)}`);
    const dots = points
      .map((point) => `<circle cx="${point.replace(',', '" cy="')}" r="3" fill="${COLOURS[n]}"/>`)
      .join('');
    return `<polyline points="${points.join(' ')}" fill="none" stroke="${COLOURS[n]}" stroke-width="2"/>${dots}<text x="${WIDTH - 20 - 60 * n}" y="14" text-anchor="end" fill="${COLOURS[n]}">${escape(name)}</text>`;
  });
  return [`<text x="${MARGIN}" y="14">${escape(label)}</text>`, ...up, ...across, ...lines].join('\n');
}

function scale(values: readonly number[], from: number, to: number): (value: number) => number {
  const logs = values.map(logOf);
  const [low, high] = [Math.floor(Math.min(...logs) * 4) / 4, Math.ceil(Math.max(...logs) * 4) / 4];
  return (value) => from + ((logOf(value) - low) / (high - low || 1)) * (to - from);
}

/** 1, 2 and 5 by powers of ten, within the values. */
function ticksOf(values: readonly number[]): number[] {
  const [low, high] = [Math.min(...values.map(logOf)) - 0.3, Math.max(...values.map(logOf)) + 0.05];
  const ticks = Array.from({ length: 20 }, (_, n) => n - 8).flatMap((power) =>
    [1, 2, 5].map((step) => step * 10 ** power),
  );
  return ticks.filter((tick) => logOf(tick) >= low && logOf(tick) <= high);
}

const logOf = (value: number): number => Math.log10(Math.max(value, 1e-4));
const short = (value: number): string =>
  value >= 1e6 ? `${value / 1e6} M` : value >= 1000 ? `${value / 1000} k` : `${Number(value.toPrecision(2))}`;
const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
