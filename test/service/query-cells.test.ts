/** Cells of the engine's answer as JSON text. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatTime, MAX_TIME_NS, MIN_TIME_NS } from '../../src/core/time/time-text.ts';
import { timeJson } from '../../src/service/query/results/cells.ts';

test('times are written as everywhere else, with as many digits as they need', () => {
  expect(timeJson('1767225600000000000')).toBe('"2026-01-01T00:00:00Z"');
  expect(timeJson('1767225600120000000')).toBe('"2026-01-01T00:00:00.12Z"');
  expect(timeJson('1767225600000000001')).toBe('"2026-01-01T00:00:00.000000001Z"');
  const round = fc.tuple(
    fc.bigInt({ min: MIN_TIME_NS, max: MAX_TIME_NS }),
    fc.constantFrom(1n, 1000n, 1_000_000n, 1_000_000_000n, 3_600_000_000_000n),
  );
  const near = fc.bigInt({ min: -3_000_000_000n, max: 13_000_000_000n });
  fc.assert(
    fc.property(
      fc.oneof(
        round.map(([ns, unit]) => (ns / unit) * unit),
        near,
      ),
      (ns) => {
        expect(timeJson(String(ns))).toBe(`"${formatTime(ns)}"`);
      },
    ),
    { numRuns: 2000 },
  );
});
