/** A reply's chart. Each has its numbers as text, too, for those who do not see it. */
import { Chart } from '../../parts/chart.tsx';
import type { ChartMark } from '../../parts/chart-series.ts';
import { formatCount, formatShort } from '../../parts/format.ts';
import { formatCell } from '../../parts/show-text.ts';
import type { Value } from '../data/api.ts';
import type { Drawing } from '../data/drawing.ts';
import { Bars } from './bars.tsx';
import { Pie } from './pie.tsx';

export interface DrawingViewProps {
  readonly drawing: Drawing;
  /** Of a chart above rows that are what it counts. */
  readonly isSmall: boolean;
  readonly marks: readonly ChartMark[];
  /** Told the range, in seconds, that was dragged over. */
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
          <Chart {...drawing} {...over} isLastShown={false} xs={xs} format={formatShort} height={isSmall ? 110 : 240} empty={empty} />
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

const numbers = new Intl.NumberFormat('en', { maximumFractionDigits: 3 });

function Card({ title, facts }: { readonly title: string; readonly facts: readonly (readonly [name: string, value: Value])[] }) {
  return (
    <figure class="surface card">
      {title !== '' && (
        <figcaption>
          <bdi>{title}</bdi>
        </figcaption>
      )}
      <dl>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>
              <bdi>{formatCell(name, 60)}</bdi>
            </dt>
            <dd>
              <bdi>{typeof value === 'number' ? numbers.format(value) : value === null ? '–' : formatCell(value, 80)}</bdi>
            </dd>
          </div>
        ))}
      </dl>
    </figure>
  );
}
