/** What an engine says of itself: the size of a table, the memory that it uses. The rows come from one server, or one for each shard. */
import type { Cell, Extent, TableStorage } from './engine.ts';

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

/** No row. */
export const NO_ROWS: Extent = { rows: 0, min: 2n ** 63n, max: -(2n ** 63n) };

export const extentSql = (table: string): string =>
  `select count(), toUnixTimestamp64Nano(min(_time)), toUnixTimestamp64Nano(max(_time)) from ${table}`;

export function extentOf([row]: Rows): Extent {
  const [rows, min, max] = row ?? [];
  return Number(rows ?? 0) === 0 ? NO_ROWS : { rows: Number(rows), min: BigInt(String(min)), max: BigInt(String(max)) };
}

export const joinExtents = (a: Extent, b: Extent): Extent => ({
  rows: a.rows + b.rows,
  min: a.min < b.min ? a.min : b.min,
  max: a.max > b.max ? a.max : b.max,
});

/** Extents of the tables that nobody else writes to, kept in step with what goes in. */
export class Extents {
  readonly #known = new Map<string, Extent>();
  #readings = 0;

  get(table: string): Extent | undefined {
    return this.#known.get(table);
  }

  /** What was just read from the table, while nothing was on its way into it. */
  put(table: string, extent: Extent): Extent {
    const read = { ...extent, reading: ++this.#readings };
    this.#known.set(table, read);
    return read;
  }

  forget(table: string): void {
    this.#known.delete(table);
  }

  /** Runs an insert of rows of these extents. The times count from its beginning, the rows from its end. */
  async storing(table: string, extents: readonly (Extent | undefined)[], store: () => Promise<unknown>): Promise<void> {
    const known = this.#known.get(table);
    if (known && extents.every((extent) => extent !== undefined)) {
      const all = { ...extents.reduce(joinExtents, known), reading: known.reading };
      this.#known.set(table, { ...all, rows: known.rows });
      try {
        await store();
        // A table that was forgotten meanwhile is read again.
        if (this.#known.get(table)?.reading === known.reading) this.#known.set(table, all);
        return;
      } catch (error) {
        this.forget(table);
        throw error;
      }
    }
    this.forget(table);
    await store();
  }
}
