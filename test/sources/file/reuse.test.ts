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
import { failingFileSystem, freshFolders, startRig, systemError, TailRig } from './tail-rig.ts';

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
async function untilReused(play: (rig: TailRig) => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const rig = await startRig();
    if (await play(rig)) return;
    if (statfsSync(rig.folder).type !== EXT4) return;
  }
  expect.fail(`the inode was not given again in ${ATTEMPTS} attempts`);
}

/** Moves a file where the source does not look, so that nobody else gets its inode before the function that is returned deletes it. */
function moveAway(rig: TailRig, path: string): () => void {
  mkdirSync(rig.path('elsewhere'));
  renameSync(path, rig.path('elsewhere/gone'));
  return () => unlinkSync(rig.path('elsewhere/gone'));
}

test.each([
  ['while the source runs', false],
  ['while it is stopped', true],
])('new file under the inode of a deleted one is read from its beginning, made %s', async (_, isStopped) => {
  await untilReused(async (rig) => {
    const path = rig.path('a.log');
    writeFileSync(path, 'old one\nold two\n');
    await rig.drain();
    rig.commit();
    const { ino } = statSync(path);
    const [old] = rig.streams.records.keys();
    // Closed, so that the inode is free once the file is deleted.
    await rig.pass(30);
    if (isStopped) await rig.source.stop();
    const isReused = recreateUnder(ino, path, 'new one, and longer\nthan the position that is known\n');
    if (isStopped) await rig.start();
    const before = isStopped ? 0 : 2;
    await rig.drain();
    expect(rig.texts.slice(before)).toEqual(['new one, and longer', 'than the position that is known']);
    expect(rig.lane.blocks.at(-1)!.stream).not.toBe(old);
    expect(rig.source.stats.lostBytes).toBe(0);
    return isReused;
  });
});

test('new file under the inode of a deleted one that begins alike is read from its beginning', async () => {
  await untilReused(async (rig) => {
    const path = rig.path('a.log');
    const banner = `${'#'.repeat(1500)}\n`;
    writeFileSync(path, `${banner}old one\n`);
    await rig.drain();
    await rig.pass(30);
    const isReused = recreateUnder(statSync(path).ino, path, `${banner}new one\nnew two\n`);
    await rig.drain();
    expect(rig.texts.slice(2)).toEqual([banner.trimEnd(), 'new one', 'new two']);
    return isReused;
  });
});

// Symptom: a copy of a truncated file was read again. Cause: it had the inode of the rotated file that was deleted before, and was
// compared with what had been read of that one alone.
test.for(['*.log', '*.log*'])(
  'copy of a truncated file under the inode of the rotated one before it is not read again, with %s',
  async (include) => {
    const line = (text: string): string => `${'#'.repeat(1200)} ${text}\n`;
    await untilReused(async (rig) => {
      await rig.start({ include: [rig.path(include)] });
      const [path, rotated] = [rig.path('a.log'), rig.path('a.log.1')];
      writeFileSync(path, line('first, and longer'));
      await rig.drain();
      renameSync(path, rotated);
      writeFileSync(path, line('second'));
      await rig.drain();
      await rig.pass(30);
      const { ino } = statSync(rotated);
      const isReused = recreateUnder(ino, rotated, line('second'));
      truncateSync(path, 0);
      appendFileSync(path, 'third\n');
      await rig.pass(90);
      expect(rig.texts.map((text) => text.replace(/^#+ /, ''))).toEqual(['first, and longer', 'second', 'third']);
      expect(rig.source.stats.lostBytes).toBe(0);
      return isReused;
    });
  },
);

// Symptom: a copy was read again, and its lines were said to be of another file. Cause: it had the inode of an empty file, of which
// nothing was known that it could differ from, so that it counted as that file, renamed.
test('copy under the inode of an empty file that was deleted is not read again', async () => {
  await untilReused(async (rig) => {
    const [path, empty, copy] = [rig.path('a.log'), rig.path('empty.log'), rig.path('a.log.1')];
    writeFileSync(path, 'old one\n');
    writeFileSync(empty, '');
    await rig.start({ include: [rig.path('*.log*')] });
    await rig.drain();
    await rig.pass(30);
    const { ino } = statSync(empty);
    unlinkSync(empty);
    writeFileSync(copy, 'old one\n');
    const isReused = statSync(copy).ino === ino || recreateUnder(ino, copy, 'old one\n');
    unlinkSync(path);
    await rig.pass(30);
    appendFileSync(copy, 'late\n');
    await rig.pass(30);
    expect(rig.byFile).toEqual({ 'a.log': ['old one', 'late'] });
    return isReused;
  });
});

// Symptom: a file that was rotated away unseen was never read. Cause: it had the inode of an empty file that was gone for longer than
// it is looked for, and counted as known.
test('file that was rotated away unseen is read, under the inode of an empty file that is gone for long', async () => {
  await untilReused(async (rig) => {
    const [path, empty] = [rig.path('a.log'), rig.path('empty.log')];
    writeFileSync(empty, '');
    writeFileSync(path, 'one\n');
    await rig.pass(30);
    const { ino } = statSync(empty);
    const release = moveAway(rig, empty);
    await rig.pass(15);
    rig.bornNow();
    renameSync(path, rig.path('a.log.2'));
    release();
    writeFileSync(path, 'two\n');
    const isReused = statSync(path).ino === ino || recreateUnder(ino, path, 'two\n');
    renameSync(path, rig.path('a.log.1'));
    await rig.pass(15);
    expect(rig.byFile).toEqual({ 'a.log': ['one', 'two'] });
    return isReused;
  });
});

test('file that was rotated away unseen is read once, under the inode of one before it that is gone for long', async () => {
  await untilReused(async (rig) => {
    const path = rig.path('a.log');
    writeFileSync(path, 'one\n');
    await rig.pass(30);
    const { ino } = statSync(path);
    const release = moveAway(rig, path);
    await rig.pass(15);
    release();
    writeFileSync(path, 'two\n');
    const isReused = statSync(path).ino === ino || recreateUnder(ino, path, 'two\n');
    renameSync(path, rig.path('a.log.1'));
    await rig.pass(15);
    expect(rig.byFile).toEqual({ 'a.log': ['one', 'two'] });
    return isReused;
  });
});

// Symptom: a copy was read again after a restart. Cause: it had the inode of a file of which nothing was saved and that began alike, and
// was taken for that file; what it is a copy of was then not found.
test('copy under the inode of a file that began alike, of which nothing was saved, is not read again after a restart', async () => {
  const banner = `${'#'.repeat(1200)}\n`;
  await untilReused(async (rig) => {
    const include = [rig.path('*.log*')];
    const [path, rotated] = [rig.path('a.log'), rig.path('a.log.1')];
    await rig.start({ include });
    writeFileSync(path, `${banner}second\n`);
    await rig.drain();
    rig.commit();
    writeFileSync(rotated, `${banner}first\n`);
    await rig.source.scanOnce();
    await rig.source.stop();
    rig.bornNow();
    const isReused = recreateUnder(statSync(rotated).ino, rotated, `${banner}second\n`);
    truncateSync(path, 0);
    await rig.start({ include });
    await rig.pass(30);
    expect(rig.texts).toEqual([]);
    return isReused;
  });
});

// Symptom: what was written between two rotations was never read. Cause: its copy had the inode of a file that was deleted since the last
// scan, and counted as that one; by the time that one was missed, the copy of what came before was found, and no more were looked for.
test('second of two copies is read, under the inode of a file that no scan has missed yet', async () => {
  await untilReused(async (rig) => {
    const [path, other, first, second] = [rig.path('a.log'), rig.path('b.log'), rig.path('a.log.2'), rig.path('a.log.1')];
    writeFileSync(path, 'one\n');
    writeFileSync(other, 'other\n');
    await rig.pass(30);
    copyFileSync(path, first);
    writeFileSync(path, 'two\n');
    const { ino } = statSync(other);
    unlinkSync(other);
    copyFileSync(path, second);
    const isReused = statSync(second).ino === ino || recreateUnder(ino, second, 'two\n');
    truncateSync(path, 0);
    await rig.pass(15);
    expect(rig.byFile).toEqual({ 'a.log': ['one', 'two'], 'b.log': ['other'] });
    expect(rig.source.stats.lostBytes).toBe(0);
    return isReused;
  });
});

// Symptom: what was written between two rotations was never read, and not counted. Cause: the file that had the inode of its copy could not be
// compared with it just then, and once the copy of what came before was found, no more were looked for.
test.each(['EIO', 'EMFILE', 'EACCES'])(
  'second of two copies is read, under the inode of a file that it cannot be compared with at first: %s',
  async (code) => {
    await untilReused(async (rig) => {
      let failing: string | undefined;
      const fileSystem = failingFileSystem((real) => ({
        ...freshFolders,
        open(path) {
          if (path === failing) throw systemError(code);
          return real.open(path);
        },
      }));
      await rig.start({ fileSystem });
      const [path, other, first, second] = [rig.path('a.log'), rig.path('b.log'), rig.path('a.log.2'), rig.path('a.log.1')];
      writeFileSync(path, 'one\n');
      writeFileSync(other, 'other\n');
      await rig.pass(30);
      copyFileSync(path, first);
      writeFileSync(path, 'two\n');
      const { ino } = statSync(other);
      unlinkSync(other);
      copyFileSync(path, second);
      const isReused = statSync(second).ino === ino || recreateUnder(ino, second, 'two\n');
      truncateSync(path, 0);
      failing = second;
      await rig.pass(3);
      failing = undefined;
      await rig.pass(15);
      expect(rig.byFile).toEqual({ 'a.log': ['one', 'two'], 'b.log': ['other'] });
      expect(rig.source.stats).toMatchObject({ lostBytes: 0, lagBytes: 0 });
      return isReused;
    });
  },
);

// Symptom: after a restart, lines were said to be of another file, and a copy of it was read again. Cause: an empty file that was compared
// with what is gone got a stream without a first byte to know it by; then any file under its inode was taken for it.
test('file under the inode of an empty one that was compared with what is gone is not taken for it after a restart', async () => {
  await untilReused(async (rig) => {
    const include = [rig.path('*.log*')];
    const [path, empty, next] = [rig.path('a.log'), rig.path('a.log.1'), rig.path('b.log')];
    await rig.start({ include });
    writeFileSync(path, 'one\n');
    await rig.drain();
    rig.commit();
    unlinkSync(path);
    writeFileSync(empty, '');
    await rig.start({ include });
    await rig.pass(2);
    const { ino } = statSync(empty);
    await rig.source.stop();
    unlinkSync(empty);
    writeFileSync(next, 'two\n');
    const isReused = statSync(next).ino === ino || recreateUnder(ino, next, 'two\n');
    await rig.start({ include });
    await rig.drain();
    expect(rig.byFile).toEqual({ 'b.log': ['two'] });
    return isReused;
  });
});

// Symptom: a file that no glob matches was read, as what became of a deleted one. Cause: a closed file was looked for by its inode
// alone, and what was found under it was read from its beginning, whatever it was.
test('file that no glob matches is not read when it gets the inode of a deleted one', async () => {
  await untilReused(async (rig) => {
    writeFileSync(rig.path('a.log'), 'one\n');
    await rig.drain();
    await rig.pass(30);
    const { ino } = statSync(rig.path('a.log'));
    unlinkSync(rig.path('a.log'));
    writeFileSync(rig.path('private.txt'), 'nobody asked for it\n');
    const isReused = statSync(rig.path('private.txt')).ino === ino || recreateUnder(ino, rig.path('private.txt'), 'nobody asked for it\n');
    await rig.pass(90);
    expect(rig.texts).toEqual(['one']);
    expect(rig.source.stats).toMatchObject({ lostBytes: 0, lagBytes: 0 });
    return isReused;
  });
});

// Symptom: an archive was never read. Cause: archives were known by inode alone, and it had that of one that was read, and deleted since the
// last scan; rotation deletes the oldest archive just before it makes the newest.
test('archive under the inode of one that was read and deleted is read', async () => {
  await untilReused(async (rig) => {
    await rig.start({ include: [rig.path('*.log*')], readCompressed: true });
    const [oldest, newest] = [rig.path('a.log.2.gz'), rig.path('a.log.1.gz')];
    const still = (path: string): void => utimesSync(path, new Date('2020-01-01'), new Date('2020-01-01'));
    writeFileSync(oldest, gzipSync('one\n'));
    still(oldest);
    await rig.pass(3);
    rig.commit();
    await rig.pass(3);
    const { ino } = statSync(oldest);
    unlinkSync(oldest);
    writeFileSync(newest, gzipSync('two\n'));
    const isReused = statSync(newest).ino === ino || recreateUnder(ino, newest, gzipSync('two\n'));
    still(newest);
    await rig.pass(3);
    expect(rig.byFile).toEqual({ 'a.log.2.gz': ['one'], 'a.log.1.gz': ['two'] });
    rig.commit();
    await rig.pass(130);
    expect(rig.streams.list('app').map(({ path }) => path)).toEqual([newest]);
    return isReused;
  });
});

test('file that is deleted and made again in a loop: every line of every one that a scan saw, once; nothing is left of them', async () => {
  const rig = await startRig();
  const path = rig.path('a.log');
  const written: string[] = [];
  for (let round = 0; round < 200; round += 1) {
    const lines = Array.from({ length: 1 + (round % 7) }, (_, n) => `round ${round} line ${n}`);
    written.push(...lines);
    writeFileSync(path, `${lines.join('\n')}\n`);
    // Sometimes read before it is deleted, sometimes only seen, and sometimes it grows in between.
    if (round % 3 === 0) await rig.source.pollOnce();
    else await rig.source.scanOnce();
    if (round % 5 === 0) {
      appendFileSync(path, `round ${round} late\n`);
      written.push(`round ${round} late`);
    }
    unlinkSync(path);
    rig.clock.advance(100);
  }
  await rig.drain();
  expect(rig.texts.toSorted()).toEqual(written.toSorted());
  expect(rig.source.stats.lostBytes).toBe(0);
  rig.commit();
  await rig.pass(100, 10);
  expect(rig.source.stats.files).toMatchObject({ active: 0, deleted: 0 });
  expect(rig.streams.records.size).toBe(0);
  const held = readdirSync('/proc/self/fd').filter((fd) => nodeFileSystem.pathOf(Number(fd))?.startsWith(rig.folder) === true);
  expect(held).toEqual([]);
});

test('symbolic link that is pointed elsewhere again and again under load: every line of every target, once', async () => {
  const rig = new TailRig();
  mkdirSync(rig.path('real'));
  const written: string[] = [];
  let lines = 0;
  const append = (target: number, count: number): void => {
    const text = Array.from({ length: count }, () => `target ${target} line ${(lines += 1)}`);
    written.push(...text);
    appendFileSync(rig.path(`real/${target}`), `${text.join('\n')}\n`);
  };
  append(0, 100);
  symlinkSync('real/0', rig.path('current.log'));
  await rig.start();
  for (let target = 1; target <= 40; target += 1) {
    append(target, 50);
    append(target - 1, 50);
    symlinkSync(`real/${target}`, rig.path('next'));
    renameSync(rig.path('next'), rig.path('current.log'));
    // The writer of the old target goes on for a moment.
    append(target - 1, 20);
    if (target % 3 === 0) await rig.source.pollOnce();
    else await rig.source.scanOnce();
    append(target - 1, 5);
    append(target, 300);
    rig.clock.advance(1000);
  }
  await rig.drain();
  expect(rig.texts.toSorted()).toEqual(written.toSorted());
  expect(Object.keys(rig.byFile)).toEqual(['current.log']);
  expect(rig.source.stats.lostBytes).toBe(0);
});

test('file that is deleted while much of it is unread is read to its end, while the lane is full and a new one is in its place', async () => {
  const rig = new TailRig();
  const path = rig.path('a.log');
  const lines = Array.from({ length: 200_000 }, (_, n) => `line ${n} ${'x'.repeat(80)}`);
  writeFileSync(path, `${lines.join('\n')}\n`);
  await rig.start();
  const { moreToRead } = await rig.source.pollOnce();
  expect(moreToRead).toBe(true);
  rig.lane.hold();
  const polled = rig.source.pollOnce();
  await rig.lane.until((lane) => lane.waiting === 1);
  unlinkSync(path);
  writeFileSync(path, 'fresh\n');
  await rig.source.scanOnce();
  unlinkSync(path);
  rig.lane.release();
  await polled;
  await rig.drain();
  expect(rig.texts.filter((text) => text !== 'fresh')).toEqual(lines);
  expect(rig.texts).toContain('fresh');
  expect(rig.source.stats.lostBytes).toBe(0);
});
