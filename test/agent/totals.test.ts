import { expect, test } from 'vitest';
import { addTotals, totalsOf } from '../../src/agent/build/source-pipeline.ts';
import type { SourceStats } from '../../src/core/source.ts';
import { create } from '../sources/syslog/started.ts';

/** With every key that a source may have: a new one does not compile without a line here. */
const stats = (n: number): Required<SourceStats> => ({
  readBytes: n,
  lagBytes: n,
  goneLagBytes: n,
  truncatedEvents: n,
  invalidCharacters: n,
  oversizeLines: n,
  lostBytes: n,
  past: { lostRanges: n, lagSeconds: n },
  nulBytes: n,
  timeErrors: n,
  typeErrors: n,
  droppedEvents: n,
  droppedDatagrams: n,
  connections: { closedIdle: n, closedNew: n, lateMessages: n },
  files: { active: n },
  missedChanges: n,
  missedRotations: n,
  refused: { links: n },
  slowPathEvents: n,
});
const now = { lagBytes: 10, goneLagBytes: 10, files: { active: 10 } };

test('every total of a source carries over to the one that follows it, and no gauge does', () => {
  const next = stats(10);
  addTotals(next, stats(5));
  expect(next).toEqual({ ...stats(15), ...now, past: { lostRanges: 15, lagSeconds: 10 } });
});

test('a total that the next source has not counted yet carries over, too', () => {
  const { stats: next } = create();
  addTotals(next, stats(5));
  addTotals(next, stats(2));
  expect(next).toEqual({
    ...stats(7),
    lagBytes: 0,
    goneLagBytes: undefined,
    files: { open: 0 },
    past: { lostRanges: 7 },
  });
});

test('a source that was removed keeps its totals and shows no gauge', () => {
  expect(totalsOf(stats(5))).toEqual({
    ...stats(5),
    lagBytes: 0,
    goneLagBytes: undefined,
    files: {},
    past: { lostRanges: 5 },
  });
});
