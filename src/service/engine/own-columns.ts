/**
 * Common fields of a dataset get columns of their own, beside the maps (`engine/tables`). A column holds one field's values of one map; null is
 * none. Older rows keep the value in the map, and the column's default reads it from there, so that a query reads the column alone. The table
 * itself lists its own columns: each column's comment names its form and its field.
 */
import { COLUMNS, MAPS, STRUCTURE } from './tables.ts';

export type OwnMap = 's' | 'i' | 'f' | 'b';

export interface OwnColumn {
  readonly name: string;
  /** The map that held the field's values of this type. */
  readonly map: OwnMap;
  readonly field: string;
  readonly form: OwnForm;
}

/** How it is stored: texts and integers that repeat, texts that hardly do and are searched for as a whole (ids), any other. */
export type OwnForm = 'repeated' | 'unique' | 'plain';

/** By field, the names of its own columns. */
export type OwnFields = ReadonlyMap<string, Readonly<Partial<Record<OwnMap, string>>>>;

/** The whole form of each map but `j` includes the values of own columns. */
export const WHOLE = { s: 'all_s', i: 'all_i', f: 'all_f', b: 'all_b' } as const;

const TYPES = { s: 'String', i: 'Int64', f: 'Float64', b: 'Bool' } as const;
/** How `j` stores the value that a missing key of the map reads as. */
const MARKERS = { s: `'""', ''`, i: `'0', 0`, f: undefined, b: `'false', false` } as const;

/** As blocks hold it. */
export const wireType = ({ map }: OwnColumn): string => `Nullable(${TYPES[map]})`;

/** The columns of a block: those of every table, then these. */
export const namesWith = (own: readonly OwnColumn[]): string => [...COLUMNS, ...own].map(({ name }) => name).join(', ');
export const structureWith = (own: readonly OwnColumn[]): string =>
  [STRUCTURE, ...own.map((column) => `${column.name} ${wireType(column)}`)].join(', ');

export function ownFieldsOf(columns: readonly OwnColumn[]): OwnFields {
  const fields = new Map<string, Partial<Record<OwnMap, string>>>();
  for (const { field, map, name } of columns) fields.set(field, { ...fields.get(field), [map]: name });
  return fields;
}

/** Numbers new columns behind the known ones. */
export function numberColumns(known: readonly OwnColumn[], wanted: readonly Omit<OwnColumn, 'name'>[]): OwnColumn[] {
  let next = Math.max(-1, ...known.map(({ name }) => Number(name.slice(3)))) + 1;
  return wanted.map((column) => ({ ...column, name: `o_${column.map}${next++}` }));
}

/** The columns that are not known yet. */
export const lacking = (known: readonly OwnColumn[], columns: readonly OwnColumn[]): OwnColumn[] =>
  columns.filter(({ name }) => !known.some((column) => column.name === name));

/** A field's name as SQL. Hex: no user's text enters a statement. */
const nameSql = (field: string): string => `unhex('${hexOf(field)}')`;
const hexOf = (field: string): string => Buffer.from(field).toString('hex');

const columnType = ({ map, form }: OwnColumn): string =>
  form === 'repeated' ? `LowCardinality(Nullable(${TYPES[map]}))` : `Nullable(${TYPES[map]})`;

function defaultOf({ map, field }: OwnColumn): string {
  const key = nameSql(field);
  const marker = MARKERS[map];
  const empty = marker === undefined ? '' : `j[${key}] = ${marker}, `;
  return `multiIf(mapContains(${map}, ${key}), ${map}[${key}], ${empty}null)`;
}

function wholeOf(map: OwnMap, columns: readonly OwnColumn[]): string {
  const own = columns.filter((column) => column.map === map);
  if (own.length === 0) return map;
  const keys = `[${own.map(({ field }) => nameSql(field)).join(', ')}]`;
  const values = `[${own.map(({ name, form }) => (form === 'repeated' ? `cast(${name}, 'Nullable(${TYPES[map]})')` : name)).join(', ')}]`;
  const there = (what: string): string => `arrayFilter((k, v) -> isNotNull(v), ${what}, ${values})`;
  return `mapFromArrays(arrayConcat(mapKeys(${map}), ${there(keys)}), arrayConcat(mapValues(${map}), arrayMap(v -> assumeNotNull(v), ${there(values)})))`;
}

const codecOf = ({ map, form }: OwnColumn): string => (map === 'i' && form !== 'repeated' ? 'T64, ZSTD(1)' : 'ZSTD(1)');

/** ClickHouse wants this for dictionaries of integers. Creating a Distributed table needs it, too: it copies the columns of its local one. */
export const OWN_COLUMN_SETTINGS = { allow_suspicious_low_cardinality_types: 1 } as const;

/** The statement that adds own columns to a table. `known`: those that it has. */
export function addColumns(
  table: string,
  known: readonly OwnColumn[],
  added: readonly OwnColumn[],
  distributed = false,
): string {
  const columns = [...known, ...added];
  const changes = added.flatMap((column) => {
    const { name, map, form, field } = column;
    const added = `add column if not exists ${name} ${columnType(column)} default ${defaultOf(column)} comment '${form} ${hexOf(field)}' codec(${codecOf(column)})`;
    if (distributed) return [added];
    const index = map === 'i' && form !== 'repeated' ? 'minmax' : form === 'unique' ? 'bloom_filter(0.01)' : undefined;
    return [
      added,
      ...(index === undefined ? [] : [`add index if not exists x_${name} ${name} type ${index} granularity 1`]),
    ];
  });
  const verb = known.length === 0 ? 'add column if not exists' : 'modify column';
  const wholes = (Object.keys(WHOLE) as OwnMap[]).map((map) => {
    const type = MAPS.find(({ column }) => column === map)!.type;
    return `${verb} ${WHOLE[map]} Map(LowCardinality(String), ${type}) alias ${wholeOf(map, columns)}`;
  });
  return `alter table ${table} ${[...changes, ...wholes].join(', ')} settings allow_suspicious_low_cardinality_types = ${OWN_COLUMN_SETTINGS.allow_suspicious_low_cardinality_types}`;
}

/** Writes the columns into older parts; reading them from the maps takes ten times as long. */
export const fillColumns = (table: string, columns: readonly OwnColumn[]): string =>
  `alter table ${table} ${columns.map(({ name }) => `materialize column ${name}`).join(', ')}`;

/** Own columns of all tables: the table, the column's name and its comment. */
export const OWN_COLUMNS_SQL =
  "select table, name, comment from system.columns where database = currentDatabase() and match(name, '^o_[sifb][0-9]+$') order by table, position";

/** The result of that select, by table. */
export function readColumns(rows: readonly (readonly unknown[])[]): Map<string, OwnColumn[]> {
  const tables = new Map<string, OwnColumn[]>();
  for (const [table, name, comment] of rows.map((row) => row.map(String)) as [string, string, string][]) {
    const [form, hex] = comment.split(' ') as [OwnForm, string];
    const column = { name, map: name[2] as OwnMap, field: Buffer.from(hex, 'hex').toString(), form };
    tables.set(table, [...(tables.get(table) ?? []), column]);
  }
  return tables;
}
