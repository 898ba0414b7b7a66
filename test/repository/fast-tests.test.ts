import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import config from '../../vitest.fast.config.ts';

const cwd = join(import.meta.dirname, '..', '..');

/** Vitest itself is asked: its patterns are not those of Node's glob, and one of them left two rooms out. */
test('fast tests have files of every room', () => {
  const vitest = [
    'node_modules/vitest/vitest.mjs',
    'list',
    '--filesOnly',
    '--json',
    '--config',
    'vitest.fast.config.ts',
  ];
  const files = JSON.parse(execFileSync(process.execPath, vitest, { cwd, encoding: 'utf8' })) as { file: string }[];
  const roomsOf = (paths: readonly string[]): string[] =>
    [...new Set(paths.map((path) => path.split('/')[0]!))].toSorted();
  const test = join(cwd, 'test');
  expect(roomsOf(files.map(({ file }) => file.slice(test.length + 1)))).toEqual(
    roomsOf(globSync('!(long)/**/*.test.ts', { cwd: test })),
  );
});

test('fast tests name no file that is none', () => {
  const { include = [], exclude = [] } = config.test!;
  const patterns = [...include, ...exclude].filter((pattern) => /^test\/.*[^*]\.test\.ts$/.test(pattern));
  expect(patterns.filter((pattern) => globSync(pattern, { cwd }).length === 0)).toEqual([]);
});
