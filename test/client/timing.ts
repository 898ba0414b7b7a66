/** A stopped clock, and waits that are recorded and end at once. */
import type { Timing } from '../../src/client/retry.ts';

export interface TestTiming extends Timing {
  readonly waits: number[];
}

export const NOW_MS = Date.parse('2026-01-02T03:04:05Z');

export function testTiming(): TestTiming {
  const waits: number[] = [];
  return {
    waits,
    now: () => NOW_MS,
    random: () => 0.5,
    async wait(ms, signal) {
      signal?.throwIfAborted();
      waits.push(ms);
    },
  };
}
