import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTree } from '../support/temp-tree.ts';

const program = join(import.meta.dirname, '../../.ci/summarize.mjs');

/** A report as vitest writes it: the statuses of the tests of each file. */
function reportOf(...files: string[][]): string {
  const testResults = files.map((statuses, index) => ({
    name: `file-${index}`,
    assertionResults: statuses.map((status, place) => ({ status, fullName: `test ${index}.${place}` })),
  }));
  return JSON.stringify({ testResults });
}

function summarize(check: string, report: string | undefined, checkStatus = 0, testStatus = 0) {
  const folder = makeTree({ check, ...(report !== undefined && { 'tests.json': report }) });
  const result = spawnSync(process.execPath, [program, folder, String(checkStatus), String(testStatus)], {
    encoding: 'utf8',
  });
  return { status: result.status, lines: result.stdout.trimEnd().split('\n') };
}

const GREEN = '✓ format   0.1 s\n✓ lint   0.1 s\n';

test('CI summary adds checks and tests, and ends with the sums', () => {
  expect(summarize(GREEN, reportOf(['passed'], ['passed', 'passed']))).toEqual({
    status: 0,
    lines: ['5 passed, 0 failed'],
  });
});

test.each([
  ['a failed test', GREEN, reportOf(['passed', 'failed']), 0, 1, '3 passed, 1 failed'],
  ['a skipped test', GREEN, reportOf(['passed', 'skipped']), 0, 0, '3 passed, 1 failed'],
  ['a file that could not be loaded', GREEN, reportOf(['passed'], []), 0, 1, '3 passed, 1 failed'],
  ['a failed check', '✓ format   0.1 s\n✗ lint   0.1 s\n', reportOf(['passed']), 1, 0, '2 passed, 1 failed'],
  ['checks that broke off', '', reportOf(['passed']), 1, 0, '1 passed, 1 failed'],
  ['tests that never reported', GREEN, undefined, 0, 1, '2 passed, 1 failed'],
  ['an error outside of any test', GREEN, reportOf(['passed']), 0, 1, '3 passed, 1 failed'],
])('CI summary fails on %s', (_name, check, report, checkStatus, testStatus, wanted) => {
  const { status, lines } = summarize(check, report, checkStatus, testStatus);
  expect(lines.at(-1)).toBe(wanted);
  expect(status).toBe(1);
});

test('CI summary names a skipped test', () => {
  expect(summarize(GREEN, reportOf(['passed', 'skipped'])).lines).toContain('skipped: test 0.1');
});
