/**
 * Every call of the source's file system fails once, one after the other, in a scenario with rename, truncation and delete, and
 * in one with copies; then all calls of one kind fail for minutes. Promise: nothing crashes, nothing that could be read is missing, no line
 * comes twice, what is wrong is said once, and once the fault is over everything arrives.
 * The errors take turns; `TAILRACE_EVERY_FAULT=1` tries every error at every call.
 */
import { appendFileSync, closeSync, copyFileSync, openSync, renameSync, truncateSync, unlinkSync, writeFileSync, writeSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type FileSystem, nodeFileSystem } from '../../../src/sources/file/scan/file-system.ts';
import { failingFileSystem, systemError, TailBench } from './tail-bench.ts';

/** Those that can fail. */
type Call = Exclude<keyof FileSystem, 'pathOf' | 'linkTarget'>;

const CALLS: readonly Call[] = ['stat', 'readdir', 'open', 'fstat', 'peek', 'read', 'close'];
const CODES = ['EIO', 'ENOSPC', 'EMFILE', 'EACCES', 'ESTALE'] as const;

const triesAll = process.env['TAILRACE_EVERY_FAULT'] === '1';

/** A file system of which one kind of call fails as `fails` says, given the number of the call. */
function faulty(name: Call, fails: (nth: number) => string | undefined): { readonly fileSystem: FileSystem; calls: () => number } {
  let calls = 0;
  const fileSystem = failingFileSystem((real) => ({
    [name]: (...given: unknown[]): unknown => {
      const code = fails((calls += 1));
      if (code === undefined) return Reflect.apply(real[name] as (...all: unknown[]) => unknown, real, given);
      // A close that fails has closed all the same.
      if (name === 'close') real.close(given[0] as number);
      throw systemError(code);
    },
  }));
  return { fileSystem, calls: () => calls };
}

/** Longer than any retry waits. */
async function catchUp(bench: TailBench): Promise<void> {
  await bench.pass(45, 5);
}

/** What happens to four files; what may be read only with luck is in `TAKEN`. */
async function play(fileSystem: FileSystem): Promise<TailBench> {
  const bench = new TailBench({ fileSystem });
  writeFileSync(bench.path('a.log'), 'a1\na2\n');
  writeFileSync(bench.path('b.log'), 'b1\nb');
  writeFileSync(bench.path('c.log'), 'c1\n');
  const deleted = openSync(bench.path('d.log'), 'a');
  writeSync(deleted, 'd1\n');
  await bench.start();
  await bench.pass(4);
  // Rename and create, with growth on both sides.
  appendFileSync(bench.path('a.log'), 'a3\n');
  renameSync(bench.path('a.log'), bench.path('a.log.1'));
  writeFileSync(bench.path('a.log'), 'a4\n');
  appendFileSync(bench.path('b.log'), '2\n');
  await bench.pass(2);
  appendFileSync(bench.path('a.log.1'), 'a5\n');
  // A truncation when a stat has seen what it takes away, then one of a file that was read to its end.
  appendFileSync(bench.path('c.log'), 'c2\n');
  await bench.source.scanOnce();
  truncateSync(bench.path('c.log'), 0);
  appendFileSync(bench.path('c.log'), 'c3\n');
  await catchUp(bench);
  truncateSync(bench.path('c.log'), 0);
  appendFileSync(bench.path('c.log'), 'c4\nc5\n');
  // A delete while behind; whoever has it open goes on writing.
  writeSync(deleted, 'd2\n');
  await bench.pass(4);
  writeSync(deleted, 'd3\n');
  await bench.source.scanOnce();
  unlinkSync(bench.path('d.log'));
  await bench.pass(2);
  writeSync(deleted, 'd4\n');
  await catchUp(bench);
  closeSync(deleted);
  await bench.pass(80, 20);
  return bench;
}

/** What is copied and truncated: with lines that were not read yet, and with less than was read; copies in the globs and out of them. */
async function playCopies(fileSystem: FileSystem): Promise<TailBench> {
  const bench = new TailBench({ fileSystem });
  const start = (): Promise<TailBench> => bench.start({ include: [bench.path('*.log'), bench.path('b.log*')] });
  const early = 'a line that is copied, of some length\n'.repeat(50);
  for (const name of ['a.log', 'b.log']) writeFileSync(bench.path(name), `${early}${name} 1\n`);
  await start();
  await bench.pass(3);
  for (const name of ['a.log', 'b.log']) {
    appendFileSync(bench.path(name), `${name} 2\n`);
    copyFileSync(bench.path(name), bench.path(`${name}.1`));
    truncateSync(bench.path(name), 0);
    appendFileSync(bench.path(name), `${early}${name} 3\n`);
  }
  await catchUp(bench);
  for (const name of ['a.log', 'b.log']) {
    copyFileSync(bench.path(name), bench.path('copy'));
    appendFileSync(bench.path(name), `${name} 4\n`);
    await catchUp(bench);
    renameSync(bench.path(`${name}.1`), bench.path(`${name}.2`));
    renameSync(bench.path('copy'), bench.path(`${name}.1`));
    truncateSync(bench.path(name), 0);
    appendFileSync(bench.path(name), `${name} 5\n`);
  }
  await catchUp(bench);
  await bench.pass(80, 20);
  return bench;
}

interface Scenario {
  readonly play: (fileSystem: FileSystem) => Promise<TailBench>;
  /** All lines but the taken one, sorted. */
  readonly written: readonly string[];
  /** The line that a truncation takes away. */
  readonly taken?: string;
}

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'rename, truncation and delete': {
    play,
    written: ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'c1', 'c3', 'c4', 'c5', 'd1', 'd2', 'd3', 'd4'],
    taken: 'c2',
  },
  copytruncate: {
    play: playCopies,
    written: [
      ...Array.from({ length: 200 }, () => 'a line that is copied, of some length'),
      ...['a.log', 'b.log'].flatMap((name) => [1, 2, 3, 4, 5].map((n) => `${name} ${n}`)),
    ].toSorted(),
  },
};

test.for(Object.entries(SCENARIOS))('scenario of %s without a fault: all lines once, the truncated one counted', async ([, scenario]) => {
  const bench = await scenario.play(nodeFileSystem);
  expect(bench.texts.toSorted()).toEqual(scenario.written);
  const lostBytes = scenario.taken === undefined ? 0 : scenario.taken.length + 1;
  expect(bench.source.stats).toMatchObject({ lagBytes: 0, lostBytes, files: { deleted: 0, failed: 0 } });
});

/** What is wrong after one failed call, in words. */
function complaints(bench: TailBench, code: string, { written, taken }: Scenario): string[] {
  const { stats } = bench.source;
  const found = bench.texts.filter((text) => text !== taken).toSorted();
  const said = bench.log.filter(({ fields }) => fields['code'] === code);
  // The call that failed may be the stat that would have seen the bytes.
  const mayBeLost = taken === undefined || bench.texts.includes(taken) ? [0] : [0, taken.length + 1];
  const wrong: string[] = [];
  if (found.join() !== written.join()) wrong.push(`it sent ${found.length} lines of ${written.length}: ${found.slice(-14).join(' ')}`);
  if (!mayBeLost.includes(stats.lostBytes)) wrong.push(`it counted ${stats.lostBytes} bytes as lost`);
  if (stats.lagBytes !== 0 || stats.files['deleted'] !== 0 || stats.files['failed'] !== 0)
    wrong.push(`it is not done: ${stats.lagBytes} ${JSON.stringify(stats.files)}`);
  if (said.length > 1) wrong.push(`it said the fault ${said.length} times`);
  for (const { level, fields, text } of said)
    if (level !== 'warn' || fields['reason'] !== `${code}: made to fail` || fields['path'] === undefined)
      wrong.push(`it only said "${text}"`);
  return wrong;
}

for (const [about, scenario] of Object.entries(SCENARIOS))
  for (const name of CALLS)
    test(
      `fault at any one call of ${name} loses nothing, repeats nothing, and is said at most once: ${about}`,
      { timeout: 600_000 },
      async () => {
        const counted = faulty(name, () => undefined);
        await (await scenario.play(counted.fileSystem)).source.stop();
        const total = counted.calls();
        expect(total).toBeGreaterThan(3);
        const wrong: string[] = [];
        for (let failAt = 1; failAt <= total; failAt += 1) {
          for (const code of triesAll || name === 'open' ? CODES : [CODES[failAt % CODES.length]!]) {
            const bench = await scenario.play(faulty(name, (nth) => (nth === failAt ? code : undefined)).fileSystem);
            const said = bench.log.filter(({ level }) => level !== 'debug').map(({ text }) => text);
            for (const each of complaints(bench, code, scenario))
              wrong.push(`${code} at call ${failAt} of ${total}: ${each} (${said.join('; ')})`);
            await bench.source.stop();
          }
        }
        expect(wrong).toEqual([]);
      },
    );

for (const name of CALLS) {
  for (const code of CODES) {
    test(`${code} at every call of ${name} for three minutes loses nothing and is said once for each file`, async () => {
      let isFaulty = false;
      const { fileSystem } = faulty(name, () => (isFaulty ? code : undefined));
      const bench = new TailBench({ fileSystem });
      writeFileSync(bench.path('a.log'), 'a1\n');
      writeFileSync(bench.path('b.log'), 'b1\n');
      await bench.start();
      await bench.pass(2);
      appendFileSync(bench.path('b.log'), 'b2\n');
      isFaulty = true;
      appendFileSync(bench.path('a.log'), 'a2\n');
      await bench.pass(5);
      renameSync(bench.path('a.log'), bench.path('a.log.1'));
      writeFileSync(bench.path('a.log'), 'a3\n');
      await bench.pass(180, 1);
      appendFileSync(bench.path('a.log.1'), 'a4\n');
      appendFileSync(bench.path('b.log'), 'b3\n');
      const said = bench.log.filter(({ fields }) => fields['code'] === code);
      isFaulty = false;
      await catchUp(bench);
      const about = JSON.stringify(bench.log, undefined, 1);
      expect(bench.texts.toSorted(), about).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'b3']);
      expect(bench.source.stats, about).toMatchObject({ lagBytes: 0, lostBytes: 0, files: { failed: 0 } });
      // Three files and their folder.
      expect(said.length, about).toBeLessThanOrEqual(4);
      expect(new Set(said.map(({ fields, text }) => `${String(fields['path'])} ${text}`)).size, about).toBe(said.length);
      if (name !== 'close') expect(said.length, about).toBeGreaterThan(0);
      await bench.source.stop();
    });
  }
}
