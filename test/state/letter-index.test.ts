/** Which dead letters there are, as the state remembers them beside their files. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readAuditRows } from '../../src/state/database/audit-rows.ts';
import { openState } from '../../src/state/database/store.ts';
import { DeadLetters, type Letter, type WhenFull } from '../../src/state/dead-letters.ts';
import { MAX_LOSSES } from '../../src/state/limits.ts';
import { MemoryLog } from '../support/memory-log.ts';
import { makeTree } from '../support/temp-tree.ts';
import { openInTurn } from './open-in-turn.ts';

function open(folder = makeTree({}), whenFull: WhenFull = 'block', maxBytes = 1e6) {
  const state = openInTurn(folder, () => openState({ folder, sinksOf: () => ['store'], log: new MemoryLog() }));
  return { folder, state, letters: new DeadLetters(join(folder, 'dead-letters'), maxBytes, whenFull, state.letters) };
}

const letter = (stream: string): Letter => ({
  about: {
    ...{ sink: 'store', dataset: 'logs', source: 'app', file: '/log/a', stream, offset: 5 },
    ...{ reason: 'no', kind: 'rejected', status: 400, time: '2026-01-01T00:00:00Z' },
  },
  event: '{}',
});

/** `id stream events end` of each row, sorted. */
const rowsOf = (folder: string): string[] =>
  readAuditRows(folder)
    .letters.map(({ id, stream, events, end }) => `${id} ${stream} ${events} ${end ?? 'kept'}`)
    .sort();

test('letters are indexed for each stream with the next commit, and no more once they were replayed', () => {
  const { folder, state, letters } = open();
  letters.put('a', [letter('s1'), letter('s1'), letter('s2')]);
  expect(rowsOf(folder)).toEqual([]);
  state.save();
  expect(rowsOf(folder)).toEqual(['a s1 2 kept', 'a s2 1 kept']);
  letters.put('a', [letter('s1')]);
  state.save();
  expect(rowsOf(folder)).toEqual(['a s1 1 kept']);
  letters.remove('a', 'replayed');
  expect(rowsOf(folder)).toEqual([]);
});

test('dropped letters stay known as dropped, by whom, and are no more that once they are refused again', () => {
  const { folder, state, letters } = open(undefined, 'drop_oldest', 500);
  letters.put('a', [letter('s1')]);
  letters.put('b', [letter('s1')]);
  letters.put('c', [letter('s1')]);
  expect(letters.drop(['c'])).toBe(1);
  expect(rowsOf(folder)).toEqual(['a s1 1 when_full', 'b s1 1 kept', 'c s1 1 command']);
  letters.put('c', [letter('s1')]);
  state.close();
  expect(rowsOf(folder)).toContain('c s1 1 kept');
});

test('letters whose file others removed are missing until it is back, or they are dropped', () => {
  const { folder, letters, state } = open();
  for (const id of ['a', 'b', 'c']) letters.put(id, [letter('s1')]);
  state.save();
  for (const id of ['a', 'b', 'c']) rmSync(join(folder, `dead-letters/${id}.ndjson`));
  expect(rowsOf(folder)).toEqual(['a s1 1 kept', 'b s1 1 kept', 'c s1 1 kept']);
  state.close();
  new DeadLetters(join(folder, 'dead-letters'), 1e6).put('a', [letter('s1')]);
  const again = open(folder);
  again.state.save();
  expect(rowsOf(folder)).toEqual(['a s1 1 kept', 'b s1 1 missing', 'c s1 1 missing']);
  expect(again.letters.drop(['b'])).toBe(1);
  expect(again.letters.drop(['b'])).toBe(0);
  expect(again.letters.drop([])).toBe(2);
  expect(rowsOf(folder)).toEqual(['a s1 1 command', 'b s1 1 command', 'c s1 1 command']);
});

test('letters of an earlier version are known by their file alone', () => {
  const folder = makeTree({});
  new DeadLetters(join(folder, 'dead-letters'), 1e6).put('old', [letter('s1')]);
  const { state } = open(folder);
  state.close();
  expect(rowsOf(folder)).toEqual(['old  0 kept']);
});

test('dropped letters are bounded: of the oldest beyond the limit only the sum is kept', () => {
  const { folder, state, letters } = open(undefined, 'drop_newest', 10);
  const save = state.save.bind(state);
  // One commit for all: only the rows that it leaves are bounded.
  state.save = () => true;
  for (let n = 0; n < MAX_LOSSES + 100; n++) letters.put(`id${n}`, [letter('s1')]);
  state.save = save;
  state.close();
  const rows = readAuditRows(folder).letters;
  expect(rows.length).toBeLessThanOrEqual(MAX_LOSSES + 1);
  expect(rows.reduce((sum, { events }) => sum + events, 0)).toBe(MAX_LOSSES + 100);
  expect(rows.filter(({ id }) => id === '')).toMatchObject([{ source: 'app', sink: 'store', end: 'when_full' }]);
});
