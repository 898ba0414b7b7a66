/** What many files cost, and in which order they are read. */
import { appendFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { TURN_BYTES } from '../../../src/sources/file/limits.ts';
import { type Call, failingFileSystem, hooked, TailRig, test } from './tail-rig.ts';

const FILES = 2000;

test('2,000 idle files cost a stat each at a scan, and nothing else; of 100 that grow only these are opened', async () => {
  const calls = { stat: 0, readdir: 0, open: 0, fstat: 0, peek: 0, read: 0, close: 0 };
  // Folders have their own times, so that their listings are believed.
  const fileSystem = hooked(
    { before: (call) => (calls[call] += 1) },
    failingFileSystem(() => ({})),
  );
  const rig = new TailRig({ fileSystem });
  for (let n = 0; n < FILES; n += 1) writeFileSync(rig.path(`${n}.log`), `first of ${n}\n`);
  await rig.start();
  await rig.drain();
  // Until nothing is open any more, and the folder's listing is believed.
  await rig.pass(20, 5);
  expect(rig.lane.count).toBe(FILES);
  expect(rig.source.stats.files).toMatchObject({ idle: FILES, active: 0 });
  const reset = (): void => Object.keys(calls).forEach((name) => (calls[name as Call] = 0));

  reset();
  await rig.source.pollOnce();
  // And one for their folder.
  expect(calls).toEqual({ stat: FILES + 1, readdir: 0, open: 0, fstat: 0, peek: 0, read: 0, close: 0 });

  for (let n = 0; n < 100; n += 1) appendFileSync(rig.path(`${n * 19}.log`), 'second\n');
  reset();
  await rig.source.pollOnce();
  expect(calls).toMatchObject({ stat: FILES + 1, readdir: 0, open: 100, read: 100 });
  expect(rig.lane.count).toBe(FILES + 100);
});

test('quiet files get their turns beside one with a backlog of 100 MB: between two turns of each lie two of the loud one at most', async () => {
  const rig = new TailRig();
  const line = `${'x'.repeat(64 * 1024 - 1)}\n`;
  writeFileSync(rig.path('loud.log'), line.repeat(1600));
  const quiet = ['a.log', 'm.log', 'z.log'];
  for (const name of quiet) writeFileSync(rig.path(name), 'quiet 0\n');
  await rig.start();
  let polls = 0;
  for (let more = true; more; polls += 1) {
    ({ moreToRead: more } = await rig.source.pollOnce());
    rig.clock.advance(1000);
    for (const name of quiet) appendFileSync(rig.path(name), `quiet ${polls + 1}\n`);
  }
  await rig.drain();
  // Bytes of the loud file between two lines of each quiet one.
  for (const name of quiet) {
    let between = 0;
    let most = 0;
    for (const block of rig.lane.blocks) {
      const file = block.shape.wrapFields['file'];
      if (file === rig.path('loud.log')) between += block.length;
      else if (file === rig.path(name)) [most, between] = [Math.max(most, between), 0];
    }
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(2 * (TURN_BYTES + line.length));
    expect(rig.byFile[name]).toEqual(Array.from({ length: polls + 1 }, (_, n) => `quiet ${n}`));
  }
  expect(polls).toBeGreaterThanOrEqual(25);
  expect(rig.byFile['loud.log']).toHaveLength(1600);
});

test('quiet file gets its turn next when it grows while the loud one is read, not after the backlog', async ({
  rig,
}) => {
  await rig.play`write loud.log ${`${'x'.repeat(1023)}\n`.repeat(40 * 1024)}; write quiet.log one; start`;
  const running = rig.source.run();
  const isQuiet = (block: { shape: { wrapFields: Record<string, unknown> } }): boolean =>
    block.shape.wrapFields['file'] === rig.path('quiet.log');
  await rig.lane.until((lane) => lane.blocks.some(isQuiet));
  rig.lane.hold();
  await rig.lane.until((lane) => lane.waiting === 1);
  const before = rig.lane.blocks.length;
  await rig.play`append quiet.log two; scan`;
  rig.lane.release();
  await rig.lane.until((lane) => lane.blocks.filter(isQuiet).length === 2);
  const index = rig.lane.blocks.findLastIndex(isQuiet);
  const between = rig.lane.blocks.slice(before, index).reduce((sum, block) => sum + block.length, 0);
  expect(between).toBeLessThanOrEqual(2 * TURN_BYTES);
  rig.lane.giveUp();
  await rig.source.stop();
  await running;
});
