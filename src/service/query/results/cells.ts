/** Cells of the engine's answer as JSON text. Results are built as text, so that 64-bit integers stay exact. */
import type { Cell, EngineRow } from '../../engine/engine.ts';
import { spanText } from '../../../core/time/span-text.ts';
import { formatTime } from '../../../core/time/time-text.ts';
import { mapOf } from '../../datasets/field-types.ts';
import type { OutputColumn, QueryTable } from '../plan/program.ts';
import { writeRowId } from '../sql/field.ts';
import type { ValueKind } from '../values/kind.ts';

/** Caches the last second as text: the times of one result are close together. */
let lastSecond = { text: '', written: '' };

/** RFC 3339 of a cell of ns since 1970, as `formatTime` writes it. */
export function timeJson(cell: Cell | undefined): string {
  const text = String(cell);
  if (text.length < 10 || text.startsWith('-')) return `"${formatTime(BigInt(text))}"`;
  const second = text.slice(0, -9);
  if (second !== lastSecond.text)
    lastSecond = { text: second, written: new Date(Number(second) * 1000).toISOString().slice(0, -5) };
  let end = text.length;
  while (end > second.length && text[end - 1] === '0') end--;
  return `"${lastSecond.written}${end > second.length ? `.${text.slice(second.length, end)}` : ''}Z"`;
}

/** JSON text of one facet's cell that is not null. */
const CELL_JSON: Readonly<Record<ValueKind, (cell: Cell) => string>> = {
  int: String,
  // Infinite numbers and NaN come as text; JSON has no such numbers.
  real: (cell) => (typeof cell === 'number' ? JSON.stringify(cell) : 'null'),
  string: (cell) => JSON.stringify(cell),
  bool: (cell) => (cell === true || cell === 1 ? 'true' : 'false'),
  datetime: timeJson,
  timespan: (cell) => `"${spanText(BigInt(String(cell)))}"`,
  json: String,
};
const writeCell = (kind: ValueKind, cell: Cell): string => (cell === null ? 'null' : CELL_JSON[kind](cell));

export function writeValue(column: OutputColumn, row: EngineRow): string {
  for (const [kind, at] of column.facets) if (row[at] !== null) return writeCell(kind, row[at]!);
  return 'null';
}

/** The id of the event that a row is. */
export function rowIdOf({ eventAt }: QueryTable, row: EngineRow): string {
  return writeRowId(BigInt(String(row[eventAt!])), BigInt(String(row[eventAt! + 2])));
}

/** Calls `take` with the name and the JSON text of each field of an event; a map field is one. */
export function eachField(
  { mapsAt, own }: QueryTable,
  row: EngineRow,
  takeIt: (name: string, json: string) => void,
): void {
  const at = mapsAt!;
  // Older values are in the own column and in the map.
  const taken = new Set<string>();
  for (const [field, kind, cell] of own)
    if (row[cell] !== null) {
      taken.add(field);
      takeIt(field, writeCell(kind, row[cell]!));
    }
  const maps = new Map<string, string[]>();
  const take = (name: string, json: string): void => {
    const of = mapOf(name);
    if (of === undefined) return void (taken.has(name) || takeIt(name, json));
    const members = maps.get(of) ?? [];
    maps.set(of, members);
    members.push(`${JSON.stringify(name.slice(of.length + 1))}:${json}`);
  };
  const map = (n: number): Readonly<Record<string, Cell>> => row[at + n] as unknown as Readonly<Record<string, Cell>>;
  const [s, i, f, b, j] = [map(0), map(1), map(2), map(3), map(4)];
  for (const name in s) take(name, JSON.stringify(s[name]));
  for (const name in i) take(name, String(i[name]));
  for (const name in f) take(name, writeCell('real', f[name]!));
  for (const name in b) take(name, String(b[name]));
  for (const name in j) take(name, String(j[name]));
  for (const [name, members] of maps) takeIt(name, `{${members.join(',')}}`);
}
