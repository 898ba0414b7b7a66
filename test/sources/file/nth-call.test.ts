/**
 * Every call of the source's file system fails once, one after the other, in a scenario with rename, truncation and delete, and in one with
 * copies; then all calls of one kind fail for minutes. Promise: nothing crashes, nothing that could be read is missing, no line comes
 * twice, the fault is logged once, and once the fault is over everything arrives. The errors take turns; `TAILRACE_EVERY_FAULT=1` tries
 * every error at every call.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type FileSystem, nodeFileSystem } from '../../../src/sources/file/scan/file-system.ts';
import { type Call, CALLS, failingFileSystem, hooked, systemError, TailRig } from './tail-rig.ts';

const CODES = ['EIO', 'ENOSPC', 'EMFILE', 'EACCES', 'ESTALE'] as const;

const triesAll = process.env['TAILRACE_EVERY_FAULT'] === '1';

/** A file system of which one kind of call fails as `fails` says, given the number of the call. */
function faulty(
  name: Call,
  fails: (nth: number) => string | undefined,
): { readonly fileSystem: FileSystem; calls: () => number } {
  const real = failingFileSystem(() => ({}));
  let calls = 0;
  const before = (call: Call, of: string | number): void => {
    const code = call === name ? fails((calls += 1)) : undefined;
    if (code === undefined) return;
    // A close that fails has closed all the same.
    if (name === 'close') real.close(of as number);
    throw systemError(code);
  };
  return { fileSystem: hooked({ before }, real), calls: () => calls };
}

/** Changes of four files; lines that are read only with luck are in `TAKEN`. `pass 45 5` is longer than any retry waits. */
async function play(fileSystem: FileSystem): Promise<TailRig> {
  const rig = new TailRig({ fileSystem });
  const deleted = openSync(rig.path('d.log'), 'a');
  writeSync(deleted, 'd1\n');
  await rig.play`
    write a.log a1 a2; write b.log b1 b…; write c.log c1; start; pass 4
    // Rename and create, with growth on both sides.
    append a.log a3; mv a.log a.log.1; write a.log a4; append b.log 2; pass 2; append a.log.1 a5
    // A truncation when a stat has seen what it takes away, then one of a file that was read to its end.
    append c.log c2; scan; cut c.log; append c.log c3; pass 45 5; cut c.log; append c.log c4 c5
  `;
  // A delete while behind; whoever has it open goes on writing.
  writeSync(deleted, 'd2\n');
  await rig.pass(4);
  writeSync(deleted, 'd3\n');
  await rig.play`scan; rm d.log; pass 2`;
  writeSync(deleted, 'd4\n');
  await rig.pass(45, 5);
  closeSync(deleted);
  await rig.pass(80, 20);
  return rig;
}

/** Files copied and truncated: with lines that were not read yet, and with less than was read; copies in the globs and out of them. */
async function playCopies(fileSystem: FileSystem): Promise<TailRig> {
  const rig = new TailRig({ fileSystem, glob: '{*.log,b.log*}' });
  const early = Array.from({ length: 50 }, () => 'a line that is copied, of some length');
  const names = ['a.log', 'b.log'];
  for (const name of names) await rig.play`write ${name} ${early} ${[`${name} 1`]}`;
  await rig.play`start; pass 3`;
  for (const name of names)
    await rig.play`append ${name} ${[`${name} 2`]}; cp ${name} ${name}.1; cut ${name}; append ${name} ${early} ${[`${name} 3`]}`;
  await rig.play`pass 45 5`;
  for (const name of names) {
    await rig.play`
      cp ${name} copy; append ${name} ${[`${name} 4`]}; pass 45 5; mv ${name}.1 ${name}.2; mv copy ${name}.1; cut ${name}
      append ${name} ${[`${name} 5`]}
    `;
  }
  await rig.play`pass 45 5; pass 80 20`;
  return rig;
}

interface Scenario {
  readonly play: (fileSystem: FileSystem) => Promise<TailRig>;
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

test.for(Object.entries(SCENARIOS))(
  'scenario of %s without a fault: all lines once, the truncated one counted',
  async ([, scenario]) => {
    const rig = await scenario.play(nodeFileSystem);
    expect(rig.texts.toSorted()).toEqual(scenario.written);
    const lostBytes = scenario.taken === undefined ? 0 : scenario.taken.length + 1;
    expect(rig.source.stats).toMatchObject({ lagBytes: 0, lostBytes, files: { deleted: 0, failed: 0 } });
  },
);

/** The faults after one failed call, in words. */
function complaints(rig: TailRig, code: string, { written, taken }: Scenario): string[] {
  const { stats } = rig.source;
  const found = rig.texts.filter((text) => text !== taken).toSorted();
  const said = rig.log.filter(({ fields }) => fields['code'] === code);
  // The call that failed may be the stat that would have seen the bytes.
  const mayBeLost = taken === undefined || rig.texts.includes(taken) ? [0] : [0, taken.length + 1];
  const wrong: string[] = [];
  if (found.join() !== written.join())
    wrong.push(`it sent ${found.length} lines of ${written.length}: ${found.slice(-14).join(' ')}`);
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
      `fault at any one call of ${name} loses nothing, repeats nothing, and is logged at most once: ${about}`,
      { timeout: 600_000 },
      async () => {
        const counted = faulty(name, () => undefined);
        await (await scenario.play(counted.fileSystem)).source.stop();
        const total = counted.calls();
        expect(total).toBeGreaterThan(3);
        const wrong: string[] = [];
        for (let failAt = 1; failAt <= total; failAt += 1) {
          for (const code of triesAll || name === 'open' ? CODES : [CODES[failAt % CODES.length]!]) {
            const rig = await scenario.play(faulty(name, (nth) => (nth === failAt ? code : undefined)).fileSystem);
            const said = rig.log.filter(({ level }) => level !== 'debug').map(({ text }) => text);
            for (const each of complaints(rig, code, scenario))
              wrong.push(`${code} at call ${failAt} of ${total}: ${each} (${said.join('; ')})`);
            await rig.source.stop();
          }
        }
        expect(wrong).toEqual([]);
      },
    );

for (const name of CALLS) {
  for (const code of CODES) {
    test(`${code} at every call of ${name} for three minutes loses nothing and is logged once for each file`, async () => {
      let isFaulty = false;
      const { fileSystem } = faulty(name, () => (isFaulty ? code : undefined));
      const rig = new TailRig({ fileSystem });
      await rig.play`write a.log a1; write b.log b1; start; pass 2; append b.log b2`;
      isFaulty = true;
      await rig.play`append a.log a2; pass 5; mv a.log a.log.1; write a.log a3; pass 180 1; append a.log.1 a4; append b.log b3`;
      const said = rig.log.filter(({ fields }) => fields['code'] === code);
      isFaulty = false;
      await rig.pass(45, 5);
      const about = JSON.stringify(rig.log, undefined, 1);
      expect(rig.texts.toSorted(), about).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'b3']);
      expect(rig.source.stats, about).toMatchObject({ lagBytes: 0, lostBytes: 0, files: { failed: 0 } });
      // Three files and their folder.
      expect(said.length, about).toBeLessThanOrEqual(4);
      expect(new Set(said.map(({ fields, text }) => `${String(fields['path'])} ${text}`)).size, about).toBe(
        said.length,
      );
      if (name !== 'close') expect(said.length, about).toBeGreaterThan(0);
      await rig.source.stop();
    });
  }
}
