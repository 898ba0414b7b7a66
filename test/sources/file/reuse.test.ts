/** Files that take another one's place: a new file under a freed inode, a link that is pointed elsewhere, delete and create in a loop. */
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  renameSync,
  statfsSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { nodeFileSystem } from '../../../src/sources/file/scan/file-system.ts';
import { failingFileSystem, freshFolders, startBench, systemError, TailBench } from './tail-bench.ts';

const EXT4 = 0xef53;
const TRIES = 2000;
const ATTEMPTS = 10;

/** Deletes and creates `path` until its inode is `inode` again; false on a file system that numbers files without end. */
function recreateUnder(inode: number, path: string, content: string | Buffer): boolean {
  for (let tries = 0; tries < TRIES; tries += 1) {
    unlinkSync(path);
    writeFileSync(path, content);
    if (statSync(path).ino === inode) return true;
  }
  return false;
}

/**
 * Plays a scenario until it met the inode again, which ext4 gives to the next file unless another process is quicker: there one
 * of them must have met it.
 */
async function untilReused(play: (bench: TailBench) => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const bench = await startBench();
    if (await play(bench)) return;
    if (statfsSync(bench.folder).type !== EXT4) return;
  }
  expect.fail(`the inode was not given again in ${ATTEMPTS} attempts`);
}

/** Moves a file where the source does not look, so that nobody else gets its inode before the function that is returned deletes it. */
function moveAway(bench: TailBench, path: string): () => void {
  mkdirSync(bench.path('elsewhere'));
  renameSync(path, bench.path('elsewhere/gone'));
  return () => unlinkSync(bench.path('elsewhere/gone'));
}

test.each([
  ['while the source runs', false],
  ['while it is stopped', true],
])('new file under the inode of a deleted one is read from its beginning, made %s', async (_, isStopped) => {
  await untilReused(async (bench) => {
    const path = bench.path('a.log');
    writeFileSync(path, 'old one\nold two\n');
    await bench.drain();
    bench.commit();
    const { ino } = statSync(path);
    const [old] = bench.streams.records.keys();
    // Closed, so that the inode is free once the file is deleted.
    await bench.pass(30);
    if (isStopped) await bench.source.stop();
    const isReused = recreateUnder(ino, path, 'new one, and longer\nthan the position that is known\n');
    if (isStopped) await bench.start();
    const before = isStopped ? 0 : 2;
    await bench.drain();
    expect(bench.texts.slice(before)).toEqual(['new one, and longer', 'than the position that is known']);
    expect(bench.lane.blocks.at(-1)!.stream).not.toBe(old);
    expect(bench.source.stats.lostBytes).toBe(0);
    return isReused;
  });
});

test('new file under the inode of a deleted one that begins alike is read from its beginning', async () => {
  await untilReused(async (bench) => {
    const path = bench.path('a.log');
    const banner = `${'#'.repeat(1500)}\n`;
    writeFileSync(path, `${banner}old one\n`);
    await bench.drain();
    await bench.pass(30);
    const isReused = recreateUnder(statSync(path).ino, path, `${banner}new one\nnew two\n`);
    await bench.drain();
    expect(bench.texts.slice(2)).toEqual([banner.trimEnd(), 'new one', 'new two']);
    return isReused;
  });
});

// Symptom: a copy of a truncated file was read again. Cause: it had the inode of the rotated file that was deleted before, and was
// compared with what had been read of that one alone.
test.for(['*.log', '*.log*'])(
  'copy of a truncated file under the inode of the rotated one before it is not read again, with %s',
  async (include) => {
    const line = (text: string): string => `${'#'.repeat(1200)} ${text}\n`;
    await untilReused(async (bench) => {
      await bench.start({ include: [bench.path(include)] });
      const [path, rotated] = [bench.path('a.log'), bench.path('a.log.1')];
      writeFileSync(path, line('first, and longer'));
      await bench.drain();
      renameSync(path, rotated);
      writeFileSync(path, line('second'));
      await bench.drain();
      await bench.pass(30);
      const { ino } = statSync(rotated);
      const isReused = recreateUnder(ino, rotated, line('second'));
      truncateSync(path, 0);
      appendFileSync(path, 'third\n');
      await bench.pass(90);
      expect(bench.texts.map((text) => text.replace(/^#+ /, ''))).toEqual(['first, and longer', 'second', 'third']);
      expect(bench.source.stats.lostBytes).toBe(0);
      return isReused;
    });
  },
);

// Symptom: a copy was read again, and its lines were said to be of another file. Cause: it had the inode of an empty file, of which
// nothing was known that it could differ from, so that it counted as that file, renamed.
test('copy under the inode of an empty file that was deleted is not read again', async () => {
  await untilReused(async (bench) => {
    const [path, empty, copy] = [bench.path('a.log'), bench.path('empty.log'), bench.path('a.log.1')];
    writeFileSync(path, 'old one\n');
    writeFileSync(empty, '');
    await bench.start({ include: [bench.path('*.log*')] });
    await bench.drain();
    await bench.pass(30);
    const { ino } = statSync(empty);
    unlinkSync(empty);
    writeFileSync(copy, 'old one\n');
    const isReused = statSync(copy).ino === ino || recreateUnder(ino, copy, 'old one\n');
    unlinkSync(path);
    await bench.pass(30);
    appendFileSync(copy, 'late\n');
    await bench.pass(30);
    expect(bench.byFile).toEqual({ 'a.log': ['old one', 'late'] });
    return isReused;
  });
});

// Symptom: a file that was rotated away unseen was never read. Cause: it had the inode of an empty file that was gone for longer than
// it is looked for, and counted as known.
test('file that was rotated away unseen is read, under the inode of an empty file that is gone for long', async () => {
  await untilReused(async (bench) => {
    const [path, empty] = [bench.path('a.log'), bench.path('empty.log')];
    writeFileSync(empty, '');
    writeFileSync(path, 'one\n');
    await bench.pass(30);
    const { ino } = statSync(empty);
    const release = moveAway(bench, empty);
    await bench.pass(15);
    bench.bornNow();
    renameSync(path, bench.path('a.log.2'));
    release();
    writeFileSync(path, 'two\n');
    const isReused = statSync(path).ino === ino || recreateUnder(ino, path, 'two\n');
    renameSync(path, bench.path('a.log.1'));
    await bench.pass(15);
    expect(bench.byFile).toEqual({ 'a.log': ['one', 'two'] });
    return isReused;
  });
});

test('file that was rotated away unseen is read once, under the inode of one before it that is gone for long', async () => {
  await untilReused(async (bench) => {
    const path = bench.path('a.log');
    writeFileSync(path, 'one\n');
    await bench.pass(30);
    const { ino } = statSync(path);
    const release = moveAway(bench, path);
    await bench.pass(15);
    release();
    writeFileSync(path, 'two\n');
    const isReused = statSync(path).ino === ino || recreateUnder(ino, path, 'two\n');
    renameSync(path, bench.path('a.log.1'));
    await bench.pass(15);
    expect(bench.byFile).toEqual({ 'a.log': ['one', 'two'] });
    return isReused;
  });
});

// Symptom: a copy was read again after a restart. Cause: it had the inode of a file of which nothing was saved and that began alike, and
// was taken for that file; what it is a copy of was then not found.
test('copy under the inode of a file that began alike, of which nothing was saved, is not read again after a restart', async () => {
  const banner = `${'#'.repeat(1200)}\n`;
  await untilReused(async (bench) => {
    const include = [bench.path('*.log*')];
    const [path, rotated] = [bench.path('a.log'), bench.path('a.log.1')];
    await bench.start({ include });
    writeFileSync(path, `${banner}second\n`);
    await bench.drain();
    bench.commit();
    writeFileSync(rotated, `${banner}first\n`);
    await bench.source.scanOnce();
    await bench.source.stop();
    bench.bornNow();
    const isReused = recreateUnder(statSync(rotated).ino, rotated, `${banner}second\n`);
    truncateSync(path, 0);
    await bench.start({ include });
    await bench.pass(30);
    expect(bench.texts).toEqual([]);
    return isReused;
  });
});

// Symptom: what was written between two rotations was never read. Cause: its copy had the inode of a file that was deleted since the last
// scan, and counted as that one; by the time that one was missed, the copy of what came before was found, and no more were looked for.
test('second of two copies is read, under the inode of a file that no scan has missed yet', async () => {
  await untilReused(async (bench) => {
    const [path, other, first, second] = [bench.path('a.log'), bench.path('b.log'), bench.path('a.log.2'), bench.path('a.log.1')];
    writeFileSync(path, 'one\n');
    writeFileSync(other, 'other\n');
    await bench.pass(30);
    copyFileSync(path, first);
    writeFileSync(path, 'two\n');
    const { ino } = statSync(other);
    unlinkSync(other);
    copyFileSync(path, second);
    const isReused = statSync(second).ino === ino || recreateUnder(ino, second, 'two\n');
    truncateSync(path, 0);
    await bench.pass(15);
    expect(bench.byFile).toEqual({ 'a.log': ['one', 'two'], 'b.log': ['other'] });
    expect(bench.source.stats.lostBytes).toBe(0);
    return isReused;
  });
});

// Symptom: what was written between two rotations was never read, and not counted. Cause: the file that had the inode of its copy could not be
// compared with it just then, and once the copy of what came before was found, no more were looked for.
test.each(['EIO', 'EMFILE', 'EACCES'])(
  'second of two copies is read, under the inode of a file that it cannot be compared with at first: %s',
  async (code) => {
    await untilReused(async (bench) => {
      let failing: string | undefined;
      const fileSystem = failingFileSystem((real) => ({
        ...freshFolders,
        open(path) {
          if (path === failing) throw systemError(code);
          return real.open(path);
        },
      }));
      await bench.start({ fileSystem });
      const [path, other, first, second] = [bench.path('a.log'), bench.path('b.log'), bench.path('a.log.2'), bench.path('a.log.1')];
      writeFileSync(path, 'one\n');
      writeFileSync(other, 'other\n');
      await bench.pass(30);
      copyFileSync(path, first);
      writeFileSync(path, 'two\n');
      const { ino } = statSync(other);
      unlinkSync(other);
      copyFileSync(path, second);
      const isReused = statSync(second).ino === ino || recreateUnder(ino, second, 'two\n');
      truncateSync(path, 0);
      failing = second;
      await bench.pass(3);
      failing = undefined;
      await bench.pass(15);
      expect(bench.byFile).toEqual({ 'a.log': ['one', 'two'], 'b.log': ['other'] });
      expect(bench.source.stats).toMatchObject({ lostBytes: 0, lagBytes: 0 });
      return isReused;
    });
  },
);

// Symptom: after a restart, lines were said to be of another file, and a copy of it was read again. Cause: an empty file that was compared
// with what is gone got a stream without a first byte to know it by; then any file under its inode was taken for it.
test('file under the inode of an empty one that was compared with what is gone is not taken for it after a restart', async () => {
  await untilReused(async (bench) => {
    const include = [bench.path('*.log*')];
    const [path, empty, next] = [bench.path('a.log'), bench.path('a.log.1'), bench.path('b.log')];
    await bench.start({ include });
    writeFileSync(path, 'one\n');
    await bench.drain();
    bench.commit();
    unlinkSync(path);
    writeFileSync(empty, '');
    await bench.start({ include });
    await bench.pass(2);
    const { ino } = statSync(empty);
    await bench.source.stop();
    unlinkSync(empty);
    writeFileSync(next, 'two\n');
    const isReused = statSync(next).ino === ino || recreateUnder(ino, next, 'two\n');
    await bench.start({ include });
    await bench.drain();
    expect(bench.byFile).toEqual({ 'b.log': ['two'] });
    return isReused;
  });
});

// Symptom: a file that no glob matches was read, as what became of a deleted one. Cause: a closed file was looked for by its inode
// alone, and what was found under it was read from its beginning, whatever it was.
test('file that no glob matches is not read when it gets the inode of a deleted one', async () => {
  await untilReused(async (bench) => {
    writeFileSync(bench.path('a.log'), 'one\n');
    await bench.drain();
    await bench.pass(30);
    const { ino } = statSync(bench.path('a.log'));
    unlinkSync(bench.path('a.log'));
    writeFileSync(bench.path('private.txt'), 'nobody asked for it\n');
    const isReused =
      statSync(bench.path('private.txt')).ino === ino || recreateUnder(ino, bench.path('private.txt'), 'nobody asked for it\n');
    await bench.pass(90);
    expect(bench.texts).toEqual(['one']);
    expect(bench.source.stats).toMatchObject({ lostBytes: 0, lagBytes: 0 });
    return isReused;
  });
});

// Symptom: an archive was never read. Cause: archives were known by inode alone, and it had that of one that was read, and deleted since the
// last scan; rotation deletes the oldest archive just before it makes the newest.
test('archive under the inode of one that was read and deleted is read', async () => {
  await untilReused(async (bench) => {
    await bench.start({ include: [bench.path('*.log*')], readCompressed: true });
    const [oldest, newest] = [bench.path('a.log.2.gz'), bench.path('a.log.1.gz')];
    const still = (path: string): void => utimesSync(path, new Date('2020-01-01'), new Date('2020-01-01'));
    writeFileSync(oldest, gzipSync('one\n'));
    still(oldest);
    await bench.pass(3);
    bench.commit();
    await bench.pass(3);
    const { ino } = statSync(oldest);
    unlinkSync(oldest);
    writeFileSync(newest, gzipSync('two\n'));
    const isReused = statSync(newest).ino === ino || recreateUnder(ino, newest, gzipSync('two\n'));
    still(newest);
    await bench.pass(3);
    expect(bench.byFile).toEqual({ 'a.log.2.gz': ['one'], 'a.log.1.gz': ['two'] });
    bench.commit();
    await bench.pass(130);
    expect(bench.streams.list('app').map(({ path }) => path)).toEqual([newest]);
    return isReused;
  });
});

test('file that is deleted and made again in a loop: every line of every one that a scan saw, once; nothing is left of them', async () => {
  const bench = await startBench();
  const path = bench.path('a.log');
  const written: string[] = [];
  for (let round = 0; round < 200; round += 1) {
    const lines = Array.from({ length: 1 + (round % 7) }, (_, n) => `round ${round} line ${n}`);
    written.push(...lines);
    writeFileSync(path, `${lines.join('\n')}\n`);
    // Sometimes read before it is deleted, sometimes only seen, and sometimes it grows in between.
    if (round % 3 === 0) await bench.source.pollOnce();
    else await bench.source.scanOnce();
    if (round % 5 === 0) {
      appendFileSync(path, `round ${round} late\n`);
      written.push(`round ${round} late`);
    }
    unlinkSync(path);
    bench.clock.advance(100);
  }
  await bench.drain();
  expect(bench.texts.toSorted()).toEqual(written.toSorted());
  expect(bench.source.stats.lostBytes).toBe(0);
  bench.commit();
  await bench.pass(100, 10);
  expect(bench.source.stats.files).toMatchObject({ active: 0, deleted: 0 });
  expect(bench.streams.records.size).toBe(0);
  const held = readdirSync('/proc/self/fd').filter((fd) => nodeFileSystem.pathOf(Number(fd))?.startsWith(bench.folder) === true);
  expect(held).toEqual([]);
});

test('symbolic link that is pointed elsewhere again and again under load: every line of every target, once', async () => {
  const bench = new TailBench();
  mkdirSync(bench.path('real'));
  const written: string[] = [];
  let lines = 0;
  const append = (target: number, count: number): void => {
    const text = Array.from({ length: count }, () => `target ${target} line ${(lines += 1)}`);
    written.push(...text);
    appendFileSync(bench.path(`real/${target}`), `${text.join('\n')}\n`);
  };
  append(0, 100);
  symlinkSync('real/0', bench.path('current.log'));
  await bench.start();
  for (let target = 1; target <= 40; target += 1) {
    append(target, 50);
    append(target - 1, 50);
    symlinkSync(`real/${target}`, bench.path('next'));
    renameSync(bench.path('next'), bench.path('current.log'));
    // The writer of the old target goes on for a moment.
    append(target - 1, 20);
    if (target % 3 === 0) await bench.source.pollOnce();
    else await bench.source.scanOnce();
    append(target - 1, 5);
    append(target, 300);
    bench.clock.advance(1000);
  }
  await bench.drain();
  expect(bench.texts.toSorted()).toEqual(written.toSorted());
  expect(Object.keys(bench.byFile)).toEqual(['current.log']);
  expect(bench.source.stats.lostBytes).toBe(0);
});

test('file that is deleted while much of it is unread is read to its end, while the lane is full and a new one is in its place', async () => {
  const bench = new TailBench();
  const path = bench.path('a.log');
  const lines = Array.from({ length: 200_000 }, (_, n) => `line ${n} ${'x'.repeat(80)}`);
  writeFileSync(path, `${lines.join('\n')}\n`);
  await bench.start();
  const { moreToRead } = await bench.source.pollOnce();
  expect(moreToRead).toBe(true);
  bench.lane.hold();
  const polled = bench.source.pollOnce();
  await bench.lane.until((lane) => lane.waiting === 1);
  unlinkSync(path);
  writeFileSync(path, 'fresh\n');
  await bench.source.scanOnce();
  unlinkSync(path);
  bench.lane.release();
  await polled;
  await bench.drain();
  expect(bench.texts.filter((text) => text !== 'fresh')).toEqual(lines);
  expect(bench.texts).toContain('fresh');
  expect(bench.source.stats.lostBytes).toBe(0);
});
