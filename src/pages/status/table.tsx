/** A table that scrolls in a region of its own. */
import type { ComponentChildren } from 'preact';
import type { NumberColumn } from '../../telemetry/stats.ts';
import { formatBytes, formatCount } from '../parts/format.ts';

interface TableProps {
  readonly label: string;
  /** Their names, each with its class: `number` is aligned right. */
  readonly columns: Readonly<Record<string, 'number' | ''>>;
  readonly isTall?: boolean;
  readonly caption?: ComponentChildren;
  /** The rows. */
  readonly children: ComponentChildren;
}

export function Table({ label, columns, isTall = false, caption, children }: TableProps) {
  return (
    <div class={isTall ? 'surface scroll scroll-tall' : 'surface scroll'} tabIndex={0} role="region" aria-label={label}>
      <table>
        {caption}
        <thead>
          <tr>
            {Object.entries(columns).map(([name, kind]) => (
              <th key={name} scope="col" class={kind}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

export const headsOf = (numbers: readonly NumberColumn[]): Record<string, 'number'> =>
  Object.fromEntries(numbers.map(({ name }) => [name, 'number' as const]));

interface NumberCellsProps<Row> {
  readonly columns: readonly NumberColumn[];
  readonly row: Row;
  /** What a cell says of its number, by the names of columns. */
  readonly titles?: Readonly<Record<string, (row: Row) => string>>;
}

export function NumberCells<Row extends { readonly id: string }>({ columns, row, titles }: NumberCellsProps<Row>) {
  return columns.map(({ name, value, isBytes, level }) => {
    const number = value(row);
    return (
      <td
        key={name}
        class={level !== undefined && number !== 0 ? `number text-${level}` : 'number'}
        title={titles?.[name]?.(row)}
      >
        {number !== undefined && (isBytes ? formatBytes : formatCount)(number)}
      </td>
    );
  });
}
