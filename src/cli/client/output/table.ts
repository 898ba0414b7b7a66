/** Rows of aligned cells. Pure. Promises: nothing in them is obeyed by a terminal. */
import { isRawNumber } from '../../../json/numbers.ts';
import { printable } from '../../../config/quote.ts';

/** Any JSON value, or none. */
export type TableCell = unknown;

const GAP = '  ';
const TAB = '    ';
/** What a column keeps, however many there are. */
const LEAST_WIDTH = 6;
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const NO_WIDTH = /\p{M}/u;

/** One line. */
export function cellText(cell: TableCell): string {
  if (cell === null || cell === undefined) return '';
  if (isRawNumber(cell)) return cell.rawJSON;
  if (typeof cell !== 'string') return printable(JSON.stringify(cell) ?? '');
  return printable(cell.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t'));
}

/** The lines of a text, such as a stack trace, as a person reads them. Anything else is one line. */
function cellLines(cell: TableCell): string[] {
  if (typeof cell !== 'string') return [cellText(cell)];
  return cell.split(/\r?\n/).map((line) => cellText(line.replaceAll('\t', TAB)));
}

/** A cell as one line, or as those of its text. */
type Layout = 'line' | 'lines';

const linesOf = (cell: TableCell, layout: Layout): string[] =>
  layout === 'lines' ? cellLines(cell) : [cellText(cell)];

/** Columns that the text takes on a terminal. */
export function textWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += NO_WIDTH.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}

/** At most `width` columns of the text, with `…` where it was cut. */
export function cut(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let [kept, used] = ['', 0];
  for (const character of text) {
    used += textWidth(character);
    if (used > width - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

/**
 * The widths of the columns: as wide as their values, or, within `terminal` columns, narrower where they are widest, but for the time.
 * Fewer than there are names when not all fit.
 */
export function fitWidths(
  names: readonly string[],
  rows: readonly (readonly TableCell[])[],
  terminal: number | undefined,
  layout: Layout = 'line',
): number[] {
  const widthOf = (cell: TableCell) => linesOf(cell, layout).reduce((most, line) => Math.max(most, textWidth(line)), 0);
  const natural = names.map((name, column) =>
    rows.reduce((most, row) => Math.max(most, widthOf(row[column])), textWidth(name)),
  );
  if (terminal === undefined) return natural;
  const available = (count: number) => terminal - GAP.length * (count - 1);
  const capped = (column: number, cap: number) => {
    const width = natural[column]!;
    return names[column] === '_time' && width <= terminal / 2 ? width : Math.min(width, cap);
  };
  const total = (count: number, cap: number) =>
    natural.slice(0, count).reduce((sum, _, column) => sum + capped(column, cap), 0);
  let count = names.length;
  while (count > 1 && total(count, LEAST_WIDTH) > available(count)) count--;
  let cap = Math.min(terminal, Math.max(...natural));
  while (cap > 1 && total(count, cap) > available(count)) cap--;
  const widths = natural.slice(0, count).map((_, column) => capped(column, cap));
  // What rounding left over goes to the first that are cut.
  let spare = available(count) - total(count, cap);
  for (const [column, width] of widths.entries()) {
    const more = Math.min(spare, natural[column]! - width);
    widths[column] = width + more;
    spare -= more;
  }
  return widths;
}

/** The lines of one row; numbers are aligned right. */
export function renderRow(cells: readonly TableCell[], widths: readonly number[], layout: Layout = 'line'): string {
  const columns = widths.map((_, column) => linesOf(cells[column], layout));
  const height = Math.max(...columns.map((lines) => lines.length));
  const lines = Array.from({ length: height }, (_, line) => {
    const parts = widths.map((width, column) => {
      const text = cut(columns[column]![line] ?? '', width);
      const space = ' '.repeat(width - textWidth(text));
      return typeof cells[column] === 'number' || isRawNumber(cells[column]) ? space + text : text + space;
    });
    return parts.join(GAP).trimEnd();
  });
  return lines.join('\n');
}
