/**
 * Deletes old events, on request (trim) and by a dataset's retention. Deleted rows are hidden at once. Their space is freed once enough of a table
 * is deleted, since that rewrites the rest.
 */
import type { Log } from '../../core/log.ts';
import { messageOf } from '../../core/errors.ts';
import type { Engine } from '../engine/engine.ts';
import { timeLiteral } from '../engine/tables.ts';
import { MIN_TIME_NS } from '../../core/time/time-text.ts';
import { ApiError } from '../http/api-error.ts';
import { SERVICE_VACUUM_SECONDS } from '../limits.ts';
import type { Catalog, DatasetRecord } from './catalog.ts';

/** Free space once this share of a table's rows is deleted, so that each row is rewritten a few times at most. */
const RECLAIM_SHARE = 0.2;
const SWEEP_MS = 3_600_000;
const DAY_NS = 86_400_000_000_000n;

export type Trimmer = ReturnType<typeof openTrimmer>;

/** Sweeps at once, then every hour. */
export function openTrimmer(catalog: Catalog, engine: Engine, log: Log) {
  /** Rows deleted since the space was last given back, by dataset. */
  const deletedRows = new Map<number, number>();

  /** When space was last given back on request, by dataset. */
  const vacuumed = new Map<number, number>();

  const reclaim = async ({ id, table }: DatasetRecord, deleted: number): Promise<void> => {
    const sum = (deletedRows.get(id) ?? 0) + deleted;
    const { rows } = await engine.extent(table);
    const isDue = sum > rows * RECLAIM_SHARE;
    deletedRows.set(id, isDue ? 0 : sum);
    if (isDue) await engine.reclaim(table);
  };
  const remove = async (dataset: DatasetRecord, condition: string): Promise<number> => {
    const deleted = await engine.deleteRows(dataset.table, condition);
    if (deleted > 0) await reclaim(dataset, deleted);
    return deleted;
  };
  const trim = async (dataset: DatasetRecord, keepNs: bigint, nowNs: bigint): Promise<number> => {
    const before = nowNs - keepNs;
    if (before <= MIN_TIME_NS) return 0;
    return remove(dataset, `_time < ${timeLiteral(before)}`);
  };
  const sweep = async (nowNs: bigint): Promise<void> => {
    for (const { name, retentionDays } of catalog.list()) {
      if (retentionDays === 0) continue;
      try {
        const deleted = await catalog.use(name, (dataset) => trim(dataset, BigInt(retentionDays) * DAY_NS, nowNs));
        if (deleted > 0) log.info({ dataset: name, deleted, retentionDays }, 'deleted events past their retention');
      } catch (error) {
        log.error(
          { dataset: name, error: messageOf(error) },
          'deleting events past their retention failed: retrying in an hour',
        );
      }
    }
  };

  let running = Promise.resolve();
  const tick = (): void => void (running = running.then(() => sweep(BigInt(Date.now()) * 1_000_000n)));
  const timer = setInterval(tick, SWEEP_MS);
  timer.unref();
  tick();
  return {
    /** Deletes the events with a `_time` before `nowNs - keepNs`; returns how many those were, exactly. */
    trim,
    /** Deletes the events for which the condition, the service's own text, holds; returns how many those were. */
    remove,
    /** Gives back the space of deleted events. Throws an `ApiError` 429 when it was just done. */
    async vacuum({ id, table }: DatasetRecord): Promise<void> {
      const left = (vacuumed.get(id) ?? -Infinity) + SERVICE_VACUUM_SECONDS * 1000 - performance.now();
      if (left > 0) {
        const seconds = Math.ceil(left / 1000);
        throw new ApiError(429, `the space of this dataset was just given back: ask again in ${seconds} s`, {
          'Retry-After': `${seconds}`,
        });
      }
      vacuumed.set(id, performance.now());
      deletedRows.set(id, 0);
      await engine.reclaim(table);
    },
    /** Deletes what each dataset's retention says. */
    sweep,
    async stop(): Promise<void> {
      clearInterval(timer);
      await running;
    },
  };
}
