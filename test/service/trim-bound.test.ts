/** What a trim tells the engine to delete: the events before now less the duration, to the nanosecond, and none of that instant. */
import { expect, test } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import type { Catalog, DatasetRecord } from '../../src/service/datasets/catalog.ts';
import { openTrimmer } from '../../src/service/datasets/trim.ts';
import type { Engine } from '../../src/service/engine/engine.ts';
import { MIN_TIME_NS } from '../../src/core/time/time-text.ts';

test('an event that is exactly as old stays', async () => {
  const conditions: string[] = [];
  const engine = {
    deleteRows: (_table: string, condition: string) => {
      conditions.push(condition);
      return Promise.resolve(0);
    },
  } as unknown as Engine;
  const trimmer = openTrimmer({ list: () => [] } as unknown as Catalog, engine, silentLog);
  const dataset = { id: 1, table: 'ds_1' } as unknown as DatasetRecord;
  expect(await trimmer.trim(dataset, 999n, 1_700_000_000_000_001_000n)).toBe(0);
  expect(conditions).toEqual([`_time < fromUnixTimestamp64Nano(toInt64('1700000000000000001'), 'UTC')`]);
  // Nothing is older than the beginning of time.
  expect(await trimmer.trim(dataset, 10n ** 19n, 0n - MIN_TIME_NS)).toBe(0);
  expect(conditions).toHaveLength(1);
  await trimmer.stop();
});
