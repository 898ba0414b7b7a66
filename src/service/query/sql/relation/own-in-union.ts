/**
 * Own columns (`engine/own-columns`) differ from table to table. The maps of a union include their values. The columns that most tables have are
 * passed on as well, since building a whole map takes 20 times as long as reading a column.
 */
import type { OwnMap } from '../../../engine/own-columns.ts';
import { fieldValue, OWN_KINDS, type EventSql, type OwnSql } from '../field.ts';
import type { Parts } from '../relation-parts.ts';
import { alias, sql, type Sql } from '../../values/sql.ts';

/** Cells of this kind that a union carries at most, all tables together: their SQL is bounded. */
const MOST_CELLS = 320;
const MAPS: readonly OwnMap[] = ['s', 'i', 'f', 'b'];
/** As `WHOLE` of `engine/own-columns` names them. */
const WHOLE: Readonly<Record<OwnMap, Sql>> = { s: sql`all_s`, i: sql`all_i`, f: sql`all_f`, b: sql`all_b` };

export interface Carried {
  /** As the union names them. */
  readonly names: readonly Sql[];
  /** What each table selects for them. */
  readonly cells: readonly (readonly Sql[])[];
  readonly own: EventSql['own'];
}

/** The maps of one table's events, under their names. */
export function wholeMaps({ event, dataset, level }: Parts): Sql[] {
  // Anything but a table is a union, whose maps are whole.
  const isTable = level === 0 && dataset.own.size > 0;
  return MAPS.map((map) => (isTable ? sql`${WHOLE[map]} as ${event![map]}` : event![map]));
}

export function carriedColumns(tables: readonly Parts[]): Carried {
  const counts = new Map<string, { field: string; map: OwnMap; tables: number }>();
  for (const { event } of tables)
    for (const [field, columns] of event!.own)
      for (const map of Object.keys(columns) as OwnMap[]) {
        const id = `${map} ${field}`;
        const known = counts.get(id) ?? { field, map, tables: 0 };
        counts.set(id, { ...known, tables: known.tables + 1 });
      }
  const chosen = [...counts.values()].sort((a, b) => b.tables - a.tables).slice(0, Math.floor(MOST_CELLS / tables.length));
  const own = new Map<string, OwnSql>();
  const names = chosen.map(({ field, map }, n) => {
    const name = alias('own', n);
    own.set(field, { ...own.get(field), [map]: name });
    return name;
  });
  const cells = tables.map(({ event, dataset, environment }) =>
    chosen.map(({ field, map }) => {
      const value = fieldValue(event!, field, dataset.fields.get(field) ?? 0, environment.params);
      return value.facets[OWN_KINDS[map]] ?? sql`null`;
    }),
  );
  return { names, cells, own };
}
