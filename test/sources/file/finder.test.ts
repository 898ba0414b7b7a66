import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import {
  type FileStat,
  type FileSystem,
  isSameStat,
  nodeFileSystem,
} from '../../../src/sources/file/scan/file-system.ts';
import { Finder } from '../../../src/sources/file/scan/finder.ts';
import { explainMiss } from '../../../src/sources/file/scan/glob.ts';
import { compileExclude, compileInclude, fixedPartsOf } from '../../../src/sources/file/scan/glob.ts';
import { Links } from '../../../src/sources/file/scan/links.ts';
import { Notices } from '../../../src/sources/file/scan/notices.ts';
import { PathRefusals } from '../../../src/sources/file/scan/path-refusals.ts';
import { makeTree } from '../../support/temp-tree.ts';
import { failingFileSystem, StepClock, systemError } from './tail-rig.ts';

function makeFinder(include: string[], exclude: string[] = [], fileSystem: FileSystem = nodeFileSystem) {
  const log: string[] = [];
  const write = (level: string) => (fields: object, text: string) =>
    void log.push(`${level} ${(fields as { path?: string }).path} ${text}`);
  const clock = new StepClock();
  const notices = new Notices(
    { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') },
    clock,
  );
  const links = new Links({ fixed: fixedPartsOf(include), followLinks: 'safe', fileSystem, clock });
  const refusals = new PathRefusals({ links, privateFiles: undefined, fileSystem, notices, counts: { links: 0 } });
  const finder = new Finder({ include, exclude, fileSystem, clock, notices, refusals });
  return { finder, log, clock, find: async () => [...(await finder.find()).keys()].sort() };
}

test('a stat record is kept between scans only while every member is the same', () => {
  const before: FileStat = { kind: 'file', device: 1, inode: 2, size: 3, mtimeMs: 4, bornMs: 5, links: 1 };
  const changed: Readonly<Record<keyof FileStat, Partial<FileStat>>> = {
    kind: { kind: 'FIFO' },
    device: { device: 9 },
    inode: { inode: 9n },
    size: { size: 9 },
    mtimeMs: { mtimeMs: 9 },
    bornMs: { bornMs: 9 },
    links: { links: 0 },
  };
  expect(isSameStat(before, { ...before })).toBe(true);
  for (const [name, change] of Object.entries(changed))
    expect([name, isSameStat(before, { ...before, ...change })]).toEqual([name, false]);
});

test('finder follows ** at any depth and * within one folder only', async () => {
  const root = makeTree({
    'a.log': '',
    'b.txt': '',
    'x/a.log': '',
    'x/y/z/a.log': '',
    'x/.hidden/a.log': '',
    '.b.log': '',
  });
  expect(await makeFinder([`${root}/**/*.log`]).find()).toEqual([
    `${root}/a.log`,
    `${root}/x/a.log`,
    `${root}/x/y/z/a.log`,
  ]);
  expect(await makeFinder([`${root}/*.log`]).find()).toEqual([`${root}/a.log`]);
  expect(await makeFinder([`${root}/*/*.log`]).find()).toEqual([`${root}/x/a.log`]);
  expect(await makeFinder([`${root}/x/{y/z,w}/*.log`]).find()).toEqual([`${root}/x/y/z/a.log`]);
  expect(await makeFinder([`${root}/b.txt`, `${root}/missing.log`, `${root}/nowhere/*.log`]).find()).toEqual([
    `${root}/b.txt`,
  ]);
});

test('finder takes a path with escaped wildcards as it is', async () => {
  const root = makeTree({ 'a[1].log': '', 'a1.log': '' });
  expect(await makeFinder([`${root}/a\\[1\\].log`]).find()).toEqual([`${root}/a[1].log`]);
});

test('finder leaves out what an exclude names, by file name or by path, and does not enter excluded folders', async () => {
  const root = makeTree({ 'a.log': '', 'a.log.gz': '', 'x/a.log.gz': '', 'x/b.log': '', 'old/c.log': '' });
  const listed: string[] = [];
  const fileSystem = failingFileSystem((real) => ({ readdir: (path) => (listed.push(path), real.readdir(path)) }));
  const { find } = makeFinder([`${root}/**`], ['*.gz', `${root}/old`, `${root}/old/**`], fileSystem);
  expect(await find()).toEqual([`${root}/a.log`, `${root}/x/b.log`]);
  expect(listed.sort()).toEqual([root, `${root}/x`]);
});

test('finder enters only folders that can hold a match', async () => {
  const root = makeTree({ 'u1/logs/a.log': '', 'u1/photos/2020/a.log': '', 'u2/logs/deep/a.log': '' });
  const listed: string[] = [];
  const fileSystem = failingFileSystem((real) => ({ readdir: (path) => (listed.push(path), real.readdir(path)) }));
  expect(await makeFinder([`${root}/*/logs/*.log`], [], fileSystem).find()).toEqual([`${root}/u1/logs/a.log`]);
  expect(listed.sort()).toEqual([root, `${root}/u1`, `${root}/u1/logs`, `${root}/u2`, `${root}/u2/logs`]);
});

test.for(['\n', '\r', '\u2028', '\u2029', '\u0085'])(
  'a name with the line break %j is no obstacle for **, *, ?, classes, braces and exclude',
  async (lineBreak) => {
    const [folder, name] = [`x${lineBreak}y`, `a${lineBreak}b.log`];
    const root = makeTree({ [`${folder}/deep/a.log`]: '', [`${folder}/${name}`]: '', [name]: '' });
    const all = [`${root}/${folder}/deep/a.log`, `${root}/${folder}/${name}`, `${root}/${name}`].sort();
    expect(await makeFinder([`${root}/**/*.log`]).find()).toEqual(all);
    expect(await makeFinder([`${root}/**`]).find()).toEqual(all);
    expect(await makeFinder([`${root}/*/**/a.log`]).find()).toEqual([`${root}/${folder}/deep/a.log`]);
    const wild = [
      'a?b.log',
      'a[^c]b.log',
      '{a,b}*.log',
      '@(a*).log',
      '!(c).log',
      '+(a|b|[^.]).log',
      `a${lineBreak}*.log`,
      `a\\${lineBreak}b.log`,
    ];
    for (const pattern of wild)
      expect(await makeFinder([`${root}/${pattern}`]).find(), pattern).toEqual([`${root}/${name}`]);
    for (const exclude of ['*', `${root}/**`, `${root}/*/**`, '**/x?y/**'])
      expect(await makeFinder([`${root}/${folder}/**`], [exclude]).find(), exclude).toEqual([]);
    expect(await makeFinder([`${root}/${folder}/**`], ['*b.log']).find()).toEqual([`${root}/${folder}/deep/a.log`]);
  },
);

test('finder follows symbolic links to files and folders, and link loops end', async () => {
  const root = makeTree({ 'real/a.log': '', 'other/b.log': '' });
  symlinkSync('a.log', `${root}/real/link.log`);
  symlinkSync('..', `${root}/real/up`);
  symlinkSync('.', `${root}/real/self`);
  symlinkSync('loop.log', `${root}/real/loop.log`);
  symlinkSync('missing', `${root}/real/dangling.log`);
  symlinkSync(`${root}/other`, `${root}/real/there`);
  const { find, log } = makeFinder([`${root}/real/**/*.log`]);
  // `other` is reached first through `up`, then is known.
  expect(await find()).toEqual(expect.arrayContaining([`${root}/real/a.log`, `${root}/real/link.log`]));
  expect((await find()).filter((path) => path.endsWith('b.log'))).toHaveLength(1);
  expect(log.filter((line) => line.includes('loop.log'))).toHaveLength(1);
});

test('finder skips anything but regular files, logs it once, and opens nothing', async () => {
  const root = makeTree({ 'a.log': 'x' });
  execFileSync('mkfifo', [`${root}/pipe.log`]);
  mkdirSync(`${root}/folder.log`);
  symlinkSync('/dev/null', `${root}/device.log`);
  const server = createServer().listen(`${root}/socket.log`);
  await new Promise((resolve) => server.once('listening', resolve));
  const fileSystem = failingFileSystem(() => ({
    open: () => {
      throw new Error('must not open');
    },
  }));
  const { find, log } = makeFinder([`${root}/*.log`], [], fileSystem);
  expect(await find()).toEqual([`${root}/a.log`]);
  expect(await find()).toEqual([`${root}/a.log`]);
  expect(log.sort()).toEqual([
    `info ${root}/folder.log skipped: it matches the pattern, but is a directory, no regular file`,
    `warn ${root}/device.log skipped: it matches the pattern, but is a device, no regular file`,
    `warn ${root}/pipe.log skipped: it matches the pattern, but is a FIFO, no regular file`,
    `warn ${root}/socket.log skipped: it matches the pattern, but is a socket, no regular file`,
  ]);
  await new Promise((resolve) => server.close(resolve));
});

test('finder names a folder that cannot be read once, looks again, and names it again after it was readable', async () => {
  const root = makeTree({ 'a.log': '', 'closed/b.log': '' });
  let isClosed = true;
  const fileSystem = failingFileSystem((real) => ({
    readdir(path) {
      if (isClosed && path.endsWith('closed')) throw systemError('EACCES');
      return real.readdir(path);
    },
  }));
  const { find, log } = makeFinder([`${root}/**/*.log`], [], fileSystem);
  expect(await find()).toEqual([`${root}/a.log`]);
  await find();
  expect(log).toEqual([`warn ${root}/closed cannot stat path, trying again at every scan; check its permissions`]);
  isClosed = false;
  expect(await find()).toContain(`${root}/closed/b.log`);
  isClosed = true;
  await find();
  expect(log).toHaveLength(2);
});

test('finder lists an idle folder once, and again when something in it changed or half a minute passed', async () => {
  const root = makeTree({ 'a.log': '' });
  // The clock is stepped; the folder's time must not be of the tick in which the next file is made.
  utimesSync(root, 1000, 1000);
  let listings = 0;
  const fileSystem = failingFileSystem((real) => ({ readdir: (path) => ((listings += 1), real.readdir(path)) }));
  const { find, clock } = makeFinder([`${root}/*.log`], [], fileSystem);
  const pass = async (seconds: number): Promise<number> => {
    const before = listings;
    for (let second = 0; second < seconds; second += 1) {
      await find();
      clock.advance(1000);
    }
    return listings - before;
  };
  // Not believed before the folder's time has stood still.
  expect(await pass(4)).toBe(4);
  expect(await pass(20)).toBe(0);
  writeFileSync(`${root}/b.log`, '');
  expect(await find()).toEqual([`${root}/a.log`, `${root}/b.log`]);
  await pass(10);
  expect(await pass(60)).toBe(2);
});

test('finder names a file whose name is not valid UTF-8', async () => {
  const root = makeTree({ 'a.log': '' });
  writeFileSync(Buffer.concat([Buffer.from(`${root}/b`), Buffer.from([0xff]), Buffer.from('.log')]), 'x');
  const { find, log } = makeFinder([`${root}/*.log`]);
  expect(await find()).toEqual([`${root}/a.log`]);
  expect(log).toEqual([expect.stringContaining('not valid UTF-8')]);
});

test('finder tells the folders that it searched, the links that match, and the folders that are missing', async () => {
  const root = makeTree({ 'logs/a.log': '', 'logs/deep/b.log': '', 'elsewhere/c.log': '' });
  symlinkSync(`${root}/elsewhere/c.log`, `${root}/logs/c.log`);
  const { find, finder } = makeFinder([`${root}/logs/**/*.log`, `${root}/later/*.log`, `${root}/elsewhere/c.log`]);
  await find();
  const { folders, links, missing } = finder.visited;
  expect([...folders.keys()]).toEqual([`${root}/logs`, `${root}/logs/deep`, `${root}/elsewhere`]);
  expect([...links]).toEqual([`${root}/logs/c.log`]);
  expect([...missing]).toEqual([`${root}/later`]);
});

test('finder finds the files in one folder, and asks for a whole search where the folder, or one in it, is new', async () => {
  const root = makeTree({ 'a.log': '', 'deep/b.log': '' });
  const { find, finder } = makeFinder([`${root}/**/*.log`]);
  await find();
  writeFileSync(`${root}/c.log`, '');
  expect([...(await finder.findIn(root))!.keys()].sort()).toEqual([`${root}/a.log`, `${root}/c.log`]);
  expect([...(await finder.findIn(`${root}/deep`))!.keys()]).toEqual([`${root}/deep/b.log`]);
  mkdirSync(`${root}/more`);
  expect(await finder.findIn(root)).toBe(undefined);
  expect(await finder.findIn('/nowhere')).toBe(undefined);
});

test('glob tells base, depth and folders that lead to a match', () => {
  const rule = compileInclude('/srv/*/logs/**/*.log');
  expect(rule).toMatchObject({ base: '/srv', depth: Infinity, isLiteral: false });
  expect([
    rule.mayContain('/srv/ann', 1),
    rule.mayContain('/srv/ann/logs', 2),
    rule.mayContain('/srv/ann/src', 2),
    rule.mayContain('/srv/ann/logs/x/y', 4),
  ]).toEqual([true, true, false, true]);
  expect(compileInclude('/a/b.log')).toMatchObject({ base: '/a/b.log', depth: 0, isLiteral: true });
  const isExcluded = compileExclude(['*.gz', '/tmp/**']);
  expect([isExcluded('/a/b.gz'), isExcluded('/tmp/x/y'), isExcluded('/a/b.log')]).toEqual([true, true, false]);
});

test('explainMiss names the pattern that agrees with most of a path, and where it ends to agree', () => {
  const why = (pattern: string, path: string): string => explainMiss([pattern], path).why;
  expect(explainMiss(['/var/log/*.log', '/var/log/app/*.log', '/srv/**/*.log'], '/var/log/app/a.txt').pattern).toBe(
    '/var/log/app/*.log',
  );
  expect(why('/var/log/*.log', '/var/log/a.txt')).toBe('"a.txt" does not match "*.log"');
  expect(why('/var/log/**/*.log', '/var/log/x/a.txt')).toBe('"a.txt" does not match "*.log"');
  expect(why('/var/log/*.log', '/var/log/x/y/a.log')).toMatch(/in a folder below/);
  expect(why('/var/log/x/*.log', '/var/log/x')).toMatch(/in folders below this path/);
  expect(why('/var/log/*.log', '/var/log/.a.log')).toMatch(/begins with a dot/);
  expect(why('/var/log/*.log', '/var/Log/a.log')).toMatch(/"Log" and "log" differ in upper and lower case/);
});
