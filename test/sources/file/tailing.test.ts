import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startBench, TailBench } from './tail-bench.ts';

test('file source reads what is there and what is appended, each line once', async () => {
  const bench = new TailBench({ fields: { team: 'core' } });
  writeFileSync(bench.path('a.log'), 'one\ntwo\n');
  await bench.start();
  await bench.drain();
  appendFileSync(bench.path('a.log'), 'three\n');
  await bench.drain();
  await bench.drain();
  expect(bench.texts).toEqual(['one', 'two', 'three']);
  expect(bench.lane.blocks[0]!.shape).toEqual({
    format: 'auto',
    wrapFields: { host: 'testhost', file: bench.path('a.log') },
    fields: { team: 'core' },
  });
  expect(new Set(bench.lane.blocks.map((block) => block.shape)).size).toBe(1);
  expect(bench.source.stats).toMatchObject({ readBytes: 14, lagBytes: 0, files: { active: 1 } });
});

test('file source leaves an unfinished last line until its rest arrives', async () => {
  const bench = await startBench();
  writeFileSync(bench.path('a.log'), 'one\ntw');
  await bench.drain();
  expect(bench.texts).toEqual(['one']);
  expect(bench.source.stats.lagBytes).toBe(2);
  await bench.pass(3);
  expect(bench.texts).toEqual(['one']);
  appendFileSync(bench.path('a.log'), 'o\nthr');
  await bench.drain();
  expect(bench.texts).toEqual(['one', 'two']);
});

test('file source reads a file that appears later, and one in a new folder under **, from its beginning', async () => {
  const bench = new TailBench();
  await bench.start({ include: [bench.path('**/*.log')], startAt: 'end' });
  await bench.drain();
  mkdirSync(bench.path('deep/er'), { recursive: true });
  writeFileSync(bench.path('deep/er/b.log'), 'late\n');
  await bench.drain();
  expect(bench.byFile).toEqual({ 'deep/er/b.log': ['late'] });
});

test('file source starts at the end only in its first run, at the beginning of the line that is being written', async () => {
  const bench = new TailBench({ startAt: 'end' });
  writeFileSync(bench.path('a.log'), 'old\nolder\nhal');
  writeFileSync(bench.path('empty.log'), '');
  await bench.start();
  await bench.drain();
  expect(bench.texts).toEqual([]);
  appendFileSync(bench.path('a.log'), 'f\nnew\n');
  writeFileSync(bench.path('empty.log'), 'first\n');
  writeFileSync(bench.path('late.log'), 'whole\nfile\n');
  await bench.drain();
  expect(bench.byFile).toEqual({ 'a.log': ['half', 'new'], 'empty.log': ['first'], 'late.log': ['whole', 'file'] });
  bench.commit();
  writeFileSync(bench.path('while-stopped.log'), 'not skipped\n');
  await bench.start();
  await bench.drain();
  expect(bench.texts).toEqual(['not skipped']);
});

test('file source goes on after a restart where the committed spans end', async () => {
  const bench = await startBench();
  writeFileSync(bench.path('a.log'), 'one\ntwo\n');
  await bench.drain();
  bench.commit();
  appendFileSync(bench.path('a.log'), 'three\nfour\n');
  await bench.drain();
  // Not committed: read again, and under the same stream.
  const [stream] = bench.streams.records.keys();
  appendFileSync(bench.path('a.log'), 'five\n');
  await bench.start();
  await bench.drain();
  expect(bench.texts).toEqual(['three', 'four', 'five']);
  expect(new Set(bench.lane.blocks.map((block) => block.stream))).toEqual(new Set([stream]));
});

test('file source gives every file its turn, however loud another one is', async () => {
  const bench = new TailBench();
  writeFileSync(bench.path('a-loud.log'), `${'x'.repeat(1023)}\n`.repeat(12 * 1024));
  writeFileSync(bench.path('z-quiet.log'), 'quiet\n');
  await bench.start();
  const { moreToRead } = await bench.source.pollOnce();
  expect(moreToRead).toBe(true);
  expect(bench.byFile['z-quiet.log']).toEqual(['quiet']);
  expect(bench.source.stats.readBytes).toBeLessThan(6 * 1024 * 1024);
  await bench.drain();
  expect(bench.source.stats.readBytes).toBe(12 * 1024 * 1024 + 6);
});

test('file source under --once sends unfinished lines too and ends', async () => {
  const bench = new TailBench({ once: true });
  writeFileSync(bench.path('a.log'), 'one\ntw');
  writeFileSync(bench.path('b.log'), `${'y'.repeat(99)}\n`.repeat(100_000));
  writeFileSync(bench.path('empty.log'), '');
  await bench.start();
  await bench.source.run();
  expect(bench.byFile['a.log']).toEqual(['one', 'tw']);
  expect(bench.byFile['b.log']).toHaveLength(100_000);
  const last = bench.lane.blocks.find((block) => block.single)!;
  expect(last).toMatchObject({ offset: 4, length: 2, single: { length: 2 } });
});

test('file source runs until it is stopped, and stops while the lane holds a block', async () => {
  const bench = new TailBench();
  writeFileSync(bench.path('a.log'), 'one\n');
  await bench.start();
  const running = bench.source.run();
  await bench.lane.until((lane) => lane.blocks.length === 1);
  bench.lane.hold();
  appendFileSync(bench.path('a.log'), 'two\n');
  bench.clock.advance(1000);
  await bench.lane.until((lane) => lane.waiting === 1);
  const stopped = bench.source.stop();
  bench.lane.giveUp();
  await stopped;
  await running;
  expect(bench.texts).toEqual(['one']);
});

test('file source sees a rotation while the lane is full, and loses nothing when the rotated file is deleted', async () => {
  const bench = new TailBench();
  writeFileSync(bench.path('a.log'), 'one\n');
  writeFileSync(bench.path('b.log'), 'bee\n');
  await bench.start();
  bench.lane.hold();
  const running = bench.source.run();
  await bench.lane.until((lane) => lane.waiting === 1);
  appendFileSync(bench.path('b.log'), 'bees\n');
  await bench.source.scanOnce();
  rmSync(bench.path('b.log'));
  await bench.source.scanOnce();
  bench.lane.release();
  await bench.lane.until((lane) => lane.lines.length === 3);
  await bench.source.stop();
  await running;
  expect(bench.byFile).toEqual({ 'a.log': ['one'], 'b.log': ['bee', 'bees'] });
});

test('file source reads a span again exactly, an unfinished end included, and says when it cannot', async () => {
  const bench = new TailBench({ once: true });
  writeFileSync(bench.path('a.log'), 'one\ntwo\nthree');
  await bench.start();
  await bench.source.run();
  bench.commit();
  const stream = bench.lane.blocks[0]!.stream;
  await bench.start({ once: false });
  const span = { source: 'app', stream, events: 0, sum: 0, tail: { length: 0, crc: 0 } };
  expect(await bench.source.reread!({ ...span, from: 4, to: 13 }, bench.lane)).toBe(13);
  expect(bench.texts).toEqual(['two', 'three']);
  expect(bench.lane.blocks.at(-1)).toMatchObject({ offset: 8, length: 5, single: { length: 5 } });
  expect(await bench.source.reread!({ ...span, from: 4, to: 14 }, bench.lane)).toBe(4);
  expect(await bench.source.reread!({ ...span, stream: 'f'.repeat(32), from: 0, to: 4 }, bench.lane)).toBe(0);
});

test('file source explains what it knows of a path', async () => {
  const bench = new TailBench({ exclude: ['skip*'] });
  writeFileSync(bench.path('a.log'), 'one\ntw');
  await bench.start();
  await bench.drain();
  expect(bench.source.explain(bench.path('a.log'))).toMatchObject({
    state: 'active',
    offset: 4,
    size: 6,
    lagBytes: 2,
    isRead: true,
    savedOffset: 0,
  });
  expect(bench.source.explain(bench.path('skip.log'))).toEqual({
    path: bench.path('skip.log'),
    isRead: false,
    patterns: expect.stringContaining('exclude'),
    reason: 'the exclude pattern "skip*" matches it',
    fix: expect.any(String),
  });
  expect(bench.source.explain('/elsewhere')).toMatchObject({ isRead: false, patterns: 'no include pattern matches it' });
});
