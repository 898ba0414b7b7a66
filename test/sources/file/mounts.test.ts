/** File systems that go away and come back, under the source's feet or before it starts: their files are not sent again. */
import { appendFileSync, mkdirSync, renameSync, rmSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MAX_AWAY_MS } from '../../../src/sources/file/limits.ts';
import type { FileStat, FileSystem } from '../../../src/sources/file/scan/file-system.ts';
import { failingFileSystem, makeFolder, systemError, TailRig } from './tail-rig.ts';

/** A rig whose source reads a folder that is mounted: its files have a device of their own, and are not there without it. */
class MountRig extends TailRig {
  /** Undefined while it is not mounted. */
  device: number | undefined = 7001;
  /** Nothing on it can be opened. */
  isLocked = false;
  /** None of its folders can be listed. */
  isUnlisted = false;

  constructor(folder = makeFolder()) {
    const mount = join(folder, 'mnt');
    const isIn = (path: string | undefined): boolean => path?.startsWith(`${mount}/`) === true;
    const seen = (path: string, stat: FileStat | undefined): FileStat | undefined => {
      if (!stat) return undefined;
      const fresh = stat.kind === 'directory' ? { ...stat, mtimeMs: Number.NaN } : stat;
      if (path !== mount && !isIn(path)) return fresh;
      if (this.device === undefined) return path === mount ? fresh : undefined;
      return { ...fresh, device: this.device };
    };
    const orAway = (path: string): void => {
      if (this.device === undefined && isIn(path)) throw systemError('ENOENT');
    };
    const fileSystem: FileSystem = failingFileSystem((real) => ({
      stat: (path) => seen(path, real.stat(path)),
      fstat: (fd) => seen(real.pathOf(fd)!.replace(' (deleted)', ''), real.fstat(fd)) ?? { ...real.fstat(fd), device: 7001 },
      readdir: (path) => {
        orAway(path);
        if (this.isUnlisted) throw systemError('EACCES');
        return path === mount && this.device === undefined ? [] : real.readdir(path);
      },
      open: (path) => {
        orAway(path);
        if (this.isLocked) throw systemError('EACCES');
        return real.open(path);
      },
    }));
    super({ include: [join(folder, 'mnt/**/*.log')], fileSystem }, folder);
    mkdirSync(join(mount, 'app'), { recursive: true });
  }

  write(name: string, text: string): void {
    appendFileSync(this.path(`mnt/app/${name}`), text);
  }
}

/** One that has read a file and closed it. */
async function startRead(text = 'one\ntwo\n'): Promise<MountRig> {
  const rig = new MountRig();
  rig.write('a.log', text);
  await rig.start();
  await rig.drain();
  rig.commit();
  await rig.pass(30);
  return rig;
}

test.each([
  ['under its number', 7001],
  ['under another one', 7002],
])('file is read on where it was when its file system is back %s, an hour later', async (_, device) => {
  const rig = await startRead();
  rig.device = undefined;
  await rig.pass(3600, 10);
  expect(rig.source.explain(rig.path('mnt/app/a.log'))).toMatchObject({
    isRead: true,
    reason: expect.stringContaining('is not there'),
  });
  rig.write('a.log', 'three\n');
  rig.device = device;
  await rig.drain();
  expect(rig.texts).toEqual(['one', 'two', 'three']);
  expect(rig.source.stats).toMatchObject({ lostBytes: 0, lagBytes: 0 });
  expect(rig.streams.forgotten).toEqual([]);
  // In its place from then on.
  rig.commit();
  rig.write('a.log', 'four\n');
  await rig.start();
  await rig.drain();
  expect(rig.texts).toEqual(['four']);
});

test('file whose file system is not there when the source starts is read on once it is; its batches wait', async () => {
  const rig = await startRead();
  const { stream, offset, length } = rig.lane.blocks[0]!;
  rig.device = undefined;
  await rig.start();
  await rig.pass(300, 10);
  expect(rig.said(/not there, or cannot be looked at; they are waited for/)).toMatchObject([{ level: 'warn', fields: { files: 1 } }]);
  const span = { source: 'app', stream, from: offset, to: offset + length, events: 2, sum: 0, tail: { length: 0, crc: 0 } };
  await expect(rig.source.reread!(span, rig.lane)).rejects.toMatchObject({ code: 'E_UNREADABLE' });
  rig.write('a.log', 'three\n');
  rig.device = 7001;
  await rig.drain();
  expect(rig.texts).toEqual(['three']);
  expect(rig.source.stats.lostBytes).toBe(0);
});

test('file in a folder that can be searched, but not listed, when the source starts is read on', async () => {
  const rig = await startRead();
  rig.write('a.log', 'three\n');
  rig.isUnlisted = true;
  await rig.start();
  await rig.pass(300, 10);
  rig.isUnlisted = false;
  await rig.drain();
  expect(rig.texts).toEqual(['three']);
});

test.each([
  ['while the source runs', false],
  ['before it starts', true],
])('file that was rotated while its file system was away, %s, is read on under its new name', async (_, isStopped) => {
  const rig = await startRead();
  rig.device = undefined;
  if (isStopped) await rig.start();
  await rig.pass(120, 10);
  rig.write('a.log', 'three\n');
  renameSync(rig.path('mnt/app/a.log'), rig.path('mnt/app/a.log.1'));
  rig.write('a.log', 'new\n');
  rig.device = 7001;
  await rig.drain();
  expect(rig.texts.slice(isStopped ? 0 : 2).toSorted()).toEqual(['new', 'three']);
  expect(rig.source.stats.lostBytes).toBe(0);
});

test('file that is gone when its file system is back is forgotten, and what of it was seen and not read is counted', async () => {
  const rig = await startRead();
  const [stream] = rig.streams.records.keys();
  rig.write('a.log', 'unread\n');
  // Seen, and not opened.
  rig.isLocked = true;
  await rig.pass(1);
  rig.device = undefined;
  rig.isLocked = false;
  await rig.pass(120, 10);
  expect(rig.source.stats).toMatchObject({ lostBytes: 0, lagBytes: 7 });
  unlinkSync(rig.path('mnt/app/a.log'));
  rig.device = 7001;
  await rig.pass(300, 10);
  expect(rig.source.stats).toMatchObject({ lostBytes: 7, lagBytes: 0 });
  expect(rig.streams.forgotten).toEqual([stream]);
});

test('file whose file system never comes back is forgotten after a day, and one whose folder was removed after a minute', async () => {
  const rig = await startRead();
  rig.write('b.log', 'bee\n');
  await rig.drain();
  await rig.pass(30);
  const [a, b] = [...rig.streams.records.keys()];
  rig.device = undefined;
  await rig.pass(MAX_AWAY_MS / 1000 - 600, 300);
  expect(rig.streams.forgotten).toEqual([]);
  await rig.pass(1200, 300);
  expect(new Set(rig.streams.forgotten)).toEqual(new Set([a, b]));
  const other = await startRead();
  rmSync(other.path('mnt/app'), { recursive: true });
  await other.pass(150, 10);
  expect(other.streams.forgotten).toHaveLength(1);
});
