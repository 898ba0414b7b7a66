/**
 * Moves the events of a data folder from the embedded engine to a ClickHouse server or cluster. It copies the rows in the order of their tables, a
 * chunk at a time, and stores its progress after each, so that an interrupted move continues there. At the end it compares both sides by count and
 * checksum, and moves a dataset again that changed between two runs. Only then does the folder use the cluster. The embedded copy is kept.
 */
import { TailraceError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { SERVICE_MOVE_BYTES, SERVICE_MOVE_ROWS } from '../limits.ts';
import { openChdb, rowsAfter, type EmbeddedEngine, type TableMark } from '../engine/embedded/chdb.ts';
import { hidePassword, parseClickhouseUrl } from '../engine/clickhouse-url.ts';
import type { Engine } from '../engine/engine.ts';
import { openCluster } from './open-engine.ts';
import type { OwnColumn } from '../engine/own-columns.ts';
import { MAPS, tableOf } from '../engine/tables.ts';
import { openKeys } from '../ingest/keys.ts';
import { DEFAULT_LIMITS, queryLimitsOf } from '../limits.ts';
import { openExisting, type Metadata } from '../metadata.ts';

export interface MoveProgress {
  readonly dataset: string;
  /** Rows of this dataset that have moved, and all of it. */
  readonly rows: number;
  readonly total: number;
}

export interface MoveOptions {
  readonly dataDir: string;
  /** `clickhouse://…` */
  readonly to: string;
  readonly sync: boolean;
  readonly log: Log;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Rows at a time, at most. */
  readonly chunkRows?: number;
  readonly onProgress: (progress: MoveProgress) => void;
}

interface Moved {
  readonly mark: TableMark;
  readonly rows: number;
  readonly chunks: number;
}

/** Returns how many datasets and rows were moved. Throws a `TailraceError`; the folder then stays on the embedded engine. */
export async function moveToCluster(options: MoveOptions): Promise<{ datasets: number; rows: number }> {
  const { dataDir, sync, log, env } = options;
  const address = parseClickhouseUrl(options.to, env);
  const metadata = openExisting(dataDir, sync);
  const opened: (() => Promise<void> | void)[] = [() => metadata.close()];
  try {
    if (metadata.fact('engine') === 'clickhouse')
      throw new TailraceError('E_ENGINE', `the events of ${dataDir} are on ClickHouse already`, {
        fix: `start it with --engine ${hidePassword(options.to)}`,
      });
    const engineOptions = { limits: queryLimitsOf(DEFAULT_LIMITS), sync };
    const from = await openChdb(dataDir, engineOptions);
    opened.push(() => from.close());
    // Settle batches that a crash left unfinished before moving.
    await openKeys(metadata, from, log);
    const to = await openCluster(address, metadata, engineOptions, log);
    opened.push(() => to.close());

    const datasets = metadata.db.prepare('select id, name from datasets order by id').all();
    let rows = 0;
    for (const row of datasets)
      rows += await moveTable(Number(row['id']), String(row['name']), from, to, metadata, options);
    metadata.transaction(() => {
      metadata.setFact('engine', 'clickhouse');
      metadata.db.exec("delete from facts where name like 'moved:%'");
    });
    return { datasets: datasets.length, rows };
  } finally {
    for (const undo of opened.reverse()) await undo();
  }
}

async function moveTable(
  id: number,
  dataset: string,
  from: EmbeddedEngine,
  to: Engine,
  metadata: Metadata,
  options: MoveOptions,
): Promise<number> {
  const { onProgress, chunkRows = SERVICE_MOVE_ROWS } = options;
  const table = tableOf(id);
  const fact = `moved:${id}`;
  const known = metadata.fact(fact);
  let moved = known === undefined ? undefined : (JSON.parse(known) as Moved);
  await from.createTable(table);
  await to.createTable(table);
  const own = (await from.ownColumns()).get(table) ?? [];
  if (own.length > 0) await to.addColumns(table, own);
  // Delete a chunk that was sent but not recorded, however much of it arrived.
  await to.deleteRows(table, moved ? rowsAfter(moved.mark) : '1');
  const total = Number((await from.ask(`select count() from ${table}`))[0]?.[0]);
  const [size] = await from.ask(
    `select sum(data_uncompressed_bytes) / greatest(1, sum(rows)) from system.parts where active and table = '${table}'`,
  );
  const limit = Math.max(1, Math.min(chunkRows, Math.floor(SERVICE_MOVE_BYTES / Math.max(1, Number(size?.[0])))));
  for (;;) {
    onProgress({ dataset, rows: moved?.rows ?? 0, total });
    const chunk = await from.readAfter(table, moved?.mark, limit, own);
    if (!chunk) break;
    const chunks = (moved?.chunks ?? 0) + 1;
    // A token of its own: the engine must not take a deleted chunk for a duplicate.
    await to.insert(table, chunk.block, `move-${table}-${chunks}-${Date.now()}`, `${table}-${chunks}`, own);
    moved = { mark: chunk.mark, rows: (moved?.rows ?? 0) + chunk.rows, chunks };
    metadata.setFact(fact, JSON.stringify(moved));
  }
  const [here, there] = [await checksum(from, table, own), await checksum(to, table, own)];
  if (here === there) return total;
  metadata.forgetFact(fact);
  // Between two runs the service may have stored older events, or trimmed some.
  if (known !== undefined) return moveTable(id, dataset, from, to, metadata, options);
  throw new TailraceError(
    'E_MOVE',
    `the dataset ${dataset} did not arrive complete: ${here} here, ${there} there (rows and checksum)`,
    {
      fix: 'run the move again: it repeats this dataset',
    },
  );
}

/** The number of rows, and a checksum that does not depend on the order of rows and keys. */
async function checksum(engine: Engine, table: string, own: readonly OwnColumn[]): Promise<string> {
  const maps = MAPS.map(
    ({ column }) =>
      `arraySum(arrayMap((k, v) -> cityHash64('${column}', k, v), mapKeys(${column}), mapValues(${column})))`,
  );
  const columns = own.map(({ name }) => `cityHash64('${name}', isNull(${name}), ifNull(toString(${name}), ''))`);
  const hashes = ['cityHash64(_time, _sysTime, _rowId)', ...maps, ...columns];
  const [row] = await engine.ask(`select count(), sum(${hashes.join(' + ')}) from ${table}`);
  return `${String(row?.[0])}, ${String(row?.[1])}`;
}
