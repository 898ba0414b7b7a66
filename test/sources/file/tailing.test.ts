import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startRig, TailRig } from './tail-rig.ts';

test('file source reads what is there and what is appended, each line once', async () => {
  const rig = new TailRig({ fields: { team: 'core' } });
  writeFileSync(rig.path('a.log'), 'one\ntwo\n');
  await rig.start();
  await rig.drain();
  appendFileSync(rig.path('a.log'), 'three\n');
  await rig.drain();
  await rig.drain();
  expect(rig.texts).toEqual(['one', 'two', 'three']);
  expect(rig.lane.blocks[0]!.shape).toEqual({
    format: 'auto',
    wrapFields: { host: 'testhost', file: rig.path('a.log') },
    fields: { team: 'core' },
  });
  expect(new Set(rig.lane.blocks.map((block) => block.shape)).size).toBe(1);
  expect(rig.source.stats).toMatchObject({ readBytes: 14, lagBytes: 0, files: { active: 1 } });
});

test('file source leaves an unfinished last line until its rest arrives', async () => {
  const rig = await startRig();
  writeFileSync(rig.path('a.log'), 'one\ntw');
  await rig.drain();
  expect(rig.texts).toEqual(['one']);
  expect(rig.source.stats.lagBytes).toBe(2);
  await rig.pass(3);
  expect(rig.texts).toEqual(['one']);
  appendFileSync(rig.path('a.log'), 'o\nthr');
  await rig.drain();
  expect(rig.texts).toEqual(['one', 'two']);
});

test('file source reads a file that appears later, and one in a new folder under **, from its beginning', async () => {
  const rig = new TailRig();
  await rig.start({ include: [rig.path('**/*.log')], startAt: 'end' });
  await rig.drain();
  mkdirSync(rig.path('deep/er'), { recursive: true });
  writeFileSync(rig.path('deep/er/b.log'), 'late\n');
  await rig.drain();
  expect(rig.byFile).toEqual({ 'deep/er/b.log': ['late'] });
});

test('file source starts at the end only in its first run, at the beginning of the line that is being written', async () => {
  const rig = new TailRig({ startAt: 'end' });
  writeFileSync(rig.path('a.log'), 'old\nolder\nhal');
  writeFileSync(rig.path('empty.log'), '');
  await rig.start();
  await rig.drain();
  expect(rig.texts).toEqual([]);
  appendFileSync(rig.path('a.log'), 'f\nnew\n');
  writeFileSync(rig.path('empty.log'), 'first\n');
  writeFileSync(rig.path('late.log'), 'whole\nfile\n');
  await rig.drain();
  expect(rig.byFile).toEqual({ 'a.log': ['half', 'new'], 'empty.log': ['first'], 'late.log': ['whole', 'file'] });
  rig.commit();
  writeFileSync(rig.path('while-stopped.log'), 'not skipped\n');
  await rig.start();
  await rig.drain();
  expect(rig.texts).toEqual(['not skipped']);
});

test('file source goes on after a restart where the committed spans end', async () => {
  const rig = await startRig();
  writeFileSync(rig.path('a.log'), 'one\ntwo\n');
  await rig.drain();
  rig.commit();
  appendFileSync(rig.path('a.log'), 'three\nfour\n');
  await rig.drain();
  // Not committed: read again, and under the same stream.
  const [stream] = rig.streams.records.keys();
  appendFileSync(rig.path('a.log'), 'five\n');
  await rig.start();
  await rig.drain();
  expect(rig.texts).toEqual(['three', 'four', 'five']);
  expect(new Set(rig.lane.blocks.map((block) => block.stream))).toEqual(new Set([stream]));
});

test('file source gives every file its turn, however loud another one is', async () => {
  const rig = new TailRig();
  writeFileSync(rig.path('a-loud.log'), `${'x'.repeat(1023)}\n`.repeat(12 * 1024));
  writeFileSync(rig.path('z-quiet.log'), 'quiet\n');
  await rig.start();
  const { moreToRead } = await rig.source.pollOnce();
  expect(moreToRead).toBe(true);
  expect(rig.byFile['z-quiet.log']).toEqual(['quiet']);
  expect(rig.source.stats.readBytes).toBeLessThan(6 * 1024 * 1024);
  await rig.drain();
  expect(rig.source.stats.readBytes).toBe(12 * 1024 * 1024 + 6);
});

test('file source under --once sends unfinished lines too and ends', async () => {
  const rig = new TailRig({ once: true });
  writeFileSync(rig.path('a.log'), 'one\ntw');
  writeFileSync(rig.path('b.log'), `${'y'.repeat(99)}\n`.repeat(100_000));
  writeFileSync(rig.path('empty.log'), '');
  await rig.start();
  await rig.source.run();
  expect(rig.byFile['a.log']).toEqual(['one', 'tw']);
  expect(rig.byFile['b.log']).toHaveLength(100_000);
  const last = rig.lane.blocks.find((block) => block.single)!;
  expect(last).toMatchObject({ offset: 4, length: 2, single: { length: 2 } });
});

test('file source runs until it is stopped, and stops while the lane holds a block', async () => {
  const rig = new TailRig();
  writeFileSync(rig.path('a.log'), 'one\n');
  await rig.start();
  const running = rig.source.run();
  await rig.lane.until((lane) => lane.blocks.length === 1);
  rig.lane.hold();
  appendFileSync(rig.path('a.log'), 'two\n');
  rig.clock.advance(1000);
  await rig.lane.until((lane) => lane.waiting === 1);
  const stopped = rig.source.stop();
  rig.lane.giveUp();
  await stopped;
  await running;
  expect(rig.texts).toEqual(['one']);
});

test('file source sees a rotation while the lane is full, and loses nothing when the rotated file is deleted', async () => {
  const rig = new TailRig();
  writeFileSync(rig.path('a.log'), 'one\n');
  writeFileSync(rig.path('b.log'), 'bee\n');
  await rig.start();
  rig.lane.hold();
  const running = rig.source.run();
  await rig.lane.until((lane) => lane.waiting === 1);
  appendFileSync(rig.path('b.log'), 'bees\n');
  await rig.source.scanOnce();
  rmSync(rig.path('b.log'));
  await rig.source.scanOnce();
  rig.lane.release();
  await rig.lane.until((lane) => lane.lines.length === 3);
  await rig.source.stop();
  await running;
  expect(rig.byFile).toEqual({ 'a.log': ['one'], 'b.log': ['bee', 'bees'] });
});

test('file source reads a span again exactly, an unfinished end included, and says when it cannot', async () => {
  const rig = new TailRig({ once: true });
  writeFileSync(rig.path('a.log'), 'one\ntwo\nthree');
  await rig.start();
  await rig.source.run();
  rig.commit();
  const stream = rig.lane.blocks[0]!.stream;
  await rig.start({ once: false });
  const span = { source: 'app', stream, events: 0, sum: 0, tail: { length: 0, crc: 0 } };
  expect(await rig.source.reread!({ ...span, from: 4, to: 13 }, rig.lane)).toBe(13);
  expect(rig.texts).toEqual(['two', 'three']);
  expect(rig.lane.blocks.at(-1)).toMatchObject({ offset: 8, length: 5, single: { length: 5 } });
  expect(await rig.source.reread!({ ...span, from: 4, to: 14 }, rig.lane)).toBe(4);
  expect(await rig.source.reread!({ ...span, stream: 'f'.repeat(32), from: 0, to: 4 }, rig.lane)).toBe(0);
});

test('file source explains what it knows of a path', async () => {
  const rig = new TailRig({ exclude: ['skip*'] });
  writeFileSync(rig.path('a.log'), 'one\ntw');
  await rig.start();
  await rig.drain();
  expect(rig.source.explain(rig.path('a.log'))).toMatchObject({
    state: 'active',
    offset: 4,
    size: 6,
    lagBytes: 2,
    isRead: true,
    savedOffset: 0,
  });
  expect(rig.source.explain(rig.path('skip.log'))).toEqual({
    path: rig.path('skip.log'),
    isRead: false,
    patterns: expect.stringContaining('exclude'),
    reason: 'the exclude pattern "skip*" matches it',
    fix: expect.any(String),
  });
  expect(rig.source.explain('/elsewhere')).toMatchObject({ isRead: false, patterns: 'no include pattern matches it' });
});
