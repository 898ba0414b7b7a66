/**
 * A whole agent on real files against the promise (promise.ts), whatever happens to the files, to the agent and at the
 * service. TAILRACE_SCHEDULES sets the number of schedules for each of the globs (a quarter of it with compressed files, half of it with links), TAILRACE_SEED repeats those of a printed seed,
 * TAILRACE_SCHEDULES_IN names the folder; a schedule that fails is shrunk, and belongs into found.ts.
 */
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { tryNode } from '../../../support/run-node.ts';
import { COMPRESSED, Coverage, LINKS } from './events.ts';

/** The fewest in which each kind of event comes after each other one for sure. */
const MANY = 2000;
const CHILD = join(import.meta.dirname, 'child.ts');
/** Schedules of one process. */
const ROUND = 500;
/** A round takes seconds, and as many minutes to be shrunk. */
const DEADLINE_MS = 30 * 60_000;

const total = Number(process.env['TAILRACE_SCHEDULES'] ?? MANY);
const first = Number(process.env['TAILRACE_SEED'] ?? (process.env['TAILRACE_SCHEDULES'] === undefined ? 7 : randomInt(2 ** 31)));
const coverage = new Coverage();
/** Where a new file never has the inode of a deleted one, unless another folder is named. */
const parent = process.env['TAILRACE_SCHEDULES_IN'] ?? (existsSync('/dev/shm') ? '/dev/shm' : tmpdir());
/** Without, and with, what rotation makes of a name, with what is in compressed files, and through links. */
const globs = ['*.log', '*.log*', COMPRESSED, LINKS];
/** Compressed files take three times as long; half of the schedules show every pair with an event of links. */
const SHARES: Readonly<Record<string, number>> = { [COMPRESSED]: 1 / 4, [LINKS]: 1 / 2 };

test.concurrent.for(globs)('every token arrives once: %s', { timeout: 24 * 3_600_000 }, async (include) => {
  const most = Math.ceil(total * (SHARES[include] ?? 1));
  console.log(`${most} schedules with ${include} under ${parent}, TAILRACE_SEED=${first}`);
  for (let played = 0; played < most; played += ROUND) {
    const runs = Math.min(ROUND, most - played);
    const seed = (first + (played / ROUND) * globs.length + globs.indexOf(include)) % 2 ** 31;
    const { code, stdout, stderr } = await tryNode([CHILD, String(runs), String(seed), include, parent], {}, DEADLINE_MS);
    if (code !== 0) throw new Error(`child.ts ${runs} ${seed} '${include}' ${parent} ended with ${code}: ${stdout}${stderr}`);
    coverage.addCounts(JSON.parse(stdout) as Record<string, number>);
    if (total > MANY) console.log(`${played + runs} of ${most} with ${include} hold, the last ${runs} of seed ${seed}`);
  }
});

afterAll(() => {
  console.log(`how often each kind of event came right after each other one:\n${coverage.toString()}`);
  if (total >= MANY) expect(coverage.missing).toEqual([]);
});
