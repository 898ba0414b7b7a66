import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_MARK_POINTS } from '../../src/state/limits.ts';
import { NO_TAIL } from '../../src/core/sums.ts';
import { Mark } from '../../src/state/database/marks.ts';
import { span } from './batches.ts';
import { contentSum } from '../../src/kernel/content-sum.ts';

/** Spans of one stream: where each begins and ends, and the batch it is in; batches may have several. */
const plan = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 50 }), fc.boolean()), { minLength: 1, maxLength: 30 })
  .map((pieces) => {
    let at = 100;
    let batch = 0;
    return pieces.map(([length, joins]) => {
      if (!joins) batch += 1;
      const from = at;
      at += length;
      return { from, to: at, batch };
    });
  });

test('mark moves over the settled beginning only, for any order of settling', () => {
  fc.assert(
    fc.property(plan, fc.infiniteStream(fc.nat()), (spans, random) => {
      const draws = random[Symbol.iterator]();
      const draw = (below: number): number => (draws.next().value as number) % below;
      const mark = new Mark(100, NO_TAIL, 0);
      const settled = new Set<number>();
      const passed: number[] = [];
      const waiting = [...spans];
      const committed: typeof spans = [];
      for (;;) {
        const open = [...new Set(committed.map(({ batch }) => batch))].filter((batch) => !settled.has(batch));
        if (waiting.length === 0 && open.length === 0) break;
        if (open.length === 0 || (waiting.length > 0 && draw(2) === 0)) {
          // A batch is committed whole.
          const { batch } = waiting[0]!;
          while (waiting[0]?.batch === batch) {
            const next = waiting.shift()!;
            mark.commit(span('s', next.from, next.to), batch);
            committed.push(next);
          }
        } else {
          const batch = open[draw(open.length)]!;
          settled.add(batch);
          passed.push(...mark.settle(batch));
        }
        // The model: the longest settled beginning.
        const stop = committed.findIndex((each) => !settled.has(each.batch));
        const done = stop < 0 ? committed : committed.slice(0, stop);
        const last = done.at(-1);
        expect(mark.settledTo).toBe(last?.to ?? 100);
        expect(mark.tail).toEqual(last ? span('s', last.from, last.to).tail : NO_TAIL);
        expect(mark.committedTo).toBe(committed.at(-1)?.to ?? 100);
        expect(mark.isSettled).toBe(stop < 0);
        expect(passed).toEqual(done.map(({ batch }) => batch));
      }
      expect(passed).toHaveLength(spans.length);
    }),
    { numRuns: 500 },
  );
});

test('mark is stopped by one batch that is not settled, and jumps once it is', () => {
  const mark = new Mark(0, NO_TAIL, 0);
  for (let id = 1; id <= 5; id++) mark.commit(span('s', (id - 1) * 10, id * 10), id);
  for (const id of [2, 3, 5]) expect(mark.settle(id)).toEqual([]);
  expect(mark.settledTo).toBe(0);
  expect(mark.settle(1)).toEqual([1, 2, 3]);
  expect([mark.settledTo, mark.isSettled]).toEqual([30, false]);
  expect(mark.settle(4)).toEqual([4, 5]);
  expect([mark.settledTo, mark.isSettled]).toEqual([50, true]);
});

test('mark ignores a batch that has no span in its stream', () => {
  const mark = new Mark(0, NO_TAIL, 0);
  mark.commit(span('s', 0, 10), 1);
  expect(mark.settle(99)).toEqual([]);
  expect(mark.settledTo).toBe(0);
});

// A batch that was divided comes back with a later number than those behind it.
test('mark does not pass an earlier span that was committed late', () => {
  const mark = new Mark(0, NO_TAIL, 0);
  mark.commit(span('s', 10, 20), 2);
  mark.commit(span('s', 0, 10), 3);
  expect([mark.settle(2), mark.settledTo, mark.committedTo]).toEqual([[], 0, 20]);
  expect([mark.settle(3), mark.settledTo, mark.isSettled]).toEqual([[3, 2], 20, true]);
});

test('mark sums up the checksum of everything before it, and does not know it over a gap or where it did not know it before', () => {
  const bytes = Buffer.from('a stream of some length, cut into spans');
  const part = (from: number, to: number) => ({
    ...span('s', from, to),
    sum: contentSum(bytes.subarray(from, to), from),
  });
  const mark = new Mark(5, NO_TAIL, contentSum(bytes.subarray(0, 5), 0));
  mark.commit(part(5, 12), 1);
  mark.commit(part(20, 30), 3);
  expect(mark.committedSum).toBeUndefined();
  mark.commit(part(12, 20), 2);
  expect(mark.committedSum).toBe(contentSum(bytes.subarray(0, 30), 0));
  mark.settle(2);
  mark.settle(1);
  expect([mark.settledTo, mark.contentSum]).toEqual([20, contentSum(bytes.subarray(0, 20), 0)]);
  mark.settle(3);
  expect([mark.contentSum, mark.committedSum]).toEqual([
    contentSum(bytes.subarray(0, 30), 0),
    contentSum(bytes.subarray(0, 30), 0),
  ]);
  const unknown = new Mark(5, NO_TAIL, undefined);
  unknown.commit(part(5, 12), 1);
  expect(unknown.committedSum).toBeUndefined();
});

test('mark keeps some of its earlier places, the last ones closest together, and those of pending spans', () => {
  const mark = new Mark(0, NO_TAIL, 0);
  for (let n = 0; n < 100; n += 1) {
    mark.commit({ ...span('s', n * 10, n * 10 + 10), sum: 7 }, n);
    mark.settle(n);
  }
  expect(mark.passed.length).toBeLessThanOrEqual(MAX_MARK_POINTS);
  const [first, , third] = mark.passed.map(({ at }) => at);
  expect([first, ...mark.passed.slice(-2).map(({ at }) => at)]).toEqual([0, 980, 990]);
  expect(third).toBeLessThan(900);
  mark.commit({ ...span('s', 1000, 1010), sum: 7 }, 100);
  mark.commit({ ...span('s', 1010, 1020), sum: 7 }, 101);
  expect(mark.points.slice(-3).map(({ at }) => at)).toEqual([990, 1000, 1010]);
});
