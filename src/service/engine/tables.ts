/** The shape of a dataset's table, the same on every engine. */

/**
 * The maps of a table, one for each type of value; a field's name is the key. `j` holds arrays, null and {} as JSON text. It also holds '', 0 and
 * false (as `""`, `0`, `false`), which a missing key of the other maps reads as. So a query can tell from the value whether the key is there and
 * never reads the keys: over 3 M events a sum takes 99 ms of CPU instead of 314, a percentile of integers and floats 234 instead of 501.
 */
export const MAPS = [
  { column: 's', type: 'String' },
  { column: 'i', type: 'Int64' },
  { column: 'f', type: 'Float64' },
  { column: 'b', type: 'Bool' },
  { column: 'j', type: 'String' },
] as const;

/** The columns in the order in which `engine/rows/row-block` writes them. */
export const COLUMNS: readonly { readonly name: string; readonly type: string; readonly codec?: string }[] = [
  { name: '_time', type: "DateTime64(9, 'UTC')", codec: 'GCD, T64, ZSTD(1)' },
  { name: '_sysTime', type: "DateTime64(9, 'UTC')", codec: 'Delta, ZSTD(1)' },
  { name: '_rowId', type: 'UInt64', codec: 'Delta, ZSTD(1)' },
  ...MAPS.map(({ column, type }) => ({ name: column, type: `Map(LowCardinality(String), ${type})` })),
];

/** The columns as a file's structure. */
export const STRUCTURE = COLUMNS.map(({ name, type }) => `${name} ${type}`).join(', ');

/** The table of a dataset. Numbers are never reused, so a dataset that is created again starts empty. */
export const tableOf = (dataset: number): string => `ds_${dataset}`;

/** The dataset whose table it is; undefined when it is no dataset's. */
export function datasetOfTable(table: string): number | undefined {
  const found = /^ds_([1-9]\d{0,14})$/.exec(table)?.[1];
  return found === undefined ? undefined : Number(found);
}

/**
 * Settings of the tables. Buckets make reading one key of a wide map cheap; fresh parts are written without. Merging was two thirds of
 * the cost of ingest (17 of 26 µs of CPU a pino-like event); with base 20 a row is rewritten 1.4 times instead of 3.4.
 */
const SETTINGS: Readonly<Record<string, string | number>> = {
  non_replicated_deduplication_window: 10_000,
  map_serialization_version: "'with_buckets'",
  map_buckets_min_avg_size: 0,
  merge_selector_base: 20,
  // A merge removes its sources: without fsync a power cut could lose rows that were stored long before.
  min_rows_to_fsync_after_merge: 1,
  // Merged sources are half of the bytes on disk: remove them after a minute of rest instead of five.
  cleanup_delay_period: 5,
  cleanup_delay_period_random_add: 1,
  max_cleanup_delay_period: 60,
};

/** With `sync`, a part is on the disk, its folder included, before its insert is answered. */
const syncSettings = (sync: boolean): Readonly<Record<string, number>> => ({
  fsync_after_insert: sync ? 1 : 0,
  fsync_part_directory: sync ? 1 : 0,
});

/** All settings that tables are given. */
export const TABLE_SETTINGS: readonly string[] = [...Object.keys(SETTINGS), ...Object.keys(syncSettings(true))];

/** Whether the engine's version has a setting. */
type Knows = (setting: string) => boolean;

const settingsOf = (sync: boolean, knows: Knows): [name: string, value: string | number][] =>
  Object.entries({ ...SETTINGS, ...syncSettings(sync) }).filter(([name]) => knows(name));
const writeSettings = (settings: readonly (readonly [string, string | number])[]): string =>
  settings.map(([name, value]) => `${name} = ${value}`).join(', ');

/**
 * Partitions by year, with one for everything before 1990 and after 2050: a batch whose events are spread over decades then still
 * makes a bounded number of parts.
 */
export function createTable(table: string, sync: boolean, knows: Knows = () => true): string {
  const columns = COLUMNS.map(({ name, type, codec }) => `${name} ${type}${codec ? ` codec(${codec})` : ''}`);
  return `create table if not exists ${table} (${columns.join(', ')}) engine = MergeTree
    partition by if(toYear(_time) between 1990 and 2050, toYear(_time), 0) order by (_time, _rowId)
    settings ${writeSettings(settingsOf(sync, knows))}`;
}

/** The statement that gives an existing table the settings it lacks. `made`: the text that created it, maybe by an earlier version or with another `sync`. */
export function alignSettings(
  table: string,
  made: string,
  sync: boolean,
  knows: Knows = () => true,
): string | undefined {
  const lacking = settingsOf(sync, knows).filter(
    ([name, value]) => !new RegExp(`\\b${name} = ${value}(?:,|$)`).test(made),
  );
  return lacking.length === 0 ? undefined : `alter table ${table} modify setting ${writeSettings(lacking)}`;
}

/** A time of the service's own as SQL, ns since 1970. */
export const timeLiteral = (ns: bigint): string => `fromUnixTimestamp64Nano(toInt64('${ns}'), 'UTC')`;
