/** The streams of a journal, in a real state with two sinks. */
import { expect, test } from 'vitest';
import { parseCursor } from '../../../src/sources/journald/entry.ts';
import { Sequences } from '../../../src/sources/journald/sequences.ts';
import { openState } from '../../../src/state/database/store.ts';
import { batch, span } from '../../state/batches.ts';
import { MemoryLog } from '../../support/memory-log.ts';
import { makeTree } from '../../support/temp-tree.ts';

const cursorOf = (number: number) =>
  parseCursor(
    `s=${'a'.repeat(32)};i=${number.toString(16)};b=${'b'.repeat(32)};m=1;t=${number.toString(16)};x=${number}`,
  )!;

// Symptom: after a changed filter one sink got entries again that it had, because another sink lagged. Cause: all marks of the new stream
// began where the last sink was. Fix: each begins where its own sink was.
test('changed filter goes on for each sink behind its own last entry', () => {
  const state = openState({ folder: makeTree({}), sinksOf: () => ['near', 'far'], log: new MemoryLog() });
  const started = (filter: string): Sequences => {
    const sequences = new Sequences(Object.assign(state.streams, { lose: () => {} }), 'journal', filter);
    sequences.load();
    return sequences;
  };
  const first = started('["a"]');
  const { stream } = first.of(cursorOf(10), false);
  first.note({ stream, name: '', behind: 0 }, cursorOf(29));
  state.commit([batch(1, [span(stream, 10, 30)], 'near'), batch(2, [span(stream, 10, 20)], 'far')]);
  const marksOf = (id: string) => ['near', 'far'].map((sink) => state.streams.markOf(id, sink)!.committedTo);

  const second = started('["a","b"]').of(cursorOf(10), true);
  expect(second).toMatchObject({ behind: 20 });
  expect(marksOf(second.stream)).toEqual([30, 20]);
  state.commit([batch(3, [span(second.stream, 20, 25)], 'far')]);

  const third = started('["a"]').of(cursorOf(10), true);
  expect(third).toMatchObject({ behind: 25 });
  expect(marksOf(third.stream)).toEqual([30, 25]);
  state.close();
});
