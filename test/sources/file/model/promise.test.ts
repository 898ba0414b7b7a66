/**
 * A whole agent on real files against the promise (promise.ts), whatever happens to the files, to the agent and at the
 * service. TAILRACE_SCHEDULES sets the number of schedules, TAILRACE_SEED repeats those of a printed seed, TAILRACE_SCHEDULES_IN names the folder; a schedule that
 * fails is shrunk, and belongs into found.ts.
 */
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as fc from 'fast-check';
import { afterAll, expect, test, vi } from 'vitest';
import { Coverage, schedules } from './events.ts';
import { play } from './play.ts';

vi.mock('node:fs', async (load) => (await import('./at-once.ts')).withCallbacks(await load()));
vi.mock('node:fs/promises', async (load) => (await import('./at-once.ts')).withPromises(await load()));

const total = Number(process.env['TAILRACE_SCHEDULES'] ?? 200);
const first = Number(process.env['TAILRACE_SEED'] ?? (total === 200 ? 7 : randomInt(2 ** 31)));
const coverage = new Coverage();
/** Where a new file never has the inode of a deleted one, unless another folder is named. */
const parent = process.env['TAILRACE_SCHEDULES_IN'] ?? (existsSync('/dev/shm') ? '/dev/shm' : tmpdir());
/** Without, and with, what rotation makes of a name. */
const setups = ['*.log', '*.log*'].map((include, index) => ({ include, seed: first + index }));

test.for(setups)('every token arrives once: $include', { timeout: 24 * 3_600_000 }, async ({ include, seed }) => {
  const numRuns = Math.ceil(total / setups.length);
  console.log(`${numRuns} schedules with ${include} under ${parent}, seed ${seed} (TAILRACE_SEED=${first})`);
  await fc.assert(
    fc.asyncProperty(schedules, async (schedule) => {
      coverage.add(schedule);
      await play(schedule, include, parent);
    }),
    { numRuns, seed },
  );
});

afterAll(() => {
  console.log(`how often each kind of event came right after each other one:\n${coverage.toString()}`);
  if (total >= 2000) expect(coverage.missing).toEqual([]);
});
