import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { StoredBatch } from '../../src/state/database/stored-batch.ts';
import { openState } from '../../src/state/database/store.ts';
import { MemoryLog } from '../support/memory-log.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';

type Entry =
  | { readonly opened: number }
  | { readonly committing: StoredBatch[] }
  | { readonly committed: number[] }
  | { readonly settling: number };

/** The journal's whole lines. */
function readJournal(file: string): Entry[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Entry);
}

test('state holds every committed and unsettled batch, and no mark beyond the settled ones, after each kill -9', async () => {
  const folder = makeTree({});
  const journal = join(folder, 'journal');
  const data = join(folder, 'data');
  let returned = 0;
  for (let round = 1; round <= 8; round++) {
    const before = readJournal(journal).length;
    const child = spawn(
      process.execPath,
      [join(import.meta.dirname, 'store-child.ts'), data, journal, String(round * 7919)],
      {
        stdio: ['ignore', 'ignore', 'inherit'],
      },
    );
    const gone = once(child, 'exit');
    await until('the child has worked', () => readJournal(journal).length > before + 20 * round);
    child.kill('SIGKILL');
    await gone;

    const entries = readJournal(journal);
    const committing = new Map<number, StoredBatch>();
    const committed = new Map<number, StoredBatch>();
    const settling = new Set<number>();
    for (const entry of entries) {
      // Ids that a kill gave back are used again: earlier records of them are void.
      if ('committing' in entry)
        for (const each of entry.committing) {
          committing.set(each.id, each);
          committed.delete(each.id);
          settling.delete(each.id);
        }
      if ('committed' in entry) for (const id of entry.committed) committed.set(id, committing.get(id)!);
      if ('settling' in entry) settling.add(entry.settling);
    }

    const log = new MemoryLog();
    const state = openState({ folder: data, sinksOf: () => ['store'], log });
    expect(log.lines).toEqual([]);
    const unsettled = state.ledger.unsettled();
    const byId = new Map(unsettled.map((each) => [each.id, each]));
    for (const [id, batch] of committed) {
      if (settling.has(id)) continue;
      expect(byId.get(id), `batch ${id} in round ${round}`).toEqual(batch);
      returned += 1;
    }
    for (const each of unsettled) expect(committing.get(each.id)).toEqual(each);
    state.close();

    const database = new DatabaseSync(join(data, 'state.db'), { readOnly: true });
    for (const row of database.prepare('select stream, settled_to from marks').all()) {
      const spans = [...committing.values()].flatMap((batch) =>
        batch.spans
          .filter(({ stream }) => stream === row['stream'])
          .map(({ from }) => ({ from, settled: settling.has(batch.id) })),
      );
      const firstOpen = Math.min(Infinity, ...spans.filter(({ settled }) => !settled).map(({ from }) => from));
      expect(Number(row['settled_to'])).toBeLessThanOrEqual(firstOpen);
    }
    // Nothing settled for good stays behind.
    const rows = database.prepare('select count(*) as n from spans where batch not in (select id from batches)').get();
    expect(rows).toEqual({ n: 0 });
    database.close();
  }
  expect(returned, 'some batches were open at the kills').toBeGreaterThan(0);
});
