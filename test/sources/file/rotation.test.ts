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
import { failingFileSystem, startRig, TailRig } from './tail-rig.ts';

test('rename rotation out of the globs is read to its end, also what is appended after it, and the new file from its beginning', async () => {
  const rig = await startRig();
  writeFileSync(rig.path('a.log'), 'one\n');
  await rig.drain();
  appendFileSync(rig.path('a.log'), 'two\n');
  renameSync(rig.path('a.log'), rig.path('a.log.1'));
  writeFileSync(rig.path('a.log'), 'fresh\n');
  await rig.drain();
  appendFileSync(rig.path('a.log.1'), 'three\n');
  await rig.drain();
  expect(rig.texts.sort()).toEqual(['fresh', 'one', 'three', 'two']);
  expect(rig.byFile).toEqual({ 'a.log': expect.anything() });
  expect(new Set(rig.lane.blocks.map((block) => block.stream)).size).toBe(2);
  expect(rig.said(/renamed/)).toHaveLength(1);
  // Closed long ago, renamed once more, and still the same file.
  await rig.pass(30);
  renameSync(rig.path('a.log.1'), rig.path('a.log.2'));
  appendFileSync(rig.path('a.log.2'), 'four\n');
  await rig.drain();
  expect(rig.texts.at(-1)).toBe('four');
  expect(rig.source.stats.lostBytes).toBe(0);
});

test('rename rotation within the globs reads nothing twice and keeps the path first matched, several at once and while closed', async () => {
  const rig = new TailRig();
  await rig.start({ include: [rig.path('a.log*')] });
  writeFileSync(rig.path('a.log'), 'one\n');
  await rig.drain();
  await rig.pass(30);
  expect(rig.source.stats.files).toMatchObject({ idle: 1, active: 0 });
  renameSync(rig.path('a.log'), rig.path('a.log.1'));
  writeFileSync(rig.path('a.log'), 'two\n');
  await rig.drain();
  await rig.pass(30);
  appendFileSync(rig.path('a.log.1'), 'one more\n');
  renameSync(rig.path('a.log.1'), rig.path('a.log.2'));
  appendFileSync(rig.path('a.log'), 'two more\n');
  renameSync(rig.path('a.log'), rig.path('a.log.1'));
  writeFileSync(rig.path('a.log'), 'three\n');
  await rig.drain();
  expect(rig.texts.sort()).toEqual(['one', 'one more', 'three', 'two', 'two more']);
  expect(Object.keys(rig.byFile)).toEqual(['a.log']);
});

test('rename rotations while the source is stopped are recognised by content, in and outside of the globs', async () => {
  const rig = await startRig();
  writeFileSync(rig.path('a.log'), 'one\n');
  writeFileSync(rig.path('b.log'), 'bee\n');
  await rig.drain();
  rig.commit();
  appendFileSync(rig.path('a.log'), 'two\n');
  renameSync(rig.path('a.log'), rig.path('a.log.1'));
  writeFileSync(rig.path('a.log'), 'three\n');
  renameSync(rig.path('b.log'), rig.path('c.log'));
  appendFileSync(rig.path('c.log'), 'bees\n');
  await rig.start();
  await rig.drain();
  expect(rig.byFile).toEqual({ 'a.log': expect.anything(), 'b.log': ['bees'] });
  expect(rig.texts.sort()).toEqual(['bees', 'three', 'two']);
});

test('unfinished last line of a rotated file is sent once the file is idle, and its rest as an event of its own', async () => {
  const rig = await startRig();
  writeFileSync(rig.path('a.log'), 'one\ntw');
  await rig.drain();
  renameSync(rig.path('a.log'), rig.path('a.log.1'));
  await rig.drain();
  expect(rig.texts).toEqual(['one']);
  await rig.pass(15);
  expect(rig.texts).toEqual(['one', 'tw']);
  appendFileSync(rig.path('a.log.1'), 'o\nthree\n');
  await rig.drain();
  expect(rig.texts).toEqual(['one', 'tw', 'o', 'three']);
});

test('deleted file is read to its end through the open descriptor, its unfinished line too, then let go and forgotten', async () => {
  const rig = new TailRig();
  const fd = openSync(rig.path('a.log'), 'w');
  writeSync(fd, 'one\n');
  await rig.start();
  await rig.source.pollOnce();
  writeSync(fd, 'two\nthr');
  unlinkSync(rig.path('a.log'));
  await rig.source.pollOnce();
  expect(rig.texts).toEqual(['one', 'two']);
  writeSync(fd, 'ee\nfour');
  closeSync(fd);
  await rig.source.pollOnce();
  expect(rig.texts).toEqual(['one', 'two', 'three']);
  expect(rig.source.stats.files['deleted']).toBe(1);
  await rig.pass(15);
  expect(rig.texts).toEqual(['one', 'two', 'three', 'four']);
  expect(rig.source.stats.files['deleted']).toBe(0);
  const [stream] = rig.streams.records.keys();
  rig.streams.unsettled.add(stream!);
  await rig.pass(90);
  expect(rig.streams.forgotten).toEqual([]);
  rig.streams.unsettled.clear();
  await rig.pass(1);
  expect(rig.streams.forgotten).toEqual([stream]);
  expect(rig.source.stats.lostBytes).toBe(0);
});

test('unfinished line of a file that was idle for long is not lost when the file is deleted', async () => {
  const rig = await startRig();
  writeFileSync(rig.path('a.log'), 'one\ntw');
  await rig.drain();
  await rig.pass(60);
  unlinkSync(rig.path('a.log'));
  await rig.pass(15);
  expect(rig.texts).toEqual(['one', 'tw']);
  expect(rig.source.stats.lostBytes).toBe(0);
});

test('file that is deleted and made again is read from its beginning, under a new stream', async () => {
  const rig = await startRig();
  writeFileSync(rig.path('a.log'), 'one\ntwo\n');
  await rig.drain();
  rmSync(rig.path('a.log'));
  writeFileSync(rig.path('a.log'), 'one\ntwo\nthree\n');
  await rig.drain();
  expect(rig.texts).toEqual(['one', 'two', 'one', 'two', 'three']);
  expect(new Set(rig.lane.blocks.map((block) => block.stream)).size).toBe(2);
});

test('file that is made again under a reused inode, longer than the old position, is read from its beginning', async () => {
  // The same inode with other content: what a file system does that gives a freed inode away again.
  const rig = await startRig();
  writeFileSync(rig.path('a.log'), 'old one\nold two\n');
  await rig.drain();
  await rig.pass(30);
  writeFileSync(rig.path('a.log'), 'new one, longer than\nall that was there before\n');
  await rig.drain();
  expect(rig.texts).toEqual(['old one', 'old two', 'new one, longer than', 'all that was there before']);
  rig.commit();
  writeFileSync(rig.path('a.log'), 'while it was stopped, another one\nof more bytes\nthan ever before was seen\n');
  await rig.start();
  await rig.drain();
  expect(rig.texts).toHaveLength(3);
  expect(rig.source.stats.lostBytes).toBe(0);
  expect(rig.said(/other content now/)).toHaveLength(2);
});

test('truncated file begins a new generation, and what a stat had seen unread is counted as lost', async () => {
  const rig = await startRig();
  writeFileSync(rig.path('a.log'), 'one\ntwo\nhalf');
  await rig.drain();
  truncateSync(rig.path('a.log'), 0);
  appendFileSync(rig.path('a.log'), 'new\n');
  await rig.drain();
  expect(rig.texts).toEqual(['one', 'two', 'new']);
  expect(rig.source.stats.lostBytes).toBe(4);
  expect(rig.said(/truncated or replaced.*written after the last look is not counted/)).toMatchObject([
    { fields: { offset: 8, seenSize: 12, lostBytes: 4 } },
  ]);
  expect(rig.lane.blocks.at(-1)).toMatchObject({ offset: 0 });
});

test('truncation that cuts only the unfinished line loses that and reads on', async () => {
  const rig = await startRig();
  const one = 'o'.repeat(1023);
  writeFileSync(rig.path('a.log'), `${one}\nhalf a line`);
  await rig.drain();
  truncateSync(rig.path('a.log'), 1028);
  await rig.drain();
  expect(rig.source.stats).toMatchObject({ lostBytes: 7, lagBytes: 4 });
  appendFileSync(rig.path('a.log'), ' done\n');
  await rig.drain();
  expect(rig.texts).toEqual([one, 'half done']);
});

test('truncation is seen although the file has grown past the old position between two looks', async () => {
  const rig = await startRig();
  writeFileSync(rig.path('a.log'), 'line 1\nline 2\n');
  await rig.drain();
  truncateSync(rig.path('a.log'), 0);
  appendFileSync(rig.path('a.log'), 'line 3\nline 4\nline 5\n');
  await rig.drain();
  expect(rig.texts).toEqual(['line 1', 'line 2', 'line 3', 'line 4', 'line 5']);
});

test('truncation is seen by the bytes before the position where every file begins with the same long banner', async () => {
  const rig = await startRig();
  const banner = `${'='.repeat(1999)}\n`;
  writeFileSync(rig.path('a.log'), `${banner}line 1 of the first\n`);
  await rig.drain();
  await rig.pass(30);
  writeFileSync(rig.path('a.log'), `${banner}line 1 of the other, longer\nline 2\n`);
  await rig.drain();
  expect(rig.texts.slice(1)).toEqual(['line 1 of the first', '='.repeat(1999), 'line 1 of the other, longer', 'line 2']);
  rig.commit();
  writeFileSync(rig.path('a.log'), `${banner}line 1 of the third, which is even longer than all\nline 2\nline 3\n`);
  await rig.start();
  await rig.drain();
  expect(rig.texts).toHaveLength(4);
});

test('truncation in the middle of a turn does not mix old and new bytes', async () => {
  const rig = new TailRig();
  const line = `${'o'.repeat(99)}\n`;
  writeFileSync(rig.path('a.log'), line.repeat(10_000));
  await rig.start();
  rig.lane.hold();
  const polled = rig.source.pollOnce();
  await rig.lane.until((lane) => lane.waiting === 1);
  writeFileSync(rig.path('a.log'), `${'n'.repeat(99)}\n`.repeat(12_000));
  rig.lane.release();
  await polled;
  await rig.drain();
  const texts = rig.texts;
  expect(texts.filter((text) => text === 'n'.repeat(99))).toHaveLength(12_000);
  expect(new Set(texts)).toEqual(new Set(['o'.repeat(99), 'n'.repeat(99)]));
  expect(rig.source.stats.lostBytes).toBe(1_000_000 - texts.filter((text) => text.startsWith('o')).length * 100);
});

test('symbolic link that is retargeted: both files are read, the old one to its end', async () => {
  const rig = new TailRig();
  mkdirSync(rig.path('real'));
  writeFileSync(rig.path('real/1'), 'one\n');
  writeFileSync(rig.path('real/2'), 'two\n');
  symlinkSync('real/1', rig.path('current.log'));
  await rig.start();
  await rig.drain();
  appendFileSync(rig.path('real/1'), 'one more\n');
  unlinkSync(rig.path('current.log'));
  symlinkSync('real/2', rig.path('current.log'));
  await rig.drain();
  expect(rig.byFile).toEqual({ 'current.log': ['one', 'one more', 'two'] });
});

test('second name of a file, a hard or a symbolic link, is not read again', async () => {
  const rig = new TailRig();
  writeFileSync(rig.path('a.log'), 'one\n');
  symlinkSync('a.log', rig.path('b.log'));
  execFileSync('ln', [rig.path('a.log'), rig.path('c.log')]);
  await rig.start();
  await rig.drain();
  appendFileSync(rig.path('c.log'), 'two\n');
  await rig.drain();
  expect(rig.byFile).toEqual({ 'a.log': ['one', 'two'] });
});

test('file that is moved away and back is read on, wherever it is', async () => {
  const rig = await startRig();
  writeFileSync(rig.path('a.log'), 'one\n');
  await rig.drain();
  mkdirSync(rig.path('elsewhere'));
  appendFileSync(rig.path('a.log'), 'two\n');
  renameSync(rig.path('a.log'), rig.path('elsewhere/x'));
  await rig.drain();
  appendFileSync(rig.path('elsewhere/x'), 'three\n');
  await rig.drain();
  renameSync(rig.path('elsewhere/x'), rig.path('a.log'));
  appendFileSync(rig.path('a.log'), 'four\n');
  await rig.drain();
  expect(rig.texts).toEqual(['one', 'two', 'three', 'four']);
  expect(rig.source.stats.files).toMatchObject({ active: 1, rotated: 0 });
});

test('two files of the same content are both read, also when one is a copy made later', async () => {
  const rig = new TailRig();
  writeFileSync(rig.path('a.log'), 'same\n');
  writeFileSync(rig.path('b.log'), 'same\n');
  await rig.start();
  await rig.drain();
  copyFileSync(rig.path('a.log'), rig.path('c.log'));
  await rig.drain();
  rig.commit();
  await rig.start();
  await rig.drain();
  expect(rig.lanes[0]!.texts).toEqual(['same', 'same', 'same']);
  expect(rig.texts).toEqual([]);
});

test.skipIf(!existsSync('/usr/sbin/logrotate'))(
  'logrotate with create: every line once, over five rotations, in and outside of the globs',
  async () => {
    for (const include of ['*.log', '*.log*']) {
      const rig = new TailRig();
      await rig.start({ include: [rig.path(`logs/${include}`)] });
      mkdirSync(rig.path('logs'), { mode: 0o755 });
      writeFileSync(
        rig.path('rotate.conf'),
        `${rig.path('logs/app.log')} {\n  rotate 3\n  create 0644\n  nocompress\n  size 1\n  su root root\n}\n`,
        { mode: 0o644 },
      );
      const written: string[] = [];
      const append = (count: number): void => {
        const lines = Array.from({ length: count }, () => `line ${written.length + 1} ${written.push('')}`);
        written.splice(-count, count, ...lines);
        appendFileSync(rig.path('logs/app.log'), `${lines.join('\n')}\n`);
      };
      for (let rotation = 0; rotation < 5; rotation += 1) {
        append(100);
        await rig.source.pollOnce();
        // Not seen by a scan before the rotation.
        append(100);
        execFileSync('/usr/sbin/logrotate', ['-f', '-s', rig.path('state'), rig.path('rotate.conf')]);
        append(50);
        await rig.source.pollOnce();
      }
      await rig.drain();
      expect(rig.texts.toSorted()).toEqual(written.toSorted());
      expect(Object.keys(rig.byFile)).toEqual(['logs/app.log']);
      expect(rig.source.stats.lostBytes).toBe(0);
    }
  },
);

test('file that was made and rotated away while its path was vacant at every scan is read', async () => {
  const rig = new TailRig();
  writeFileSync(rig.path('a.log'), 'one\n');
  await rig.start();
  await rig.drain();
  renameSync(rig.path('a.log'), rig.path('a.log.1'));
  await rig.drain();
  rig.bornNow();
  writeFileSync(rig.path('a.log'), 'two\n');
  renameSync(rig.path('a.log'), rig.path('a.log.2'));
  await rig.drain();
  expect(rig.texts).toEqual(['one', 'two']);
  rig.bornNow();
  writeFileSync(rig.path('a.log'), 'three\n');
  renameSync(rig.path('a.log'), rig.path('a.log.3'));
  writeFileSync(rig.path('a.log'), 'four\n');
  await rig.drain();
  expect(rig.texts.toSorted()).toEqual(['four', 'one', 'three', 'two']);
});

test('files that were rotated away between being found and being opened are read, and those behind them', async () => {
  const rig = new TailRig();
  let rotate: (() => void) | undefined;
  const fileSystem = failingFileSystem((real) => ({
    open(path) {
      const act = path === rig.path('a.log') ? rotate : undefined;
      rotate = act ? undefined : rotate;
      act?.();
      return real.open(path);
    },
  }));
  writeFileSync(rig.path('a.log'), 'one\n');
  await rig.start({ fileSystem });
  await rig.drain();
  renameSync(rig.path('a.log'), rig.path('a.log.1'));
  rig.bornNow();
  writeFileSync(rig.path('a.log'), 'two\n');
  rotate = () => {
    renameSync(rig.path('a.log'), rig.path('a.log.2'));
    writeFileSync(rig.path('a.log'), 'three\n');
    renameSync(rig.path('a.log'), rig.path('a.log.3'));
    writeFileSync(rig.path('a.log'), 'four\n');
  };
  await rig.source.scanOnce();
  renameSync(rig.path('a.log'), rig.path('a.log.4'));
  writeFileSync(rig.path('a.log'), 'five\n');
  await rig.drain();
  expect(rig.texts.toSorted()).toEqual(['five', 'four', 'one', 'three', 'two']);
});
