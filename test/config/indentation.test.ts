/** One wrong blank at the beginning of a line is one problem, which names the line to move. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BINARY } from '../support/program.ts';
import { makeTree } from '../support/temp-tree.ts';
import { readConfig } from '../../src/config/load/load.ts';
import { problemsOf } from './reading.ts';

const TEXT = `data_dir: /var/lib/tailrace
fields:
  env: prod
  zone: eu
sources:
  app:
    type: file
    include:
      - /var/log/app/*.log
      - /srv/app/*.log
    multiline:
      start: '^\\d{4}-'
      timeout: 5s
    fields: {service: app}
    transform: |
      where level != "debug"
      | project-away req.headers
  # the web server
  web:
    type: file
    include: ["/var/log/nginx/*.log"]
    preset: nginx-access

  pipe:
    type: stdin
sinks:
  store:
    type: ingest
    inputs: [app, web, pipe]
    url: http://127.0.0.1:4100
    dataset: logs
    batch:
      max_bytes: 1MiB
      max_age: 1s
telemetry:
  listen: 127.0.0.1:9600
tests:
  - source: app
    input: ['{"level":"debug"}']
    expect: []
`;
const EXAMPLE = readFileSync(join(import.meta.dirname, '../../config.example.yaml'), 'utf8');

/** Every line moved by `shift`, with its problems. */
function moved(
  text: string,
  shift: number,
): { readonly line: string; readonly said: readonly string[]; readonly wanted: string }[] {
  const lines = text.split('\n');
  return lines.flatMap((line, index) => {
    const has = line.length - line.trimStart().length;
    if (/^ *(?:#|$)/.test(line) || has + shift < 0) return [];
    const wrong = lines.with(index, ' '.repeat(has + shift) + line.trimStart());
    const way = `${Math.abs(shift)} blank${Math.abs(shift) > 1 ? 's' : ''} to the ${shift > 0 ? 'left' : 'right'}`;
    const wanted = `${index + 1}:${has + shift + 1}: … move line ${index + 1} by ${way}, to ${has} blank${has === 1 ? '' : 's'}`;
    const file = join(makeTree({ 'tailrace.yaml': wrong.join('\n') }), 'tailrace.yaml');
    const { problems } = readConfig(file, { TAILRACE_TOKEN: 'x' });
    const said = problems.map(({ line: at, column, fix }) => `${at}:${column}: … ${fix}`);
    // Some blanks harm nothing, as before the first line of a text.
    return said.length === 0 ? [] : [{ line, said, wanted }];
  });
}

// Symptom: six problems for one blank, "Nested mappings are not allowed in compact mappings", and none named the line to move.
test.each([
  ['by hand', TEXT, 1, 30],
  ['by hand', TEXT, -1, 26],
  ['that is the example', EXAMPLE, 1, 90],
  ['that is the example', EXAMPLE, -1, 90],
])(
  'a line of a configuration %s that is moved by a blank is one problem, at that line',
  (_name, text, shift, least) => {
    const all = moved(text, shift);
    expect(all.length).toBeGreaterThanOrEqual(least);
    // Below a key without a value the line becomes one of its keys; the problem lists the known ones.
    const isTold = (said: string, wanted: string): boolean =>
      said === wanted || said.startsWith(`${wanted.split(' ')[0]} … known here: `);
    expect(
      all.filter(({ said: [first = '', ...others], wanted }) => others.length > 0 || !isTold(first, wanted)),
    ).toEqual([]);
    expect(all.filter(({ said, wanted }) => said[0] !== wanted).length).toBeLessThanOrEqual(1);
  },
);

// Symptom: a key a level too deep or too high was four problems, at other lines.
test.each([
  ['sources', '', '  ', '5:3: … move line 5 by 2 blanks to the left, to 0 blanks'],
  ['app', '  ', '    ', '6:5: … move line 6 by 2 blanks to the left, to 2 blanks'],
  ['web', '  ', '    ', '19:5: … move line 19 by 2 blanks to the left, to 2 blanks'],
  ['sinks', '', '  ', '26:3: … move line 26 by 2 blanks to the left, to 0 blanks'],
  ['store', '  ', '', '27:1: … move line 27 by 2 blanks to the right, to 2 blanks'],
  ['telemetry', '', '  ', '35:3: … move line 35 by 2 blanks to the left, to 0 blanks'],
])('%s on the wrong level is one problem, at its line', (key, right, wrong, wanted) => {
  const text = TEXT.replace(new RegExp(`^${right}${key}:`, 'm'), `${wrong}${key}:`);
  expect(problemsOf(text).map((each) => each.replace(/: [^:]*; move/, ': … move'))).toEqual([wanted]);
});

// Symptom: the message moved the right one of two keys, to an odd number of blanks, because nothing beside them tells which is wrong.
test.each([
  [
    'the second key of a source',
    'sources:\n  app:\n    type: file\n     include: [/tmp/x]\n',
    '4:6: … move line 4 by 1 blank to the left, to 4 blanks',
  ],
  [
    'the first key of a source',
    'sources:\n  app:\n     type: file\n    include: [/tmp/x]\n',
    '3:6: … move line 3 by 1 blank to the left, to 4 blanks',
  ],
  [
    'a source',
    'sources:\n   a: {type: stdin}\n  b: {type: file, include: [/tmp/x]}\n',
    '2:4: … move line 2 by 1 blank to the left, to 2 blanks',
  ],
  ['the first line', ' sources:\n  app: {type: stdin}\n', '1:2: … move line 1 by 1 blank to the left, to 0 blanks'],
])('%s is named where it has one blank too many and only one line beside it', (_name, sources, wanted) => {
  const text = `${sources}sinks:\n  out: {type: console}\n`;
  expect(problemsOf(text).map((each) => each.replace(/: [^:]*; move/, ': … move'))).toEqual([wanted]);
});

// Symptom: whole blocks on the level of their key were two or three problems, such as "there is no source under `sources`", and none named the lines.
test.each([
  [
    'a source',
    'sources:\napp:\n  type: file\n  include: [/tmp/x]\n',
    '2:1: … move lines 2 to 4 by 2 blanks to the right',
  ],
  [
    'the keys of a source',
    'sources:\n  app:\n  type: file\n  include: [/tmp/x]\n',
    '3:3: … move lines 3 to 4 by 2 blanks to the right',
  ],
  [
    'the keys of a mapping, the last of its source',
    "sources:\n  app:\n    type: file\n    include: [/tmp/x]\n    multiline:\n    start: '^x'\n    timeout: 5s\n",
    '6:5: … move lines 6 to 7 by 2 blanks to the right',
  ],
])('lines of one block on the wrong level are one problem, which names them: %s', (_name, sources, wanted) => {
  const text = `${sources}sinks:\n  out: {type: console}\n`;
  expect(problemsOf(text).map((each) => each.replace(/: [^:]*; move/, ': … move'))).toEqual([wanted]);
});

test('problems that no single line causes are reported unchanged', () => {
  const text = TEXT.replace('    type: file', '    tipe: file').replace('    dataset: logs', '    datset: logs');
  expect(problemsOf(text).join('\n')).toMatch(/did you mean `type` by `tipe`[^]*`datset`; did you mean `dataset`/);
});

test('two wrong lines are reported as one error of YAML, not as all that follow from it', () => {
  const text = TEXT.replace('    type: file', '     type: file').replace('    type: ingest', '   type: ingest');
  expect(problemsOf(text)).toEqual([expect.stringMatching(/^\d+:\d+: YAML: .*; indent all keys of one mapping alike/)]);
});

test('check names the line that is to be moved, alone', () => {
  const folder = makeTree({ 'tailrace.yaml': TEXT.replace('    multiline:', '     multiline:') });
  const { status, stdout, stderr } = spawnSync(BINARY, ['check'], { cwd: folder, encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({
    status: 2,
    stdout: '',
    stderr: `tailrace.yaml:11:6: this line is indented by 5 blanks, which fits none of the lines around it
  move line 11 by 1 blank to the left, to 4 blanks
1 problem: the configuration would not run
`,
  });
});
