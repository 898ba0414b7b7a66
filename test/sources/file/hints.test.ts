import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/core/clock.ts';
import { MAX_WATCHED_FILES } from '../../../src/core/limits.ts';
import { Hints } from '../../../src/sources/file/hints.ts';
import { makeFolder } from './tail-bench.ts';

function makeHints(folder: string, scanIntervalMs: number) {
  const log: string[] = [];
  const write = (_fields: object, text: string): void => void log.push(text);
  const hints = new Hints({
    folders: [folder],
    scanIntervalMs,
    clock: systemClock,
    log: { debug: write, info: write, warn: write, error: write },
  });
  return { hints, log };
}

test('hints end a long wait when a file in the folder is made, and when it is written to', async () => {
  const folder = makeFolder();
  const { hints } = makeHints(folder, 3_600_000);
  await hints.start();
  const { signal } = new AbortController();
  const first = hints.wait(1, signal);
  writeFileSync(`${folder}/a.log`, 'one\n');
  await first;
  const second = hints.wait(1, signal);
  writeFileSync(`${folder}/a.log`, 'two\n');
  await second;
  await hints.close();
});

test('hints are off for short scan intervals, and given up with one line for many files', async () => {
  const folder = makeFolder();
  mkdirSync(`${folder}/x`);
  const short = makeHints(folder, 1000);
  await short.hints.start();
  expect(short.hints.isWatching).toBe(false);
  const many = makeHints(folder, 5000);
  await many.hints.start();
  expect(many.hints.isWatching).toBe(true);
  const stopped = AbortSignal.abort();
  await many.hints.wait(MAX_WATCHED_FILES + 1, stopped);
  await many.hints.wait(MAX_WATCHED_FILES + 1, stopped);
  expect(many.hints.isWatching).toBe(false);
  expect(many.log).toEqual(['too many files to watch for changes, scanning only']);
});
