import { expect, test } from 'vitest';
import { defaultBatchBytes, divideMemory, memoryFor } from '../../src/core/sink-memory.ts';
import { memoryGrid } from '../support/memory-grid.ts';

const MiB = 2 ** 20;

test('requests never outnumber the slots, and memory holds these and the reserve, for every combination that check accepts', () => {
  for (const { memoryBytes, batchBytes, concurrency } of memoryGrid()) {
    const { slotBytes, slots, requests } = divideMemory(memoryBytes, batchBytes, concurrency);
    const about = `${memoryBytes} ${batchBytes} ${concurrency}`;
    expect([requests >= 1, requests <= slots, slots >= 2, requests <= concurrency], about).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect((slots + 1) * slotBytes, about).toBeLessThanOrEqual(Math.max(memoryBytes, 3 * slotBytes));
  }
});

test('memory that is named for a number of requests carries them', () => {
  for (const { batchBytes, concurrency } of memoryGrid())
    expect(divideMemory(memoryFor(concurrency, batchBytes), batchBytes, concurrency).requests).toBe(concurrency);
});

test('batch that nobody sized takes at most half of the memory, and never more than 1 MiB', () => {
  expect([MiB, 2 * MiB, 32 * MiB].map(defaultBatchBytes)).toEqual([MiB / 2, MiB, MiB]);
});
