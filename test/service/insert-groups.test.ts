/** Which blocks go into the engine together, over a store that is only counted. The waits of these tests never run out unless a test says so. */
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { insertGroups, type InsertGroups } from '../../src/service/engine/insert-groups.ts';

const NEVER_MS = 3_600_000;
const BLOCK = Buffer.from('block');

function start(waitMs: number): { groups: InsertGroups; sizes: number[]; send: (table: string) => Promise<void> } {
  const sizes: number[] = [];
  const groups = insertGroups(async ({ blocks }) => {
    sizes.push(blocks.length);
    await turn();
  }, waitMs);
  return { groups, sizes, send: (table) => groups.add(table, BLOCK, 'token') };
}

const burst = (send: (table: string) => Promise<void>): Promise<unknown> =>
  Promise.all([send('a'), send('a'), send('a')]);

test('blocks of senders that wait for their answers go in together', async () => {
  const { groups, sizes, send } = start(NEVER_MS);
  let sent = 0;
  const sender = async (): Promise<void> => {
    while (sent++ < 80) {
      await send('a');
      await turn();
    }
  };
  const ended = new AbortController();
  const all = Promise.all([sender(), sender(), sender(), sender()]).finally(() => ended.abort());
  // The last blocks wait for others that never come.
  while (!ended.signal.aborted) {
    if (sent >= 80) await groups.between(() => Promise.resolve());
    await turn();
  }
  await all;
  expect(sizes.slice(0, 15)).toEqual(Array.from({ length: 15 }, () => 4));
  expect(sizes.reduce((sum, size) => sum + size)).toBe(80);
});

test('a sender alone never waits', async () => {
  const { sizes, send } = start(NEVER_MS);
  for (let n = 0; n < 5; n++) await send('a');
  expect(sizes).toEqual([1, 1, 1, 1, 1]);
});

test('a block whose company does not come is stored all the same', async () => {
  const { sizes, send } = start(1);
  await burst(send);
  await send('a');
  expect(sizes).toEqual([3, 1]);
});

test.each([
  ['a block of another table', ({ send }: ReturnType<typeof start>) => send('b')],
  ['other work', ({ groups }: ReturnType<typeof start>) => groups.between(() => Promise.resolve())],
])('%s ends the wait', async (_, act) => {
  const started = start(NEVER_MS);
  await burst(started.send);
  const alone = started.send('a');
  await turn();
  expect(started.sizes).toEqual([3]);
  await Promise.all([alone, act(started)]);
  expect(started.sizes.slice(0, 2)).toEqual([3, 1]);
});

test('a failed insert counts as the last one: its sender does not wait again for company that left', async () => {
  const sizes: number[] = [];
  let isBroken = false;
  const groups = insertGroups(({ blocks }) => {
    sizes.push(blocks.length);
    return isBroken ? Promise.reject(new Error('the engine is gone')) : turn();
  }, NEVER_MS);
  const send = (): Promise<void> => groups.add('a', BLOCK, 'token');
  await burst(send);
  isBroken = true;
  const first = expect(send()).rejects.toThrow('the engine is gone');
  await Promise.all([first, groups.between(() => Promise.resolve())]);
  await expect(send()).rejects.toThrow('the engine is gone');
  expect(sizes).toEqual([3, 1, 1]);
});
