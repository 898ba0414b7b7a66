import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { nextBackoffMs } from '../../src/core/time/backoff.ts';

test('backoff is a random part of a ceiling that doubles up to its maximum', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 3_600_000 }),
      fc.integer({ min: 1, max: 3_600_000 }),
      fc.integer({ min: 1, max: 100_000 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (initialBackoffMs, maxBackoffMs, attempt, random) => {
        const wait = nextBackoffMs({ initialBackoffMs, maxBackoffMs }, attempt, () => random);
        const ceiling = Math.min(maxBackoffMs, initialBackoffMs * 2 ** Math.min(attempt - 1, 60));
        expect(Number.isInteger(wait)).toBe(true);
        expect(wait).toBeGreaterThanOrEqual(0);
        expect(wait).toBeLessThanOrEqual(ceiling);
        expect(Math.abs(wait - ceiling * random)).toBeLessThanOrEqual(1);
      },
    ),
  );
});

test('backoff spreads over the whole of its ceiling: full jitter', () => {
  const options = { initialBackoffMs: 250, maxBackoffMs: 30_000 };
  expect([0, 0.25, 0.5, 0.999].map((random) => nextBackoffMs(options, 1, () => random))).toEqual([0, 63, 125, 250]);
  expect([1, 2, 3, 4, 7, 8, 9, 1000].map((attempt) => nextBackoffMs(options, attempt, () => 0.9999999))).toEqual([
    250, 500, 1000, 2000, 16_000, 30_000, 30_000, 30_000,
  ]);
});
