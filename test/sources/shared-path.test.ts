/** Whether two sources would read one file. Symptom: `init` and people wrote globs that share files, and each line came twice without a word. */
import { expect, test } from 'vitest';
import { describeSharedFiles } from '../../src/cli/agent/shared-files.ts';
import { checkMachine } from '../../src/cli/check/check-machine.ts';
import { separate, type GroupedFiles } from '../../src/cli/init/group-files.ts';
import { findSharedPath } from '../../src/sources/file/shared-path.ts';
import { configOf, configWith } from '../config/reading.ts';

const of = (include: string, ...exclude: string[]) => ({ include: [include], exclude });

test.each([
  ['/l/*.log', of('/l/*.log'), '/l/new.log'],
  ['the same with exclusions of each other’s files', of('/l/*.log', '/l/a.log'), '/l/new.log'],
  ['a name', of('/l/zeta.log'), '/l/zeta.log'],
  ['a series', of('/l/api-*.log'), '/l/api-new.log'],
  ['another beginning', of('/l/a*'), '/l/anew.log'],
  ['folders of any depth', of('/**/*.log'), '/l/new.log'],
  ['alternatives', of('/l/*.{txt,log}'), '/l/new.log'],
  ['one character', of('/l/?.log'), '/l/x.log'],
  ['a class', of('/l/[0-9].log'), '/l/0.log'],
])('two sources share a file: /l/*.log and %s', (_what, other, path) => {
  expect(findSharedPath(of('/l/*.log'), other)).toBe(path);
  expect(findSharedPath(other, of('/l/*.log'))).toBe(path);
});

test.each([
  ['another folder', of('/m/*.log')],
  ['a folder below', of('/l/*/*.log')],
  ['another end', of('/l/*.txt')],
  ['a name that is left out', of('/l/api.log'), ['/l/api.log']],
  ['a series that is left out', of('/l/api-*.log'), ['api-*.log']],
  ['names with a dot', of('/l/.*')],
  ['what only picomatch tells', of('/l/!(a).log')],
])('two sources share no file: /l/*.log and %s', (_what, other, exclude: string[] = []) => {
  expect(findSharedPath(of('/l/*.log', ...exclude), other)).toBeUndefined();
});

test('check and the start name the sources and a file that both would read', async () => {
  const config = configOf(
    configWith({
      sources:
        '  b: {type: file, include: ["/var/log/*.log"], exclude: [/var/log/a.log]}\n  c: {type: file, include: [/srv/*.log]}',
    }),
  );
  const message = 'the sources `app` and `b` read the same files, such as /var/log/new.log: their lines are sent twice';
  expect(await describeSharedFiles(config)).toEqual([
    { source: 'b', message, fix: 'add what one of them reads to `exclude` of the other' },
  ]);
  const { warnings } = await checkMachine(config, (path) => ({ file: path, line: 1, column: 1 }));
  expect(warnings.filter((each) => each.message === message)).toHaveLength(1);
});

const source = (include: string[], files: string[]): GroupedFiles => ({ include, files });
test.each<[string, GroupedFiles[], ReturnType<typeof separate>]>([
  [
    'one glob of two kinds',
    [source(['/l/*.log'], ['/l/a.log', '/l/b.log']), source(['/l/*.log'], ['/l/c.log'])],
    [
      { include: ['/l/a.log', '/l/b.log'], exclude: [] },
      { include: ['/l/c.log'], exclude: [] },
    ],
  ],
  [
    'a file below a glob, and its dated rotations',
    [source(['/l/*.log'], ['/l/a.log']), source(['/l/api.log'], ['/l/api.log'])],
    [
      { include: ['/l/*.log'], exclude: ['/l/api.log', '/l/api[-._][0-9]*'] },
      { include: ['/l/api.log'], exclude: [] },
    ],
  ],
  [
    'a series below a glob',
    [source(['/l/*.log'], ['/l/a.log']), source(['/l/api-*.log'], ['/l/api-1.log'])],
    [
      { include: ['/l/*.log'], exclude: ['/l/api-*.log'] },
      { include: ['/l/api-*.log'], exclude: [] },
    ],
  ],
  [
    'a series that holds files of the glob',
    [source(['/l/*.log'], ['/l/api-gate.log']), source(['/l/api-*.log'], ['/l/api-1.log'])],
    [
      { include: ['/l/api-gate.log'], exclude: [] },
      { include: ['/l/api-1.log'], exclude: [] },
    ],
  ],
  [
    'nothing shared',
    [source(['/l/*.log'], ['/l/a.log']), source(['/m/*.log'], ['/m/a.log'])],
    [
      { include: ['/l/*.log'], exclude: [] },
      { include: ['/m/*.log'], exclude: [] },
    ],
  ],
])('init writes no two sources that share a file: %s', (_what, sources, patterns) => {
  expect(separate(sources)).toEqual(patterns);
});
