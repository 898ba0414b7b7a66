/** Folder watches through inotify, in real folders: which events they report, and that no descriptor stays. */
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type InotifyWatch, watchInotify } from '../../../src/sources/native/inotify.ts';
import { nativeLibrary } from '../../../src/sources/native/library.ts';
import { until } from '../../support/until.ts';
import { makeTree } from '../../support/temp-tree.ts';

const library = nativeLibrary()!;

interface Watched {
  readonly watch: InotifyWatch;
  /** `+name` for an entry, `~name` for its content. */
  readonly told: string[];
}

function startWatch(folder: string): Watched {
  const told: string[] = [];
  const watch = watchInotify(library, folder, (name, isEntry) => told.push(`${isEntry ? '+' : '~'}${name ?? ''}`));
  onTestFinished(() => watch.close());
  return { watch, told };
}

const toldOf = ({ told }: Watched, event: string): Promise<void> =>
  until(`${event} is told`, () => told.includes(event));

/** Inotify descriptors of this process. */
function inotifies(): string[] {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === 'anon_inode:inotify';
    } catch {
      return false;
    }
  });
}

/** The events that the kernel is asked for, as the last descriptor has them. */
function lastMask(): number {
  const info = readFileSync(`/proc/self/fdinfo/${inotifies().at(-1)}`, 'utf8');
  return parseInt(/mask:([0-9a-f]+)/.exec(info)![1]!, 16);
}

const IN_MODIFY = 2;
const others = inotifies().length;

test('a watch tells of names and appends, of names alone, and of appends again', async () => {
  const folder = makeTree({});
  const watched = startWatch(folder);
  const { watch, told } = watched;
  writeFileSync(join(folder, 'a'), '');
  await toldOf(watched, '+a');
  appendFileSync(join(folder, 'a'), 'one\n');
  await toldOf(watched, '~a');
  watch.setAppends(false);
  expect(lastMask() & IN_MODIFY).toBe(0);
  told.length = 0;
  appendFileSync(join(folder, 'a'), 'two\n');
  renameSync(join(folder, 'a'), join(folder, 'b'));
  writeFileSync(join(folder, 'ü'), 'three\n');
  rmSync(join(folder, 'ü'));
  writeFileSync(join(folder, 'last'), '');
  await toldOf(watched, '+last');
  expect(told).toEqual(['+a', '+b', '+ü', '+ü', '+last']);
  watch.setAppends(true);
  expect(lastMask() & IN_MODIFY).toBe(IN_MODIFY);
  appendFileSync(join(folder, 'b'), 'four\n');
  await toldOf(watched, '~b');
});

test('two watches of a folder report to each its own events, and one goes on when the other is closed', async () => {
  const folder = makeTree({});
  const [first, second] = [startWatch(folder), startWatch(folder)];
  first.watch.setAppends(false);
  writeFileSync(join(folder, 'a'), 'one\n');
  await toldOf(second, '~a');
  expect(first.told).toEqual(['+a']);
  second.watch.close();
  writeFileSync(join(folder, 'b'), '');
  await toldOf(first, '+b');
  expect(second.told).not.toContain('+b');
});

test('a folder that is removed or renamed is reported without a name, and so is one that has another’s path', async () => {
  const parent = makeTree({});
  const folder = join(parent, 'app');
  mkdirSync(folder);
  const removed = startWatch(folder);
  rmSync(folder, { recursive: true });
  await toldOf(removed, '+');
  mkdirSync(folder);
  const renamed = startWatch(folder);
  renameSync(folder, join(parent, 'old'));
  mkdirSync(folder);
  await toldOf(renamed, '+');
  renamed.told.length = 0;
  renamed.watch.setAppends(false);
  await toldOf(renamed, '+');
  expect(() => startWatch(join(parent, 'none'))).toThrow('inotify_add_watch ENOENT');
});

test('events that the system had no room for are reported as one without a name', async () => {
  const folder = makeTree({});
  const watched = startWatch(folder);
  const [a, b] = [join(folder, 'a'), join(folder, 'b')];
  writeFileSync(a, '');
  // In one turn of the loop.
  const room = Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8'));
  for (let events = 0; events <= room; events += 4) {
    renameSync(a, b);
    renameSync(b, a);
  }
  await toldOf(watched, '+');
});

test('all watches share a descriptor, which is closed with the last of them', async () => {
  await until('that of the tests before is closed', () => inotifies().length === others);
  const watches = Array.from({ length: 3 }, () => startWatch(makeTree({})).watch);
  expect(inotifies()).toHaveLength(others + 1);
  for (const watch of watches) watch.close();
  await until('the descriptor is closed', () => inotifies().length === others);
});
