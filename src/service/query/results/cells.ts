/** Cells of the engine's answer as JSON text. Results are put together as text, so that 64-bit integers stay exact. */
import type { Cell } from '../../engine/engine.ts';
import { formatTime } from '../../../core/time/time-text.ts';
import type { OutputColumn, Table } from '../plan/program.ts';
import { writeRowId } from '../sql/field.ts';
import type { Kind } from '../values/kind.ts';

export type Row = readonly Cell[];

/** Seconds since 1970 and how they are written: times of one result are near each other. */
let lastSecond = { text: '', written: '' };

/** RFC 3339 of a cell of ns since 1970, as `formatTime` writes it. */
export function timeJson(cell: Cell | undefined): string {
  const text = String(cell);
  if (text.length < 10 || text.startsWith('-')) return `"${formatTime(BigInt(text))}"`;
  const second = text.slice(0, -9);
  if (second !== lastSecond.text) lastSecond = { text: second, written: new Date(Number(second) * 1000).toISOString().slice(0, -5) };
  let end = text.length;
  while (end > second.length && text[end - 1] === '0') end--;
  return `"${lastSecond.written}${end > second.length ? `.${text.slice(second.length, end)}` : ''}Z"`;
}

/** JSON text of one facet's cell. */
function writeCell(kind: Kind, cell: Cell): string {
  if (cell === null) return 'null';
  switch (kind) {
    case 'int':
      return String(cell);
    case 'real':
      // What is infinite or no number comes as text; JSON has no such numbers.
      return typeof cell === 'number' ? JSON.stringify(cell) : 'null';
    case 'string':
      return JSON.stringify(cell);
    case 'bool':
      return cell === true || cell === 1 ? 'true' : 'false';
    case 'datetime':
      return timeJson(cell);
    case 'timespan':
      return `"${formatSpan(BigInt(String(cell)))}"`;
    case 'json':
      return String(cell);
  }
}

/** A column's value in a row. */
export function writeValue(column: OutputColumn, row: Row): string {
  for (const [kind, at] of column.facets) if (row[at] !== null) return writeCell(kind, row[at]!);
  return 'null';
}

/** A timespan as Go writes a duration: `1h0m1.5s`, `250ms`. */
export function formatSpan(ns: bigint): string {
  const size = ns < 0n ? -ns : ns;
  const sign = ns < 0n ? '-' : '';
  const decimal = (unit: bigint, digits: number): string => {
    const fraction = String(size % unit).padStart(digits, '0').replace(/0+$/, ''); // prettier-ignore
    return `${(size / unit) % (unit === 1_000_000_000n ? 60n : 1000n)}${fraction && `.${fraction}`}`;
  };
  if (size === 0n) return '0s';
  if (size < 1000n) return `${sign}${size}ns`;
  if (size < 1_000_000n) return `${sign}${decimal(1000n, 3)}µs`;
  if (size < 1_000_000_000n) return `${sign}${decimal(1_000_000n, 6)}ms`;
  const seconds = `${decimal(1_000_000_000n, 9)}s`;
  const minutes = size / 60_000_000_000n;
  if (minutes === 0n) return sign + seconds;
  return minutes < 60n ? `${sign}${minutes}m${seconds}` : `${sign}${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

/** The id of the event that a row is. */
export function rowIdOf({ eventAt }: Table, row: Row): string {
  return writeRowId(BigInt(String(row[eventAt!])), BigInt(String(row[eventAt! + 2])));
}

/** Calls `take` with the name and the JSON text of each field of an event. */
export function eachField({ mapsAt, own }: Table, row: Row, takeIt: (name: string, json: string) => void): void {
  const at = mapsAt!;
  // What was stored before a field had its own column is there and in the map.
  const taken = new Set<string>();
  for (const [field, kind, cell] of own)
    if (row[cell] !== null) {
      taken.add(field);
      takeIt(field, writeCell(kind, row[cell]!));
    }
  const take = (name: string, json: string): void => void (taken.has(name) || takeIt(name, json));
  const map = (n: number): Readonly<Record<string, Cell>> => row[at + n] as unknown as Readonly<Record<string, Cell>>;
  const [s, i, f, b, j] = [map(0), map(1), map(2), map(3), map(4)];
  for (const name in s) take(name, JSON.stringify(s[name]));
  for (const name in i) take(name, String(i[name]));
  for (const name in f) take(name, writeCell('real', f[name]!));
  for (const name in b) take(name, String(b[name]));
  for (const name in j) take(name, String(j[name]));
}
