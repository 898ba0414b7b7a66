/** The comparison that docs/adr/0001 rests on can be run, with each of those that it compares; what it says of Tailrace holds. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const program = join(import.meta.dirname, '../../bench/tail-libraries/compare.ts');

/** The last cell of the one row that is played: lost / repeated lines. */
function compare(follower: string, scenario: string): string | undefined {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, follower, scenario], { encoding: 'utf8' });
  expect(status, stderr).toBe(0);
  return /^\| \D.* \| (\d+ \/ \d+) \|$/m.exec(stdout)?.[1];
}

const NONE = /^0 \/ 0$/;
/** Races decide how many; all of them would say that it did not run at all. */
const NOT_ALL = /^(?!100000 )\d+ \/ \d+$/;

test.each([
  ['tailrace, app.log*', 'killed twice', NONE],
  ['tailrace, app.log*', 'renamed 5 times at once', NONE],
  ['@logdna/tail-file, counted', 'killed twice', NOT_ALL],
  ['tail-file, posNext', 'killed twice', NOT_ALL],
])('comparison of tail libraries: %s, %s', { timeout: 600_000 }, (follower, scenario, lostAndRepeated) => {
  expect(compare(follower, scenario)).toMatch(lostAndRepeated);
});
