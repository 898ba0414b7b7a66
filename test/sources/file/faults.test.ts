import { appendFileSync, closeSync, openSync, readdirSync, readlinkSync, unlinkSync, writeFileSync, writeSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MAX_OPEN_FILES, MIN_OPEN_FILES } from '../../../src/core/limits.ts';
import { type FileSystem, nodeFileSystem } from '../../../src/sources/file/scan/file-system.ts';
import { failingFileSystem, startBench, systemError, TailBench } from './tail-bench.ts';

test('unreadable file among readable ones is named once, tried again ever less often, and read when it can be', async () => {
  let isClosed = true;
  let tries = 0;
  const fileSystem = failingFileSystem((real) => ({
    open(path) {
      if (!path.endsWith('secret.log')) return real.open(path);
      tries += 1;
      if (isClosed) throw systemError('EACCES');
      return real.open(path);
    },
  }));
  const bench = new TailBench({ fileSystem });
  writeFileSync(bench.path('secret.log'), 'hidden\n');
  writeFileSync(bench.path('a.log'), 'one\n');
  await bench.start();
  await bench.pass(60);
  expect(bench.byFile).toEqual({ 'a.log': ['one'] });
  expect(bench.said(/cannot read file/)).toMatchObject([{ level: 'warn', fields: { path: bench.path('secret.log'), code: 'EACCES' } }]);
  expect(bench.source.stats.files['failed']).toBe(1);
  expect(tries).toBeGreaterThan(3);
  expect(tries).toBeLessThan(10);
  expect(bench.source.explain(bench.path('secret.log'))).toMatchObject({ state: 'failed', lastError: 'EACCES: made to fail' });
  isClosed = false;
  await bench.pass(31);
  expect(bench.byFile['secret.log']).toEqual(['hidden']);
  expect(bench.source.stats.files['failed']).toBe(0);
  expect(bench.said(/can be read again/)).toHaveLength(1);
});

test('deleted file that is still written to is not given up for one read that failed long after the delete', async () => {
  let failsOnce = false;
  const fileSystem = failingFileSystem((real) => ({
    read(fd, into, position) {
      if (!failsOnce) return real.read(fd, into, position);
      failsOnce = false;
      throw systemError('EIO');
    },
  }));
  const bench = new TailBench({ fileSystem });
  const fd = openSync(bench.path('a.log'), 'w');
  writeSync(fd, 'line 0\n');
  await bench.start();
  await bench.pass(1);
  unlinkSync(bench.path('a.log'));
  const written = ['line 0'];
  for (let minute = 1; minute <= 20; minute += 1) {
    written.push(`line ${minute}`);
    writeSync(fd, `line ${minute}\n`);
    failsOnce = minute === 15;
    await bench.pass(6);
  }
  closeSync(fd);
  expect(bench.texts).toEqual(written);
  expect(bench.source.stats.lostBytes).toBe(0);
  expect(bench.said(/cannot read file/)).toHaveLength(1);
});

/** A process that may have no more than `most` files open. */
function scarceFileSystem(most: number): { readonly fileSystem: FileSystem; open: () => number } {
  let open = 0;
  const fileSystem = failingFileSystem((real) => ({
    open(path) {
      if (open >= most) throw systemError('EMFILE');
      const fd = real.open(path);
      open += 1;
      return fd;
    },
    close(fd) {
      open -= 1;
      real.close(fd);
    },
  }));
  return { fileSystem, open: () => open };
}

test('source that runs out of descriptors says so once, gives half of them back, and reads every file', async () => {
  const { fileSystem, open } = scarceFileSystem(40);
  const bench = new TailBench({ fileSystem });
  for (let n = 0; n < 300; n += 1) writeFileSync(bench.path(`${n}.log`), `${n}\n`);
  await bench.start();
  await bench.drain();
  expect(open()).toBeLessThanOrEqual(20);
  for (let n = 0; n < 300; n += 1) appendFileSync(bench.path(`${n}.log`), `${n} more\n`);
  await bench.drain();
  expect(new Set(bench.texts).size).toBe(600);
  expect(bench.texts).toHaveLength(600);
  expect(bench.log.filter(({ level }) => level === 'warn')).toMatchObject([
    { fields: { code: 'EMFILE', limit: 20 }, text: expect.stringMatching(/no file descriptor is left.*ulimit -n/) as string },
  ]);
  expect(bench.source.stats.files['failed']).toBe(0);
});

test('source that ran out of descriptors while others had them keeps more files open again later, and says it again only then', async () => {
  let left = 10;
  const fileSystem = failingFileSystem((real) => ({
    open(path) {
      if (left <= 0) throw systemError('ENFILE');
      left -= 1;
      return real.open(path);
    },
  }));
  const bench = new TailBench({ fileSystem });
  for (let n = 0; n < 100; n += 1) writeFileSync(bench.path(`${n}.log`), `${n}\n`);
  await bench.start();
  await bench.pass(10);
  left = Infinity;
  const touchAll = async (): Promise<number> => {
    for (let n = 0; n < 100; n += 1) appendFileSync(bench.path(`${n}.log`), 'more\n');
    await bench.drain();
    return bench.source.stats.files['active']!;
  };
  await bench.pass(60);
  const kept: number[] = [];
  for (let minute = 0; minute < 6; minute += 1) {
    kept.push(await touchAll());
    await bench.pass(60);
  }
  expect(kept[0]).toBeLessThanOrEqual(2 * MIN_OPEN_FILES);
  expect(kept.at(-1)).toBe(100);
  expect(bench.texts).toHaveLength(700);
  expect(bench.said(/no file descriptor is left/)).toHaveLength(1);
});

test('folder that cannot be looked at for a while takes nothing away', async () => {
  let isClosed = false;
  const fileSystem = failingFileSystem((real) => ({
    open(path) {
      if (isClosed || path.endsWith('b.log')) throw systemError('EACCES');
      return real.open(path);
    },
    stat(path) {
      if (isClosed) throw systemError('EACCES');
      return real.stat(path);
    },
  }));
  const bench = new TailBench({ fileSystem });
  writeFileSync(bench.path('a.log'), 'one\n');
  writeFileSync(bench.path('b.log'), 'never read\n');
  await bench.start();
  await bench.pass(30);
  isClosed = true;
  appendFileSync(bench.path('a.log'), 'two\n');
  await bench.pass(300, 10);
  expect(bench.source.stats).toMatchObject({ lostBytes: 0, lagBytes: 11, files: { deleted: 0 } });
  isClosed = false;
  await bench.drain();
  expect(bench.texts).toEqual(['one', 'two']);
});

test('more files than may be open are all followed, with bounded descriptors', async () => {
  let open = 0;
  let most = 0;
  const fileSystem = failingFileSystem((real) => ({
    open(path) {
      const fd = real.open(path);
      most = Math.max(most, (open += 1));
      return fd;
    },
    close(fd) {
      open -= 1;
      real.close(fd);
    },
  }));
  const bench = new TailBench({ fileSystem });
  const count = MAX_OPEN_FILES + 100;
  for (let n = 0; n < count; n += 1) writeFileSync(bench.path(`${n}.log`), `${n}\n`);
  await bench.start();
  await bench.drain();
  for (let n = 0; n < count; n += 1) appendFileSync(bench.path(`${n}.log`), `${n} more\n`);
  await bench.drain();
  expect(bench.texts).toHaveLength(2 * count);
  expect(most).toBeLessThanOrEqual(MAX_OPEN_FILES);
  await bench.pass(15);
  expect(open).toBe(0);
  expect(bench.source.stats.files).toMatchObject({ idle: count, active: 0 });
});

test('file that is swapped for a FIFO between scan and open is not read and blocks nothing', async () => {
  const { execFileSync } = await import('node:child_process');
  let swap: (() => void) | undefined;
  const fileSystem = failingFileSystem((real) => ({
    open(path) {
      swap?.();
      swap = undefined;
      return real.open(path);
    },
  }));
  const bench = new TailBench({ fileSystem });
  await bench.start();
  writeFileSync(bench.path('a.log'), 'one\n');
  swap = () => {
    unlinkSync(bench.path('a.log'));
    execFileSync('mkfifo', [bench.path('a.log')]);
  };
  await bench.pass(3);
  expect(bench.texts).toEqual([]);
  expect(bench.said(/FIFO/)).toHaveLength(1);
});

test('source lets go of every descriptor when it stops', async () => {
  const bench = await startBench();
  for (let n = 0; n < 20; n += 1) writeFileSync(bench.path(`${n}.log`), `${n}\n`);
  await bench.drain();
  const held = (): string[] =>
    readdirSync('/proc/self/fd').flatMap((fd) => {
      const path = nodeFileSystem.pathOf(Number(fd)) ?? readlinkSync('/proc/self/exe');
      return path.startsWith(bench.folder) ? [path] : [];
    });
  expect(held()).toHaveLength(20);
  await bench.source.stop();
  expect(held()).toEqual([]);
});
