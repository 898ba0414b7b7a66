/** Each configuration in `examples/` is valid, and the tests in it pass. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startProgram } from '../support/program.ts';

const root = join(import.meta.dirname, '../..');
const examples = globSync('examples/*.yaml', { cwd: root });
/** `tailrace test` reads lines, which a listener does not take. */
const withTests = examples.filter((example) => !example.endsWith('syslog-server.yaml'));

async function run(command: string, example: string): Promise<{ code: number | NodeJS.Signals; text: string }> {
  const program = startProgram([command, '--config', join(root, example)], {
    TAILRACE_TOKEN: 'token',
    ERRORS_TOKEN: 'token',
  });
  const code = await program.exited;
  return { code, text: program.stdout() + program.stderr() };
}

test('each example is in the list, and begins with what it is for', () => {
  const list = readFileSync(join(root, 'examples/README.md'), 'utf8');
  expect(examples.length).toBeGreaterThanOrEqual(10);
  for (const example of examples) {
    expect(list).toContain(`](${example.slice('examples/'.length)})`);
    expect(readFileSync(join(root, example), 'utf8')).toMatch(/^# /);
  }
});

test.each(examples)('%s is a valid configuration', async (example) => {
  expect(await run('check', example)).toMatchObject({
    code: 0,
    text: expect.stringContaining(' is valid: ') as string,
  });
});

test.each(withTests)('%s passes its own tests', async (example) => {
  expect(await run('test', example)).toEqual({ code: 0, text: '1 test passed\n' });
});
