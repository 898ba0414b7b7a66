import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { formatProblem } from '../../src/config/config-error.ts';
import { loadConfig, readConfig } from '../../src/config/load/load.ts';
import { MAX_INCLUDED_FILES } from '../../src/config/limits.ts';
import { makeTree } from '../support/temp-tree.ts';
import { canDropPrivileges, startUnprivileged } from '../support/unprivileged.ts';

const SINK = 'sinks:\n  store: {type: ingest, url: "http://127.0.0.1:4100", dataset: logs}\n';
const source = (id: string): string => `sources:\n  ${id}: {type: file, include: ["/var/log/${id}.log"]}\n`;

/** A folder with a main file that includes `conf.d/*.yaml`, and these files there. */
function makeFolder(
  files: Readonly<Record<string, string>>,
  main = `include_config: [conf.d/*.yaml]\n${SINK}`,
): string {
  const included = Object.entries(files).map(([name, text]) => [`conf.d/${name}`, text] as const);
  return makeTree({ 'tailrace.yaml': main, ...Object.fromEntries(included) });
}

function problemsIn(folder: string): string[] {
  return readConfig(join(folder, 'tailrace.yaml'), {}).problems.map((problem) =>
    formatProblem(problem).replaceAll(`${folder}/`, ''),
  );
}

test('included files add sources, sinks and tests, in the order of their names', () => {
  const other = 'sinks:\n  other: {type: ingest, url: "http://127.0.0.1:1", dataset: d, inputs: [b]}\n';
  const folder = makeFolder(
    {
      'b.yaml': `${source('b')}${other}tests: [{source: b, input: [x], expect: []}]\n`,
      'a.yaml': `${source('a')}tests:\n`,
      'c.yaml': '',
      'd.yaml': 'sources:\n',
      'readme.txt': 'no yaml: [',
      '.hidden.yaml': 'no yaml: [',
    },
    `include_config: conf.d/*.yaml\n${SINK}${source('main')}tests: [{source: main, input: [y], expect: []}]\n`,
  );
  const config = loadConfig(join(folder, 'tailrace.yaml'), {});
  expect(config.sources.map(({ id }) => id)).toEqual(['main', 'a', 'b']);
  expect(config.sinks.map(({ id, inputs }) => [id, ...inputs])).toEqual([
    ['store', 'main', 'a', 'b'],
    ['other', 'b'],
  ]);
  expect(config.tests.map((each) => each.source)).toEqual(['main', 'b']);
});

test('the patterns keep their order, and a file that two of them match is read once', () => {
  const folder = makeFolder(
    { 'a.yaml': source('a'), 'z.yaml': source('z') },
    `include_config: [conf.d/z.yaml, "conf.d/?.yaml"]\n${SINK}`,
  );
  expect(loadConfig(join(folder, 'tailrace.yaml'), {}).sources.map(({ id }) => id)).toEqual(['z', 'a']);
});

test('the main file is no part of itself', () => {
  const folder = makeTree({ 'tailrace.yaml': `include_config: ["*.yaml"]\n${SINK}`, 'more.yaml': source('a') });
  expect(loadConfig(join(folder, 'tailrace.yaml'), {}).sources).toHaveLength(1);
});

test('an id that is there twice is an error that names both places', () => {
  const folder = makeFolder({ 'a.yaml': source('app'), 'b.yaml': `\n${source('app')}${SINK}` });
  expect(problemsIn(folder)).toEqual([
    'conf.d/b.yaml:3:3: the source `app` is there twice: first at conf.d/a.yaml:2:3; give one of them another id, or remove it',
    'conf.d/b.yaml:5:3: the sink `store` is there twice: first at tailrace.yaml:3:3; give one of them another id, or remove it',
  ]);
});

test('problems name the file that they are in, main file first', () => {
  const folder = makeFolder(
    {
      'a.yaml': 'sources:\n  a: {type: file, incldue: [x]}\n',
      'b.yaml': 'sources: [',
      'c.yaml': 'include_config: [x]\ndata_dir: /x\n',
      'd.yaml': '- sources\n',
      'e.yaml': 'sources:\n  e: {type: stdin, dataset: "${NOT_SET}"}\n',
      'f.yaml': 'sources: 5\n',
      'g.yaml': 'tests: {}\n',
      'h.yaml': 'tests: [{source: nobody, input: [x], expect: []}]\n',
    },
    `include_config: [conf.d/*.yaml]\n${SINK}data_dirr: x\n`,
  );
  const problems = problemsIn(folder);
  expect(problems.map((problem) => problem.split(';')[0])).toEqual([
    'tailrace.yaml:4:1: unknown key `data_dirr`',
    'conf.d/a.yaml:2:19: unknown key `incldue`',
    expect.stringMatching(/^conf\.d\/b\.yaml:1:11: YAML: /),
    'conf.d/c.yaml:1:1: `include_config` cannot stand in an included file',
    'conf.d/c.yaml:2:1: `data_dir` cannot stand in an included file',
    'conf.d/d.yaml:1:1: an included file must be a mapping of keys',
    'conf.d/e.yaml:2:30: the environment variable `NOT_SET` is not set',
    'conf.d/f.yaml:1:10: `sources` must be a mapping',
    'conf.d/g.yaml:1:8: `tests` must be a list',
    'conf.d/h.yaml:1:18: there is no source `nobody`',
  ]);
});

test('a pattern that matches nothing is a warning, a file that is named and not there is an error', () => {
  const none = makeTree({ 'tailrace.yaml': `include_config: [conf.d/*.yaml]\n${SINK}${source('a')}` });
  const { config, warnings } = readConfig(join(none, 'tailrace.yaml'), {});
  expect(config).toBeDefined();
  expect(warnings).toMatchObject([{ line: 1, column: 18, message: 'no file matches `conf.d/*.yaml`' }]);
  const named = makeFolder({}, `include_config: [conf.d/a.yaml]\n${SINK}${source('a')}`);
  expect(problemsIn(named)).toEqual([expect.stringMatching(/^conf\.d\/a\.yaml:1:1: there is no such file/)]);
  const folder = makeFolder({ 'a.yaml': source('a') }, `include_config: ["*/a.yaml", 5, "tailrace.yaml/*"]\n${SINK}`);
  expect(problemsIn(folder).map((problem) => problem.split(';')[0])).toEqual([
    expect.stringContaining('has no `sources`'),
    "tailrace.yaml:1:18: `*/a.yaml` has a wildcard in a folder's name",
    'tailrace.yaml:1:30: `include_config` must be text, not a number',
    expect.stringMatching(/^tailrace\.yaml:1:33: cannot look for `tailrace.yaml\/\*`: ENOTDIR/),
  ]);
});

test('relative paths in an included file start at its own folder', () => {
  const text = `${source('a').replace('/var/log/', 'logs/')}sinks:\n  two: {type: ingest, url: "http://127.0.0.1:1", dataset: d, token_file: tok}\n`;
  const folder = makeFolder({ 'a.yaml': text }, `include_config: conf.d/*.yaml\n${SINK}`);
  const config = loadConfig(join(folder, 'tailrace.yaml'), {});
  expect(config.sources).toMatchObject([{ include: [join(folder, 'conf.d/logs/a.log')] }]);
  expect(config.sinks[1]).toMatchObject({ token: { kind: 'file', path: join(folder, 'conf.d/tok') } });
});

test('the hash of the configuration is that of all its files', () => {
  const folder = makeFolder({ 'a.yaml': source('a') });
  const hash = (): string => loadConfig(join(folder, 'tailrace.yaml'), {}).hash;
  const before = hash();
  writeFileSync(join(folder, 'conf.d/a.yaml'), `${source('a')}# more\n`);
  expect(hash()).not.toBe(before);
  writeFileSync(join(folder, 'conf.d/a.yaml'), source('a'));
  expect(hash()).toBe(before);
});

test('a token in an included file that everyone can read is warned of, with that file’s name', () => {
  const sink = 'sinks:\n  two: {type: ingest, url: "http://127.0.0.1:1", dataset: d, token: secret}\n';
  const folder = makeFolder({ 'a.yaml': source('a') + sink });
  const file = join(folder, 'conf.d/a.yaml');
  chmodSync(file, 0o644);
  expect(readConfig(join(folder, 'tailrace.yaml'), {}).warnings).toMatchObject([
    { file, line: 4, fix: expect.stringContaining(`chmod o-r ${file}`) },
  ]);
  chmodSync(file, 0o600);
  expect(readConfig(join(folder, 'tailrace.yaml'), {}).warnings).toEqual([]);
});

test('hostile names, links in a circle, folders and pipes end in problems, and nothing waits', () => {
  const folder = makeFolder({
    'a.yaml': source('a'),
    'é\n\u001b[31m.yaml': source('b'),
    '*.yaml': 'x: [',
    '-rf.yaml': '\0',
  });
  symlinkSync('loop.yaml', join(folder, 'conf.d/loop.yaml'));
  symlinkSync('nowhere', join(folder, 'conf.d/dangling.yaml'));
  symlinkSync('.', join(folder, 'conf.d/self.yaml'));
  mkdirSync(join(folder, 'conf.d/folder.yaml'));
  const problems = problemsIn(folder);
  expect(problems.map((problem) => /^(conf\.d\/[^:]+):/.exec(problem)?.[1])).toEqual(
    expect.arrayContaining([
      'conf.d/loop.yaml',
      'conf.d/dangling.yaml',
      'conf.d/self.yaml',
      'conf.d/*.yaml',
      'conf.d/-rf.yaml',
    ]),
  );
  expect(problems.join('\n')).not.toMatch(/folder\.yaml/);
  for (const name of ['loop', 'dangling', 'self', '*', '-rf']) rmSync(join(folder, `conf.d/${name}.yaml`));
  expect(problemsIn(folder)).toEqual([]);
  writeFileSync(join(folder, 'conf.d/é\n\u001b[31m.yaml'), 'nonsense: 1\n');
  expect(problemsIn(folder)).toEqual([expect.stringContaining(String.raw`conf.d/é\u000a\u001b[31m.yaml:1:1: `)]);
});

test.skipIf(!canDropPrivileges)('a file that may not be read is a problem with its name', async () => {
  const folder = makeFolder({ 'a.yaml': source('a') });
  chmodSync(join(folder, 'conf.d/a.yaml'), 0o000);
  const program = startUnprivileged(['check', '--config', join(folder, 'tailrace.yaml')]);
  expect(await program.exited).toBe(2);
  expect(program.stderr()).toContain(`${join(folder, 'conf.d/a.yaml')}:1:1: cannot be read: permission denied`);
});

test('a thousand files are read, one more is refused', () => {
  const names = Array.from({ length: MAX_INCLUDED_FILES }, (_, index) => `${String(index).padStart(4, '0')}.yaml`);
  const empty = Object.fromEntries(names.map((name) => [name, 'tests: [{source: a, input: [x], expect: []}]\n']));
  const folder = makeFolder(empty, `include_config: [conf.d/*.yaml]\n${SINK}${source('a')}`);
  expect(loadConfig(join(folder, 'tailrace.yaml'), {}).tests).toHaveLength(MAX_INCLUDED_FILES);
  writeFileSync(join(folder, 'conf.d/one-more.yaml'), '');
  expect(problemsIn(folder)).toEqual([
    'tailrace.yaml:1:18: `include_config` names more than 1000 files; join some of them',
  ]);
});

test('included files together are bounded', () => {
  const large = `# ${'x'.repeat(1_000_000)}\n`;
  const folder = makeFolder(
    Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`${10 + index}.yaml`, large])),
  );
  expect(problemsIn(folder)).toContainEqual(
    expect.stringContaining('conf.d/26.yaml:1:1: the files of `include_config` up to here are larger than 16 MiB'),
  );
});
