/** Batches of files that the disk buffer takes up later: when, from whom, and how long each keeps its file. */
import { expect, vi } from 'vitest';
import { makeTree, test } from '../support/temp-tree.ts';
import { settleTurns, until } from '../support/until.ts';
import { filesIn } from './disk-files.ts';
import { DiskRig } from './disk-rig.ts';
import { delivered, retry } from './sink-rig.ts';

test.for(['keep', 'spill'] as const)(
  'disk buffer keeps no file of a batch that was settled while it was written (%s)',
  async (how) => {
    const folder = makeTree({});
    const rig = new DiskRig(folder);
    const batch = rig.take('a', 2, { isOfFile: true });
    const request = await rig.next();
    if (how === 'spill') rig.queue.workers.spooler!.spill(batch);
    else rig.buffer.files.keep(batch);
    await request.answer(delivered(2));
    await until('it is settled', () => batch.state === 'settled');
    await rig.stop();
    expect([rig.spool.bytes, filesIn(folder), rig.budget.usedBytes]).toEqual([0, [], 0]);
    expect(rig.accounting.get('net')!.settled.delivered).toBe(2);
  },
);

test('disk buffer keeps the file of an adopted batch that was settled while it was written, until that is saved', async ({
  folder,
}) => {
  const rig = new DiskRig(folder);
  const batch = rig.take('a', 2, { isOfFile: true });
  const request = await rig.next();
  const saved = vi.spyOn(rig.keeper, 'settle').mockImplementation(() => {});
  rig.buffer.files.keep(batch);
  await request.answer(delivered(2));
  await until('it is settled', () => batch.state === 'settled');
  await until('it is written', () => batch.spoolName !== undefined);
  expect(filesIn(folder)).toHaveLength(1);
  saved.mockRestore();
  rig.keeper.settle(batch);
  await rig.stop();
  expect([rig.spool.bytes, filesIn(folder)]).toEqual([0, []]);
});

test('disk buffer says ever less often that the disk does not take an adopted batch, and takes it once it does', async () => {
  const rig = new DiskRig(makeTree({}));
  const batch = rig.take('a', 2, { isOfFile: true });
  const request = await rig.next();
  const write = vi.spyOn(rig.spool, 'write').mockRejectedValue(new Error('no space left'));
  rig.buffer.files.keep(batch);
  for (let tries = 1; tries < 20; tries += 1) {
    await until(`try ${tries}`, () => write.mock.calls.length === tries);
    await settleTurns();
    await rig.clock.advance(1000);
  }
  expect(rig.log.find('error', 'cannot be written to the disk buffer')).toHaveLength(5);
  write.mockRestore();
  await rig.clock.advance(1000);
  await until('it is written', () => batch.spoolName !== undefined);
  await request.answer(delivered(2));
  await rig.stop();
});

test('disk buffer leaves a batch of a file in memory while it is being sent, and takes its file away once it is settled', async ({
  folder,
}) => {
  const rig = new DiskRig(folder);
  const batch = rig.take('a', 2, { isOfFile: true });
  const first = await rig.next();
  rig.queue.workers.spooler!.spill(batch);
  await until('it is on disk', () => batch.spoolName !== undefined);
  expect([batch.payload.body.length > 0, rig.budget.usedBytes]).toEqual([true, batch.payload.memory]);
  await first.answer(retry('network'), 0);
  await rig.clock.advance(1000);
  const again = await rig.next();
  expect(again.body).toBe(first.body);
  await again.answer(delivered(2));
  await rig.stop();
  expect([rig.spool.bytes, filesIn(folder), rig.budget.usedBytes]).toEqual([0, [], 0]);
});
