/** Tables that fit a terminal: the least important columns are left out first. Pure. */
import { cut, textWidth } from '../client/output/table.ts';

export interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => string;
  /** Columns of the highest number are left out first. The first column stays. */
  readonly rank: number;
  readonly isNumber?: boolean;
  /** Applied to the padded cell. */
  readonly paint?: (text: string, row: Row) => string;
}

const GAP = '  ';

/** The head, and a line for each row, none wider than `width`. */
export function renderColumns<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
): { head: string; lines: string[] } {
  const widthOf = ({ name, cell }: Column<Row>): number => Math.max(textWidth(name), ...rows.map((row) => textWidth(cell(row))));
  const fitting = columns.map((column) => ({ column, width: widthOf(column) }));
  const total = (): number => fitting.reduce((sum, each) => sum + each.width + GAP.length, -GAP.length);
  while (fitting.length > 1 && total() > width) {
    const rank = Math.max(...fitting.slice(1).map(({ column }) => column.rank));
    fitting.splice(
      fitting.findLastIndex(({ column }, index) => index > 0 && column.rank === rank),
      1,
    );
  }
  if (fitting.length === 1) fitting[0]!.width = Math.min(fitting[0]!.width, width);
  const pad = (text: string, isNumber: boolean | undefined, cells: number): string => {
    const shown = cut(text, cells);
    const blanks = ' '.repeat(Math.max(0, cells - textWidth(shown)));
    return isNumber ? blanks + shown : shown + blanks;
  };
  return {
    head: fitting.map(({ column, width: cells }) => pad(column.name, column.isNumber, cells)).join(GAP),
    lines: rows.map((row) =>
      fitting
        .map(({ column: { cell, isNumber, paint = (text) => text }, width: cells }) => paint(pad(cell(row), isNumber, cells), row))
        .join(GAP),
    ),
  };
}
