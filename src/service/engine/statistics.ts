/** Sizes of tables and memory use, as an engine reports them: rows of one server, or of each shard. */
import type { Cell, Extent, TableStorage } from './engine.ts';

/** `table` is a name that the service made. */
export const storageSql = (table: string): string =>
  `select count(), sum(data_uncompressed_bytes), sum(bytes_on_disk) from system.parts where active and database = currentDatabase() and table = '${table}'`;
export const MEMORY_SQL = "select value from system.metrics where metric = 'MemoryTracking'";

type CellRows = readonly (readonly Cell[])[];

export function storageOf(shards: readonly CellRows[]): TableStorage {
  const sum = (column: number): number => shards.reduce((total, rows) => total + Number(rows[0]?.[column] ?? 0), 0);
  return { parts: sum(0), uncompressedBytes: sum(1), compressedBytes: sum(2) };
}

/** The tracker also counts memory freed by others, and can be below 0. */
export const memoryOf = (shards: readonly CellRows[]): number =>
  shards.reduce((total, rows) => total + Math.max(0, Number(rows[0]?.[0] ?? 0)), 0);

/** No row. */
export const NO_ROWS: Extent = { rows: 0, min: 2n ** 63n, max: -(2n ** 63n) };

export const extentSql = (table: string): string =>
  `select count(), toUnixTimestamp64Nano(min(_time)), toUnixTimestamp64Nano(max(_time)) from ${table}`;

export function extentOf([row]: CellRows): Extent {
  const [rows, min, max] = row ?? [];
  return Number(rows ?? 0) === 0 ? NO_ROWS : { rows: Number(rows), min: BigInt(String(min)), max: BigInt(String(max)) };
}

export const joinExtents = (a: Extent, b: Extent): Extent => ({
  rows: a.rows + b.rows,
  min: a.min < b.min ? a.min : b.min,
  max: a.max > b.max ? a.max : b.max,
});

/** The extents of tables that only this process writes to, updated with each insert. */
export class Extents {
  readonly #known = new Map<string, Extent>();
  #readings = 0;

  get(table: string): Extent | undefined {
    return this.#known.get(table);
  }

  /** Stores an extent that was read while no insert ran. */
  put(table: string, extent: Extent): Extent {
    const read = { ...extent, reading: ++this.#readings };
    this.#known.set(table, read);
    return read;
  }

  forget(table: string): void {
    this.#known.delete(table);
  }

  /** Runs an insert of rows of these extents. Their times count from its start, their number from its end. */
  async storing(table: string, extents: readonly (Extent | undefined)[], store: () => Promise<unknown>): Promise<void> {
    const known = this.#known.get(table);
    if (known && extents.every((extent) => extent !== undefined)) {
      const all = { ...extents.reduce(joinExtents, known), reading: known.reading };
      this.#known.set(table, { ...all, rows: known.rows });
      try {
        await store();
        // A table that was forgotten meanwhile will be read again.
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
