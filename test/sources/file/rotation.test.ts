import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { expect, test } from 'vitest';
import { failingFileSystem, startBench, TailBench } from './tail-bench.ts';

test('rename rotation out of the globs is read to its end, also what is appended after it, and the new file from its beginning', async () => {
  const bench = await startBench();
  writeFileSync(bench.path('a.log'), 'one\n');
  await bench.drain();
  appendFileSync(bench.path('a.log'), 'two\n');
  renameSync(bench.path('a.log'), bench.path('a.log.1'));
  writeFileSync(bench.path('a.log'), 'fresh\n');
  await bench.drain();
  appendFileSync(bench.path('a.log.1'), 'three\n');
  await bench.drain();
  expect(bench.texts.sort()).toEqual(['fresh', 'one', 'three', 'two']);
  expect(bench.byFile).toEqual({ 'a.log': expect.anything() });
  expect(new Set(bench.lane.blocks.map((block) => block.stream)).size).toBe(2);
  expect(bench.said(/renamed/)).toHaveLength(1);
  // Closed long ago, renamed once more, and still the same file.
  await bench.pass(30);
  renameSync(bench.path('a.log.1'), bench.path('a.log.2'));
  appendFileSync(bench.path('a.log.2'), 'four\n');
  await bench.drain();
  expect(bench.texts.at(-1)).toBe('four');
  expect(bench.source.stats.lostBytes).toBe(0);
});

test('rename rotation within the globs reads nothing twice and keeps the path first matched, several at once and while closed', async () => {
  const bench = new TailBench();
  await bench.start({ include: [bench.path('a.log*')] });
  writeFileSync(bench.path('a.log'), 'one\n');
  await bench.drain();
  await bench.pass(30);
  expect(bench.source.stats.files).toMatchObject({ idle: 1, active: 0 });
  renameSync(bench.path('a.log'), bench.path('a.log.1'));
  writeFileSync(bench.path('a.log'), 'two\n');
  await bench.drain();
  await bench.pass(30);
  appendFileSync(bench.path('a.log.1'), 'one more\n');
  renameSync(bench.path('a.log.1'), bench.path('a.log.2'));
  appendFileSync(bench.path('a.log'), 'two more\n');
  renameSync(bench.path('a.log'), bench.path('a.log.1'));
  writeFileSync(bench.path('a.log'), 'three\n');
  await bench.drain();
  expect(bench.texts.sort()).toEqual(['one', 'one more', 'three', 'two', 'two more']);
  expect(Object.keys(bench.byFile)).toEqual(['a.log']);
});

test('rename rotations while the source is stopped are recognised by content, in and outside of the globs', async () => {
  const bench = await startBench();
  writeFileSync(bench.path('a.log'), 'one\n');
  writeFileSync(bench.path('b.log'), 'bee\n');
  await bench.drain();
  bench.commit();
  appendFileSync(bench.path('a.log'), 'two\n');
  renameSync(bench.path('a.log'), bench.path('a.log.1'));
  writeFileSync(bench.path('a.log'), 'three\n');
  renameSync(bench.path('b.log'), bench.path('c.log'));
  appendFileSync(bench.path('c.log'), 'bees\n');
  await bench.start();
  await bench.drain();
  expect(bench.byFile).toEqual({ 'a.log': expect.anything(), 'b.log': ['bees'] });
  expect(bench.texts.sort()).toEqual(['bees', 'three', 'two']);
});

test('unfinished last line of a rotated file is sent once the file is idle, and its rest as an event of its own', async () => {
  const bench = await startBench();
  writeFileSync(bench.path('a.log'), 'one\ntw');
  await bench.drain();
  renameSync(bench.path('a.log'), bench.path('a.log.1'));
  await bench.drain();
  expect(bench.texts).toEqual(['one']);
  await bench.pass(15);
  expect(bench.texts).toEqual(['one', 'tw']);
  appendFileSync(bench.path('a.log.1'), 'o\nthree\n');
  await bench.drain();
  expect(bench.texts).toEqual(['one', 'tw', 'o', 'three']);
});

test('deleted file is read to its end through the open descriptor, its unfinished line too, then let go and forgotten', async () => {
  const bench = new TailBench();
  const fd = openSync(bench.path('a.log'), 'w');
  writeSync(fd, 'one\n');
  await bench.start();
  await bench.source.pollOnce();
  writeSync(fd, 'two\nthr');
  unlinkSync(bench.path('a.log'));
  await bench.source.pollOnce();
  expect(bench.texts).toEqual(['one', 'two']);
  writeSync(fd, 'ee\nfour');
  closeSync(fd);
  await bench.source.pollOnce();
  expect(bench.texts).toEqual(['one', 'two', 'three']);
  expect(bench.source.stats.files['deleted']).toBe(1);
  await bench.pass(15);
  expect(bench.texts).toEqual(['one', 'two', 'three', 'four']);
  expect(bench.source.stats.files['deleted']).toBe(0);
  const [stream] = bench.streams.records.keys();
  bench.streams.unsettled.add(stream!);
  await bench.pass(90);
  expect(bench.streams.forgotten).toEqual([]);
  bench.streams.unsettled.clear();
  await bench.pass(1);
  expect(bench.streams.forgotten).toEqual([stream]);
  expect(bench.source.stats.lostBytes).toBe(0);
});

test('unfinished line of a file that was idle for long is not lost when the file is deleted', async () => {
  const bench = await startBench();
  writeFileSync(bench.path('a.log'), 'one\ntw');
  await bench.drain();
  await bench.pass(60);
  unlinkSync(bench.path('a.log'));
  await bench.pass(15);
  expect(bench.texts).toEqual(['one', 'tw']);
  expect(bench.source.stats.lostBytes).toBe(0);
});

test('file that is deleted and made again is read from its beginning, under a new stream', async () => {
  const bench = await startBench();
  writeFileSync(bench.path('a.log'), 'one\ntwo\n');
  await bench.drain();
  rmSync(bench.path('a.log'));
  writeFileSync(bench.path('a.log'), 'one\ntwo\nthree\n');
  await bench.drain();
  expect(bench.texts).toEqual(['one', 'two', 'one', 'two', 'three']);
  expect(new Set(bench.lane.blocks.map((block) => block.stream)).size).toBe(2);
});

test('file that is made again under a reused inode, longer than the old position, is read from its beginning', async () => {
  // The same inode with other content: what a file system does that gives a freed inode away again.
  const bench = await startBench();
  writeFileSync(bench.path('a.log'), 'old one\nold two\n');
  await bench.drain();
  await bench.pass(30);
  writeFileSync(bench.path('a.log'), 'new one, longer than\nall that was there before\n');
  await bench.drain();
  expect(bench.texts).toEqual(['old one', 'old two', 'new one, longer than', 'all that was there before']);
  bench.commit();
  writeFileSync(bench.path('a.log'), 'while it was stopped, another one\nof more bytes\nthan ever before was seen\n');
  await bench.start();
  await bench.drain();
  expect(bench.texts).toHaveLength(3);
  expect(bench.source.stats.lostBytes).toBe(0);
  expect(bench.said(/other content now/)).toHaveLength(2);
});

test('truncated file begins a new generation, and what a stat had seen unread is counted as lost', async () => {
  const bench = await startBench();
  writeFileSync(bench.path('a.log'), 'one\ntwo\nhalf');
  await bench.drain();
  truncateSync(bench.path('a.log'), 0);
  appendFileSync(bench.path('a.log'), 'new\n');
  await bench.drain();
  expect(bench.texts).toEqual(['one', 'two', 'new']);
  expect(bench.source.stats.lostBytes).toBe(4);
  expect(bench.said(/truncated or replaced.*written after the last look is not counted/)).toMatchObject([
    { fields: { offset: 8, seenSize: 12, lostBytes: 4 } },
  ]);
  expect(bench.lane.blocks.at(-1)).toMatchObject({ offset: 0 });
});

test('truncation that cuts only the unfinished line loses that and reads on', async () => {
  const bench = await startBench();
  const one = 'o'.repeat(1023);
  writeFileSync(bench.path('a.log'), `${one}\nhalf a line`);
  await bench.drain();
  truncateSync(bench.path('a.log'), 1028);
  await bench.drain();
  expect(bench.source.stats).toMatchObject({ lostBytes: 7, lagBytes: 4 });
  appendFileSync(bench.path('a.log'), ' done\n');
  await bench.drain();
  expect(bench.texts).toEqual([one, 'half done']);
});

test('truncation is seen although the file has grown past the old position between two looks', async () => {
  const bench = await startBench();
  writeFileSync(bench.path('a.log'), 'line 1\nline 2\n');
  await bench.drain();
  truncateSync(bench.path('a.log'), 0);
  appendFileSync(bench.path('a.log'), 'line 3\nline 4\nline 5\n');
  await bench.drain();
  expect(bench.texts).toEqual(['line 1', 'line 2', 'line 3', 'line 4', 'line 5']);
});

test('truncation is seen by the bytes before the position where every file begins with the same long banner', async () => {
  const bench = await startBench();
  const banner = `${'='.repeat(1999)}\n`;
  writeFileSync(bench.path('a.log'), `${banner}line 1 of the first\n`);
  await bench.drain();
  await bench.pass(30);
  writeFileSync(bench.path('a.log'), `${banner}line 1 of the other, longer\nline 2\n`);
  await bench.drain();
  expect(bench.texts.slice(1)).toEqual(['line 1 of the first', '='.repeat(1999), 'line 1 of the other, longer', 'line 2']);
  bench.commit();
  writeFileSync(bench.path('a.log'), `${banner}line 1 of the third, which is even longer than all\nline 2\nline 3\n`);
  await bench.start();
  await bench.drain();
  expect(bench.texts).toHaveLength(4);
});

test('truncation in the middle of a turn does not mix old and new bytes', async () => {
  const bench = new TailBench();
  const line = `${'o'.repeat(99)}\n`;
  writeFileSync(bench.path('a.log'), line.repeat(10_000));
  await bench.start();
  bench.lane.hold();
  const polled = bench.source.pollOnce();
  await bench.lane.until((lane) => lane.waiting === 1);
  writeFileSync(bench.path('a.log'), `${'n'.repeat(99)}\n`.repeat(12_000));
  bench.lane.release();
  await polled;
  await bench.drain();
  const texts = bench.texts;
  expect(texts.filter((text) => text === 'n'.repeat(99))).toHaveLength(12_000);
  expect(new Set(texts)).toEqual(new Set(['o'.repeat(99), 'n'.repeat(99)]));
  expect(bench.source.stats.lostBytes).toBe(1_000_000 - texts.filter((text) => text.startsWith('o')).length * 100);
});

test('symbolic link that is retargeted: both files are read, the old one to its end', async () => {
  const bench = new TailBench();
  mkdirSync(bench.path('real'));
  writeFileSync(bench.path('real/1'), 'one\n');
  writeFileSync(bench.path('real/2'), 'two\n');
  symlinkSync('real/1', bench.path('current.log'));
  await bench.start();
  await bench.drain();
  appendFileSync(bench.path('real/1'), 'one more\n');
  unlinkSync(bench.path('current.log'));
  symlinkSync('real/2', bench.path('current.log'));
  await bench.drain();
  expect(bench.byFile).toEqual({ 'current.log': ['one', 'one more', 'two'] });
});

test('second name of a file, a hard or a symbolic link, is not read again', async () => {
  const bench = new TailBench();
  writeFileSync(bench.path('a.log'), 'one\n');
  symlinkSync('a.log', bench.path('b.log'));
  execFileSync('ln', [bench.path('a.log'), bench.path('c.log')]);
  await bench.start();
  await bench.drain();
  appendFileSync(bench.path('c.log'), 'two\n');
  await bench.drain();
  expect(bench.byFile).toEqual({ 'a.log': ['one', 'two'] });
});

test('file that is moved away and back is read on, wherever it is', async () => {
  const bench = await startBench();
  writeFileSync(bench.path('a.log'), 'one\n');
  await bench.drain();
  mkdirSync(bench.path('elsewhere'));
  appendFileSync(bench.path('a.log'), 'two\n');
  renameSync(bench.path('a.log'), bench.path('elsewhere/x'));
  await bench.drain();
  appendFileSync(bench.path('elsewhere/x'), 'three\n');
  await bench.drain();
  renameSync(bench.path('elsewhere/x'), bench.path('a.log'));
  appendFileSync(bench.path('a.log'), 'four\n');
  await bench.drain();
  expect(bench.texts).toEqual(['one', 'two', 'three', 'four']);
  expect(bench.source.stats.files).toMatchObject({ active: 1, rotated: 0 });
});

test('two files of the same content are both read, also when one is a copy made later', async () => {
  const bench = new TailBench();
  writeFileSync(bench.path('a.log'), 'same\n');
  writeFileSync(bench.path('b.log'), 'same\n');
  await bench.start();
  await bench.drain();
  copyFileSync(bench.path('a.log'), bench.path('c.log'));
  await bench.drain();
  bench.commit();
  await bench.start();
  await bench.drain();
  expect(bench.lanes[0]!.texts).toEqual(['same', 'same', 'same']);
  expect(bench.texts).toEqual([]);
});

test.skipIf(!existsSync('/usr/sbin/logrotate'))(
  'logrotate with create: every line once, over five rotations, in and outside of the globs',
  async () => {
    for (const include of ['*.log', '*.log*']) {
      const bench = new TailBench();
      await bench.start({ include: [bench.path(`logs/${include}`)] });
      mkdirSync(bench.path('logs'), { mode: 0o755 });
      writeFileSync(
        bench.path('rotate.conf'),
        `${bench.path('logs/app.log')} {\n  rotate 3\n  create 0644\n  nocompress\n  size 1\n  su root root\n}\n`,
        { mode: 0o644 },
      );
      const written: string[] = [];
      const append = (count: number): void => {
        const lines = Array.from({ length: count }, () => `line ${written.length + 1} ${written.push('')}`);
        written.splice(-count, count, ...lines);
        appendFileSync(bench.path('logs/app.log'), `${lines.join('\n')}\n`);
      };
      for (let rotation = 0; rotation < 5; rotation += 1) {
        append(100);
        await bench.source.pollOnce();
        // Not seen by a scan before the rotation.
        append(100);
        execFileSync('/usr/sbin/logrotate', ['-f', '-s', bench.path('state'), bench.path('rotate.conf')]);
        append(50);
        await bench.source.pollOnce();
      }
      await bench.drain();
      expect(bench.texts.toSorted()).toEqual(written.toSorted());
      expect(Object.keys(bench.byFile)).toEqual(['logs/app.log']);
      expect(bench.source.stats.lostBytes).toBe(0);
    }
  },
);

test('file that was made and rotated away while its path was vacant at every scan is read', async () => {
  const bench = new TailBench();
  writeFileSync(bench.path('a.log'), 'one\n');
  await bench.start();
  await bench.drain();
  renameSync(bench.path('a.log'), bench.path('a.log.1'));
  await bench.drain();
  bench.bornNow();
  writeFileSync(bench.path('a.log'), 'two\n');
  renameSync(bench.path('a.log'), bench.path('a.log.2'));
  await bench.drain();
  expect(bench.texts).toEqual(['one', 'two']);
  bench.bornNow();
  writeFileSync(bench.path('a.log'), 'three\n');
  renameSync(bench.path('a.log'), bench.path('a.log.3'));
  writeFileSync(bench.path('a.log'), 'four\n');
  await bench.drain();
  expect(bench.texts.toSorted()).toEqual(['four', 'one', 'three', 'two']);
});

test('files that were rotated away between being found and being opened are read, and those behind them', async () => {
  const bench = new TailBench();
  let rotate: (() => void) | undefined;
  const fileSystem = failingFileSystem((real) => ({
    open(path) {
      const act = path === bench.path('a.log') ? rotate : undefined;
      rotate = act ? undefined : rotate;
      act?.();
      return real.open(path);
    },
  }));
  writeFileSync(bench.path('a.log'), 'one\n');
  await bench.start({ fileSystem });
  await bench.drain();
  renameSync(bench.path('a.log'), bench.path('a.log.1'));
  bench.bornNow();
  writeFileSync(bench.path('a.log'), 'two\n');
  rotate = () => {
    renameSync(bench.path('a.log'), bench.path('a.log.2'));
    writeFileSync(bench.path('a.log'), 'three\n');
    renameSync(bench.path('a.log'), bench.path('a.log.3'));
    writeFileSync(bench.path('a.log'), 'four\n');
  };
  await bench.source.scanOnce();
  renameSync(bench.path('a.log'), bench.path('a.log.4'));
  writeFileSync(bench.path('a.log'), 'five\n');
  await bench.drain();
  expect(bench.texts.toSorted()).toEqual(['five', 'four', 'one', 'three', 'two']);
});
