/**
 * Idempotency keys: the first complete reply under a key is the reply to every later request with it, per dataset, over restarts
 * and crashes. Before its rows go to the engine, a key's range of row ids is on disk; after a crash that range is counted: whole
 * means stored, anything less is deleted and the key forgotten, so that the resend stores it anew. Only full answers (200) are kept.
 */
import type { Log } from '../../core/log.ts';
import { SERVICE_KEPT_KEYS } from '../../core/limits.ts';
import { tableOf, type Engine } from '../engine/engine.ts';
import type { Metadata } from '../metadata.ts';

/** What one request stores. Row ids are `firstRow … firstRow + rows - 1`; times are the least and greatest `_time`, ns. */
export interface Range {
  readonly firstRow: bigint;
  readonly rows: number;
  readonly minTime: bigint;
  readonly maxTime: bigint;
}

export interface Keys {
  /** The kept reply, waiting for a request with the same key that is under way; else what `work` answers. */
  once(dataset: number, key: string, work: () => Promise<string>): Promise<string>;
  /** Writes down a range and the reply it will have, before the insert. Synchronous; call it in a transaction. */
  begin(dataset: number, key: string, range: Range, reply: string): void;
  finish(dataset: number, key: string): void;
  /** Deletes the rows of an insert that failed, and the key. */
  undo(dataset: number, key: string | undefined, range: Range): Promise<void>;
}

interface Unfinished extends Range {
  readonly dataset: number;
  readonly key: string;
}

/** The condition for a range's rows; the times let the engine skip most of the table. */
const rowsIn = (range: Range): string =>
  `_rowId >= ${range.firstRow} and _rowId < ${range.firstRow + BigInt(range.rows)}
   and _time >= fromUnixTimestamp64Nano(toInt64('${range.minTime}'), 'UTC') and _time <= fromUnixTimestamp64Nano(toInt64('${range.maxTime}'), 'UTC')`;

/** Settles every key that a crash left unfinished, then serves. */
export async function openKeys(metadata: Metadata, engine: Engine, log: Log): Promise<Keys> {
  const { db } = metadata;
  const find = db.prepare('select reply, stored from keys where dataset = ? and key = ?');
  const add = db.prepare(
    'insert into keys (dataset, key, first_row, rows, min_time, max_time, reply, stored) values (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const store = db.prepare('update keys set stored = 1 where dataset = ? and key = ?');
  const forget = db.prepare('delete from keys where dataset = ? and key = ?');
  const count = db.prepare('select count(*) as n from keys where dataset = ?');
  const prune = db.prepare(
    'delete from keys where dataset = ? and stored = 1 and id <= (select id from keys where dataset = ? order by id desc limit 1 offset ?)',
  );
  const unfinished = db.prepare('select dataset, key, first_row, rows, min_time, max_time from keys where stored = 0');
  unfinished.setReadBigInts(true);

  const pending = new Map<string, Promise<string>>();
  const counts = new Map<number, number>();

  const undo = async (dataset: number, key: string | undefined, range: Range): Promise<void> => {
    await engine.run(`delete from ${tableOf(dataset)} where ${rowsIn(range)}`);
    if (key !== undefined) forget.run(dataset, key);
  };

  /** True when all rows of the key are there; else none are, afterwards, and the key is forgotten. */
  const settle = async (entry: Unfinished): Promise<boolean> => {
    const { rows } = await engine.query(`select count() from ${tableOf(entry.dataset)} where ${rowsIn(entry)}`);
    const found = Number(rows[0]?.[0]);
    const whole = found === entry.rows;
    if (whole) store.run(entry.dataset, entry.key);
    else await undo(entry.dataset, entry.key, entry);
    log.info(
      { dataset: entry.dataset, wanted: entry.rows, found },
      whole ? 'an unfinished ingest was stored whole' : 'an unfinished ingest was taken back',
    );
    return whole;
  };
  const listUnfinished = (): Unfinished[] =>
    unfinished.all().map((row) => ({
      dataset: Number(row['dataset']),
      key: row['key'] as string,
      firstRow: row['first_row'] as bigint,
      rows: Number(row['rows']),
      minTime: row['min_time'] as bigint,
      maxTime: row['max_time'] as bigint,
    }));
  for (const entry of listUnfinished()) await settle(entry);

  const answer = async (dataset: number, key: string, work: () => Promise<string>): Promise<string> => {
    const kept = find.get(dataset, key);
    if (kept?.['stored'] === 1) return kept['reply'] as string;
    // Left by an insert of this process that failed and could not be taken back at the time.
    const entry = kept && listUnfinished().find((e) => e.dataset === dataset && e.key === key);
    if (entry && (await settle(entry))) return kept['reply'] as string;
    return work();
  };

  return {
    async once(dataset, key, work) {
      const id = `${dataset} ${key}`;
      for (;;) {
        const running = pending.get(id);
        if (!running) break;
        // Its failure is answered to its own sender; this one then tries itself.
        await running.catch(() => undefined);
      }
      const run = answer(dataset, key, work);
      pending.set(id, run);
      try {
        return await run;
      } finally {
        pending.delete(id);
      }
    },
    begin(dataset, key, range, reply) {
      add.run(dataset, key, range.firstRow, range.rows, range.minTime, range.maxTime, reply, range.rows === 0 ? 1 : 0);
      const n = (counts.get(dataset) ?? (count.get(dataset)?.['n'] as number)) + 1;
      counts.set(dataset, n);
      if (n <= SERVICE_KEPT_KEYS * 1.5) return;
      prune.run(dataset, dataset, SERVICE_KEPT_KEYS);
      counts.delete(dataset);
    },
    finish: (dataset, key) => void store.run(dataset, key),
    undo,
  };
}
