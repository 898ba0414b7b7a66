/** The first groups of a summary as bars, largest value first as the reply has them: what `render barchart` and its kin ask for. */
import { formatShort } from '../../parts/format.ts';
import { formatCell } from '../../parts/show-text.ts';
import type { Rows } from '../data/results.ts';

const MOST_BARS = 30;

/** Undefined where no column has numbers. */
function barsOf({ names, columns, count }: Rows): { readonly title: string; readonly bars: readonly { readonly label: string; readonly value: number }[] } | undefined {
  const at = columns.findIndex((column) => column.some((value) => typeof value === 'number'));
  if (at < 0) return undefined;
  const others = columns.filter((_, index) => index !== at && index < 3);
  const bars = Array.from({ length: Math.min(count, MOST_BARS) }, (_, row) => {
    const value = columns[at]![row];
    const label = others.map((column) => formatCell(column[row] ?? null, 40)).join(', ');
    return { label: label === '' ? String(row + 1) : label, value: typeof value === 'number' ? value : 0 };
  });
  return { title: names[at]!, bars };
} // prettier-ignore

export function Bars({ rows }: { readonly rows: Rows }) {
  const found = barsOf(rows);
  if (!found) return null;
  const most = Math.max(...found.bars.map(({ value }) => Math.abs(value)), Number.MIN_VALUE);
  return (
    <figure class="bars">
      <figcaption>
        <bdi>{found.title}</bdi>
      </figcaption>
      <ol>
        {found.bars.map(({ label, value }, index) => (
          <li key={index}>
            <bdi>{label}</bdi>
            <meter min={0} max={most} value={Math.abs(value)} aria-label={label} />
            <span>{formatShort(value)}</span>
          </li>
        ))}
      </ol>
    </figure>
  );
}
