/** Presets that users write in `presets.d/`, and who may write what a configuration is made of. */
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { formatProblem } from '../../src/config/config-error.ts';
import { readConfig } from '../../src/config/load/load.ts';
import type { FileConfig } from '../../src/sources/file/file-type.ts';
import { tailraceFor } from '../cli/tailrace.ts';
import { makeTree } from '../support/temp-tree.ts';

const tailrace = tailraceFor({});
const MAIN = `sources:
  app: {type: file, include: [a.log], preset: shop, types: {ms: text}}
sinks:
  store: {type: ingest, url: "http://127.0.0.1:4100", dataset: logs, token: "\${UNSET}"}
`;
const SHOP = `shop:
  format: regex
  regex: '^(?<_time>\\S+) (?<level>\\w+) (?<ms>\\d+) (?<n>\\d+)$'
  types: {ms: int, n: int}
  multiline: {start: '^\\d{4}-'}
  tests:
    - {input: ['2025-11-22T16:08:49Z info 7 8'], expect: [{level: info, ms: 7, n: 8}]}
`;

const read = (folder: string) => readConfig(join(folder, 'tailrace.yaml'), { UNSET: 'x' });
const problemsIn = (folder: string): string[] =>
  read(folder).problems.map((each) => formatProblem(each).replaceAll(`${folder}/`, ''));
const withPresets = (files: Record<string, string>, main = MAIN): string =>
  makeTree({
    'tailrace.yaml': main,
    ...Object.fromEntries(Object.entries(files).map(([name, text]) => [`presets.d/${name}`, text])),
  });

test('a preset of presets.d sets the keys of a source; keys beside it win, and types merge by name', () => {
  const folder = withPresets(
    { 'shop.yaml': SHOP, 'errors.yaml': 'ours: {preset: nginx-error, types: {pid: text}}\n', 'x.txt': 'no yaml: [' },
    MAIN.replace('sinks:', '  web: {type: file, include: [b.log], preset: ours}\nsinks:'),
  );
  const { config, problems } = read(folder);
  expect(problems).toEqual([]);
  const [app, web] = config!.sources as FileConfig[];
  expect(app).toMatchObject({
    format: 'regex',
    types: { ms: 'text', n: 'int' },
    multiline: { kind: 'start', pattern: '^\\d{4}-' },
  });
  expect(web).toMatchObject({ format: 'regex', types: { pid: 'text', tid: 'int' } });
});

test.each([
  [
    'the name of a built-in one',
    { 'a.yaml': `${SHOP}nginx-error: {format: text}\n` },
    [
      'presets.d/a.yaml:8:1: the preset `nginx-error` is built in; give it another name; `preset: nginx-error` in it builds on the built-in one',
    ],
  ],
  [
    'a name that is there twice',
    { 'a.yaml': SHOP, 'b.yaml': '\nshop: {format: text}\n' },
    [
      'presets.d/b.yaml:2:1: the preset `shop` is there twice: first at presets.d/a.yaml:1:1; give one of them another name, or remove it',
    ],
  ],
  [
    'a wrong pattern, named once',
    { 'a.yaml': "shop: {format: regex, regex: '('}\n" },
    [expect.stringMatching(/^presets\.d\/a\.yaml:1:30: `regex`: `\(` is no regular expression/)],
  ],
  [
    'an unknown key of one that no source names',
    { 'a.yaml': `${SHOP}other: {includes: [x]}\n` },
    [expect.stringMatching(/^presets\.d\/a\.yaml:8:9: unknown key `includes`/)],
  ],
  [
    'a format without its key',
    { 'a.yaml': `${SHOP}other: {format: regex}\n` },
    [expect.stringMatching(/^presets\.d\/a\.yaml:8:17: `format: regex` is given without `regex`/)],
  ],
  [
    'a file that is no mapping',
    { 'a.yaml': SHOP, 'b.yaml': '- x\n' },
    ['presets.d/b.yaml:1:1: an included file must be a mapping of keys; write `key: value` lines'],
  ],
  ['no such preset', {}, [expect.stringMatching(/^tailrace\.yaml:2:47: `preset: shop` is not known; known: /)]],
])('check refuses %s', (_what, files, problems) => {
  expect(problemsIn(withPresets(files))).toEqual(problems);
});

// Symptom: whoever may write to conf.d decides what the agent reads and where it sends it.
test('files of presets.d and conf.d that others may write are refused; of the configuration itself there is a warning', () => {
  const folder = withPresets({ 'shop.yaml': SHOP }, `include_config: [conf.d/*.yaml]\n${MAIN}`);
  const more = makeTree({ 'more.yaml': 'sources:\n  b: {type: file, include: [b.log]}\n' });
  expect(problemsIn(folder)).toEqual([]);
  chmodSync(join(folder, 'presets.d/shop.yaml'), 0o664);
  chmodSync(join(folder, 'tailrace.yaml'), 0o646);
  chmodSync(join(more, 'more.yaml'), 0o606);
  const both = withPresets({ 'shop.yaml': SHOP }, `include_config: [${more}/*.yaml]\n${MAIN}`);
  expect(problemsIn(both)).toEqual([
    `${more}/more.yaml:1:1: can be changed by other users; run \`chmod go-w ${more}/more.yaml\``,
  ]);
  expect(problemsIn(folder).join('\n')).toMatch(
    /^presets\.d\/shop\.yaml:1:1: can be changed by other users; run `chmod go-w .*presets\.d\/shop\.yaml`$/m,
  );
  expect(read(folder).warnings.map(({ message }) => message)).toContain(
    'the configuration can be changed by other users',
  );
});

test('test runs the tests of presets.d, in UTC, and names the preset of one that fails', async () => {
  const folder = withPresets({ 'shop.yaml': SHOP }, MAIN);
  expect(await tailrace(['test'], { cwd: folder })).toMatchObject({ code: 0, stdout: '1 test passed\n' });
  const wrong = withPresets({ 'shop.yaml': SHOP.replace('n: 8}', 'n: 9}') }, MAIN);
  const { code, stdout } = await tailrace(['test'], { cwd: wrong });
  expect([code, stdout]).toEqual([
    1,
    'presets.d/shop.yaml:7:7: the test of preset "shop" fails (- expected, + found)\n  event 1\n  - n: 9\n  + n: 8\n',
  ]);
});

test('preset list, show and try: built-in ones and those of presets.d', async () => {
  const folder = withPresets({ 'shop.yaml': SHOP }, MAIN);
  const listed = await tailrace(['preset', 'list'], { cwd: folder });
  expect(listed.stdout).toMatch(/^shop +of presets\.d\n/);
  expect(listed.stdout).toMatch(/^nginx-error +nginx's `error_log`$/m);
  expect(await tailrace(['preset', 'show', 'shop'], { cwd: folder })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('shop:\n  format: regex\n'),
  });
  const shown = await tailrace(['preset', 'show', 'dpkg', '--json'], { cwd: folder });
  expect(JSON.parse(shown.stdout)).toMatchObject({
    name: 'dpkg',
    fields: ['action', 'status', 'package', 'arch', 'version', 'new_version'],
    keys: { formats: [{ regex: expect.any(String) }, {}, {}] },
  });
  expect(await tailrace(['preset', 'show', 'ngnix-error'], { cwd: folder })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('did you mean "nginx-error"?'),
  });
  const lines = makeTree({
    'mixed.log': '2025-11-22T16:08:49Z info 7 8\n2025-11-22T16:08:50Z warn 7 9\n2025-11-22T16:08:51Z info 1 2\nelse\n',
  });
  const tried = await tailrace(['preset', 'try', join(lines, 'mixed.log'), '--json'], { cwd: folder });
  expect(JSON.parse(tried.stdout)).toMatchObject({ lines: 4, presets: [{ name: 'shop', lines: 2, share: 0.5 }] });
  const text = makeTree({ 'a.log': 'one\ntwo\n' });
  expect(await tailrace(['preset', 'try', join(text, 'a.log')], { cwd: folder })).toMatchObject({
    code: 1,
    stdout: 'no preset fits the first 2 lines\n',
  });
  expect(await tailrace(['preset', 'try'], { cwd: folder })).toMatchObject({ code: 2 });
  expect(
    await tailrace(['preview', '--preset', 'shop', '--json', join(lines, 'mixed.log')], { cwd: folder }),
  ).toMatchObject({
    stdout: expect.stringContaining('"ms":7'),
  });
});
