/**
 * CSV of a batch, by RFC 4180: one line an event, one value a column. Strings are always in quotes, so that `"404"` stays a string and a
 * bare `404` a number; numbers keep their digits; lists and objects are JSON text; an absent or null value is empty. Nothing is lost for
 * want of a column unless it was asked for.
 */
import { MAX_CSV_COLUMNS } from '../../../core/limits.ts';
import { ByteWriter } from '../../../core/bytes/byte-writer.ts';
import { ColumnKeys } from './keys.ts';
import { hasEscape, isNull, isString, isStructure, Members, readString } from '../../../json/members.ts';
import { visitLines } from './lines.ts';

const LF = 0x0a;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const NO_COLUMN = -1;

export interface CsvOptions {
  /** Names of the columns, in their order; undefined takes the keys of each batch, in the order they are first seen. */
  readonly columns: readonly string[] | undefined;
  /** The column that holds all other keys as one JSON object; undefined drops them. */
  readonly extra: string | undefined;
  /** The first line names the columns. */
  readonly header: boolean;
}

/** The names that a body of configured columns has, in their order. */
export function bodyColumns(columns: readonly string[], extra: string | undefined): readonly string[] {
  return extra === undefined ? columns : [...columns, extra];
}

export function encodeCsv(ndjson: Buffer, options: CsvOptions): Buffer {
  const { names, keys, needsExtra } = options.columns ? givenColumns(ndjson, options.columns) : inferColumns(ndjson);
  const extra = options.extra === undefined || !needsExtra ? undefined : freeName(options.extra, names);
  const all = bodyColumns(names, extra);
  const out = new ByteWriter(ndjson.length + 1024);
  if (options.header) {
    out.text(all.map(headerName).join(','));
    out.byte(LF);
  }

  const row = new CsvRow(ndjson, keys, names.length);
  visitLines(ndjson, (from) => {
    row.read(from);
    for (let column = 0; column < names.length; column++) {
      if (column > 0) out.byte(COMMA);
      const valueTo = row.to[column]!;
      if (valueTo > 0) writeValue(out, ndjson, row.from[column]!, valueTo);
      // A line without anything on it is no event to most readers.
      else if (all.length === 1) out.text('""');
    }
    if (extra !== undefined) {
      out.byte(COMMA);
      if (row.others.length > 0) writeOthers(out, ndjson, row.others);
    }
    out.byte(LF);
  });
  return out.bytes;
}

interface Columns {
  readonly names: readonly string[];
  readonly keys: ColumnKeys;
  readonly needsExtra: boolean;
}

function givenColumns(ndjson: Buffer, names: readonly string[]): Columns {
  const byName = new Map(names.map((name, index) => [name, index]));
  return { names, keys: new ColumnKeys(ndjson, (name) => byName.get(name) ?? NO_COLUMN), needsExtra: true };
}

/** The keys of all events. Names that a reader would trim, and those beyond the limit, are no columns. */
function inferColumns(ndjson: Buffer): Columns {
  const byName = new Map<string, number>();
  let needsExtra = false;
  const keys = new ColumnKeys(ndjson, (name) => {
    const known = byName.get(name);
    if (known !== undefined) return known;
    if (name === '' || name.trim() !== name || byName.size >= MAX_CSV_COLUMNS) {
      needsExtra = true;
      return NO_COLUMN;
    }
    byName.set(name, byName.size);
    return byName.size - 1;
  });
  const members = new Members();
  visitLines(ndjson, (from) => {
    keys.start();
    members.scan(ndjson, from);
    for (let n = 0; n < members.count; n++) keys.next(members.keyFrom[n]!, members.keyTo[n]!);
  });
  // A body has at least one column.
  if (byName.size === 0) byName.set('_time', 0);
  return { names: [...byName.keys()], keys, needsExtra };
}

/** An inferred column may have the name that was meant for the rest. */
function freeName(wanted: string, taken: readonly string[]): string {
  let name = wanted;
  while (taken.includes(name)) name = `${name}_`;
  return name;
}

/** The places of one event's values, by column. */
class CsvRow {
  readonly from: Int32Array;
  /** 0 where the event has no such key, or null. */
  readonly to: Int32Array;
  /** Ranges of key and value of keys without a column, four numbers each. */
  readonly others: number[] = [];
  readonly #bytes: Buffer;
  readonly #keys: ColumnKeys;
  readonly #members = new Members();

  constructor(bytes: Buffer, keys: ColumnKeys, columns: number) {
    this.#bytes = bytes;
    this.#keys = keys;
    this.from = new Int32Array(columns);
    this.to = new Int32Array(columns);
  }

  /** Of the line that begins there. */
  read(lineFrom: number): void {
    const { from, to, others } = this;
    const { keyFrom, keyTo, valueFrom, valueTo } = this.#members;
    to.fill(0);
    others.length = 0;
    this.#keys.start();
    this.#members.scan(this.#bytes, lineFrom);
    for (let n = 0; n < this.#members.count; n++) {
      const column = this.#keys.next(keyFrom[n]!, keyTo[n]!);
      if (column === NO_COLUMN) {
        others.push(keyFrom[n]!, keyTo[n]!, valueFrom[n]!, valueTo[n]!);
        continue;
      }
      // The last one counts, as it does to a JSON parser.
      from[column] = valueFrom[n]!;
      to[column] = isNull(this.#bytes, valueFrom[n]!) ? 0 : valueTo[n]!;
    }
  }
}

function writeValue(out: ByteWriter, bytes: Buffer, from: number, to: number): void {
  if (isString(bytes, from) && !hasEscape(bytes, from, to)) out.copy(bytes, from, to);
  else if (isString(bytes, from)) out.text(quoted(readString(bytes, from, to)));
  else if (isStructure(bytes, from)) {
    out.byte(QUOTE);
    out.copyDoubled(bytes, from, to);
    out.byte(QUOTE);
  } else out.copy(bytes, from, to);
}

function writeOthers(out: ByteWriter, bytes: Buffer, ranges: readonly number[]): void {
  out.byte(QUOTE);
  out.byte(OPEN);
  for (let at = 0; at < ranges.length; at += 4) {
    if (at > 0) out.byte(COMMA);
    out.copyDoubled(bytes, ranges[at]!, ranges[at + 1]!);
    out.byte(COLON);
    out.copyDoubled(bytes, ranges[at + 2]!, ranges[at + 3]!);
  }
  out.byte(CLOSE);
  out.byte(QUOTE);
}

function headerName(name: string): string {
  return /[",\r\n]/.test(name) || name === '' ? quoted(name) : name;
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
