/**
 * Who writes the files of a test, and by which clock they are made and changed. By the system's, the writer waits until its tick
 * shows. By a clock of their own the order of files is the same on every machine, under any load, and what looks at them may
 * be as slow as it likes. The files are real.
 */
import { appendFileSync, copyFileSync, existsSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FileStat } from '../../../src/sources/file/scan/file-system.ts';
import type { FileTimes } from './steps.ts';
import { freshFolders, makeFolder } from './tail-rig.ts';

export function systemTimes(): FileTimes {
  const probe = join(makeFolder(), 'probe');
  const bornNow = (): number => {
    writeFileSync(probe, '');
    const { birthtimeMs } = statSync(probe);
    rmSync(probe);
    return birthtimeMs;
  };
  return {
    fileSystem: freshFolders,
    nowMs: Date.now,
    append: appendFileSync,
    copy: copyFileSync,
    truncate: truncateSync,
    pass(ms) {
      const [since, bornSince] = [Date.now(), bornNow()];
      while (Date.now() < since + ms || bornNow() === bornSince);
    },
  };
}

/** Files are made at multiples of `tickMs`; each look at one takes as long as `lookMs` says, one after the other. */
export function steppedTimes(tickMs = 1, lookMs: readonly number[] = [0]): FileTimes {
  let now = 1_800_000_000_000;
  let looks = 0;
  const byInode = new Map<number, Pick<FileStat, 'bornMs' | 'mtimeMs'>>();
  const look = (): number => (now += lookMs[(looks += 1) % lookMs.length]!);
  const withTimes = <Stat extends FileStat | undefined>(stat: Stat): Stat => {
    look();
    return stat?.kind === 'file' ? { ...stat, ...byInode.get(Number(stat.inode)) } : stat;
  };
  const change = (path: string, how: () => void): void => {
    // The inode of a deleted file may be given to another one.
    const isThere = existsSync(path);
    how();
    const { ino } = statSync(path);
    const bornMs = (isThere ? byInode.get(ino)?.bornMs : undefined) ?? now - (now % tickMs);
    // No two changes seem to be one.
    byInode.set(ino, { bornMs, mtimeMs: (now += 1) });
  };
  return {
    fileSystem: {
      ...freshFolders,
      stat: (path) => withTimes(freshFolders.stat(path)),
      fstat: (fd) => withTimes(freshFolders.fstat(fd)),
    },
    nowMs: look,
    append: (path, content) => change(path, () => appendFileSync(path, content)),
    copy: (path, to) => change(to, () => copyFileSync(path, to)),
    truncate: (path, bytes) => change(path, () => truncateSync(path, bytes)),
    pass(ms) {
      now += ms;
    },
  };
}
