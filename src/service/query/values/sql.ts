/**
 * SQL text that this program wrote. The type guards it: `sql` joins only such text and numbers, so a user's values and field names can reach a
 * statement only as bound parameters.
 */
import { meaningError } from '../../../language/syntax/apl-error.ts';
import type { Param } from '../../engine/engine.ts';
import { SERVICE_QUERY_SQL } from '../../limits.ts';

declare const written: unique symbol;
export type Sql = string & { readonly [written]: true };

/** A piece of SQL: the template is the program's own text, its parts are SQL or numbers. */
export function sql(strings: TemplateStringsArray, ...parts: readonly (Sql | number)[]): Sql {
  let text = strings[0]!;
  for (const [n, part] of parts.entries())
    text += (typeof part === 'number' ? writeNumber(part) : part) + strings[n + 1]!;
  checkLength(text.length);
  return text as Sql;
}

/** A function may write its argument several times, so that SQL doubles with each call inside another: each piece is held to the limit. */
function checkLength(length: number): void {
  if (length > SERVICE_QUERY_SQL) throw meaningError(0, 'the query is too complex; make it shorter');
}

function writeNumber(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError(`the number ${value} has no SQL`);
  return value < 0 || Object.is(value, -0) ? `(${value})` : String(value);
}

export const NOTHING = sql``;

export function joinSql(parts: readonly Sql[], separator: Sql): Sql {
  checkLength(parts.reduce((length, part) => length + part.length + separator.length, 0));
  return parts.join(separator) as Sql;
}

export const list = (parts: readonly Sql[]): Sql => joinSql(parts, sql`, `);
export const all = (parts: readonly Sql[]): Sql =>
  parts.length === 0 ? sql`true` : parts.length === 1 ? parts[0]! : sql`(${joinSql(parts, sql` and `)})`;
export const any = (parts: readonly Sql[]): Sql =>
  parts.length === 0 ? sql`false` : parts.length === 1 ? parts[0]! : sql`(${joinSql(parts, sql` or `)})`;

/** The first part that is not null. */
export const first = (parts: readonly Sql[]): Sql => (parts.length === 1 ? parts[0]! : sql`coalesce(${list(parts)})`);

/** A name for a column inside the statement: letters of the program's own and a number. */
export const alias = (letters: string, n: number): Sql => {
  if (!/^[a-z]{1,8}$/.test(letters)) throw new RangeError(`${letters} cannot begin an alias`);
  return `${letters}${n}` as Sql;
};

/** The table of a dataset, as the catalog names it. */
export function tableSql(table: string): Sql {
  if (!/^ds_\d+$/.test(table)) throw new RangeError(`${table} is no table of a dataset`);
  return table as Sql;
}

export function ownColumnSql(name: string): Sql {
  if (!/^o_[sifb]\d+$/.test(name)) throw new RangeError(`${name} is no column of a field`);
  return name as Sql;
}

/** Collects bound values; `bind` returns the placeholder. */
export class SqlParams {
  readonly values: Record<string, Param> = {};
  readonly #known = new Map<string, Sql>();

  bind(type: 'String' | 'Int64' | 'UInt64' | 'Float64', value: string | number | bigint): Sql {
    const id = `${type} ${String(value)}`;
    const known = this.#known.get(id);
    if (known) return known;
    const name = `p${this.#known.size}`;
    this.values[name] = typeof value === 'number' ? String(value) : value;
    const placeholder = `{${name}:${type}}` as Sql;
    this.#known.set(id, placeholder);
    return placeholder;
  }

  string = (value: string): Sql => this.bind('String', value);
  int = (value: bigint | number): Sql => this.bind('Int64', value);
  /** A time, ns since 1970. */
  time = (ns: bigint): Sql => sql`fromUnixTimestamp64Nano(${this.int(ns)}, 'UTC')`;
}
