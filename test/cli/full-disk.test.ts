/** Output that finds no room. Symptom: the whole bundle and a stack on the terminal. Cause: only a reader that went away was expected. */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { BINARY } from '../support/program.ts';
import { makeTree } from '../support/temp-tree.ts';

const VALID = `sources: {app: {type: stdin}}
sinks: {store: {type: ingest, url: "http://127.0.0.1:1", dataset: logs}}
`;

test('command whose output meets a full disk says so in one line and ends with 1', () => {
  const folder = makeTree({ 'tailrace.yaml': VALID });
  const ended = spawnSync('sh', ['-c', `"${BINARY}" check --json > /dev/full`], { cwd: folder, encoding: 'utf8' });
  expect({ status: ended.status, said: ended.stderr }).toEqual({
    status: 1,
    said: 'tailrace: cannot write to standard output: ENOSPC: no space left on device, write\n',
  });
});
