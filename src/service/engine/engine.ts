/**
 * What the service needs of a query engine. One SQL dialect (ClickHouse's); `engine/embedded/chdb` runs it inside this process,
 * `engine/clickhouse` on a server or a cluster. No user's text ever enters a statement: values are bound.
 */

import type { OwnColumn } from './own-columns.ts';

/** A bound value; the placeholder `{name:Type}` in the statement says its type. */
export type Param = string | number | bigint | readonly (string | number | bigint)[];

/** A value as the engine writes it in JSON; 64-bit integers come as text. */
export type Cell = string | number | boolean | null | Cell[];

export type EngineRow = readonly Cell[];

/** The rows of a result. Each is made when it is asked for: the values of a large result take many times the memory of its text. */
export interface ResultRows extends Iterable<EngineRow> {
  readonly length: number;
  /** Undefined beyond the rows. A negative index counts from the end. */
  at(index: number): EngineRow | undefined;
  /** The first rows. */
  take(count: number): ResultRows;
  filter(isWanted: (row: EngineRow) => boolean): ResultRows;
}

export interface EngineResult {
  readonly rows: ResultRows;
  /** Rows that the engine read, and their bytes, uncompressed. */
  readonly rowsRead: number;
  readonly bytesRead: number;
}

/** What one query may use; `engine/settings` turns it into the engine's words. */
export interface QueryLimits {
  readonly seconds: number;
  readonly memoryBytes: number;
  /** Bytes of the result inside the engine; its text may be twice as long. */
  readonly resultBytes: number;
  /** Bytes of the text of one row. */
  readonly rowBytes?: number;
}

export interface EngineQueryOptions {
  /** Aborts the query: it does not start, or ends where the engine can end it, and rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Ignores the caches of earlier queries. */
  readonly fresh?: boolean;
  /** What it may take, where that is less than any query may. */
  readonly seconds?: number;
}

/** How many rows a table has, and the times of the first and the last, ns. Without rows `min` is above `max`. */
export interface Extent {
  readonly rows: number;
  readonly min: bigint;
  readonly max: bigint;
  /**
   * Numbers the reading of the table that the engine has kept up to date since: while the number stays the same, no row was ever outside the extent,
   * not even one whose insert still runs. Undefined where others may write, too.
   */
  readonly reading?: number | undefined;
}

export interface TableStorage {
  readonly parts: number;
  readonly uncompressedBytes: number;
  readonly compressedBytes: number;
}

export interface EngineOptions {
  readonly limits: QueryLimits;
  /** What an engine in this process may take, all its work together; without it, any. */
  readonly memoryBytes?: number;
  /** Fsync events before the request is answered. */
  readonly sync: boolean;
}

export interface Engine {
  /** For people: `embedded`, or the server's address and its shards. */
  readonly name: string;
  /** Queries that it can work on at a time. */
  readonly queriesAtOnce: number;
  /** The tables there are, as `tableOf` names them. */
  tables(): Promise<string[]>;
  /** Makes the table (`engine/tables`) unless it exists. */
  createTable(table: string): Promise<void>;
  dropTable(table: string): Promise<void>;
  /** By table, the columns that fields have of their own. */
  ownColumns(): Promise<ReadonlyMap<string, readonly OwnColumn[]>>;
  /** Adds the own columns that the table lacks; those it has must be among them. Older rows are filled in the background. */
  addColumns(table: string, columns: readonly OwnColumn[]): Promise<void>;
  /**
   * Runs a select, a statement without FORMAT or SETTINGS, under the service's limits of time and memory; a table is named by `tableOf` alone.
   * Throws an `ApiError`: 400 when it goes over a limit, 503 when a server cannot be reached. Any other failure is the engine's own error: a bug.
   */
  query(sql: string, params?: Readonly<Record<string, Param>>, options?: EngineQueryOptions): Promise<EngineResult>;
  /** The rows of a select of the service's own, without limits. */
  ask(sql: string): Promise<readonly (readonly Cell[])[]>;
  /**
   * Stores one block of rows (`engine/rows/row-block`); resolves when a kill of the process cannot lose it. Blocks that wait may go in
   * together. `token` names the insert to the engine's own deduplication: never the same twice. `key` chooses the shard: the same key, the same shard.
   * `own`: the own columns that the block has, in its order. `extent`: of its rows; without it the table is read again to know them. When it rejects, how
   * much is stored is not known, and it may still go on: see `quiesce`.
   */
  insert(
    table: string,
    block: Buffer,
    token: string,
    key: string,
    own?: readonly OwnColumn[],
    extent?: Extent,
  ): Promise<void>;
  /** What the table has now. */
  extent(table: string, options?: EngineQueryOptions): Promise<Extent>;
  /** The same as it was last read: where others may write, it may have more by now. */
  knownExtent(table: string): Extent | undefined;
  /** Waits until no failed insert still runs, also of an earlier process. Only then can its rows be counted. */
  quiesce(): Promise<void>;
  /**
   * Deletes the rows for which the condition, the service's own text, holds; no later select sees them. Returns how many those were, exactly:
   * no insert into the table runs meanwhile.
   */
  deleteRows(table: string, condition: string): Promise<number>;
  /** Gives back the space of deleted rows; it may go on in the background. */
  reclaim(table: string): Promise<void>;
  /** What the table takes on disk. */
  storage(table: string): Promise<TableStorage>;
  /** What the engine says it uses, on all servers. */
  memoryBytes(): Promise<number>;
  /** Throws an `ApiError` 503 while a server does not answer. */
  checkReady(): Promise<void>;
  /** Waits for running work, then lets go. */
  close(): Promise<void>;
}
