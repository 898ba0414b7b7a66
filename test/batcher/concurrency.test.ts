import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Concurrency } from '../../src/batcher/send/dispatch.ts';

/** Successes until the limit changes. */
function successesToGrow(concurrency: Concurrency): number {
  const before = concurrency.limit;
  for (let count = 1; count <= 100; count++) {
    concurrency.noteSuccess(10);
    if (concurrency.limit !== before) return count;
  }
  return Infinity;
}

test('concurrency starts at its maximum and stays there while all goes well', () => {
  const concurrency = new Concurrency(4);
  expect(concurrency.limit).toBe(4);
  for (let i = 0; i < 50; i++) concurrency.noteSuccess(10);
  expect(concurrency.limit).toBe(4);
});

test('concurrency is halved by each overload, down to one', () => {
  const concurrency = new Concurrency(10);
  const limits = Array.from({ length: 6 }, () => {
    concurrency.noteOverload();
    return concurrency.limit;
  });
  expect(limits).toEqual([5, 2, 1, 1, 1, 1]);
});

test('concurrency grows by one for each round of requests that went well', () => {
  const concurrency = new Concurrency(4);
  for (let i = 0; i < 4; i++) concurrency.noteOverload();
  expect([successesToGrow(concurrency), concurrency.limit]).toEqual([1, 2]);
  expect([successesToGrow(concurrency), concurrency.limit]).toEqual([2, 3]);
  expect([successesToGrow(concurrency), concurrency.limit]).toEqual([3, 4]);
  expect(successesToGrow(concurrency)).toBe(Infinity);
});

test('concurrency begins its round anew after an overload', () => {
  const concurrency = new Concurrency(8);
  concurrency.noteOverload();
  for (let i = 0; i < 3; i++) concurrency.noteSuccess(10);
  concurrency.noteOverload();
  expect(concurrency.limit).toBe(2);
  expect(successesToGrow(concurrency)).toBe(2);
});

test('concurrency takes answers that became much slower for an overload, but not a little, and not among fast ones', () => {
  const concurrency = new Concurrency(8);
  concurrency.noteSuccess(300);
  concurrency.noteSuccess(2_300);
  expect(concurrency.limit).toBe(8);
  concurrency.noteSuccess(2_500);
  expect(concurrency.limit).toBe(4);
  const fast = new Concurrency(8);
  fast.noteSuccess(1);
  fast.noteSuccess(1_900);
  expect(fast.limit).toBe(8);
});

test('concurrency gets used to a service that is slow for good', () => {
  const concurrency = new Concurrency(8);
  concurrency.noteSuccess(100);
  for (let i = 0; i < 400; i++) concurrency.noteSuccess(5_000);
  expect(concurrency.limit).toBe(8);
});

test('concurrency is between one and its maximum after anything that may happen', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 64 }),
      fc.array(fc.option(fc.double({ min: 0, max: 1e6, noNaN: true }))),
      (maximum, happenings) => {
        const concurrency = new Concurrency(maximum);
        for (const elapsedMs of happenings) {
          const before = concurrency.limit;
          if (elapsedMs === null) concurrency.noteOverload();
          else concurrency.noteSuccess(elapsedMs);
          expect(Number.isInteger(concurrency.limit)).toBe(true);
          expect(concurrency.limit).toBeGreaterThanOrEqual(1);
          expect(concurrency.limit).toBeLessThanOrEqual(Math.min(maximum, before + 1));
        }
      },
    ),
  );
});

test('concurrency that was at its maximum goes to another one at once', () => {
  const concurrency = new Concurrency(2);
  concurrency.limitTo(8);
  expect(concurrency.limit).toBe(8);
  concurrency.limitTo(3);
  expect(concurrency.limit).toBe(3);
});

test('concurrency that an overload lowered keeps what the service bears, and grows to a higher maximum', () => {
  const concurrency = new Concurrency(4);
  concurrency.noteOverload();
  concurrency.limitTo(6);
  expect(concurrency.limit).toBe(2);
  while (successesToGrow(concurrency) < Infinity);
  expect(concurrency.limit).toBe(6);
});
