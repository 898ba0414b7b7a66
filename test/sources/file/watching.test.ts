/** Folders are watched: what the system tells of is read without a full scan, and what it does not tell of is found by one. */
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
  writeFileSync,
  writeSync,
} from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { MAX_SCAN_INTERVAL_MS } from '../../../src/config/limits.ts';
import {
  HOT_EVENTS,
  HOT_CHECK_MS,
  LOOK_EVERY_MS,
  MAX_PARK_MS,
  NAMES_CHECK_MS,
} from '../../../src/sources/file/limits.ts';
import type { FileSystem } from '../../../src/sources/file/scan/file-system.ts';
import { type FolderChanged, watchFolder } from '../../../src/sources/file/scan/watch-folder.ts';
import { settleTurns, until } from '../../support/until.ts';
import { failingFileSystem, systemError, TailRig } from './tail-rig.ts';

interface Watched {
  readonly rig: TailRig;
  /** Watches that are there now, by folder. */
  readonly watches: ReadonlyMap<string, FolderChanged>;
  /** How often all files were looked at. */
  readonly fullScans: () => number;
  /** How often the path was looked at. */
  readonly looksAt: (path: string) => number;
  /** Lets the clock go on second by second. */
  readonly seconds: (count: number) => Promise<void>;
  /** Waits until the lines arrived, with next to no time passing on the source's clock. */
  readonly arrive: (lines: readonly string[]) => Promise<void>;
  /** No full scan is due for a while. */
  readonly calm: () => Promise<void>;
}

type Watch = NonNullable<FileSystem['watch']>;

/** A running source on a clock that is stepped. Without `watch`, the system's own watches are used. */
async function startWatched(watch?: (real: Watch) => Watch, options: object = {}): Promise<Watched> {
  let scans = 0;
  const looks = new Map<string, number>();
  const watches = new Map<string, FolderChanged>();
  const fileSystem = failingFileSystem((real) => ({
    stat(path) {
      if (path.endsWith('/quiet/idle.log')) scans += 1;
      looks.set(path, (looks.get(path) ?? 0) + 1);
      const stat = real.stat(path);
      return stat?.kind === 'directory' ? { ...stat, mtimeMs: Number.NaN } : stat;
    },
    watch(folder, changed, failed) {
      const handle = (watch?.(real.watch!) ?? real.watch!)(folder, changed, failed);
      watches.set(folder, changed);
      return {
        ...handle,
        close() {
          handle.close();
          if (watches.get(folder) === changed) watches.delete(folder);
        },
      };
    },
  }));
  const rig = new TailRig({ fileSystem, maxScanIntervalMs: MAX_SCAN_INTERVAL_MS, ...options });
  mkdirSync(rig.path('quiet'));
  writeFileSync(rig.path('quiet/idle.log'), 'idle\n');
  await rig.start({ include: [rig.path('**/*.log')] });
  const running = rig.source.run();
  onTestFinished(async () => {
    rig.lane.giveUp();
    await rig.source.stop();
    await running;
  });
  const seconds = async (count: number): Promise<void> => {
    for (let second = 0; second < count; second += 1) {
      rig.clock.advance(1000);
      await settleTurns();
    }
  };
  const watched: Watched = {
    rig,
    watches,
    fullScans: () => scans,
    looksAt: (path) => looks.get(path) ?? 0,
    seconds,
    async arrive(lines) {
      // More than the time between two scans.
      rig.clock.advance(HOT_CHECK_MS);
      await until(`the lines ${lines.join(', ')} arrive`, () => {
        rig.clock.advance(0);
        return lines.every((line) => rig.texts.includes(line));
      });
    },
    async calm() {
      await seconds(2 * (MAX_SCAN_INTERVAL_MS / 1000));
      const before = scans;
      const isDone = (): boolean => scans > before;
      while (!isDone()) await seconds(1);
    },
  };
  await watched.arrive(['idle']);
  return watched;
}

/** Watches that tell of nothing by themselves. */
const silent = (): Watch => () => ({ close: () => {} });

test('full scans are ever further apart while watches tell of everything, as far as scan_interval was not written', async () => {
  const { seconds, fullScans } = await startWatched();
  await seconds(120);
  const before = fullScans();
  await seconds(120);
  expect(fullScans() - before).toBe(4);
  const written = await startWatched(undefined, { maxScanIntervalMs: 1000 });
  const first = written.fullScans();
  await written.seconds(20);
  expect(written.fullScans() - first).toBeGreaterThanOrEqual(18);
});

test('lines, new files, rotated files and files of new folders are read without a wait for a scan', async () => {
  const { rig, arrive, calm, fullScans } = await startWatched();
  writeFileSync(rig.path('a.log'), 'one\n');
  await arrive(['one']);
  await calm();
  const before = fullScans();
  appendFileSync(rig.path('a.log'), 'two\n');
  await arrive(['two']);
  writeFileSync(rig.path('b.log'), 'new\n');
  await arrive(['new']);
  await rig.play`mv a.log a.log.1; append a.log.1 late; write a.log next`;
  await arrive(['late', 'next']);
  appendFileSync(rig.path('a.log.1'), 'later\n');
  await arrive(['later']);
  expect(fullScans()).toBe(before);
  mkdirSync(rig.path('made/since'), { recursive: true });
  writeFileSync(rig.path('made/since/c.log'), 'deep\n');
  await arrive(['deep']);
  expect(rig.source.stats.missedChanges ?? 0).toBe(0);
});

test('a folder that is removed and made again, or is not there at first, is watched once it is there', async () => {
  const { rig, arrive, calm } = await startWatched(undefined, {});
  await rig.play`mkdir app; write app/a.log one`;
  await arrive(['one']);
  await calm();
  rmSync(rig.path('app'), { recursive: true });
  await rig.play`mkdir app; write app/a.log two`;
  await arrive(['two']);
  await rig.play`mv app old; mkdir app; write app/a.log three`;
  await arrive(['three']);

  const later = new TailRig({
    fileSystem: failingFileSystem((real) => ({ watch: real.watch! })),
    maxScanIntervalMs: MAX_SCAN_INTERVAL_MS,
  });
  await later.start({ include: [later.path('not/yet/*.log')] });
  const running = later.source.run();
  mkdirSync(later.path('not/yet'), { recursive: true });
  writeFileSync(later.path('not/yet/a.log'), 'there\n');
  await until('the line of a folder that came later arrives', () => {
    later.clock.advance(1);
    return later.texts.includes('there');
  });
  await later.source.stop();
  await running;
});

test('a symbolic link is watched where it leads to', async () => {
  const { rig, arrive, calm, fullScans } = await startWatched();
  const pods = `${rig.folder}-pods`;
  mkdirSync(pods);
  onTestFinished(() => rmSync(pods, { recursive: true }));
  writeFileSync(`${pods}/0`, 'one\n');
  symlinkSync(`${pods}/0`, rig.path('pod.log'));
  await arrive(['one']);
  await calm();
  const before = fullScans();
  appendFileSync(`${pods}/0`, 'two\n');
  await arrive(['two']);
  expect(fullScans()).toBe(before);
});

test('where the system has no watch left, scans come every scan_interval, and the log says once what to raise', async () => {
  const { rig, seconds, fullScans } = await startWatched(() => () => {
    throw systemError('ENOSPC');
  });
  const before = fullScans();
  await seconds(50);
  expect(fullScans() - before).toBeGreaterThanOrEqual(49);
  expect(rig.said(/no more folders can be watched.*fs\.inotify\.max_user_watches/)).toHaveLength(1);
});

test('a change that no watch reported is found by a scan, counted, and brings the short interval back', async () => {
  const { rig, arrive, calm, seconds, fullScans, watches } = await startWatched(silent);
  writeFileSync(rig.path('a.log'), 'one\n');
  await seconds(4);
  await arrive(['one']);
  await calm();
  const missed = rig.source.stats.missedChanges ?? 0;
  appendFileSync(rig.path('a.log'), 'two\n');
  await seconds(MAX_SCAN_INTERVAL_MS / 1000 + 3);
  expect(rig.texts).toContain('two');
  expect(rig.source.stats.missedChanges).toBe(missed + 1);
  // And so it stays until the watch tells of something.
  const before = fullScans();
  await seconds(20);
  expect(fullScans() - before).toBeGreaterThanOrEqual(19);
  watches.get(rig.folder)!('a.log', false);
  await seconds(5);
  const trusted = fullScans();
  await seconds(120);
  expect(fullScans() - trusted).toBeLessThan(12);
});

test('the watch of a busy folder is closed, its files are looked at in turns, and it comes back when they are quiet', async () => {
  const { rig, arrive, calm, watches, fullScans } = await startWatched(silent);
  writeFileSync(rig.path('a.log'), 'one\n');
  watches.get(rig.folder)!('a.log', true);
  await arrive(['one']);
  await calm();
  const tell = watches.get(rig.folder)!;
  for (let event = 0; event < 10 * HOT_EVENTS; event += 1) tell('a.log', false);
  expect([...watches.keys()]).toEqual([rig.path('quiet')]);
  const before = fullScans();
  for (const line of ['two', 'three']) {
    appendFileSync(rig.path('a.log'), `${line}\n`);
    rig.clock.advance(HOT_CHECK_MS);
    await settleTurns();
    expect(rig.texts).toContain(line);
  }
  expect(fullScans()).toBe(before);
  for (let passedMs = 0; passedMs < MAX_PARK_MS; passedMs += 100) {
    rig.clock.advance(100);
    await settleTurns();
  }
  expect(watches.has(rig.folder)).toBe(true);
});

test('while a folder is busy its watch tells of new files, which are opened at once, and not of appends', async () => {
  let told = 0;
  const { rig, arrive, watches, fullScans } = await startWatched((real) => (folder, changed, failed) => {
    const count = (name: string | undefined, isEntry: boolean): void => {
      if (folder === rig.folder) told += 1;
      changed(name, isEntry);
    };
    return real(folder, count, failed);
  });
  writeFileSync(rig.path('a.log'), 'one\n');
  await arrive(['one']);
  const park = (): void => {
    for (let event = 0; event < HOT_EVENTS; event += 1) watches.get(rig.folder)!('a.log', false);
  };
  park();
  await settleTurns();
  rig.clock.advance(HOT_CHECK_MS);
  await settleTurns();
  const [before, scans] = [told, fullScans()];
  for (let n = 0; n < 100; n += 1) appendFileSync(rig.path('a.log'), 'more\n');
  const active = rig.source.stats.files['active']!;
  await rig.play`mv a.log a.log.1; write a.log two`;
  // Less than the time between two scans at a busy folder, which find appended lines.
  rig.clock.advance(NAMES_CHECK_MS);
  await until('the new file is known', () => {
    rig.clock.advance(0);
    return rig.source.stats.files['active']! > active || rig.texts.includes('two');
  });
  expect(told - before).toBe(3);
  expect(fullScans()).toBe(scans);
});

test('without inotify functions Node watches folders, and the watch of a busy one is closed', async () => {
  const { rig, arrive, calm, watches } = await startWatched(
    () => (folder, changed, failed) => watchFolder(undefined, folder, changed, failed),
  );
  writeFileSync(rig.path('a.log'), 'one\n');
  await arrive(['one']);
  await calm();
  appendFileSync(rig.path('a.log'), 'two\n');
  await arrive(['two']);
  for (let event = 0; event < HOT_EVENTS; event += 1) watches.get(rig.folder)?.('a.log', false);
  expect(watches.has(rig.folder)).toBe(false);
  writeFileSync(rig.path('b.log'), 'three\n');
  await arrive(['three']);
});

test('files are opened at birth while the lane takes nothing', async () => {
  const { rig } = await startWatched();
  rig.lane.hold();
  for (let n = 0; n < 20; n += 1) writeFileSync(rig.path(`b${n}.log`), `line ${n}\n`);
  await until('all files are known', () => {
    rig.clock.advance(20);
    return (rig.source.stats.files['active'] ?? 0) >= 20;
  });
  for (let n = 0; n < 20; n += 1) rmSync(rig.path(`b${n}.log`));
  rig.lane.release();
  await until('all of them are read', () => {
    rig.clock.advance(20);
    return rig.texts.length === 21;
  });
});

test('looks at a busy folder leave its deleted files out, and lines still written to these are read', async () => {
  const { rig, arrive, calm, looksAt } = await startWatched();
  await calm();
  const path = rig.path('gone.log');
  const fd = openSync(path, 'a');
  onTestFinished(() => closeSync(fd));
  writeSync(fd, 'one\n');
  await arrive(['one']);
  rmSync(path);
  rig.clock.advance(HOT_CHECK_MS);
  await until('the delete is noticed', () => {
    rig.clock.advance(0);
    return rig.source.stats.files['deleted'] === 1;
  });
  const before = looksAt(path);
  for (const name of ['a', 'b', 'c']) {
    writeFileSync(rig.path(`${name}.log`), `${name}\n`);
    await arrive([name]);
  }
  expect(looksAt(path)).toBe(before);
  writeSync(fd, 'two\n');
  rig.clock.advance(LOOK_EVERY_MS);
  await arrive(['two']);
});

test('rotations by copies that nobody saw are counted by the copy that was there before', async () => {
  const { rig, seconds } = await startWatched(silent, { maxScanIntervalMs: 1000, include: undefined });
  const log = rig.path('a.log');
  const rotate = (line: string): void => {
    if (existsSync(`${log}.1`)) renameSync(`${log}.1`, `${log}.2`);
    rig.bornNow();
    copyFileSync(log, `${log}.1`);
    writeFileSync(log, `${line}\n`);
  };
  writeFileSync(log, 'line 0\n');
  await seconds(3);
  for (const line of ['line 1', 'line 2']) {
    rotate(line);
    await seconds(3);
  }
  expect(rig.source.stats.missedRotations ?? 0).toBe(0);
  for (const line of ['line 3', 'line 4', 'line 5', 'line 6']) rotate(line);
  await seconds(3);
  expect(rig.source.stats.missedRotations).toBe(1);
  expect(rig.texts).not.toContain('line 3');
});

test('rotations that nobody saw are counted and logged', async () => {
  const { rig, seconds } = await startWatched(silent, { maxScanIntervalMs: 1000, include: undefined });
  const write = (name: string, line: string): void => writeFileSync(rig.path(name), `${line}\n`);
  const rotate = (line: string): void => {
    rmSync(rig.path('a.log.2'), { force: true });
    try {
      renameSync(rig.path('a.log.1'), rig.path('a.log.2'));
    } catch {
      // No file yet.
    }
    renameSync(rig.path('a.log'), rig.path('a.log.1'));
    rig.bornNow();
    write('a.log', line);
  };
  write('a.log', 'line 0');
  await seconds(3);
  rotate('line 1');
  await seconds(3);
  expect(rig.source.stats.missedRotations ?? 0).toBe(0);
  for (const line of ['line 2', 'line 3', 'line 4', 'line 5']) rotate(line);
  await seconds(3);
  expect(rig.source.stats.missedRotations).toBe(2);
  expect(rig.said(/rotated more than once between two scans/)).toMatchObject([
    { level: 'warn', fields: { rotations: 3 } },
  ]);
  expect(rig.texts).not.toContain('line 2');
});
