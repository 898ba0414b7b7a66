/**
 * What the service needs of a query engine, and the shape of its tables. One SQL dialect (ClickHouse's); `engine/chdb` runs it
 * embedded, a server or cluster may come beside it. No user's text ever enters a statement: values are bound.
 */

/** A bound value; the placeholder `{name:Type}` in the statement says its type. */
export type Param = string | number | bigint | readonly string[];

/** A value as the engine writes it in JSON; 64-bit integers come as text. */
export type Cell = string | number | boolean | null | Cell[];

export interface QueryResult {
  readonly rows: readonly (readonly Cell[])[];
  /** Rows that the engine read. */
  readonly rowsRead: number;
}

export interface Engine {
  /** Runs a statement without a result (DDL, deletes). The text is the service's own. */
  run(sql: string): Promise<void>;
  /**
   * Runs a select under the service's limits of time and memory. Throws an `ApiError` 400 when it goes over one, any other
   * failure is the engine's own error.
   */
  query(sql: string, params?: Readonly<Record<string, Param>>): Promise<QueryResult>;
  /**
   * Stores one block of rows (`engine/row-block`); resolves when a kill of the process cannot lose it. Blocks that wait may go in
   * together. `token` names the insert to the engine's own deduplication: never the same twice.
   */
  insert(table: string, block: Buffer, token: string): Promise<void>;
  /** Waits for what is running, then lets the data folder go. */
  close(): Promise<void>;
}

/** The maps of a table, one for each type of value; a field's name is the key. `j` holds arrays, null and {} as JSON text. */
export const MAPS = [
  { column: 's', type: 'String' },
  { column: 'i', type: 'Int64' },
  { column: 'f', type: 'Float64' },
  { column: 'b', type: 'Bool' },
  { column: 'j', type: 'String' },
] as const;

/** The columns in the order in which `engine/row-block` writes them. */
export const COLUMNS: readonly { readonly name: string; readonly type: string; readonly codec?: string }[] = [
  { name: '_time', type: "DateTime64(9, 'UTC')", codec: 'Delta, ZSTD(1)' },
  { name: '_sysTime', type: "DateTime64(9, 'UTC')", codec: 'Delta, ZSTD(1)' },
  { name: '_rowId', type: 'UInt64', codec: 'Delta, ZSTD(1)' },
  ...MAPS.map(({ column, type }) => ({ name: column, type: `Map(LowCardinality(String), ${type})` })),
];

/** The table of a dataset; its number is never used again, so a dataset made anew starts empty. */
export const tableOf = (dataset: number): string => `ds_${dataset}`;

/**
 * Partitions by year, with one for everything before 1990 and after 2050: a batch whose events are spread over decades then still
 * makes a bounded number of parts. Buckets make reading one key of a wide map cheap; fresh parts are written without. Merging was two
 * thirds of the cost of ingest (17 of 26 µs of CPU a pino-like event); with base 20 a row is rewritten 1.4 times instead of 3.4.
 */
export function createTable(table: string): string {
  const columns = COLUMNS.map(({ name, type, codec }) => `${name} ${type}${codec ? ` codec(${codec})` : ''}`);
  return `create table if not exists ${table} (${columns.join(', ')}) engine = MergeTree
    partition by if(toYear(_time) between 1990 and 2050, toYear(_time), 0) order by (_time, _rowId)
    settings non_replicated_deduplication_window = 10000, map_serialization_version = 'with_buckets', map_buckets_min_avg_size = 0,
    merge_selector_base = 20`;
}
