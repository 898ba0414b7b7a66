/** The slot that only what goes to the disk buffer gets. */
import { expect, test as base } from 'vitest';
import { settleTurns } from '../support/until.ts';
import { type Rig, blockOf, makeRig } from './blocks.ts';

const LINE = Buffer.from('a line\n');
const DELETED = { rereadable: false, isTracked: true };
const LIVE = { rereadable: false };

/** One whose only slot a file's batch has. */
async function fullRig(): Promise<Rig> {
  const rig = makeRig({ maxBytes: 4096, slots: 1, hasReserve: true });
  await rig.take(blockOf(LINE));
  expect(rig.budget.hasSlot()).toBe(false);
  return rig;
}

const test = base.extend('rig', () => fullRig());

/** As the disk buffer does once the batch is written. */
function evictLast({ sealed, budget }: Rig): void {
  sealed.at(-1)!.payload.release(budget);
}

test('events that cannot be reread get the reserve where files have every slot, and files never do', async ({
  rig,
}) => {
  let isTaken = false;
  const file = rig.take(blockOf(LINE), { dataset: 'other' }).then(() => (isTaken = true));
  await rig.take(blockOf(LINE, { stream: 's2' }), LIVE);
  rig.batcher.open.closeWhere(({ canBeRebuilt }) => !canBeRebuilt);
  evictLast(rig);
  await settleTurns();
  expect([rig.sealed.map(({ canBeRebuilt }) => canBeRebuilt), rig.budget.hasReserve(), isTaken]).toEqual([
    [false],
    true,
    false,
  ]);
  rig.batcher.open.flush();
  evictLast(rig);
  await file;
});

test('open batch with the reserve is closed for a deleted file, and not for what comes live', async ({ rig }) => {
  await rig.take(blockOf(LINE, { stream: 's2' }), LIVE);
  const live = rig.take(blockOf(LINE, { stream: 's3' }), { ...LIVE, dataset: 'other' });
  await settleTurns();
  expect(rig.sealed).toEqual([]);
  const deleted = rig.take(blockOf(LINE, { stream: 's4' }), DELETED);
  await settleTurns();
  expect(rig.sealed.map(({ dataset }) => dataset)).toEqual(['logs']);
  evictLast(rig);
  await live;
  rig.batcher.open.closeWhere(({ canBeRebuilt }) => !canBeRebuilt);
  evictLast(rig);
  await deleted;
});

test('event larger than a slot takes the reserve, one at a time', async ({ rig }) => {
  const large = Buffer.from(`${'x'.repeat(10_000)}\n`);
  await rig.take(blockOf(large, { stream: 's2' }), DELETED);
  expect([rig.sealed.map(({ events }) => events), rig.budget.hasReserve()]).toEqual([[1], false]);
  let isTaken = false;
  const second = rig.take(blockOf(large, { stream: 's2', offset: large.length }), DELETED).then(() => (isTaken = true));
  await settleTurns();
  expect(isTaken).toBe(false);
  evictLast(rig);
  await second;
  evictLast(rig);
  expect([rig.sealed.length, rig.budget.hasReserve(), rig.budget.usedBytes]).toEqual([2, true, rig.budget.slotBytes]);
});
