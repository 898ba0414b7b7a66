/** The model test can fail: each of these faults, put into the agent, is found by it. */
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Mutant, mutants } from './mutants.ts';

/** Most are found by the first few. */
const SCHEDULES = 400;
const SEED = 7;
/** What the judge says, and nothing that a mutant could say by falling over. */
const VERDICT =
  /^(?:missing|stored twice|never written|mangled): |batches are never settled|left in the disk buffer|one key stood|bytes are said/m;

/** Plays schedules with the mutant under the agent until one fails; resolves with what was printed. */
function play({ name, include }: Mutant): Promise<{ code: number | null; output: string }> {
  const [hook, child] = ['mutant-hook.ts', 'child.ts'].map((file) => join(import.meta.dirname, file));
  const args = ['--disable-warning=ExperimentalWarning', '--import', hook!, child!, String(SCHEDULES), String(SEED), include, tmpdir()];
  const running = spawn(process.execPath, args, { env: { ...process.env, TAILRACE_MUTANT: name } });
  let output = '';
  running.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  running.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Promise((resolve) => running.on('close', (code) => resolve({ code, output })));
}

test.for(mutants)('model test finds that $name', { timeout: 3_600_000 }, async (mutant) => {
  const { code, output } = await play(mutant);
  expect(output).toMatch(VERDICT);
  expect(code).toBe(1);
});
