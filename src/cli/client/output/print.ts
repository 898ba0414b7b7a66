/** Data for people (tables) and for scripts (JSON) on stdout. Promises: nothing is lost when the reader is slow. */
import { once } from 'node:events';
import { styleText } from 'node:util';
import { printable } from '../../../config/quote.ts';
import { cellText, fitWidths, renderRow, type TableCell } from './table.ts';

/** Writes, and waits while the reader is behind. */
export async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain');
}

const PIECE_CHARACTERS = 64 * 1024;

/** Writes each line with its line end, many in one go. */
export async function writeLines(lines: Iterable<string>): Promise<void> {
  let piece = '';
  for (const line of lines) {
    piece += `${line}\n`;
    if (piece.length < PIECE_CHARACTERS) continue;
    await write(piece);
    piece = '';
  }
  if (piece !== '') await write(piece);
}

/** Resolves once everything is written and the process may exit. */
export async function flush(): Promise<void> {
  await new Promise((resolve) => process.stdout.write('', resolve));
}

/** The columns of the terminal; undefined where stdout is not a terminal, or one without a size: nothing is cut. */
export function terminalColumns(): number | undefined {
  return (process.stdout.isTTY && process.stdout.columns) || undefined;
}

export function heading(text: string): string {
  return styleText('bold', text, { stream: process.stdout });
}

/** Prints a list as one JSON object a line, or as a table. Each column is a property of the items, or a function of the item. */
export async function printList<T extends object>(
  items: readonly T[],
  columns: Readonly<Record<string, keyof T | ((item: T) => TableCell)>>,
  json: boolean | undefined,
): Promise<void> {
  if (json) return writeLines(items.map((item) => JSON.stringify(item)));
  const names = Object.keys(columns);
  const cell = (item: T, column: keyof T | ((item: T) => TableCell)): TableCell =>
    typeof column === 'function' ? column(item) : item[column];
  const rows = items.map((item) => Object.values(columns).map((column) => cell(item, column)));
  const widths = fitWidths(names, rows, terminalColumns());
  await writeLines([heading(renderRow(names, widths)), ...rows.map((row) => renderRow(row, widths))]);
}

/** One thing: a JSON object, or a line for each value. */
export async function printRecord(item: object, json: boolean | undefined): Promise<void> {
  if (json) return write(`${JSON.stringify(item)}\n`);
  const entries = Object.entries(item).filter(([, value]) => value !== undefined && value !== null);
  const width = Math.max(...entries.map(([key]) => key.length));
  await writeLines(
    entries.map(([key, value]) =>
      `${heading(printable(key))}${' '.repeat(width - key.length)}  ${cellText(value)}`.trimEnd(),
    ),
  );
}
