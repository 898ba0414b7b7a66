import { expect, test } from 'vitest';
import { AfterSync } from '../../src/state/database/transactions.ts';
import { settleTurns } from '../support/until.ts';

// Symptom (none seen): a file of the disk buffer may go before what settles it is saved. Cause: a sync that ended started the next one
// for work whose save the disk had refused. Fix: work waits for a save, and only then for a sync.
test('work whose save was refused does not go with a sync that had begun', async () => {
  const syncs: (() => void)[] = [];
  const after = new AfterSync(
    () => new Promise((resolve) => syncs.push(resolve)),
    () => {},
  );
  const done: string[] = [];
  after.add(() => done.push('saved'));
  after.start();
  after.add(() => done.push('refused'));
  syncs[0]!();
  await settleTurns();
  expect([done, syncs.length, after.hasWork]).toEqual([['saved'], 1, true]);
  after.start();
  syncs[1]!();
  await settleTurns();
  expect([done, after.hasWork]).toEqual([['saved', 'refused'], false]);
});
