import { appendFileSync, mkdirSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { FileStat } from '../../../src/sources/file/scan/file-system.ts';
import { failingFileSystem, startRig, TailRig } from './tail-rig.ts';
import { scenario } from './scenario.ts';

test('partial_timeout sends an unfinished line once it has stood still for so long, and its rest as an event of its own', async () => {
  const rig = await startRig({ partialTimeoutMs: 5000 });
  await rig.play`write a.log one tw…; pass 3; append a.log o…; pass 5; reads one; pass 2; reads one two`;
  expect(rig.lane.blocks.at(-1)).toMatchObject({ offset: 4, length: 3, single: { length: 3 } });
  await rig.play`
    pass 60; append a.log " and a half" three; pass 2; reads one two " and a half" three; commit; start; pass 10; reads-nothing
  `;
});

test('partial_timeout does not send what grew between the look that decided and the read', async () => {
  const rig = await startRig({ partialTimeoutMs: 5000 });
  await rig.play`write a.log tw…; pass 2`;
  rig.clock.advance(5000);
  await rig.play`scan; append a.log "o, still bein…"`;
  await rig.source.readRound();
  await rig.play`reads-nothing; append a.log "g written"; pass 1; reads "two, still being written"`;
});

scenario('partial_timeout sends a line over the limit cut, and what comes after it anew', {
  partialTimeoutMs: 1000,
  maxEventBytes: 1024,
})`
  start; write a.log ${'x'.repeat(3000)}; pass 3; reads ${'x'.repeat(1024)}; append a.log yy z; pass 3; reads-after 1 yy z
`;

scenario('partial_timeout: never keeps an unfinished line waiting in a file that stays, not in one that was rotated', {
  partialTimeoutMs: Infinity,
})`
  start; write a.log tw…; pass 60; reads-nothing; mv a.log a.log.1; pass 15; reads tw
`;

test('unfinished lines, deletes and descriptors are seen to where scans are an hour apart', async () => {
  const rig = await startRig({ scanIntervalMs: 3_600_000, partialTimeoutMs: 5000 });
  await rig.play`write a.log one tw…; write b.log bee; poll`;
  const running = rig.source.run();
  unlinkSync(rig.path('b.log'));
  for (let second = 0; second < 20; second += 1) {
    rig.clock.advance(1000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await rig.lane.until(() => rig.texts.includes('tw'));
  expect(rig.source.stats.files).toMatchObject({ deleted: 0 });
  rig.lane.giveUp();
  await rig.source.stop();
  await running;
});

test('ignore_older leaves out files that were unchanged for so long, until they change, and reads on known ones', async () => {
  const rig = new TailRig({ ignoreOlderMs: 3_600_000 });
  const setAge = (name: string, ms: number): void => {
    const at = (rig.clock.now() - ms) / 1000;
    utimesSync(rig.path(name), at, at);
  };
  await rig.play`write new.log new; write old.log old`;
  setAge('new.log', 1000);
  setAge('old.log', 7_200_000);
  await rig.play`start; drain; reads new; pass 3`;
  expect(rig.said(/longer than `ignore_older`/).map(({ fields }) => fields)).toEqual([
    { path: rig.path('old.log'), files: 1 },
  ]);
  await rig.play`
    stats active=1 idle=0; append old.log changed; drain; reads new old changed; commit; append new.log "unread and old by now"
  `;
  setAge('new.log', 7_200_000);
  await rig.play`start; drain; reads "unread and old by now"`;
});

test('order: oldest_first reads the file that was changed longest ago to its end before the next', async () => {
  const rig = new TailRig({ order: 'oldest_first' });
  for (const [index, name] of ['c', 'a', 'b'].entries()) {
    writeFileSync(rig.path(`${name}.log`), `${name.repeat(1023)}\n`.repeat(6 * 1024));
    utimesSync(rig.path(`${name}.log`), 1000 + index, 1000 + index);
  }
  await rig.play`start; drain`;
  const order = rig.texts.map((text) => text[0]!).filter((letter, index, all) => letter !== all[index - 1]);
  expect(order).toEqual(['c', 'a', 'b']);
});

test('stable_inodes: false follows path and content where inodes change at every look', async () => {
  let salt = 0;
  const salted = (stat: FileStat): FileStat => ({ ...stat, inode: Number(stat.inode) + salt });
  const fileSystem = failingFileSystem((real) => ({
    stat(path) {
      const stat = real.stat(path);
      return stat?.kind === 'directory' ? { ...stat, mtimeMs: Number.NaN } : stat && salted(stat);
    },
    fstat: (fd) => salted(real.fstat(fd)),
  }));
  const rig = new TailRig({ fileSystem, stableInodes: false });
  await rig.play`write a.log one; write b.log one; start; drain`;
  const next = (): number => (salt += 1_000_000);
  next();
  await rig.play`append a.log two; drain`;
  next();
  await rig.play`drain; commit`;
  next();
  await rig.play`append b.log three; start; drain; by-file b.log three`;
  next();
  // Another file under the same path is another file.
  await rig.play`rm b.log; write b.log "something else"; drain; reads three "something else"`;
  expect(rig.lanes[0]!.texts.toSorted()).toEqual(['one', 'one', 'two']);
  // The same without the option sends again: rather twice than never.
  rig.commit();
  next();
  await rig.start({ stableInodes: true });
  await rig.drain();
  expect(rig.texts).not.toEqual([]);
});

// Symptom: a file that was read before went on being read after a pattern left it out. Cause: every file of a checkpoint was
// taken for one that was rotated out of the patterns. Fix: one whose first path they do not match either is left alone.
test.each([
  ['excluded', { exclude: ['a.log'] }],
  ['in an excluded folder', { exclude: ['logs'] }],
  ['not included', { include: ['/nowhere/*.log'] }],
])(
  'file that is %s since a restart is not read any more, nor what was rotated; both are read on once they match again',
  async (_, changes) => {
    const rig = new TailRig();
    mkdirSync(rig.path('logs'));
    const include = [rig.path('**/*.log')];
    writeFileSync(rig.path('logs/a.log'), 'rotated\n');
    await rig.start({ include });
    await rig.play`drain; mv logs/a.log logs/a.log.1; write logs/a.log one; drain; commit`;
    const { stream } = rig.lane.blocks.at(-1)!;
    appendFileSync(rig.path('logs/a.log'), 'while stopped\n');
    await rig.start({ include, ...changes });
    await rig.play`append logs/a.log.1 late; pass 90 10; reads-nothing; lost 0; lag 0`;
    expect(rig.said(/do not match any more/)).toMatchObject([{ fields: { files: 2 } }]);
    expect(rig.source.explain(rig.path('logs/a.log'))).toMatchObject({ isRead: false, savedOffset: 4 });
    // Its lines may not be delivered yet.
    expect(await rig.source.readSpan!({ stream, from: 0, to: 4 })).toEqual(Buffer.from('one\n'));
    await rig.start({ include });
    await rig.play`drain; reads-any late "while stopped"`;
  },
);
