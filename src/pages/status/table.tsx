/** A table that scrolls in a region of its own. */
import type { ComponentChildren } from 'preact';

interface TableProps {
  readonly label: string;
  /** Their names, each with its class: `number` stands to the right. */
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
