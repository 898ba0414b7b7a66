/**
 * A whole agent on real files against the promise (promise.ts), whatever happens to the files, to the agent and at the
 * service. TAILRACE_SCHEDULES sets the number of schedules for each of the globs (a quarter of it with compressed files, half of it with links),
 * TAILRACE_SEED repeats those of a printed seed, TAILRACE_SCHEDULES_IN names the folder; a schedule that fails is shrunk, and belongs into found/.
 */
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, expect, test } from 'vitest';
import { Coverage } from './events.ts';
import { globs, playRounds } from './rounds.ts';

/** The fewest in which each kind of event comes after each other one for sure. */
const MANY = 2000;

const total = Number(process.env['TAILRACE_SCHEDULES'] ?? MANY);
const seed = Number(
  process.env['TAILRACE_SEED'] ?? (process.env['TAILRACE_SCHEDULES'] === undefined ? 7 : randomInt(2 ** 31)),
);
const coverage = new Coverage();
/** Where a new file never has the inode of a deleted one, unless another folder is named. */
const parent = process.env['TAILRACE_SCHEDULES_IN'] ?? (existsSync('/dev/shm') ? '/dev/shm' : tmpdir());

test.concurrent.for(globs)('every token arrives once: %s', { timeout: 24 * 3_600_000 }, (include) =>
  playRounds(include, { total, seed, parent, coverage, isLong: total > MANY }),
);

afterAll(() => {
  console.log(`how often each kind of event came right after each other one:\n${coverage.toString()}`);
  if (total >= MANY) expect(coverage.missing).toEqual([]);
});
