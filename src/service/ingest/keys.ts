/**
 * Idempotency keys: the first complete reply under a key is the reply to every later request with it, per dataset, over restarts
 * and crashes. Before its rows go to the engine, a key's range of row ids is on disk; after a crash that range is counted: whole
 * means stored, anything less is deleted and the key forgotten, so that the resend stores it anew. Only full answers (200) are kept, packed;
 * of one with many failures the counts and the first of them.
 */
import type { Log } from '../../core/log.ts';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { SERVICE_KEPT_FAILURES, SERVICE_KEPT_KEYS, SERVICE_KEPT_REPLY, SERVICE_KEPT_REPLY_BYTES } from '../limits.ts';
import type { Engine } from '../engine/engine.ts';
import { tableOf, timeLiteral } from '../engine/tables.ts';
import type { Metadata } from '../metadata.ts';

/** What one request stores. Row ids are `firstRow … firstRow + rows - 1`; times are the least and greatest `_time`, ns. */
export interface StoredRange {
  readonly firstRow: bigint;
  readonly rows: number;
  readonly minTime: bigint;
  readonly maxTime: bigint;
}

export type IngestKeys = Awaited<ReturnType<typeof openKeys>>;

interface UnfinishedRange extends StoredRange {
  readonly dataset: number;
  readonly key: string;
}

/** The condition for a range's rows; the times let the engine skip most of the table. */
const rowsIn = (range: StoredRange): string =>
  `_rowId >= ${range.firstRow} and _rowId < ${range.firstRow + BigInt(range.rows)}
   and _time >= ${timeLiteral(range.minTime)} and _time <= ${timeLiteral(range.maxTime)}`;

/** Shorter replies are kept as text. */
const PACKED_FROM = 512;
const COUNT_EVERY_MS = 10_000;
const textOf = (kept: unknown): string =>
  typeof kept === 'string' ? kept : inflateRawSync(kept as Uint8Array).toString();

const anyOf = (conditions: readonly string[]): string => `(${conditions.join(') or (')})`;

/** Settles every key that a crash left unfinished, then serves. */
export async function openKeys(metadata: Metadata, engine: Engine, log: Log) {
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

  const size = db.prepare('select total(octet_length(reply)) as bytes from keys');
  /** Of the kept replies; grows with each, and is counted anew once it is too much. */
  let keptBytes = size.get()!['bytes'] as number;
  let countedAt = performance.now();
  /** The part of a reply to keep: the whole, or the shortest with the number of stored events. */
  const keep = (reply: string, shorter: (failures: number) => string): string | Uint8Array => {
    if (keptBytes > SERVICE_KEPT_REPLY_BYTES && performance.now() - countedAt > COUNT_EVERY_MS) {
      keptBytes = size.get()!['bytes'] as number;
      countedAt = performance.now();
    }
    const isFull = keptBytes > SERVICE_KEPT_REPLY_BYTES;
    const text = isFull ? shorter(0) : reply.length <= SERVICE_KEPT_REPLY ? reply : shorter(SERVICE_KEPT_FAILURES);
    const kept = text.length > PACKED_FROM ? deflateRawSync(text) : text;
    keptBytes += kept.length;
    return kept;
  };

  const pending = new Map<string, Promise<string>>();
  const counts = new Map<number, number>();

  const undo = async (dataset: number, key: string | undefined, range: StoredRange): Promise<void> => {
    await engine.quiesce();
    await engine.deleteRows(tableOf(dataset), rowsIn(range));
    if (key !== undefined) forget.run(dataset, key);
  };

  /** Counts the rows of each entry of one dataset: a whole one is stored; of any other the rows are deleted and the key forgotten. */
  const settle = async (dataset: number, entries: readonly UnfinishedRange[]): Promise<void> => {
    const conditions = entries.map(rowsIn);
    await engine.quiesce();
    const [counted] = await engine.ask(
      `select ${conditions.map((condition) => `countIf(${condition})`).join(', ')} from ${tableOf(dataset)} where ${anyOf(conditions)}`,
    );
    const found = entries.map((_, n) => Number(counted?.[n]));
    const broken = conditions.filter((_, n) => found[n] !== 0 && found[n] !== entries[n]!.rows);
    if (broken.length > 0) await engine.deleteRows(tableOf(dataset), anyOf(broken));
    for (const [n, entry] of entries.entries()) {
      const whole = found[n] === entry.rows;
      (whole ? store : forget).run(dataset, entry.key);
      log.info(
        { dataset, wanted: entry.rows, found: found[n] },
        whole ? 'an unfinished ingest was stored whole' : 'an unfinished ingest was taken back',
      );
    }
  };
  const listUnfinished = (): UnfinishedRange[] =>
    unfinished.all().map((row) => ({
      dataset: Number(row['dataset']),
      key: row['key'] as string,
      firstRow: row['first_row'] as bigint,
      rows: Number(row['rows']),
      minTime: row['min_time'] as bigint,
      maxTime: row['max_time'] as bigint,
    }));
  for (const [dataset, entries] of Map.groupBy(listUnfinished(), (entry) => entry.dataset))
    await settle(dataset, entries);

  const answer = async (dataset: number, key: string, work: () => Promise<string>): Promise<string> => {
    const kept = find.get(dataset, key);
    if (kept?.['stored'] === 1) return textOf(kept['reply']);
    if (kept) {
      // Left by an insert of this process that failed and could not be taken back at the time.
      await settle(
        dataset,
        listUnfinished().filter((entry) => entry.dataset === dataset && entry.key === key),
      );
      if (find.get(dataset, key)) return textOf(kept['reply']);
    }
    return work();
  };

  return {
    /** The kept reply, waiting for a request in flight with the same key; else the answer of `work`. */
    async once(dataset: number, key: string, work: () => Promise<string>): Promise<string> {
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
    /**
     * Writes down a range and the reply it will have, before the insert. `shorter` gives the reply with so many failures at most, for one that
     * is too long to be kept. Synchronous; call it in a transaction.
     */
    begin(
      dataset: number,
      key: string,
      range: StoredRange,
      reply: string,
      shorter: (failures: number) => string,
    ): void {
      add.run(
        dataset,
        key,
        range.firstRow,
        range.rows,
        range.minTime,
        range.maxTime,
        keep(reply, shorter),
        range.rows === 0 ? 1 : 0,
      );
      const n = (counts.get(dataset) ?? (count.get(dataset)?.['n'] as number)) + 1;
      counts.set(dataset, n);
      if (n <= SERVICE_KEPT_KEYS * 1.5) return;
      prune.run(dataset, dataset, SERVICE_KEPT_KEYS);
      counts.delete(dataset);
    },
    finish: (dataset: number, key: string): void => void store.run(dataset, key),
    /** Deletes the rows of an insert that failed, and forgets the key, where one is named. */
    undo,
  };
}
