/** A reader of the output that goes away, as `head` does: no command answers with a stack trace. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startProgram } from '../support/program.ts';
import { makeTree } from '../support/temp-tree.ts';

test('a command that prints, whose reader is gone, ends without a word', async () => {
  const program = startProgram(['--help']);
  program.process.stdout!.destroy();

  expect(await program.exited).toBe(0);
  expect(program.stderr()).toBe('');
});

test('the service, when nobody reads its tokens, goes on until it is stopped', async () => {
  const service = startProgram(['serve', '--listen', '127.0.0.1:0', '--data', join(makeTree({}), 'data')]);
  service.process.stdout!.destroy();

  await service.says('the service is ready');

  expect(await service.end()).toBe(0);
  expect(service.stderr()).not.toContain('EPIPE');
});
