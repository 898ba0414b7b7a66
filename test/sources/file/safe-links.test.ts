/** `follow_links`: which symbolic links are followed, by who made them and where they lead. */
import { lchownSync, chownSync, mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect } from 'vitest';
import { judgeTrace } from '../../../src/sources/file/scan/links.ts';
import { nodeFileSystem } from '../../../src/sources/file/scan/file-system.ts';
import { failingFileSystem, freshFolders, test, type TailRig } from './tail-rig.ts';

const MALLORY = 1001;
const BOB = 1002;
const isRoot = process.getuid?.() === 0;

/** A file with one line, its path, that belongs to a user. */
function file(rig: TailRig, name: string, owner = 0): void {
  mkdirSync(dirname(rig.path(name)), { recursive: true });
  writeFileSync(rig.path(name), `${name}\n`);
  chownSync(rig.path(name), owner, 0);
}

function folder(rig: TailRig, name: string, owner = 0): void {
  mkdirSync(rig.path(name), { recursive: true });
  chownSync(rig.path(name), owner, 0);
}

function link(rig: TailRig, name: string, to: string, owner = 0): void {
  mkdirSync(dirname(rig.path(name)), { recursive: true });
  symlinkSync(to, rig.path(name));
  lchownSync(rig.path(name), owner, 0);
}

interface Case {
  readonly name: string;
  readonly glob?: string;
  readonly make: (rig: TailRig) => void;
  /** Lines under `safe`, none where it is left out. */
  readonly safe: readonly string[];
  /** Lines under `false`; none by default. */
  readonly never?: readonly string[];
  /** Lines under `true`; `secret` by default. */
  readonly always?: readonly string[];
}

const SECRET = ['etc/secret'];

const cases: readonly Case[] = [
  { name: 'root’s link to root’s file', make: (rig) => link(rig, 'logs/a.log', '../etc/secret'), safe: SECRET },
  { name: 'a user’s link to root’s file', make: (rig) => link(rig, 'logs/a.log', '../etc/secret', MALLORY), safe: [] },
  {
    name: 'a user’s link to another user’s file',
    make: (rig) => (file(rig, 'home/bob', BOB), link(rig, 'logs/a.log', '../home/bob', MALLORY)),
    safe: [],
    always: ['home/bob'],
  },
  {
    name: 'a user’s link to a file of the user’s own',
    make: (rig) => (file(rig, 'home/own', MALLORY), link(rig, 'logs/a.log', rig.path('home/own'), MALLORY)),
    safe: ['home/own'],
    always: ['home/own'],
  },
  {
    name: 'root’s link to a user’s link to root’s file',
    make: (rig) => (link(rig, 'home/cur', '../etc/secret', MALLORY), link(rig, 'logs/a.log', '../home/cur')),
    safe: [],
  },
  {
    name: 'a user’s link to root’s link to root’s file',
    make: (rig) => (link(rig, 'opt/cur', '../etc/secret'), link(rig, 'logs/a.log', '../opt/cur', MALLORY)),
    safe: [],
  },
  {
    name: 'root’s link through a user’s folder link to root’s folder',
    make: (rig) => (link(rig, 'home/cur', '../etc', MALLORY), link(rig, 'logs/a.log', '../home/cur/secret')),
    safe: [],
  },
  {
    name: 'a link of root’s through a user’s folder link to a folder of the user’s own',
    make: (rig) => {
      folder(rig, 'home/v2', MALLORY);
      file(rig, 'home/v2/app', BOB);
      link(rig, 'home/cur', 'v2', MALLORY);
      link(rig, 'logs/a.log', '../home/cur/app');
    },
    safe: ['home/v2/app'],
    always: ['home/v2/app'],
  },
  {
    name: 'a user’s link by way of .. and of the user’s own folder',
    make: (rig) => (
      folder(rig, 'home/own', MALLORY),
      link(rig, 'logs/a.log', '../home/own/./../../etc//secret', MALLORY)
    ),
    safe: [],
  },
  {
    name: 'a .. behind a folder link counts from where that leads to',
    make: (rig) => {
      folder(rig, 'far/deep');
      file(rig, 'far/secret');
      file(rig, 'home/secret', MALLORY);
      link(rig, 'home/x', '../far/deep');
      link(rig, 'logs/a.log', '../home/x/../secret', MALLORY);
    },
    safe: [],
    always: ['far/secret'],
  },
  {
    name: 'a user’s link to a folder in the middle of the path',
    glob: 'logs/*/secret',
    make: (rig) => link(rig, 'logs/a', '../etc', MALLORY),
    safe: [],
  },
  {
    name: 'a user’s link to a folder below **',
    glob: 'logs/**/secret',
    make: (rig) => link(rig, 'logs/a', '../etc', MALLORY),
    safe: [],
  },
  {
    name: 'a user’s link behind root’s link to a folder',
    glob: 'logs/*/app.log',
    make: (rig) => (link(rig, 'srv/app.log', '../etc/secret', MALLORY), link(rig, 'logs/a', '../srv')),
    safe: [],
  },
  {
    name: 'root’s link to a folder in the middle of the path',
    glob: 'logs/*/secret',
    make: (rig) => link(rig, 'logs/a', '../etc'),
    safe: SECRET,
  },
  {
    name: 'a user’s link with a literal name behind a wildcard',
    glob: 'logs/*/app.log',
    make: (rig) => link(rig, 'logs/a/app.log', '../../etc/secret', MALLORY),
    safe: [],
  },
  {
    name: 'a user’s link that a brace matched',
    glob: '{logs,x}/a.log',
    make: (rig) => link(rig, 'logs/a.log', '../etc/secret', MALLORY),
    safe: [],
  },
  {
    name: 'a user’s link that the configuration names',
    glob: 'logs/a.log',
    make: (rig) => link(rig, 'logs/a.log', '../etc/secret', MALLORY),
    safe: SECRET,
    never: SECRET,
  },
  {
    name: 'a user’s link in the fixed part of a pattern',
    glob: 'logs/cur/s*',
    make: (rig) => link(rig, 'logs/cur', '../etc', MALLORY),
    safe: SECRET,
    never: SECRET,
  },
  {
    name: 'a user’s link behind one in the fixed part',
    glob: 'cur/*.log',
    make: (rig) => (link(rig, 'logs/a.log', '../etc/secret', MALLORY), link(rig, 'cur', 'logs', MALLORY)),
    safe: [],
  },
  {
    name: 'no link at all',
    make: (rig) => file(rig, 'logs/a.log', MALLORY),
    safe: ['logs/a.log'],
    never: ['logs/a.log'],
    always: ['logs/a.log'],
  },
];

describe.each([
  ['safe', ({ safe }: Case) => safe],
  [true, ({ always }: Case) => always ?? SECRET],
  [false, ({ never }: Case) => never ?? []],
] as const)('follow_links: %s', (followLinks, wanted) => {
  test.for(cases)('$name', async (each, { rig }) => {
    expect(isRoot, 'this test runs as root, to make links of other users').toBe(true);
    file(rig, 'etc/secret');
    each.make(rig);
    await rig.start({ glob: each.glob ?? 'logs/*.log', followLinks });
    await rig.drain();
    expect(rig.texts).toEqual(wanted(each));
    const isRefused = rig.texts.length === 0;
    expect(rig.source.stats.refused?.links).toBe(isRefused ? 1 : 0);
    expect(rig.said(/not followed/)).toHaveLength(isRefused ? 1 : 0);
    expect(rig.source.refused!.size).toBe(isRefused ? 1 : 0);
  });
});

test('a refused link is logged and counted once, and followed once root made it', async ({ rig }) => {
  file(rig, 'etc/secret');
  link(rig, 'logs/a.log', '../etc/secret', MALLORY);
  await rig.start({ glob: 'logs/*.log' });
  await rig.pass(60);
  expect(rig.said(/not followed/)).toMatchObject([
    {
      level: 'warn',
      fields: {
        path: rig.path('logs/a.log'),
        reason: expect.stringContaining('user 1001 made the symbolic link') as string,
      },
    },
  ]);
  expect(rig.source.stats.refused?.links).toBe(1);
  lchownSync(rig.path('logs/a.log'), 0, 0);
  await rig.drain();
  expect(rig.texts).toEqual(SECRET);
  expect(rig.source.refused!.size).toBe(0);
});

test('thousands of refused links make a few log lines', async ({ rig }) => {
  file(rig, 'etc/secret');
  for (let n = 0; n < 1500; n += 1) link(rig, `logs/${n}.log`, '../etc/secret', MALLORY);
  await rig.start({ glob: 'logs/*.log' });
  await rig.pass(5);
  expect(rig.log.length).toBeLessThan(40);
  expect(rig.source.stats.refused?.links).toBe(1000);
});

test('explain of a refused link does not reveal its target, nor whether there is one', async ({ rig }) => {
  file(rig, 'etc/secret');
  link(rig, 'logs/x/a.log', '../../etc/secret', MALLORY);
  link(rig, 'logs/x/b.log', '../../etc/nothing', MALLORY);
  link(rig, 'logs/x/c.log', '../../etc/secret/below', MALLORY);
  link(rig, 'logs/x/l', '../../etc', MALLORY);
  await rig.start({ glob: 'logs/**' });
  await rig.drain();
  const explain = (name: string): string =>
    JSON.stringify(rig.source.explain(rig.path(name))).replaceAll(/[abc]\.log/g, 'X');
  expect(explain('logs/x/a.log')).toContain('what it leads to is not that user’s own'.replace('’', "'"));
  expect(explain('logs/x/b.log')).toBe(explain('logs/x/a.log'));
  expect(explain('logs/x/c.log')).toBe(explain('logs/x/a.log'));
  expect(explain('logs/x/l/nothing')).toBe(explain('logs/x/l/secret').replaceAll('/l/secret', '/l/nothing'));
  expect(explain('logs/x/l/secret')).toContain(rig.path('logs/x/l'));
});

test('a file read through a link that is refused since is not read on after a restart', async ({ rig }) => {
  file(rig, 'etc/secret');
  link(rig, 'logs/a.log', '../etc/secret', MALLORY);
  await rig.start({ glob: 'logs/*.log', followLinks: true });
  await rig.drain();
  rig.commit();
  await rig.source.stop();
  writeFileSync(rig.path('etc/secret'), 'more\n', { flag: 'a' });
  await rig.start({ glob: 'logs/*.log', followLinks: 'safe' });
  await rig.drain();
  expect(rig.texts).toEqual([]);
});

/** What happens between the look at a path and its opening. */
const swaps: readonly [string, (rig: TailRig) => void][] = [
  ['the file by a link', (rig) => (rmSync(rig.path('logs/a.log')), link(rig, 'logs/a.log', '../etc/secret', MALLORY))],
  [
    'its folder by a link',
    (rig) => (renameSync(rig.path('logs'), rig.path('gone')), link(rig, 'logs', 'trap', MALLORY)),
  ],
];

test.for(swaps)('nothing else is read when %s is replaced before the file is opened', async ([, swap], { rig }) => {
  file(rig, 'etc/secret');
  file(rig, 'trap/a.log');
  file(rig, 'x/logs/a.log', MALLORY);
  renameSync(rig.path('x/logs'), rig.path('logs'));
  const started = rig.start({ glob: '*/a.log', exclude: ['**/trap/**', '**/gone/**'] });
  rig.once('before', 'logs/a.log', () => swap(rig));
  await started;
  await rig.drain();
  expect(rig.texts).toEqual([]);
});

test('nothing else is read when the file is replaced by a link between the listing and the look at it', async ({
  rig,
}) => {
  file(rig, 'etc/secret');
  file(rig, 'logs/a.log', MALLORY);
  const fileSystem = failingFileSystem(() => ({
    ...freshFolders,
    readdir(path) {
      const entries = nodeFileSystem.readdir(path);
      if (path === rig.path('logs')) {
        unlinkSync(rig.path('logs/a.log'));
        link(rig, 'logs/a.log', '../etc/secret', MALLORY);
      }
      return entries;
    },
  }));
  await rig.start({ glob: 'logs/*.log', fileSystem });
  await rig.drain();
  expect(rig.texts).toEqual([]);
});

// Cost: a trace takes three system calls a name, and links are few.
test('files and folders without links are never traced, neither by scans nor when they are opened', async ({ rig }) => {
  for (const name of ['a.log', 'x/b.log', 'x/y/c.log']) file(rig, `logs/${name}`, MALLORY);
  const trace = (): never => {
    throw new Error('must not be traced');
  };
  await rig.start({ glob: 'logs/**/*.log', fileSystem: failingFileSystem(() => ({ ...freshFolders, trace })) });
  await rig.pass(30);
  writeFileSync(rig.path('logs/a.log'), 'more\n', { flag: 'a' });
  await rig.drain();
  expect(rig.texts.toSorted()).toEqual(['logs/a.log', 'logs/x/b.log', 'logs/x/y/c.log', 'more']);
});

test('a link that is followed is traced when it is found and opened, and then only every half minute', async ({
  rig,
}) => {
  file(rig, 'far/a.log');
  link(rig, 'logs/a.log', '../far/a.log');
  let traces = 0;
  const fileSystem = failingFileSystem((real) => ({
    ...freshFolders,
    trace: (path, base) => ((traces += 1), real.trace(path, base)),
  }));
  await rig.start({ glob: 'logs/*.log', fileSystem });
  await rig.drain();
  const opened = traces;
  await rig.pass(60);
  expect(traces - opened).toBeLessThanOrEqual(3);
});

test('a rotation behind a link while it is judged is no refusal, and its files are read', async ({ rig }) => {
  file(rig, 'far/a.log');
  link(rig, 'logs/a.log', '../far/a.log');
  let isDue = true;
  const fileSystem = failingFileSystem((real) => ({
    ...freshFolders,
    trace(path, base) {
      if (isDue) {
        isDue = false;
        renameSync(rig.path('far/a.log'), rig.path('far/a.log.1'));
        file(rig, 'far/a.log');
      }
      return real.trace(path, base);
    },
  }));
  await rig.start({ glob: 'logs/*.log', fileSystem });
  await rig.drain();
  await rig.pass(3);
  expect(rig.texts).toContain('far/a.log');
  expect(rig.source.stats.refused).toEqual({ links: 0 });
  expect(rig.said(/not followed|cannot/)).toEqual([]);
});

test('links are trusted by user number: root’s, the agent’s, and the target’s', () => {
  const judge = (
    owner: number,
    targetOwner: number | undefined,
    follow: boolean | 'safe' = 'safe',
    user: number | undefined = 500,
  ) => judgeTrace({ links: [{ path: '/a', owner, targetOwner }], end: undefined }, follow, user) === undefined;
  expect([judge(0, 7), judge(500, 7), judge(7, 7), judge(0, undefined), judge(500, undefined)]).toEqual([
    true,
    true,
    true,
    true,
    true,
  ]);
  expect([judge(8, 7), judge(8, 0), judge(8, 500), judge(8, undefined)]).toEqual([false, false, false, false]);
  expect([judge(0, 0, false), judge(8, 0, true), judge(8, 0, 'safe', undefined)]).toEqual([false, true, false]);
});
