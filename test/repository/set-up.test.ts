import { spawnSync } from 'node:child_process';
import { appendFileSync, chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTree } from '../support/temp-tree.ts';

const root = join(import.meta.dirname, '../..');

/** A checkout in small: set-up, a lock file, and an npm that writes down what it was asked for. */
function makeCheckout(npm = 'echo "$@" >> ../npm-calls'): string {
  const tree = makeTree({ 'repo/package-lock.json': '{"lockfileVersion":3}', 'bin/npm': `#!/bin/sh\n${npm}\n` });
  chmodSync(join(tree, 'bin/npm'), 0o755);
  mkdirSync(join(tree, 'repo/scripts/runtime'), { recursive: true });
  mkdirSync(join(tree, 'repo/node_modules'));
  copyFileSync(join(root, 'scripts/setup.mjs'), join(tree, 'repo/scripts/setup.mjs'));
  return tree;
}

function setUp(tree: string) {
  const env = { ...process.env, PATH: `${join(tree, 'bin')}:${process.env['PATH']}` };
  return spawnSync(process.execPath, [join(tree, 'repo/scripts/setup.mjs')], { encoding: 'utf8', env });
}

function npmCalls(tree: string): string[] {
  const file = join(tree, 'npm-calls');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

test('set-up installs packages where the stamp is missing or stale, and does nothing where it fits', () => {
  const tree = makeCheckout();
  expect(setUp(tree).status).toBe(0);
  expect(npmCalls(tree)).toHaveLength(1);
  expect(npmCalls(tree)[0]).toMatch(/^install /);

  expect(setUp(tree).status).toBe(0);
  expect(npmCalls(tree)).toHaveLength(1);

  appendFileSync(join(tree, 'repo/package-lock.json'), '\n');
  expect(setUp(tree).status).toBe(0);
  expect(npmCalls(tree)).toHaveLength(2);
});

test('set-up says that the installation failed, and tries again the next time', () => {
  const tree = makeCheckout('echo no network >&2; exit 7');
  for (let attempt = 0; attempt < 2; attempt++) {
    const result = setUp(tree);
    expect(result.status).toBe(1);
    expect(result.stderr).toContain('no network');
    expect(result.stderr).toContain('Set-up failed: npm install');
  }
  expect(existsSync(join(tree, 'repo/node_modules/.set-up'))).toBe(false);
});

test.each(['.ci/run', 'bin/tailrace', 'scripts/node'])('%s is executable', (path) => {
  expect(statSync(join(root, path)).mode & 0o111).toBe(0o111);
});

test.each(['.ci/run', 'bin/tailrace', 'scripts/node'])('%s is a shell script without syntax errors', (path) => {
  const shell = readFileSync(join(root, path), 'utf8').startsWith('#!/usr/bin/env bash') ? 'bash' : 'sh';
  expect(spawnSync(shell, ['-n', join(root, path)], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
});

test('scripts/node runs a Node that strips types', () => {
  const tree = makeTree({ 'typed.ts': "const answer: string = 'ran';\nconsole.log(answer);\n" });
  expect(spawnSync(join(root, 'scripts/node'), [join(tree, 'typed.ts')], { encoding: 'utf8' })).toMatchObject({
    status: 0,
    stdout: 'ran\n',
    stderr: '',
  });
});
