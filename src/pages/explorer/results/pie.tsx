/** Parts of a whole as a ring, each named beside it with its share: what `render piechart` asks for. */
import { chartColor } from '../../parts/chart-series.ts';
import { formatShort } from '../../parts/format.ts';
import type { Part } from '../data/drawing.ts';

export function Pie({ title, parts }: { readonly title: string; readonly parts: readonly Part[] }) {
  const whole = parts.reduce((sum, { value }) => sum + value, 0);
  const shares = parts.map(({ value }) => (100 * value) / whole);
  return (
    <figure class="surface pie">
      <figcaption>
        <bdi>{title}</bdi>
      </figcaption>
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
