/** The life of a batch: the table, and the queue that moves batches by it. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Batch, type BatchState } from '../../src/batcher/batch.ts';
import { type BatchEvent, next } from '../../src/batcher/queue.ts';
import { makeQueue } from './sink-rig.ts';

const STATES: readonly BatchState[] = [
  'open',
  'recovered',
  'writing',
  'waiting',
  'in_flight',
  'parked',
  'unreadable',
  'settled',
  'dropped',
];
const EVENTS: readonly BatchEvent[] = [
  'recover',
  'write',
  'queue',
  'take',
  'give_back',
  'park',
  'lose',
  'settle',
  'drop',
];
const isOver = (state: BatchState): boolean => state === 'settled' || state === 'dropped';

test('the life of a batch', () => {
  const ways = STATES.flatMap((state) =>
    EVENTS.flatMap((event) => {
      const after = next(state, event);
      return after ? `${state}, ${event}: ${after.state}` : [];
    }),
  );
  expect(ways).toEqual([
    'open, recover: recovered',
    'open, write: writing',
    'open, queue: waiting',
    'recovered, queue: waiting',
    'recovered, drop: dropped',
    'writing, queue: waiting',
    'writing, drop: dropped',
    'waiting, take: in_flight',
    'waiting, drop: dropped',
    'in_flight, give_back: waiting',
    'in_flight, park: parked',
    'in_flight, lose: unreadable',
    'in_flight, settle: settled',
    'in_flight, drop: dropped',
    'parked, queue: waiting',
    'parked, drop: dropped',
  ]);
});

test('a batch is settled only by who sends it, leaves the queue only at its end, and each of its ways may come to one', () => {
  for (const state of STATES)
    for (const event of EVENTS) {
      const after = next(state, event);
      if (!after) continue;
      expect([state, event, isOver(after.state)]).toEqual([state, event, after.action === 'leave']);
      expect([state, event, after.state === 'waiting']).toEqual([state, event, after.action === 'send']);
      if (after.state === 'settled') expect(state).toBe('in_flight');
      if (after.state === 'in_flight') expect(state).toBe('waiting');
    }
  const reaches = (state: BatchState, seen: ReadonlySet<BatchState>): boolean =>
    isOver(state) ||
    EVENTS.some((event) => {
      const after = next(state, event)?.state;
      return after !== undefined && !seen.has(after) && reaches(after, new Set([...seen, after]));
    });
  // Unreadable batches wait for the next process.
  expect(STATES.filter((state) => !reaches(state, new Set([state])))).toEqual(['unreadable']);
});

test('queue has every batch that is neither open nor over once, oldest first, whatever happens to them', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(6), fc.constantFrom(...EVENTS)), { maxLength: 60 }), (steps) => {
      const queue = makeQueue();
      const batches = Array.from(
        { length: 7 },
        (_, id) => new Batch(id, 'store', 'logs', 'file', { body: Buffer.alloc(0) }),
      );
      let told = 0;
      queue.workers.sender = { wake: () => void (told += 1) };
      let waited = 0;
      for (const [n, event] of steps) {
        const batch = batches[n]!;
        const after = next(batch.state, event);
        if (!after) {
          const { state } = batch;
          expect(() => queue.note(batch, event)).toThrow(event);
          expect(batch.state).toBe(state);
          continue;
        }
        queue.note(batch, event);
        if (after.state === 'waiting') waited += 1;
        expect(batch.state).toBe(after.state);
        expect(queue.all).toEqual(batches.filter(({ state }) => state !== 'open' && !isOver(state)));
        for (const state of STATES) expect(queue.count(state)).toBe(queue.in(state).length);
      }
      expect(told).toBe(waited);
    }),
  );
});
