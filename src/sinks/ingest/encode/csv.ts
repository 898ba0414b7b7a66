/**
 * CSV of a batch, by RFC 4180: one line an event, one value a column. Strings are always in quotes, so that `"404"` stays
 * a string and a bare `404` a number; numbers keep their digits; lists and objects are JSON text; what is absent, or
 * null, is empty. Nothing is lost for want of a column unless it was asked for.
 */
import { MAX_CSV_COLUMNS } from '../../../core/limits.ts';
import { ByteWriter } from './byte-writer.ts';
import { hasEscape, isNull, isString, isStructure, textOf, visitLines, visitMembers } from './members.ts';

const LF = 0x0a;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN = 0x7b;
const CLOSE = 0x7d;

export interface CsvOptions {
  /** Names of the columns, in their order; undefined takes the keys of each batch, in the order they are first seen. */
  readonly columns: readonly string[] | undefined;
  /** The column that holds all other keys as one JSON object; undefined drops them. */
  readonly extra: string | undefined;
  /** The first line names the columns. */
  readonly header: boolean;
}

/** The names that a body of configured columns has, in their order. */
export function columnsOf(columns: readonly string[], extra: string | undefined): readonly string[] {
  return extra === undefined ? columns : [...columns, extra];
}

export function encodeCsv(ndjson: Buffer, options: CsvOptions): Buffer {
  const columns = options.columns ? givenColumns(options.columns) : inferColumns(ndjson);
  const { names, byName } = columns;
  const extra = options.extra === undefined || !columns.needsExtra ? undefined : freeName(options.extra, byName);
  const all = columnsOf(names, extra);
  const out = new ByteWriter(ndjson.length + 1024);
  if (options.header) {
    out.text(all.map(headerName).join(','));
    out.byte(LF);
  }

  const rows = new Rows(ndjson, byName);
  visitLines(ndjson, (from, to) => {
    rows.read(from, to);
    for (let column = 0; column < names.length; column++) {
      if (column > 0) out.byte(COMMA);
      const [valueFrom, valueTo] = [rows.from[column]!, rows.to[column]!];
      if (valueTo > 0) writeValue(out, ndjson, valueFrom, valueTo);
      // A line without anything on it is no event to most readers.
      else if (all.length === 1) out.text('""');
    }
    if (extra !== undefined) {
      out.byte(COMMA);
      if (rows.others.length > 0) writeOthers(out, ndjson, rows.others);
    }
    out.byte(LF);
  });
  return out.finish();
}

interface Columns {
  readonly names: readonly string[];
  readonly byName: ReadonlyMap<string, number>;
  readonly needsExtra: boolean;
}

function givenColumns(names: readonly string[]): Columns {
  return { names, byName: new Map(names.map((name, index) => [name, index])), needsExtra: true };
}

/** The keys of all events. Names that a reader would trim, and those beyond the limit, are no columns. */
function inferColumns(ndjson: Buffer): Columns {
  const byName = new Map<string, number>();
  const seen = new Set<string>();
  let needsExtra = false;
  visitLines(ndjson, (from, to) => {
    visitMembers(ndjson, from, to, (keyFrom, keyTo) => {
      const raw = ndjson.toString('latin1', keyFrom, keyTo);
      if (seen.has(raw)) return;
      const name = textOf(ndjson, keyFrom, keyTo);
      if (byName.has(name)) seen.add(raw);
      else if (name === '' || name.trim() !== name || byName.size >= MAX_CSV_COLUMNS) needsExtra = true;
      else {
        seen.add(raw);
        byName.set(name, byName.size);
      }
    });
  });
  // A body has at least one column.
  if (byName.size === 0) byName.set('_time', 0);
  return { names: [...byName.keys()], byName, needsExtra };
}

/** An inferred column may have the name that was meant for the rest. */
function freeName(wanted: string, taken: ReadonlyMap<string, number>): string {
  let name = wanted;
  while (taken.has(name)) name = `${name}_`;
  return name;
}

/** Where the values of one event stand, by column. */
class Rows {
  readonly from: Int32Array;
  /** 0 where the event has no such key, or null. */
  readonly to: Int32Array;
  /** Ranges of key and value of keys without a column, four numbers each. */
  others: number[] = [];
  readonly #bytes: Buffer;
  readonly #byName: ReadonlyMap<string, number>;
  /** Columns by the key's bytes: most keys come again and again. */
  readonly #byKey = new Map<string, number>();

  constructor(bytes: Buffer, byName: ReadonlyMap<string, number>) {
    this.#bytes = bytes;
    this.#byName = byName;
    this.from = new Int32Array(byName.size);
    this.to = new Int32Array(byName.size);
  }

  read(from: number, to: number): void {
    this.to.fill(0);
    this.others = [];
    visitMembers(this.#bytes, from, to, (keyFrom, keyTo, valueFrom, valueTo) => {
      const column = this.#columnOf(keyFrom, keyTo);
      if (column === undefined) {
        this.others.push(keyFrom, keyTo, valueFrom, valueTo);
        return;
      }
      // The last one counts, as it does to a JSON parser.
      this.from[column] = valueFrom;
      this.to[column] = isNull(this.#bytes, valueFrom) ? 0 : valueTo;
    });
  }

  #columnOf(keyFrom: number, keyTo: number): number | undefined {
    const raw = this.#bytes.toString('latin1', keyFrom, keyTo);
    const known = this.#byKey.get(raw);
    if (known !== undefined) return known;
    const column = this.#byName.get(textOf(this.#bytes, keyFrom, keyTo));
    if (column !== undefined && this.#byKey.size < 4 * MAX_CSV_COLUMNS) this.#byKey.set(raw, column);
    return column;
  }
}

function writeValue(out: ByteWriter, bytes: Buffer, from: number, to: number): void {
  if (isString(bytes, from) && !hasEscape(bytes, from, to)) out.copy(bytes, from, to);
  else if (isString(bytes, from)) out.text(quoted(textOf(bytes, from, to)));
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
