/**
 * Symptom: `project-away password` sent `Password`, without a warning. Names are exact, so check and preview warn of the same name in
 * another case.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTree } from '../support/temp-tree.ts';
import { tailraceFor } from './tailrace.ts';

const tailrace = tailraceFor({});
const LINE = '{"Password":"hunter2","users":[{"passWord":"hunter2"}],"Req":{"Cookie":"hunter2"},"token":"hunter2"}';
const TRANSFORM = `|
      extend n = 1
      | project-away password, users[].password, token, Re*
      | extend m = mask(req.cookie)`;

function configure(more: string, transform = TRANSFORM): string {
  const folder = makeTree({ 'app.log': `${LINE}\n`, tok: 'abc' });
  const file = join(folder, 't.yaml');
  const text = `data_dir: data
sources:
  app:
    type: file
    include: [none/*.log]
    transform: ${transform}
sinks: {store: {type: ingest, url: "http://127.0.0.1:1", dataset: logs, token_file: tok}}
${more}`;
  writeFileSync(file, text);
  return file;
}

const NAMES = [
  '`password` does not name `Password`, which events have: names are exact; name `Password`, too',
  '`users[].password` does not name `users[].passWord`, which events have: names are exact; name `users[].passWord`, too',
  '`req.cookie` does not name `Req.Cookie`, which events have: names are exact; name `Req.Cookie`, too',
];

async function warningsOf(file: string): Promise<string[]> {
  const { code, stdout } = await tailrace(['check', '--config', file, '--json']);
  expect(code).toBe(0);
  expect(stdout).not.toContain('hunter2');
  const { warnings } = JSON.parse(stdout) as {
    warnings: { line: number; column: number; message: string; fix: string }[];
  };
  return warnings
    .filter(({ message }) => message.includes('exact'))
    .map((each) => `${each.line}:${each.column} ${each.message}; ${each.fix}`);
}

test('check warns of the same name in another case in the inputs of tests, at the step', async () => {
  const tests = `tests: [{source: app, input: ['${LINE}'], expect: []}]`;
  expect(await warningsOf(configure(tests))).toEqual([`8:9 ${NAMES[0]}`, `8:9 ${NAMES[1]}`, `9:9 ${NAMES[2]}`]);
  expect(await warningsOf(configure(''))).toEqual([]);
  expect(await warningsOf(configure(tests, 'project-away Password, users[].passWord, Req.Cookie'))).toEqual([]);
});

test('check warns of it in the first lines of files', async () => {
  const file = configure('', TRANSFORM);
  const { stdout } = await tailrace(['check', '--config', file, '--json'], { cwd: join(file, '..') });
  expect(stdout).not.toContain('exact');
  const folder = join(file, '..');
  writeFileSync(
    file,
    `data_dir: data
sources: {app: {type: file, include: ["${folder}/app.log"]}}
sinks: {store: {type: ingest, url: "http://127.0.0.1:1", dataset: logs, token_file: ${folder}/tok, transform: project-keep PASSWORD}}
`,
  );
  expect(await warningsOf(file)).toEqual([expect.stringContaining('`PASSWORD` does not name `Password`')]);
});

test('preview warns of it once, behind the events, on the error side', async () => {
  const file = configure('');
  const { code, stdout, stderr } = await tailrace(['preview', '--config', file, '--json', join(file, '../app.log')]);
  expect(code).toBe(0);
  expect(stdout).not.toContain('exact');
  expect(stderr.trimEnd().split('\n')).toEqual(NAMES.map((each) => `tailrace: warning: ${each}`));
});
