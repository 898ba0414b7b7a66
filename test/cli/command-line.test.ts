/** How the command line answers mistakes, and which configuration it takes. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BINARY } from '../support/program.ts';
import { makeTree } from '../support/temp-tree.ts';

const CONFIG =
  'data_dir: data\nsources: {pipe: {type: stdin}}\nsinks: {store: {type: ingest, url: "http://127.0.0.1:1", dataset: logs}}\n';

function tailrace(cwd: string, args: readonly string[], env: Record<string, string> = {}) {
  const { TAILRACE_CONFIG: _, ...clean } = process.env;
  const { status, stdout, stderr } = spawnSync(BINARY, args, { cwd, env: { ...clean, ...env }, encoding: 'utf8' });
  return { code: status, stdout, stderr };
}

describe('the configuration', () => {
  test.for(['-c', '--config'])('is given once: a second %s is wrong usage', (flag) => {
    const folder = makeTree({ 'a.yaml': CONFIG, 'b.yaml': CONFIG });
    for (const command of [['check'], ['run'], ['explain', 'x.log'], ['dead-letters', 'list'], ['buffer', 'verify']]) {
      const { code, stderr } = tailrace(folder, [...command, '-c', 'a.yaml', flag, 'b.yaml']);
      expect([command, code, stderr]).toEqual([
        command,
        2,
        expect.stringContaining('it was given before, as "a.yaml"'),
      ]);
    }
  });

  test('named tailrace.yml is not taken, and the message names it', () => {
    const { code, stderr } = tailrace(makeTree({ 'tailrace.yml': CONFIG }), ['check']);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('rename tailrace.yml to tailrace.yaml, or name it with `--config tailrace.yml`'),
    ]);
  });

  test('may be named by TAILRACE_CONFIG, over which --config decides', () => {
    const folder = makeTree({ 'a.yaml': 'broken: [', 'b.yaml': CONFIG, 'tailrace.yaml': 'broken: [' });
    expect(tailrace(folder, ['dead-letters', 'list'], { TAILRACE_CONFIG: 'b.yaml' })).toMatchObject({ code: 0 });
    expect(tailrace(folder, ['dead-letters', 'list'], { TAILRACE_CONFIG: '' })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('tailrace.yaml:1'),
    });
    expect(tailrace(folder, ['dead-letters', 'list', '-c', 'b.yaml'], { TAILRACE_CONFIG: 'a.yaml' })).toMatchObject({
      code: 0,
    });
  });
});

test.for([
  [['dead-letters'], "tailrace: missing required argument 'action': list, show, replay or drop\n"],
  [['buffer'], "tailrace: missing required argument 'action': verify, export or repair\n"],
  [
    ['query', 'logs', '--limit', '3', 'where', 'level'],
    'a query is one argument, and 3 were given\n  fix: put it in quotes, such as `tailrace query',
  ],
  [['dead-letters', 'foo'], 'dead-letters does not know "foo"'],
  [['dead-letters', 'show'], 'show needs the id'],
  [['dead-letters', 'drop'], 'drop removes dead letters for good'],
  [['dead-letters', 'list', '--sink', 'store'], '--sink is for replay'],
  [['buffer', 'foo'], 'buffer does not know "foo"'],
  [['check', 'shop.yaml'], 'check takes no arguments\n  fix: write --config shop.yaml\n'],
] as const)('wrong usage is named before a configuration is looked for: %s', ([args, message]) => {
  const { code, stderr } = tailrace(makeTree({}), args);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});

test('dead-letters replay --sink names the sinks that there are', () => {
  const { code, stderr } = tailrace(makeTree({ 'tailrace.yaml': CONFIG }), [
    'dead-letters',
    'replay',
    '--sink',
    'stoer',
  ]);
  expect([code, stderr]).toEqual([2, expect.stringContaining('has the id "stoer"\n  fix: use one of store')]);
});

test('tailrace version says what --version says', () => {
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
    version: string;
  };
  expect(tailrace(makeTree({}), ['version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  expect(tailrace(makeTree({}), ['--version']).stdout).toBe(`${version}\n`);
});

// Symptom: "logs" was answered with "Did you mean orgs?", "login" with "engine", "start" with "status".
test.for([
  [['logs'], 'query'],
  [['logs', '--help'], 'query'],
  [['help', 'logs'], 'query'],
  [['LOGS'], 'query'],
  [['tail'], 'query --follow'],
  [['login'], 'tokens'],
  [['start'], 'run'],
  [['restart'], 'reload'],
  [['validate'], 'check'],
  [['ls'], 'datasets list'],
  [['send', 'logs', 'a.json'], 'ingest'],
  [['ps'], 'status'],
  [['dlq'], 'dead-letters'],
  [['deadletters', 'list'], 'dead-letters'],
  [['datasets', 'rm', 'x'], 'delete'],
  [['tokens', 'delete', 'x'], 'revoke'],
  [['quey'], 'query'],
  [['chekc'], 'check'],
] as const)('an unknown command is answered with the one that was meant: %s', ([args, meant]) => {
  const { code, stderr } = tailrace(makeTree({}), args);
  expect([code, stderr]).toEqual([2, expect.stringContaining(`\n(Did you mean ${meant}?)\n`)]);
});

test.for([['stop'], ['xyzzy'], ['datasets', 'explode'], ['engine', 'remove']])(
  'no command is guessed for %s',
  (args) => {
    const { code, stderr } = tailrace(makeTree({}), args);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^tailrace: unknown command '\w+'\n\(tailrace.* --help shows every command\)\n$/),
    ]);
  },
);

// Symptom: `dead-letters show` alone is an error, and its help claimed "default: all"; that of `tokens create` did not say what it wants.
test('help says what a command wants', () => {
  const helpOf = (...command: string[]): string =>
    tailrace(makeTree({}), [...command, '--help']).stdout.replaceAll(/\s+/g, ' ');
  expect(helpOf('dead-letters')).toContain(
    'list and replay take all without one, drop only with --all, show wants one',
  );
  expect(helpOf('dead-letters')).not.toContain('default: all');
  expect(helpOf('tokens', 'create')).toContain(
    'at least one right (--ingest, --query, --trim, --manage-datasets, --manage-tokens) or --personal',
  );
  expect(helpOf('tokens', 'create')).toContain('such as: tailrace tokens create web-1 --ingest web');
  expect(helpOf('tokens')).toContain(
    'a personal token of an owner or admin, an API token that may manage tokens, or --data',
  );
});
