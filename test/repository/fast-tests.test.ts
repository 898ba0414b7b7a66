import { globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import config from '../../vitest.fast.config.ts';

test('fast tests have files of every room, and no pattern that matches none', () => {
  const cwd = join(import.meta.dirname, '..', '..');
  const { include = [], exclude = [] } = config.test!;
  const find = (patterns: readonly string[]): Set<string> =>
    new Set(patterns.flatMap((pattern) => globSync(pattern, { cwd })));
  const slow = find(exclude.filter((pattern) => pattern.startsWith('test/')));
  const roomsOf = (files: Iterable<string>): string[] =>
    [...new Set([...files].map((file) => file.split('/')[1]!))].toSorted();
  const all = globSync('test/!(long)/**/*.test.ts', { cwd });
  expect(roomsOf([...find(include)].filter((file) => !slow.has(file)))).toEqual(roomsOf(all));
  expect(include.filter((pattern) => globSync(pattern, { cwd }).length === 0)).toEqual([]);
});
