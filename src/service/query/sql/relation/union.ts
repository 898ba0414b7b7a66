/** The rows of several tables, one after the other. */
import type { Dataset } from '../../../datasets/catalog.ts';
import { OLD_BIT } from '../../../datasets/catalog.ts';
import { isStored, TABLE_EVENT } from '../field.ts';
import { carriedColumns, wholeMaps } from './own-in-union.ts';
import { flat } from './flat.ts';
import { KINDS, type Kind } from '../../values/kind.ts';
import { checkedLevel, orderOf, whereSql, type Made } from '../relation-parts.ts';
import { Relation } from './relation.ts';
import { alias, joinSql, list, sql, type Sql } from '../../values/sql.ts';
import { oneRequired } from '../../values/value.ts';

const TYPES: Readonly<Record<Kind, Sql>> = {
  int: sql`'Nullable(Int64)'`, real: sql`'Nullable(Float64)'`, string: sql`'Nullable(String)'`, bool: sql`'Nullable(Bool)'`,
  datetime: sql`'Nullable(DateTime64(9, ''UTC''))'`, timespan: sql`'Nullable(Int64)'`, json: sql`'Nullable(String)'`,
}; // prettier-ignore

export interface UnionOptions {
  readonly inner: boolean;
  /** The column that says which dataset a row is of. */
  readonly source: string | undefined;
}

export function union(relations: readonly Relation[], options: UnionOptions): Relation {
  const [only] = relations;
  if (relations.length === 1 && options.source === undefined) return only!;
  return relations.every(isEvents) && !options.inner ? unionOfEvents(relations, options) : unionOfRows(relations.map(flat), options);
}

/** Events as they are stored, but for conditions. */
const isEvents = ({ parts: { event, open, columns, removed, limit } }: Relation): boolean =>
  isStored(event) && open && columns.size === 0 && removed.length === 0 && limit === undefined;

const labelOf = ({ parts: { label, dataset, environment } }: Relation): Sql => label ?? environment.params.string(dataset.name);

/** One dataset that has the fields of all. */
function mergedDataset(datasets: readonly Dataset[]): Dataset {
  const fields = new Map<string, number>();
  // The maps then include the values of own columns: empty strings, 0 and false among the plain ones.
  const old = (dataset: Dataset, name: string): number => (dataset.own.has(name) ? OLD_BIT : 0);
  for (const dataset of datasets)
    for (const [name, bits] of dataset.fields) fields.set(name, (fields.get(name) ?? 0) | bits | old(dataset, name));
  return { ...datasets[0]!, fields };
}

const labelColumn = (name: string, cell: Sql): [string, Made] => [
  name,
  { value: oneRequired('string', cell), type: 'string', role: 'row' },
];

function unionOfEvents(relations: readonly Relation[], { source }: UnionOptions): Relation {
  const label = alias('u', 0);
  const carried = carriedColumns(relations.map((relation) => relation.parts));
  const parts = relations.map((relation, n) => {
    const { from, where } = relation.parts;
    const own = [labelOf(relation), ...carried.cells[n]!].map((cell, at) => sql`${cell} as ${at === 0 ? label : carried.names[at - 1]!}`);
    return sql`select ${list([...wholeMaps(relation.parts), ...own])}, j, _time, _sysTime, _rowId from ${from}${whereSql(where)}`;
  });
  const [first] = relations;
  return new Relation({
    ...first!.parts,
    dataset: mergedDataset(relations.map((relation) => relation.parts.dataset)),
    from: sql`(${joinSql(parts, sql` union all `)})`, where: [], event: { ...TABLE_EVENT, own: carried.own }, order: undefined, matching: undefined, level: 1, label,
    columns: new Map(source === undefined ? [] : [labelColumn(source, label)]),
  });
} // prettier-ignore

function unionOfRows(relations: readonly Relation[], { inner, source }: UnionOptions): Relation {
  const all = relations.map(({ parts }) => parts.columns);
  const level = checkedLevel(Math.max(...relations.map(({ parts }) => parts.level)) + 1);
  const letter = String.fromCharCode(96 + level);
  const names = [...new Set(all.flatMap((columns) => [...columns.keys()]))].filter((name) => !inner || all.every((columns) => columns.has(name)));
  const columns = new Map<string, Made>();
  /** What each branch selects, in the order of the columns. */
  const cells: ((columns: ReadonlyMap<string, Made>) => Sql)[] = [];
  for (const name of names) {
    const found = all.flatMap((made) => made.get(name) ?? []);
    const kinds = KINDS.filter((kind) => found.some(({ value }) => value.facets[kind]));
    const facets = Object.fromEntries(kinds.map((kind) => {
      const cell = alias(`c${letter}`, cells.length);
      cells.push((made) => sql`cast(${made.get(name)?.value.facets[kind] ?? sql`null`}, ${TYPES[kind]}) as ${cell}`);
      return [kind, cell];
    })); // prettier-ignore
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
    from: sql`(${joinSql(branches, sql` union all `)})`, where: [], level, columns, order: orderOf(columns), item, label, limit: undefined, matching: undefined, matched: undefined,
  });
} // prettier-ignore
