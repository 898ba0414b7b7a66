/** The model test can fail: each of these faults, put into the agent, is found by it. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tryNode } from '../../../support/run-node.ts';
import { mutants } from './mutants.ts';

/** Most are found by the first few. */
const SCHEDULES = 400;
const SEED = 7;
/** What the judge says, and nothing that a mutant could say by falling over. */
const VERDICT =
  /^(?:missing|stored twice|never written|mangled): |batches are never settled|left in the disk buffer|one key stood|bytes are said/m;

const [HOOK, CHILD] = ['mutant-hook.ts', 'child.ts'].map((file) => join(import.meta.dirname, file)) as [string, string];

test.for(mutants)('model test finds that $name', { timeout: 3_600_000 }, async ({ name, include }) => {
  const args = ['--import', HOOK, CHILD, String(SCHEDULES), String(SEED), include, tmpdir(), 'found'];
  const { code, stdout, stderr } = await tryNode(args, { TAILRACE_MUTANT: name });
  expect(`${stdout}${stderr}`).toMatch(VERDICT);
  expect(code).toBe(1);
});
