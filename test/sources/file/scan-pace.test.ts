import { expect, test } from 'vitest';
import { HOT_CHECK_MS, LOOK_EVERY_MS } from '../../../src/sources/file/limits.ts';
import { untilNextCheckMs } from '../../../src/sources/file/watch/scan-pace.ts';

test('looks between scans come at the times of looks at busy folders, a second apart, also where a timer was early', () => {
  for (const nowMs of [0, 1, 400.3, 985, 1000, 1000.4, 123_456.7]) {
    const nextMs = nowMs + untilNextCheckMs(nowMs);
    expect(nextMs % HOT_CHECK_MS).toBeCloseTo(0);
    const early = nextMs - 3;
    expect(early + untilNextCheckMs(early)).toBeCloseTo(nextMs + LOOK_EVERY_MS);
  }
});
