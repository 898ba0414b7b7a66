/** Rows of aligned cells. Pure. Promises: a cell is one line and holds nothing that a terminal obeys. */
import { isRawNumber } from '../../client/exact-json.ts';
import { printable } from '../../config/quote.ts';

/** Any JSON value, or none. */
export type Cell = unknown;

const GAP = '  ';
/** What a column keeps, however many there are. */
const LEAST_WIDTH = 6;
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const NO_WIDTH = /\p{M}/u;

export function cellText(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  if (isRawNumber(cell)) return cell.rawJSON;
  return printable(typeof cell === 'string' ? cell : (JSON.stringify(cell) ?? ''));
}

/** Columns that the text takes on a terminal. */
export function textWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += NO_WIDTH.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}

/** At most `width` columns of the text, with `…` for what is left out. */
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
 * The widths of the columns: as wide as their values, or, within `terminal` columns, narrower where they are widest. Fewer than there
 * are names when not all fit.
 */
export function fitWidths(names: readonly string[], rows: readonly (readonly Cell[])[], terminal: number | undefined): number[] {
  const natural = names.map((name, column) =>
    rows.reduce((most, row) => Math.max(most, textWidth(cellText(row[column]))), textWidth(name)),
  );
  if (terminal === undefined) return natural;
  const room = (count: number) => terminal - GAP.length * (count - 1);
  const total = (count: number, cap: number) => natural.slice(0, count).reduce((sum, width) => sum + Math.min(width, cap), 0);
  let count = names.length;
  while (count > 1 && total(count, LEAST_WIDTH) > room(count)) count--;
  let cap = Math.min(terminal, Math.max(...natural));
  while (cap > 1 && total(count, cap) > room(count)) cap--;
  const widths = natural.slice(0, count).map((width) => Math.min(width, cap));
  // What rounding left over goes to the first that are cut.
  let spare = room(count) - total(count, cap);
  for (const [column, width] of widths.entries()) {
    const more = Math.min(spare, natural[column]! - width);
    widths[column] = width + more;
    spare -= more;
  }
  return widths;
}

/** One line; numbers stand to the right. */
export function renderRow(cells: readonly Cell[], widths: readonly number[]): string {
  const parts = widths.map((width, column) => {
    const cell = cells[column];
    const text = cut(cellText(cell), width);
    const space = ' '.repeat(width - textWidth(text));
    return typeof cell === 'number' || isRawNumber(cell) ? space + text : text + space;
  });
  return parts.join(GAP).trimEnd();
}
