import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test as base } from 'vitest';
import { makeTree } from '../support/temp-tree.ts';

const root = join(import.meta.dirname, '../..');

/** A checkout in small, whose bundle was built an hour ago, after everything else. */
function makeCheckout(): string {
  const tree = makeTree({
    'src/main.ts':
      "const from: string = 'sources';\nconsole.log(from, process.execArgv.join(' '), process.env['MALLOC_ARENA_MAX'] ?? '');\n",
    'src/cli/run.ts': '',
    'dist/main.cjs': "console.log('bundle', process.execArgv.join(' '), process.env.MALLOC_ARENA_MAX ?? '');\n",
    'package.json': '{"type":"module"}',
    'package-lock.json': '{}',
  });
  for (const file of ['bin/tailrace', 'scripts/node']) {
    mkdirSync(join(tree, file, '..'), { recursive: true });
    copyFileSync(join(root, file), join(tree, file));
    chmodSync(join(tree, file), 0o755);
  }
  for (const file of ['src/cli/run.ts', 'src/main.ts', 'src/cli', 'src', 'package.json', 'package-lock.json'])
    age(tree, file, 2);
  age(tree, 'dist/main.cjs', 1);
  return tree;
}

const test = base.extend('tree', () => makeCheckout());

function age(tree: string, file: string, hours: number): void {
  const seconds = Date.now() / 1000 - hours * 3600;
  utimesSync(join(tree, file), seconds, seconds);
}

function run(tree: string, ...args: string[]): string {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => name !== 'MALLOC_ARENA_MAX'));
  return spawnSync(join(tree, 'bin/tailrace'), args, { encoding: 'utf8', env }).stdout.trim();
}

test('bin/tailrace starts the bundle while no source is newer', () => {
  expect(run(makeCheckout(), 'check')).toMatch(/^bundle /);
});

test.each(['src/cli/run.ts', 'src/main.ts', 'src/cli', 'package.json', 'package-lock.json'])(
  'bin/tailrace starts the sources when %s is newer than the bundle',
  (file) => {
    const tree = makeCheckout();
    age(tree, file, 0);
    expect(run(tree, 'check')).toMatch(/^sources /);
  },
);

test('bin/tailrace starts the sources when there is no bundle', ({ tree }) => {
  rmSync(join(tree, 'dist'), { recursive: true });
  expect(run(tree, 'check')).toMatch(/^sources /);
});

// Symptom: an installed package did not start. Cause: npm gives its files the time at which each is unpacked, package.json's being the last.
test('bin/tailrace starts a bundle that came without sources, whatever the times of its files', ({ tree }) => {
  rmSync(join(tree, 'src'), { recursive: true });
  age(tree, 'package.json', 0);
  expect(run(tree, 'check')).toMatch(/^bundle /);
});

test('bin/tailrace keeps the memory of the agent small, and of the agent alone', ({ tree }) => {
  expect(run(tree, 'run', '--once')).toMatch(/^bundle .*--max-semi-space-size=1 2$/);
  expect(run(tree, 'serve')).not.toMatch(/semi-space|2$/);
});

test('bin/tailrace on an old Node says what to do, in a checkout and in a package', ({ tree }) => {
  mkdirSync(join(tree, 'old'));
  writeFileSync(join(tree, 'old/node'), '#!/bin/sh\necho v20.20.2\n', { mode: 0o755 });
  const env = { PATH: `${join(tree, 'old')}:/usr/bin:/bin` };
  const complain = () => spawnSync(join(tree, 'bin/tailrace'), ['check'], { encoding: 'utf8', env }).stderr;
  expect(complain()).toBe(
    'tailrace: Node 24 or newer is needed, found v20.20.2; install it, or put the folder of one first on PATH\n',
  );
  writeFileSync(join(tree, 'scripts/setup.mjs'), '');
  expect(complain()).toBe('tailrace: Node 24 or newer is needed, found v20.20.2; run: npm run setup\n');
});
