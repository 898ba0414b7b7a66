/**
 * 100,000 new schedules of the model of promises, over its globs, half of them on the disk's file system and half on tmpfs: the two give inodes
 * again in other ways. TAILRACE_SCHEDULES sets another number in all, TAILRACE_SEED repeats those of a printed seed.
 */
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { Coverage } from '../sources/file/model/events.ts';
import { ALL_SHARES, globs, playRounds } from '../sources/file/model/rounds.ts';

const all = Number(process.env['TAILRACE_SCHEDULES'] ?? 100_000);
const seed = Number(process.env['TAILRACE_SEED'] ?? randomInt(2 ** 31));
const folders = [tmpdir(), '/dev/shm'].filter((folder) => existsSync(folder));

describe.each(folders)('schedules under %s', (parent) => {
  const coverage = new Coverage();
  const total = Math.ceil(all / folders.length / ALL_SHARES);
  test.concurrent.for(globs)('every token arrives once: %s', { timeout: 24 * 3_600_000 }, (include) =>
    playRounds(include, { total, seed, parent, coverage, isLong: true }),
  );
  // With fewer, chance decides.
  test.runIf(total >= 2000)('each kind of event came after each other one', () => expect(coverage.missing).toEqual([]));
});
