/**
 * Each call by which the state writes files of its own (disk buffer, dead letters, the list of sources that ran) fails once, one after the
 * other, with every error: the failure is reported, leaves nothing behind, and the call works the next time.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { codeOf } from '../../src/core/errors.ts';
import { DeadLetters, type Letter } from '../../src/state/dead-letters.ts';
import { readInstance, writeInstance } from '../../src/state/instance.ts';
import { Spool } from '../../src/state/spool/spool.ts';
import type { SpoolHeader } from '../../src/state/spool/spool-file.ts';
import { calls, failEach, fault } from '../support/failing-fs.ts';
import { MemoryLog } from '../support/memory-log.ts';
import { makeTree } from '../support/temp-tree.ts';
import { recoverAll, span } from './batches.ts';

vi.mock('node:fs', async (load) => (await import('../support/failing-fs.ts')).failingFs(await load()));
vi.mock('node:fs/promises', async (load) => (await import('../support/failing-fs.ts')).failingPromises(await load()));

/** Tries once more, as the agent does; the error is the one that was made. */
async function insist<T>(about: string, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    expect([fault.code, 'E_STATE', 'E_DATA_DIR'], about).toContain(codeOf(error));
    expect(String(error), about).toContain(`${fault.code}: made to fail`);
    return work();
  }
}

const header: SpoolHeader = {
  key: 'abcdef0123',
  sink: 'store',
  dataset: 'logs',
  events: 2,
  bytes: 20,
  encoding: 'identity',
  spans: [span('s1', 0, 2)],
};

test('spool that cannot write a batch says so, leaves no half of it behind, and takes it the next time', async () => {
  const names = await failEach(async (about) => {
    const folder = join(makeTree({}), 'store');
    const log = new MemoryLog();
    const spool = new Spool(folder, log);
    await insist(about, () => spool.write({ ...header, key: 'one' }, Buffer.from('first')));
    const two = await insist(about, () => spool.write({ ...header, key: 'two' }, Buffer.from('second')));
    await insist(about, () => spool.rewrite(two, { ...header, key: 'two' }, Buffer.from('changed')));
    expect(String((await insist(about, () => spool.read(two))).body), about).toBe('changed');
    expect(log.lines, about).toEqual([]);

    fault.nth = 0;
    expect(
      readdirSync(folder).filter((name) => name.endsWith('.tmp')),
      about,
    ).toEqual([]);
    const next = new Spool(folder, log);
    const entries = await recoverAll(next);
    expect(log.lines, about).toEqual([]);
    expect(next.bytes, about).toBe(spool.bytes);
    expect(
      entries.map((entry) => entry.header.key),
      about,
    ).toEqual(['one', 'two']);
  });
  // In this order: the file, its name, and that name in the folder.
  expect(names.filter((name) => name !== 'writev').slice(0, 7)).toEqual([
    'open',
    'mkdirSync',
    'open',
    'fsync',
    'rename',
    'openSync',
    'fsync',
  ]);
  expect(new Set(names)).toEqual(new Set(['mkdirSync', 'open', 'writev', 'fsync', 'rename', 'openSync', 'readFile']));
});

test('list of sources that ran is the old one or the new one, whichever call fails', async () => {
  const names = await failEach(async (about) => {
    const folder = makeTree({});
    await insist(about, () => writeInstance(folder, ['a']));
    await insist(about, () => writeInstance(folder, ['a', 'b']));
    fault.nth = 0;
    expect([...readInstance(folder)], about).toEqual(['a', 'b']);
  });
  expect(names).toContain('renameSync');
});

test('list of sources that cannot be read now is not taken for an empty one', async () => {
  await failEach(async (about) => {
    const folder = makeTree({});
    await insist(about, () => writeInstance(folder, ['a']));
    expect([...(await insist(about, () => readInstance(folder)))], about).toEqual(['a']);
  });
});

const about: Letter['about'] = {
  sink: 'store',
  dataset: 'logs',
  source: 'app',
  file: '/a.log',
  stream: 's1',
  offset: 0,
  reason: 'HTTP 400',
  kind: 'rejected',
  status: 400,
  time: '2026-01-01T00:00:00.000Z',
};

test('dead letters that cannot be written say so, leave no half behind, and are kept the next time', async () => {
  const names = await failEach(async (fault) => {
    const folder = join(makeTree({}), 'dead-letters');
    const letters = new DeadLetters(folder, 10_000);
    for (const id of ['one', 'two'])
      expect(await insist(fault, () => letters.put(id, [{ about, event: `{"id":"${id}"}` }])), fault).toBe('kept');
    expect(
      readdirSync(folder).filter((name) => name.endsWith('.tmp')),
      fault,
    ).toEqual([]);
    expect(letters.bytes, fault).toBe(new DeadLetters(folder, 10_000).bytes);
    expect(
      (await insist(fault, () => letters.read('two')))?.map(({ event }) => event),
      fault,
    ).toEqual(['{"id":"two"}']);
  });
  expect(new Set(names)).toEqual(
    new Set(['mkdirSync', 'openSync', 'writeSync', 'fsyncSync', 'renameSync', 'readFileSync']),
  );
});

test('dead letters are on the disk before their name is, and their name before they count as kept', () => {
  const letters = new DeadLetters(makeTree({}), 10_000);
  fault.nth = 0;
  calls.length = 0;
  letters.put('one', [{ about, event: '{}' }]);
  expect(calls).toEqual(['mkdirSync', 'openSync', 'writeSync', 'fsyncSync', 'renameSync', 'openSync', 'fsyncSync']);
});
