/**
 * Each system call by which the state reaches the disk fails once, one after the other, with another error each time: nothing crashes,
 * refused work is taken at the next try, and the disk holds afterwards all that was acknowledged. `TAILRACE_EVERY_FAULT=1` tries every
 * error at every call.
 */
import { spawn } from 'node:child_process';
import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { openState } from '../../src/state/database/store.ts';
import { injectFault, STRACE } from '../support/inject.ts';
import { MemoryLog } from '../support/memory-log.ts';
import { makeTree } from '../support/temp-tree.ts';
import type { Journal } from './fault-child.ts';

const CALLS = ['openat', 'pwrite64', 'pread64', 'fsync', 'ftruncate', 'unlink'];
const CODES = ['EIO', 'ENOSPC', 'EMFILE', 'EACCES', 'ESTALE'];
const triesAll = process.env['TAILRACE_EVERY_FAULT'] === '1';

const skipped = STRACE === undefined;

function startChild(): { readonly pid: number; work(folder: string): Promise<Journal & { gaveUp?: string }> } {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'fault-child.ts')],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    pid: child.pid!,
    async work(folder) {
      child.stdin.write(`${folder}\n`);
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`the process crashed: ${child.exitCode ?? child.signalCode}`);
      return JSON.parse(value) as Journal;
    },
  };
}

/** The faults of a folder after the child worked on it a second time, in words. */
function complaints(folder: string, before: Journal, journal: Journal & { gaveUp?: string }): string[] {
  if (journal.gaveUp !== undefined) return [`it gave up: ${journal.gaveUp}`];
  const wrong: string[] = [];
  const aside = readdirSync(folder).filter((name) => name.includes('broken'));
  if (aside.length > 0) wrong.push(`${aside.join()} was set aside`);
  if (journal.refused.length > 1)
    wrong.push(`one fault was felt ${journal.refused.length} times: ${journal.refused.join()}`);
  const trouble = journal.said.filter((each) => !each.startsWith('checkpoints are saved again'));
  if (trouble.length > 1 || journal.said.length > 2 * trouble.length) wrong.push(`it said ${journal.said.join('; ')}`);
  const log = new MemoryLog();
  const state = openState({ folder, sinksOf: () => ['store'], log });
  wrong.push(...log.lines.map(({ message }) => `the next start says: ${message}`));
  if (!state.hasStarted('app')) wrong.push('it does not know that the source ran');
  const open = state.ledger.unsettled().map(({ id }) => id);
  const expected = [...before.committed, ...journal.committed].filter(
    (id) => !before.settled.concat(journal.settled).includes(id),
  );
  if (open.join() !== expected.join()) wrong.push(`batches ${open.join()} are open, not ${expected.join()}`);
  const positions = state.streams.list('app').map(({ resumeAt }) => resumeAt);
  if (positions.join() !== '30,30') wrong.push(`reading goes on at ${positions.join()}, not at 30 in both streams`);
  state.close();
  return wrong;
}

for (const call of CALLS) {
  test.skipIf(skipped)(
    `state takes a failed ${call} as nothing but a delay${skipped ? ' (apt-get install strace)' : ''}`,
    async () => {
      const root = makeTree({});
      const child = startChild();
      const used = join(root, 'used');
      const before = await child.work(used);
      let folders = 0;
      const pass = async (nth: number, code: string): Promise<{ calls: number; wrong: string[] }> => {
        const folder = join(root, String((folders += 1)));
        cpSync(used, folder, { recursive: true });
        const end = await injectFault(child.pid, call, code, nth);
        const journal = await child.work(folder);
        const calls = await end();
        return {
          calls,
          wrong: complaints(folder, before, journal).map((each) => `${code} at call ${nth} of ${calls}: ${each}`),
        };
      };
      const { calls: total } = await pass(10_000, 'EIO');
      expect(total).toBeGreaterThan(0);
      const wrong: string[] = [];
      for (let nth = 1; nth <= total; nth += 1)
        for (const code of triesAll ? CODES : [CODES[nth % CODES.length]!])
          wrong.push(...(await pass(nth, code)).wrong);
      expect(wrong).toEqual([]);
    },
  );
}
