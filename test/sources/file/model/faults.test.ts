/** The model test can fail: each of these faults, put into the agent, breaks the promise in a schedule that holds without it. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { tryNode } from '../../../support/run-node.ts';
import { faults } from './faults/faults.ts';
import { found } from './found/found.ts';
import { play } from './play.ts';

vi.mock('node:fs', async (load) => (await import('./at-once.ts')).withCallbacks(await load()));
vi.mock('node:fs/promises', async (load) => (await import('./at-once.ts')).withPromises(await load()));
vi.mock('node:zlib', async (load) => (await import('./at-once.ts')).withGunzip(await load()));

/** What the judge says, and nothing that a fault could say by falling over. */
const VERDICT =
  /^(?:missing|stored twice|never written|mangled): |batches are never settled|left in the disk buffer|one key stood|bytes are said/m;

const [HOOK, PLAY] = ['hook.ts', 'play-fault.ts'].map((file) => join(import.meta.dirname, 'faults', file)) as [
  string,
  string,
];

test.for(faults)('model test finds that $name', { timeout: 600_000 }, async ({ name, include, schedule }) => {
  await play(found.find((each) => each.name === schedule)!.schedule, include, tmpdir());
  const { code, stdout, stderr } = await tryNode(['--import', HOOK, PLAY], { TAILRACE_FAULT: name });
  expect(`${stdout}${stderr}`).toMatch(VERDICT);
  expect(stderr).not.toContain('never loaded');
  expect(code).toBe(1);
});
