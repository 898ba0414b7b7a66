/** The slot that only what goes to the disk buffer gets. */
import { expect, test } from 'vitest';
import { settleTurns } from '../support/until.ts';
import { type Bench, blockOf, makeBench } from './blocks.ts';

const LINE = Buffer.from('a line\n');
const DELETED = { rereadable: false, isTracked: true };
const LIVE = { rereadable: false };

/** One whose only slot a file's batch has. */
async function fullBench(): Promise<Bench> {
  const bench = makeBench({ maxBytes: 4096, slots: 1, hasReserve: true });
  await bench.take(blockOf(LINE));
  expect(bench.room.hasSlot()).toBe(false);
  return bench;
}

/** As the disk buffer does once the batch is written. */
function evictLast({ sealed, room }: Bench): void {
  const { memory, slot } = sealed.at(-1)!;
  room.release(memory, slot);
}

test('what cannot be read again gets the reserve where files have every slot, and files never do', async () => {
  const bench = await fullBench();
  let isTaken = false;
  const file = bench.take(blockOf(LINE), { dataset: 'other' }).then(() => (isTaken = true));
  await bench.take(blockOf(LINE, { stream: 's2' }), LIVE);
  bench.batcher.closeLive();
  evictLast(bench);
  await settleTurns();
  expect([bench.sealed.map(({ rereadable }) => rereadable), bench.room.hasReserve(), isTaken]).toEqual([[false], true, false]);
  bench.batcher.flush();
  evictLast(bench);
  await file;
});

test('open batch with the reserve is closed for a deleted file, and not for what comes live', async () => {
  const bench = await fullBench();
  await bench.take(blockOf(LINE, { stream: 's2' }), LIVE);
  const live = bench.take(blockOf(LINE, { stream: 's3' }), { ...LIVE, dataset: 'other' });
  await settleTurns();
  expect(bench.sealed).toEqual([]);
  const deleted = bench.take(blockOf(LINE, { stream: 's4' }), DELETED);
  await settleTurns();
  expect(bench.sealed.map(({ dataset }) => dataset)).toEqual(['logs']);
  evictLast(bench);
  await live;
  bench.batcher.closeLive();
  evictLast(bench);
  await deleted;
});

test('event larger than a slot takes the reserve, one at a time', async () => {
  const bench = await fullBench();
  const large = Buffer.from(`${'x'.repeat(10_000)}\n`);
  await bench.take(blockOf(large, { stream: 's2' }), DELETED);
  expect([bench.sealed.map(({ events }) => events), bench.room.hasReserve()]).toEqual([[1], false]);
  let isTaken = false;
  const second = bench.take(blockOf(large, { stream: 's2', offset: large.length }), DELETED).then(() => (isTaken = true));
  await settleTurns();
  expect(isTaken).toBe(false);
  evictLast(bench);
  await second;
  evictLast(bench);
  expect([bench.sealed.length, bench.room.hasReserve(), bench.room.usedBytes]).toEqual([2, true, bench.room.slotBytes]);
});
