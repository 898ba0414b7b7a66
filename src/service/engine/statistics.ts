/** What an engine says of itself: the size of a table, the memory that it uses. The rows come from one server, or one for each shard. */
import type { Cell, TableStorage } from './engine.ts';

/** `table` is a name that the service made. */
export const storageSql = (table: string): string =>
  `select count(), sum(data_uncompressed_bytes), sum(bytes_on_disk) from system.parts where active and database = currentDatabase() and table = '${table}'`;
export const MEMORY_SQL = "select value from system.metrics where metric = 'MemoryTracking'";

type Rows = readonly (readonly Cell[])[];

export function storageOf(shards: readonly Rows[]): TableStorage {
  const sum = (column: number): number => shards.reduce((total, rows) => total + Number(rows[0]?.[column] ?? 0), 0);
  return { parts: sum(0), uncompressedBytes: sum(1), compressedBytes: sum(2) };
}

/** The tracker counts what was freed elsewhere, too, and can be below 0. */
export const memoryOf = (shards: readonly Rows[]): number =>
  shards.reduce((total, rows) => total + Math.max(0, Number(rows[0]?.[0] ?? 0)), 0);
