/** Rows as bars, in the order that the reply has them: what `render barchart` asks for, and upright `render columnchart`. */
import { formatShort } from '../../parts/format.ts';
import type { Part } from '../data/drawing.ts';

export interface BarsProps {
  readonly title: string;
  readonly isUpright: boolean;
  readonly parts: readonly Part[];
}

export function Bars({ title, isUpright, parts }: BarsProps) {
  const most = Math.max(...parts.map(({ value }) => Math.abs(value)), Number.MIN_VALUE);
  return (
    <figure class={`surface bars ${isUpright ? 'bars-upright' : ''}`}>
      <figcaption>
        <bdi>{title}</bdi>
      </figcaption>
      <ol>
        {parts.map(({ label, value }, index) => (
          <li key={index} title={label}>
            <bdi>{label}</bdi>
            {isUpright ? (
              <i aria-hidden="true">
                <i class={value < 0 ? 'below-zero' : ''} style={{ height: `${(100 * Math.abs(value)) / most}%` }} />
              </i>
            ) : (
              <meter class={value < 0 ? 'below-zero' : ''} min={0} max={most} value={Math.abs(value)} aria-label={label} />
            )}
            <span>{formatShort(value)}</span>
          </li>
        ))}
      </ol>
    </figure>
  );
}
