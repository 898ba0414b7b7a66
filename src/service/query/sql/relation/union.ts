/** The rows of several tables, one after the other. */
import type { DatasetRecord } from '../../../datasets/catalog.ts';
import { OLD_BIT } from '../../../datasets/field-types.ts';
import { isStored, TABLE_EVENT, fieldValue, OWN_KINDS, type EventSql, type OwnSql } from '../field.ts';
import { flat } from './flat.ts';
import { KINDS, type ValueKind } from '../../values/kind.ts';
import { checkedLevel, orderOf, whereSql, type RelationColumn, type RelationParts } from '../relation-parts.ts';
import { Relation } from './relation.ts';
import { alias, joinSql, list, sql, type Sql } from '../../values/sql.ts';
import { oneRequired } from '../../values/value.ts';
import type { OwnMap } from '../../../engine/own-columns.ts';

const TYPES: Readonly<Record<ValueKind, Sql>> = {
  int: sql`'Nullable(Int64)'`,
  real: sql`'Nullable(Float64)'`,
  string: sql`'Nullable(String)'`,
  bool: sql`'Nullable(Bool)'`,
  datetime: sql`'Nullable(DateTime64(9, ''UTC''))'`,
  timespan: sql`'Nullable(Int64)'`,
  json: sql`'Nullable(String)'`,
};

export interface UnionOptions {
  readonly inner: boolean;
  /** The column that says which dataset a row is of. */
  readonly source: string | undefined;
}

export function union(relations: readonly Relation[], options: UnionOptions): Relation {
  const [only] = relations;
  if (relations.length === 1 && options.source === undefined) return only!;
  return relations.every(isEvents) && !options.inner
    ? unionOfEvents(relations, options)
    : unionOfRows(relations.map(flat), options);
}

/** Events as they are stored, but for conditions. */
const isEvents = ({ parts: { event, open, columns, removed, limit } }: Relation): boolean =>
  isStored(event) && open && columns.size === 0 && removed.length === 0 && limit === undefined;

const labelOf = ({ parts: { label, dataset, environment } }: Relation): Sql =>
  label ?? environment.params.string(dataset.name);

function mergedDataset(datasets: readonly DatasetRecord[]): DatasetRecord {
  const fields = new Map<string, number>();
  // The maps then include the values of own columns: empty strings, 0 and false among the plain ones.
  const old = (dataset: DatasetRecord, name: string): number => (dataset.own.has(name) ? OLD_BIT : 0);
  for (const dataset of datasets)
    for (const [name, bits] of dataset.fields) fields.set(name, (fields.get(name) ?? 0) | bits | old(dataset, name));
  return { ...datasets[0]!, fields };
}

const labelColumn = (name: string, cell: Sql): [string, RelationColumn] => [
  name,
  { value: oneRequired('string', cell), type: 'string', role: 'row' },
];

function unionOfEvents(relations: readonly Relation[], { source }: UnionOptions): Relation {
  const label = alias('u', 0);
  const carried = carriedColumns(relations.map((relation) => relation.parts));
  const parts = relations.map((relation, n) => {
    const { from, where } = relation.parts;
    const own = [labelOf(relation), ...carried.cells[n]!].map(
      (cell, at) => sql`${cell} as ${at === 0 ? label : carried.names[at - 1]!}`,
    );
    return sql`select ${list([...wholeMaps(relation.parts), ...own])}, j, _time, _sysTime, _rowId from ${from}${whereSql(where)}`;
  });
  const [first] = relations;
  return new Relation({
    ...first!.parts,
    dataset: mergedDataset(relations.map((relation) => relation.parts.dataset)),
    from: sql`(${joinSql(parts, sql` union all `)})`,
    where: [],
    event: { ...TABLE_EVENT, own: carried.own },
    order: undefined,
    matching: undefined,
    level: 1,
    label,
    columns: new Map(source === undefined ? [] : [labelColumn(source, label)]),
  });
}

function unionOfRows(relations: readonly Relation[], { inner, source }: UnionOptions): Relation {
  const all = relations.map(({ parts }) => parts.columns);
  const level = checkedLevel(Math.max(...relations.map(({ parts }) => parts.level)) + 1);
  const letter = String.fromCharCode(96 + level);
  const names = [...new Set(all.flatMap((columns) => [...columns.keys()]))].filter(
    (name) => !inner || all.every((columns) => columns.has(name)),
  );
  const columns = new Map<string, RelationColumn>();
  /** What each branch selects, in the order of the columns. */
  const cells: ((columns: ReadonlyMap<string, RelationColumn>) => Sql)[] = [];
  for (const name of names) {
    const found = all.flatMap((computed) => computed.get(name) ?? []);
    const kinds = KINDS.filter((kind) => found.some(({ value }) => value.facets[kind]));
    const facets = Object.fromEntries(
      kinds.map((kind) => {
        const cell = alias(`c${letter}`, cells.length);
        cells.push(
          (computed) => sql`cast(${computed.get(name)?.value.facets[kind] ?? sql`null`}, ${TYPES[kind]}) as ${cell}`,
        );
        return [kind, cell];
      }),
    );
    const types = new Set(found.map(({ type }) => type));
    columns.set(name, { value: { facets }, type: types.size === 1 ? found[0]!.type : 'dynamic', role: 'row' });
  }
  const label = alias('u', level);
  const item = alias('i', level);
  const branches = relations.map((relation, n) => {
    const { parts } = relation;
    // Otherwise equal rows sort by the order of the tables.
    const tie = parts.item ? sql`toString(${parts.item})` : sql`''`;
    const own = [sql`${labelOf(relation)} as ${label}`, sql`tuple(${n}, ${tie}) as ${item}`];
    return sql`select ${list([...cells.map((cell) => cell(all[n]!)), ...own])} from ${parts.from}${whereSql(parts.where)}`;
  });
  if (source !== undefined) columns.set(...labelColumn(source, label));
  const [first] = relations;
  return new Relation({
    ...first!.parts,
    dataset: mergedDataset(relations.map((relation) => relation.parts.dataset)),
    from: sql`(${joinSql(branches, sql` union all `)})`,
    where: [],
    level,
    columns,
    order: orderOf(columns),
    item,
    label,
    limit: undefined,
    matching: undefined,
    matched: undefined,
  });
}

/** Cells of this kind that a union carries at most, all tables together: their SQL is bounded. */
const MOST_CELLS = 320;
const MAPS: readonly OwnMap[] = ['s', 'i', 'f', 'b'];
/** As `WHOLE` of `engine/own-columns` names them. */
const WHOLE: Readonly<Record<OwnMap, Sql>> = { s: sql`all_s`, i: sql`all_i`, f: sql`all_f`, b: sql`all_b` };

interface Carried {
  /** As the union names them. */
  readonly names: readonly Sql[];
  /** What each table selects for them. */
  readonly cells: readonly (readonly Sql[])[];
  readonly own: EventSql['own'];
}

/** The maps of one table's events, under their names. */
function wholeMaps({ event, dataset, level }: RelationParts): Sql[] {
  // Anything but a table is a union, whose maps are whole.
  const isTable = level === 0 && dataset.own.size > 0;
  return MAPS.map((map) => (isTable ? sql`${WHOLE[map]} as ${event![map]}` : event![map]));
}

function carriedColumns(tables: readonly RelationParts[]): Carried {
  const counts = new Map<string, { field: string; map: OwnMap; tables: number }>();
  for (const { event } of tables)
    for (const [field, columns] of event!.own)
      for (const map of Object.keys(columns) as OwnMap[]) {
        const id = `${map} ${field}`;
        const known = counts.get(id) ?? { field, map, tables: 0 };
        counts.set(id, { ...known, tables: known.tables + 1 });
      }
  const chosen = [...counts.values()]
    .sort((a, b) => b.tables - a.tables)
    .slice(0, Math.floor(MOST_CELLS / tables.length));
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
