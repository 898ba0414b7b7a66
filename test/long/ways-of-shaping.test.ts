/** Ten million random lines through random pipelines: over bytes, over few values and over whole objects. */
import { expect, test } from 'vitest';
import { compareWays } from '../shaping/bytes/agreement.ts';

const LINES = Number(process.env['TAILRACE_FUZZ_LINES'] ?? 10_000_000);
const ROUND = 100_000;

test('ways of shaping give the same bytes on ten million random lines', { timeout: 4 * 3600 * 1000 }, () => {
  const seed = Number(process.env['TAILRACE_FUZZ_SEED'] ?? Date.now() % 2 ** 31);
  let done = 0;
  for (let round = 0; done < LINES; round++) {
    done += compareWays(seed + round, Math.min(ROUND, LINES - done));
    if (round % 10 === 9) console.log(`${done} lines agree (from TAILRACE_FUZZ_SEED=${seed})`);
  }
  expect(done).toBeGreaterThanOrEqual(LINES);
});
