/** Rows of which only those in sight are in the document, so that 50,000 scroll like 50. Arrows go from row to row, Enter opens one. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { gravityOf } from '../../../core/text/event-line.ts';
import { formatExactTime } from '../../parts/format.ts';
import { formatCell } from '../../parts/show-text.ts';
import type { CellValue } from '../data/api.ts';
import type { TableRows } from '../data/results.ts';

/** As in the style sheet. */
const ROW_PIXELS = 28;
const HEAD_PIXELS = 32;
const BEYOND = 10;

export interface ResultsTableProps {
  readonly rows: TableRows;
  readonly shown: readonly string[];
  readonly selected: number | undefined;
  readonly onSelect: (row: number) => void;
  /** Called when one scrolls away from the top or goes through the rows by keys, and when one is back at the top. */
  readonly onRead?: (isReading: boolean) => void;
}

export function ResultsTable({ rows, shown, selected, onSelect, onRead }: ResultsTableProps) {
  const holder = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  /** The row that Tab leads to, and how often keys moved it. */
  const [at, setAt] = useState({ row: selected ?? 0, moves: 0 });
  const height = holder.current?.clientHeight ?? 600;
  const first = Math.max(0, Math.floor(top / ROW_PIXELS) - BEYOND);
  const end = Math.min(rows.count, Math.ceil((top + height) / ROW_PIXELS) + BEYOND);
  const columns = shown.map((name) => rows.columns[rows.names.indexOf(name)] ?? []);
  const scrollTo = (row: number) => {
    const { scrollTop, clientHeight } = holder.current!;
    const [from, to] = [row * ROW_PIXELS, (row + 1) * ROW_PIXELS + HEAD_PIXELS - clientHeight];
    holder.current!.scrollTop = scrollTop > from ? from : Math.max(scrollTop, to);
    setTop(holder.current!.scrollTop);
  };
  useLayoutEffect(() => {
    if (selected !== undefined) scrollTo(selected);
  }, []);
  useLayoutEffect(() => {
    if (at.moves > 0) focusRow(holder.current!, at.row);
  }, [at]);
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor((height - HEAD_PIXELS) / ROW_PIXELS) - 1);
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -rows.count,
      End: rows.count,
    };
    const step = steps[event.key];
    if (step === undefined) return;
    // From the table itself arrows lead to the first row in sight; other keys scroll.
    const isInside = event.target !== holder.current;
    if (!isInside && Math.abs(step) !== 1) return;
    event.preventDefault();
    const row = isInside ? Math.min(rows.count - 1, Math.max(0, at.row + step)) : Math.ceil(top / ROW_PIXELS);
    scrollTo(row);
    setAt({ row, moves: at.moves + 1 });
    onRead?.(true);
  };
  const reached = at.row >= first && at.row < end ? at.row : first;
  return (
    <div
      ref={holder}
      class="surface rows"
      tabIndex={0}
      role="region"
      aria-label="Rows"
      onScroll={({ currentTarget: { scrollTop } }) => {
        // Keys hold the rows, too, and may scroll back to the top.
        if (scrollTop !== top && (scrollTop > 0 || !holder.current?.querySelector('.open:focus')))
          onRead?.(scrollTop > 0);
        setTop(scrollTop);
      }}
      onKeyDown={onKeyDown}
    >
      <table aria-rowcount={rows.count + 1}>
        <thead>
          <tr>
            <th scope="col">
              <span class="visually-hidden">Row</span>
            </th>
            {shown.map((name, index) => (
              <th key={name} scope="col" class={isNumeric(columns[index]!) ? 'number' : ''}>
                <bdi>{formatCell(name, 100)}</bdi>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {first > 0 && <tr aria-hidden="true" style={{ height: `${first * ROW_PIXELS}px` }} />}
          {Array.from({ length: end - first }, (_, offset) => first + offset).map((row) => (
            <tr
              key={row}
              aria-rowindex={row + 2}
              aria-selected={row === selected}
              data-row={row}
              onClick={() => onSelect(row)}
            >
              <td>
                <button
                  type="button"
                  class="open"
                  aria-label={`Open row ${row + 1}`}
                  tabIndex={row === reached ? 0 : -1}
                  onFocus={() => row !== at.row && setAt({ row, moves: 0 })}
                >
                  ›
                </button>
              </td>
              {columns.map((column, index) => (
                <Cell
                  key={shown[index]!}
                  name={shown[index]!}
                  isTime={rows.times.has(shown[index]!)}
                  value={column[row] ?? null}
                />
              ))}
            </tr>
          ))}
          {end < rows.count && <tr aria-hidden="true" style={{ height: `${(rows.count - end) * ROW_PIXELS}px` }} />}
        </tbody>
      </table>
    </div>
  );
}

/** Moves the keyboard's place to a row; where that is not in the document, to the table. */
export function focusRow(holder: ParentNode, row: number): void {
  const button =
    holder.querySelector<HTMLElement>(`tr[data-row="${row}"] .open`) ?? holder.querySelector<HTMLElement>('.rows');
  button?.focus({ preventScroll: true });
}

function Cell({ name, isTime, value }: { readonly name: string; readonly isTime: boolean; readonly value: CellValue }) {
  if (value === null)
    return (
      <td>
        <span class="nothing">–</span>
      </td>
    );
  if (isTime && typeof value === 'string')
    return (
      <td class="time" title={value}>
        {formatCell(formatExactTime(value), 40)}
      </td>
    );
  const gravity = name === 'level' || name === 'severity' ? gravityOf(formatCell(value, 20)) : undefined;
  const color = gravity === undefined ? '' : `text-${gravity}`;
  if (typeof value === 'number') return <td class={`number ${color}`.trimEnd()}>{String(value)}</td>;
  return (
    <td class={color}>
      <bdi>{formatCell(value)}</bdi>
    </td>
  );
}

function isNumeric(column: readonly CellValue[]): boolean {
  return typeof column.find((value) => value !== null) === 'number';
}
