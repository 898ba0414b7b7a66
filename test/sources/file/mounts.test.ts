/** File systems that go away and come back, under the source's feet or before it starts: their files are not sent again. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test as base } from 'vitest';
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
      fstat: (fd) =>
        seen(real.pathOf(fd)!.replace(' (deleted)', ''), real.fstat(fd)) ?? { ...real.fstat(fd), device: 7001 },
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
}

const A = 'mnt/app/a.log';

/** One that has read a file and closed it. */
async function startRead(): Promise<MountRig> {
  const rig = new MountRig();
  await rig.play`write ${A} one two; start; drain; commit; pass 30`;
  return rig;
}

const test = base.extend('rig', () => startRead());

test.each([
  ['under its number', 7001],
  ['under another one', 7002],
])('file is read on where it was when its file system is back %s, an hour later', async (_, device) => {
  const rig = await startRead();
  rig.device = undefined;
  await rig.pass(3600, 10);
  expect(rig.source.explain(rig.path(A))).toMatchObject({
    isRead: true,
    reason: expect.stringContaining('is not there'),
  });
  await rig.play`append ${A} three`;
  rig.device = device;
  // In its place from then on.
  await rig.play`drain; reads one two three; stats lostBytes=0 lagBytes=0; forgotten 0; commit; append ${A} four; start; drain; reads four`;
});

test('file whose file system is not there when the source starts is read on once it is; its batches wait', async ({
  rig,
}) => {
  rig.device = undefined;
  await rig.play`start; pass 300 10`;
  expect(rig.said(/not there, or cannot be looked at; they are waited for/)).toMatchObject([
    { level: 'warn', fields: { files: 1 } },
  ]);
  await expect(rig.reread(0, 8)).rejects.toMatchObject({ code: 'E_UNREADABLE' });
  await rig.play`append ${A} three`;
  rig.device = 7001;
  await rig.play`drain; reads three; lost 0`;
});

test('file in a folder that can be searched, but not listed, when the source starts is read on', async ({ rig }) => {
  rig.isUnlisted = true;
  await rig.play`append ${A} three; start; pass 300 10`;
  rig.isUnlisted = false;
  await rig.play`drain; reads three`;
});

test.each([
  ['while the source runs', '', ['one', 'two']],
  ['before it starts', 'start', []],
])(
  'file that was rotated while its file system was away, %s, is read on under its new name',
  async (_, restart, before) => {
    const rig = await startRead();
    rig.device = undefined;
    await rig.run(restart);
    await rig.play`pass 120 10; append ${A} three; mv ${A} ${A}.1; append ${A} new`;
    rig.device = 7001;
    await rig.play`drain; reads-any ${before} new three; lost 0`;
  },
);

test('file that is gone when its file system is back is forgotten, and what of it was seen and not read is counted', async ({
  rig,
}) => {
  const [stream] = rig.streams.records.keys();
  // Seen, and not opened.
  rig.isLocked = true;
  await rig.play`append ${A} unread; pass 1`;
  rig.device = undefined;
  rig.isLocked = false;
  await rig.play`pass 120 10; stats lostBytes=0 lagBytes=7`;
  rig.device = 7001;
  await rig.play`rm ${A}; pass 300 10; stats lostBytes=7 lagBytes=0`;
  expect(rig.streams.forgotten).toEqual([stream]);
});

test('file whose file system never comes back is forgotten after a day, and one whose folder was removed after a minute', async () => {
  const rig = await startRead();
  await rig.play`write mnt/app/b.log bee; drain; pass 30`;
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
