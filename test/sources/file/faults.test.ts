import { appendFileSync, readlinkSync, readdirSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MAX_OPEN_FILES } from '../../../src/core/limits.ts';
import { type FileSystem, nodeFileSystem } from '../../../src/sources/file/file-system.ts';
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

const scenario = async (fileSystem: FileSystem): Promise<TailBench> => {
  const bench = new TailBench({ fileSystem });
  writeFileSync(bench.path('a.log'), 'a1\na2\n');
  writeFileSync(bench.path('b.log'), 'b1\nb');
  await bench.start();
  await bench.pass(1);
  appendFileSync(bench.path('a.log'), 'a3\n');
  await bench.pass(1);
  renameSync(bench.path('a.log'), bench.path('a.log.1'));
  writeFileSync(bench.path('a.log'), 'a4\n');
  appendFileSync(bench.path('b.log'), '2\n');
  await bench.pass(20, 5);
  appendFileSync(bench.path('a.log.1'), 'a5\n');
  // As long as any retry waits.
  await bench.pass(75, 15);
  return bench;
};

/** Every line arrived; a fault may send one again, never drop one. */
function expectAll(bench: TailBench): void {
  expect([...new Set(bench.texts)].sort()).toEqual(['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2']);
  expect(bench.source.stats).toMatchObject({ lagBytes: 0, lostBytes: 0 });
}

for (const name of ['stat', 'readdir', 'open', 'fstat', 'peek', 'read', 'close'] as const) {
  test(`fault at any one call of ${name} loses nothing and crashes nothing`, async () => {
    let calls = 0;
    let failAt = -1;
    const fileSystem = failingFileSystem((real) => ({
      [name]: (...given: unknown[]): unknown => {
        calls += 1;
        if (calls !== failAt) return Reflect.apply(real[name], real, given);
        // A close that fails has closed all the same.
        if (name === 'close') real.close(given[0] as number);
        throw systemError(name === 'open' ? 'EMFILE' : 'EIO');
      },
    }));
    expectAll(await scenario(fileSystem));
    const total = calls;
    expect(total).toBeGreaterThan(3);
    for (failAt = 1; failAt <= total; failAt += 1) {
      calls = 0;
      const bench = await scenario(fileSystem);
      expectAll(bench);
      await bench.source.stop();
    }
  });
}

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
