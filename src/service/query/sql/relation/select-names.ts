/** Names for the columns of one select, built from letters and numbers; the same SQL gets the same name. */
import { alias, sql, type Sql } from '../../values/sql.ts';
import { facetsOf, type SqlValue } from '../../values/value.ts';

export class SelectNames {
  readonly columns: Sql[] = [];
  readonly #level: number;
  readonly #given = new Map<Sql, Sql>();

  constructor(level: number) {
    this.#level = level;
  }

  add(letter: string, value: Sql): Sql {
    const given = this.#given.get(value);
    if (given) return given;
    const name = alias(letter + String.fromCharCode(96 + this.#level), this.#given.size);
    this.#given.set(value, name);
    this.columns.push(sql`${value} as ${name}`);
    return name;
  }

  /** The value's facets as columns, and the value made of those. */
  take(letter: string, value: SqlValue): SqlValue {
    const facets = Object.fromEntries(facetsOf(value).map(([kind, facet]) => [kind, this.add(letter, facet)]));
    return { facets, ...(value.required && { required: true }), ...(value.constant && { constant: value.constant }) };
  }
}
