/** Completions in zsh and fish themselves; bash's are tried with the packages (contents.test.ts). */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readCommandTable } from '../../scripts/package/command-table.ts';
import { fishCompletion, zshCompletion } from '../../scripts/package/completions.ts';
import { findProgram } from '../support/installed.ts';
import { makeTree } from '../support/temp-tree.ts';

function run(shell: string, script: string): string {
  const { stdout, stderr } = spawnSync(shell, ['-c', script], {
    encoding: 'utf8',
    env: { ...process.env, HOME: makeTree({}) },
  });
  expect(stderr).toBe('');
  return stdout;
}

test.skipIf(findProgram('zsh') === undefined)(
  'zsh completes commands, subcommands and options (apt-get install -y zsh)',
  async () => {
    const file = join(makeTree({ _tailrace: zshCompletion(await readCommandTable()) }), '_tailrace');
    /** What would be offered, as zsh's own functions are given it. */
    const offered = (...words: string[]): string[] =>
      run(
        'zsh',
        `_describe() { print -l -- "\${(@P)2}" }; _files() { print files };
       fpath=(${join(file, '..')} $fpath); autoload -Uz _tailrace
       words=(${words.map((word) => `'${word}'`).join(' ')}); CURRENT=${words.length}; PREFIX='${words.at(-1)}'; _tailrace`,
      )
        .trim()
        .split('\n')
        .map((each) => each.replace(/:.*/, ''));
    expect(offered('tailrace', '')).toEqual(expect.arrayContaining(['run', 'check', 'dead-letters']));
    expect(offered('tailrace', 'datasets', '')).toEqual(expect.arrayContaining(['list', 'trim']));
    expect(offered('tailrace', 'run', '--')).toEqual(expect.arrayContaining(['--once', '--help']));
    expect(offered('tailrace', 'preview', '')).toEqual(['files']);
  },
);

test.skipIf(findProgram('fish') === undefined)(
  'fish completes commands, subcommands, options and choices (apt-get install -y fish)',
  async () => {
    const file = join(makeTree({ 'tailrace.fish': fishCompletion(await readCommandTable()) }), 'tailrace.fish');
    const offered = (line: string): string[] =>
      run('fish', `source ${file}; complete -C '${line}'`)
        .trim()
        .split('\n')
        .map((each) => each.split('\t')[0]!);
    expect(offered('tailrace dead')).toEqual(['dead-letters']);
    expect(offered('tailrace datasets tr')).toEqual(['trim']);
    expect(offered('tailrace run --onc')).toEqual(['--once']);
    expect(offered('tailrace run --log-level w')).toEqual(['warn']);
  },
);
