/** A reply's chart. Each has its numbers as text, too, for those who do not see it. */
import { Chart } from '../../parts/chart.tsx';
import { type ChartMark, chartColor } from '../../parts/chart-series.ts';
import { formatCount, formatShort } from '../../parts/format.ts';
import { formatCell } from '../../parts/show-text.ts';
import type { CellValue } from '../data/api.ts';
import type { ChartPart, Drawing } from '../data/drawing.ts';

export interface DrawingViewProps {
  readonly drawing: Drawing;
  /** Of a chart above rows that are what it counts. */
  readonly isSmall: boolean;
  readonly marks: readonly ChartMark[];
  /** Called with the range, in seconds, that was dragged over. */
  readonly onSelect: (from: number, to: number) => void;
}

export function DrawingView({ drawing, isSmall, marks, onSelect }: DrawingViewProps) {
  switch (drawing.kind) {
    case 'axes': {
      const { xs, isTime, left } = drawing;
      const over = isTime ? { marks, onSelect } : {};
      const empty = isTime ? 'One step in time: nothing to draw.' : 'One row: nothing to draw.';
      return (
        <>
          <Chart
            {...drawing}
            {...over}
            isLastShown={false}
            xs={xs}
            format={formatShort}
            height={isSmall ? 110 : 240}
            empty={empty}
          />
          <Left count={left} what={left === 1 ? 'smaller group is' : 'smaller groups are'} />
        </>
      );
    }
    case 'bars':
      return (
        <>
          <Bars {...drawing} />
          <Left count={drawing.left} what={drawing.left === 1 ? 'more bar is' : 'more bars are'} />
        </>
      );
    case 'pie':
      return <Pie {...drawing} />;
    case 'card':
      return <Card title={drawing.title} facts={drawing.facts} />;
    case 'none':
      return drawing.note === '' ? null : <p class="note">{drawing.note}</p>;
  }
}

function Left({ count, what }: { readonly count: number; readonly what: string }) {
  return count > 0 ? (
    <p class="soft">
      {formatCount(count)} {what} in the table only.
    </p>
  ) : null;
}

function Caption({ title }: { readonly title: string }) {
  return (
    <figcaption>
      <bdi>{title}</bdi>
    </figcaption>
  );
}

const numbers = new Intl.NumberFormat('en', { maximumFractionDigits: 3 });

function Card({
  title,
  facts,
}: {
  readonly title: string;
  readonly facts: readonly (readonly [name: string, value: CellValue])[];
}) {
  return (
    <figure class="surface card">
      {title !== '' && <Caption title={title} />}
      <dl>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>
              <bdi>{formatCell(name, 60)}</bdi>
            </dt>
            <dd>
              <bdi>
                {typeof value === 'number' ? numbers.format(value) : value === null ? '–' : formatCell(value, 80)}
              </bdi>
            </dd>
          </div>
        ))}
      </dl>
    </figure>
  );
}

interface BarsProps {
  readonly title: string;
  readonly isUpright: boolean;
  readonly parts: readonly ChartPart[];
}

function Bars({ title, isUpright, parts }: BarsProps) {
  const most = Math.max(...parts.map(({ value }) => Math.abs(value)), Number.MIN_VALUE);
  return (
    <figure class={`surface bars ${isUpright ? 'bars-upright' : ''}`}>
      <Caption title={title} />
      <ol>
        {parts.map(({ label, value }, index) => (
          <li key={index} title={label}>
            <bdi>{label}</bdi>
            {isUpright ? (
              <i aria-hidden="true">
                <i class={value < 0 ? 'below-zero' : ''} style={{ height: `${(100 * Math.abs(value)) / most}%` }} />
              </i>
            ) : (
              <meter
                class={value < 0 ? 'below-zero' : ''}
                min={0}
                max={most}
                value={Math.abs(value)}
                aria-label={label}
              />
            )}
            <span>{formatShort(value)}</span>
          </li>
        ))}
      </ol>
    </figure>
  );
}

/** Parts of a whole as a ring, each named beside it with its share: what `render piechart` asks for. */
function Pie({ title, parts }: { readonly title: string; readonly parts: readonly ChartPart[] }) {
  const whole = parts.reduce((sum, { value }) => sum + value, 0);
  const shares = parts.map(({ value }) => (100 * value) / whole);
  return (
    <figure class="surface pie">
      <Caption title={title} />
      <svg viewBox="-50 -50 100 100" aria-hidden="true">
        {shares.map((share, index) => (
          <path
            key={index}
            style={{ stroke: chartColor(index + 1) }}
            d={arc(
              shares.slice(0, index).reduce((sum, before) => sum + before, 0),
              share,
            )}
          />
        ))}
      </svg>
      <ol>
        {parts.map(({ label, value }, index) => (
          <li key={index}>
            <i class="swatch" style={{ background: chartColor(index + 1) }} aria-hidden="true" /> <bdi>{label}</bdi>{' '}
            <span>{formatShort(value)}</span>
            <b>{shares[index]!.toFixed(1)} %</b>
          </li>
        ))}
      </ol>
    </figure>
  );
}

const RADIUS = 36;

/** From the top on, in hundredths of the ring. A whole ring would end where it begins, and be nothing. */
function arc(from: number, share: number): string {
  const length = Math.min(share, 99.99);
  const place = (hundredth: number) => {
    const angle = (2 * Math.PI * hundredth) / 100;
    return `${(RADIUS * Math.sin(angle)).toFixed(3)} ${(-RADIUS * Math.cos(angle)).toFixed(3)}`;
  };
  return `M${place(from)}A${RADIUS} ${RADIUS} 0 ${length > 50 ? 1 : 0} 1 ${place(from + length)}`;
}
