/** Who of the queries has a turn: long ones take half of the turns at most, so that short ones overtake those that wait. */
import { expect, test } from 'vitest';
import type { DatasetRecord } from '../../src/service/datasets/catalog.ts';
import type { Engine, Extent } from '../../src/service/engine/engine.ts';
import { SERVICE_LONG_QUERY_ROWS } from '../../src/service/limits.ts';
import { isLongQuery, QueryTurns } from '../../src/service/query/turns.ts';
import { settleTurns } from '../support/until.ts';

test('short queries overtake long ones that wait, and each that waits is counted', async () => {
  const waits: number[] = [];
  const turns = new QueryTurns(4, (seconds) => waits.push(seconds));
  const running: string[] = [];
  const ends: (() => void)[] = [];
  const begin = (name: string, isLong: boolean): Promise<void> =>
    turns.run(name, isLong, new AbortController().signal, async () => {
      running.push(name);
      await new Promise<void>((resolve) => ends.push(resolve));
    });
  const all = ['long 1', 'long 2', 'long 3', 'long 4'].map((name) => begin(name, true));
  await settleTurns();
  expect([running, turns.waiting]).toEqual([['long 1', 'long 2'], 2]);
  all.push(begin('short 1', false), begin('short 2', false), begin('short 3', false));
  await settleTurns();
  expect([running.slice(2), turns.waiting]).toEqual([['short 1', 'short 2'], 3]);
  while (ends.length > 0) {
    ends.shift()!();
    await settleTurns();
  }
  await Promise.all(all);
  expect([turns.waiting, waits.length]).toEqual([0, 7]);
});

const SECOND = 1_000_000_000n;
const MOST = SERVICE_LONG_QUERY_ROWS;
const spread = (rows: number): Extent => ({ rows, min: 0n, max: 100n * SECOND - 1n });

test.each<[string, (Extent | undefined)[], bigint | undefined, bigint | undefined, boolean]>([
  ['as many rows as a short one may have', [spread(MOST)], undefined, undefined, false],
  ['one more', [spread(MOST + 1)], undefined, undefined, true],
  ['a bad join of small datasets, row by row', [spread(10_000), spread(10_000)], undefined, undefined, true],
  ['a small join', [spread(1000), spread(1000)], undefined, undefined, false],
  [
    'a join with a dataset that has no rows in the range',
    [spread(MOST * 0.9), { rows: 0, min: 1n, max: 0n }],
    undefined,
    undefined,
    false,
  ],
  ['a tenth of the time', [spread(MOST * 9)], 0n, 10n * SECOND - 1n, false],
  ['a fifth of the time', [spread(MOST * 9)], 80n * SECOND, undefined, true],
  ['a range without rows', [spread(MOST * 9)], 200n * SECOND, 300n * SECOND, false],
  ['no rows at all', [{ rows: 0, min: 1n, max: 0n }], undefined, undefined, false],
  ['rows that the engine does not know', [undefined], undefined, undefined, false],
])('a query is long by the rows in its range: %s', (_, extents, start, end, isLong) => {
  const engine = { knownExtent: (table: string) => extents[Number(table)] } as unknown as Engine;
  const named = extents.map((__, table) => [{ table: String(table) } as DatasetRecord]);
  expect(isLongQuery(engine, named, { now: 1000n * SECOND, start, end })).toBe(isLong);
});

test('a query is long by the rows of all datasets that a pattern names', () => {
  const engine = { knownExtent: () => spread(MOST * 0.6) } as unknown as Engine;
  const [one, other] = [{ table: '1' } as DatasetRecord, { table: '2' } as DatasetRecord];
  const range = { now: 1000n * SECOND, start: undefined, end: undefined };
  expect([isLongQuery(engine, [[one]], range), isLongQuery(engine, [[one, other]], range)]).toEqual([false, true]);
});
