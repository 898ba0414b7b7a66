import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  openSync,
  readdirSync,
  readlinkSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { expect } from 'vitest';
import { MAX_OPEN_FILES, MIN_OPEN_FILES } from '../../../src/sources/file/limits.ts';
import { nodeFileSystem } from '../../../src/sources/file/scan/file-system.ts';
import { scenario } from './scenario.ts';
import { systemError, TailRig, test } from './tail-rig.ts';

test('unreadable file among readable ones is named once, tried again ever less often, and read when it can be', async () => {
  let tries = 0;
  const rig = new TailRig();
  rig.beforeCalls.add((call, of) => {
    if (call === 'open' && of === rig.path('secret.log')) tries += 1;
  });
  await rig.play`write secret.log hidden; write a.log one; fail open secret.log EACCES; start; pass 60; by-file a.log one; stats failed=1`;
  expect(rig.said(/cannot read file/)).toMatchObject([
    { level: 'warn', fields: { path: rig.path('secret.log'), code: 'EACCES' } },
  ]);
  expect(tries).toBeGreaterThan(3);
  expect(tries).toBeLessThan(10);
  expect(rig.source.explain(rig.path('secret.log'))).toMatchObject({
    state: 'failed',
    lastError: 'EACCES: made to fail',
  });
  await rig.play`mend; pass 31; by-file a.log one + secret.log hidden; stats failed=0; said 1 can be read again`;
});

test('deleted file that is still written to is not given up for one read that failed long after the delete', async () => {
  let failsOnce = false;
  const rig = new TailRig();
  rig.beforeCalls.add((call) => {
    if (call !== 'read' || !failsOnce) return;
    failsOnce = false;
    throw systemError('EIO');
  });
  const fd = openSync(rig.path('a.log'), 'w');
  writeSync(fd, 'line 0\n');
  await rig.play`start; pass 1; rm a.log`;
  const written = ['line 0'];
  for (let minute = 1; minute <= 20; minute += 1) {
    written.push(`line ${minute}`);
    writeSync(fd, `line ${minute}\n`);
    failsOnce = minute === 15;
    await rig.pass(6);
  }
  closeSync(fd);
  await rig.play`reads ${written}; lost 0; said 1 cannot read file`;
});

/** A process that may have no more than `most` files open. */
function scarceRig(most: number): { readonly rig: TailRig; open: () => number; most: () => number } {
  const rig = new TailRig();
  let open = 0;
  let peak = 0;
  rig.beforeCalls.add((call) => {
    if (call === 'open' && open >= most) throw systemError('EMFILE');
  });
  rig.afterCalls.add((call) => {
    if (call === 'open') peak = Math.max(peak, (open += 1));
    if (call === 'close') open -= 1;
  });
  return { rig, open: () => open, most: () => peak };
}

test('source that runs out of descriptors says so once, gives half of them back, and reads every file', async () => {
  const { rig, open } = scarceRig(40);
  for (let n = 0; n < 300; n += 1) writeFileSync(rig.path(`${n}.log`), `${n}\n`);
  await rig.play`start; drain`;
  expect(open()).toBeLessThanOrEqual(20);
  for (let n = 0; n < 300; n += 1) appendFileSync(rig.path(`${n}.log`), `${n} more\n`);
  await rig.drain();
  expect(new Set(rig.texts).size).toBe(600);
  expect(rig.texts).toHaveLength(600);
  expect(rig.log.filter(({ level }) => level === 'warn')).toMatchObject([
    {
      fields: { code: 'EMFILE', limit: 20 },
      text: expect.stringMatching(/no file descriptor is left.*ulimit -n/) as string,
    },
  ]);
  expect(rig.source.stats.files['failed']).toBe(0);
});

test('source that ran out of descriptors while others had them keeps more files open again later, and says it again only then', async () => {
  let left = 10;
  const rig = new TailRig();
  rig.beforeCalls.add((call) => {
    if (call !== 'open') return;
    if (left <= 0) throw systemError('ENFILE');
    left -= 1;
  });
  for (let n = 0; n < 100; n += 1) writeFileSync(rig.path(`${n}.log`), `${n}\n`);
  await rig.play`start; pass 10`;
  left = Infinity;
  const touchAll = async (): Promise<number> => {
    for (let n = 0; n < 100; n += 1) appendFileSync(rig.path(`${n}.log`), 'more\n');
    await rig.drain();
    return rig.source.stats.files['active']!;
  };
  await rig.pass(60);
  const kept: number[] = [];
  for (let minute = 0; minute < 6; minute += 1) {
    kept.push(await touchAll());
    await rig.pass(60);
  }
  expect(kept[0]).toBeLessThanOrEqual(2 * MIN_OPEN_FILES);
  expect(kept.at(-1)).toBe(100);
  await rig.play`count 700; said 1 no file descriptor is left`;
});

scenario('folder that cannot be looked at for a while takes nothing away')`
  write a.log one; write b.log "never read"; fail open b.log EACCES; start; pass 30; fail open "" EACCES; fail stat "" EACCES
  append a.log two; pass 300 10; stats lostBytes=0 lagBytes=11 deleted=0; mend; fail open b.log EACCES; drain; reads one two
`;

test('more files than may be open are all followed, with bounded descriptors', async () => {
  const { rig, open, most } = scarceRig(Infinity);
  const count = MAX_OPEN_FILES + 100;
  for (let n = 0; n < count; n += 1) writeFileSync(rig.path(`${n}.log`), `${n}\n`);
  await rig.play`start; drain`;
  for (let n = 0; n < count; n += 1) appendFileSync(rig.path(`${n}.log`), `${n} more\n`);
  await rig.drain();
  expect(rig.texts).toHaveLength(2 * count);
  expect(most()).toBeLessThanOrEqual(MAX_OPEN_FILES);
  await rig.pass(15);
  expect(open()).toBe(0);
  expect(rig.source.stats.files).toMatchObject({ idle: count, active: 0 });
});

test('file that is swapped for a FIFO between scan and open is not read and blocks nothing', async ({ rig }) => {
  await rig.play`start; write a.log one`;
  rig.once('before', 'a.log', () => {
    unlinkSync(rig.path('a.log'));
    execFileSync('mkfifo', [rig.path('a.log')]);
  });
  await rig.play`pass 3; reads-nothing; said 1 FIFO`;
});

test('source lets go of every descriptor when it stops', async ({ openRig: rig }) => {
  for (let n = 0; n < 20; n += 1) writeFileSync(rig.path(`${n}.log`), `${n}\n`);
  await rig.drain();
  const held = (): string[] =>
    readdirSync('/proc/self/fd').flatMap((fd) => {
      const path = nodeFileSystem.pathOf(Number(fd)) ?? readlinkSync('/proc/self/exe');
      return path.startsWith(rig.folder) ? [path] : [];
    });
  expect(held()).toHaveLength(20);
  await rig.source.stop();
  expect(held()).toEqual([]);
});
