import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished } from 'vitest';
import { silentLog } from '../../src/core/log.ts';
import { openState } from '../../src/state/database/store.ts';
import { MemoryLog } from '../support/memory-log.ts';
import { makeTree, test } from '../support/temp-tree.ts';

const open = (folder: string) => openState({ folder, sinksOf: () => ['store'], log: silentLog });

/** Starts a process that opens the folder; resolves with its first line. */
async function openElsewhere(folder: string, uid?: number): Promise<{ child: ChildProcess; line: string }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'open-child.ts'), folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { child, line };
}

test('lock names the process that holds the folder, and falls with it at kill -9', async ({ folder }) => {
  const { child, line } = await openElsewhere(folder);
  expect(line).toBe('open');
  expect(() => open(folder)).toThrow(
    expect.objectContaining({
      code: 'E_DATA_DIR_LOCKED',
      message: `the data folder "${folder}" is in use by another agent (process ${child.pid})`,
      fix: expect.stringContaining('data_dir'),
    }),
  );
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
  const state = open(folder);
  expect(readFileSync(join(folder, 'lock.pid'), 'utf8')).toBe(`${process.pid}\n`);
  state.close();
});

test('lock keeps a second process out and lets it in after close', async ({ folder }) => {
  const state = open(folder);
  const refused = JSON.parse((await openElsewhere(folder)).line) as object;
  expect(refused).toMatchObject({
    code: 'E_DATA_DIR_LOCKED',
    message: expect.stringContaining(`(process ${process.pid})`),
  });
  state.close();
  expect((await openElsewhere(folder)).line).toBe('open');
});

test('lock is let go of when the database cannot be had', ({ folder }) => {
  mkdirSync(join(folder, 'instance'));
  expect(() => open(folder).noteStarted(['app'])).toThrow(expect.objectContaining({ code: 'E_STATE' }));
});

// Symptom: a damaged `state/lock` alone stopped every start until a person removed it. Cause: it was reported, not repaired. Fix: it is
// emptied; SQLite finds the damage only under a shared lock, which nobody gets beside an agent.
test('lock file that is damaged is emptied, which the log says', async ({ folder }) => {
  const file = join(folder, 'lock');
  const log = new MemoryLog();
  for (const junk of [
    'x',
    'this is not a database, and longer than its header would be '.repeat(40),
    'SQLite format 3\0 cut',
  ]) {
    writeFileSync(file, junk);
    const state = openState({ folder, sinksOf: () => ['store'], log });
    expect(JSON.parse((await openElsewhere(folder)).line)).toMatchObject({ code: 'E_DATA_DIR_LOCKED' });
    state.close();
  }
  expect(log.find('warn', 'the lock file was damaged').length).toBeGreaterThan(0);
  expect(readFileSync(file, 'utf8')).not.toContain('x');
});

test('lock file that is damaged under a running agent is left to it', async ({ folder }) => {
  const { child, line } = await openElsewhere(folder);
  expect(line).toBe('open');
  writeFileSync(join(folder, 'lock'), 'junk '.repeat(1000));
  expect(() => open(folder)).toThrow(expect.objectContaining({ code: 'E_DATA_DIR_LOCKED' }));
  expect(readFileSync(join(folder, 'lock'), 'utf8')).toContain('junk');
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
  open(folder).close();
});

// Symptom: "this is a fault of Tailrace itself". Cause: an unusable lock file threw SQLite's bare error. Fix: E_STATE.
test('lock that is no file is a declared error', () => {
  const folder = makeTree({ 'lock/occupied': '' });
  expect(() => open(folder)).toThrow(
    expect.objectContaining({ code: 'E_STATE', message: expect.stringContaining(join(folder, 'lock')) }),
  );
});

test('data folder that cannot be made or written is a declared error', async () => {
  const file = join(makeTree({ occupied: '' }), 'occupied');
  expect(() => open(file)).toThrow(
    expect.objectContaining({ code: 'E_DATA_DIR', message: expect.stringContaining(`"${file}"`) }),
  );
  const below = join(file, 'data');
  expect(() => open(below)).toThrow(
    expect.objectContaining({ code: 'E_DATA_DIR', fix: expect.stringContaining('data_dir') }),
  );
});

test('data folder of another user is a declared error', async () => {
  expect(process.getuid?.(), 'this test runs as root, to become another user').toBe(0);
  const folder = makeTree({});
  const { line } = await openElsewhere(folder, 65_534);
  expect(JSON.parse(line)).toMatchObject({
    declared: true,
    code: 'E_DATA_DIR',
    message: expect.stringContaining(`"${folder}"`),
  });
});
