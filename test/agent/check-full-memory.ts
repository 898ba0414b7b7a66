/** Asserts that hold for a sink whose service is away, whatever its memory. */
import { expect, onTestFinished } from 'vitest';
import type { SinkSizes } from '../support/memory-grid.ts';
import { makeTree } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';
import { openFullMemory } from './full-memory.ts';

/** Fills the memory with batches of a file, and expects deleted files and input that cannot be reread to reach the disk all the same. */
export async function checkFullMemory(sizes: SinkSizes): Promise<void> {
  const memory = openFullMemory(makeTree({}), sizes);
  onTestFinished(() => memory.close());
  const { slots, slotBytes, requests } = memory;
  const kept = memory.feed('files', sizes.memoryBytes + 2 * sizes.batchBytes);
  await memory.stalled();
  const stalledAt = kept.taken;

  const deleted = memory.feed('deleted', 3 * sizes.batchBytes);
  await deleted.done;
  memory.flush();
  const live = memory.feed('live', 3 * sizes.batchBytes);
  await live.done;
  memory.closeLive();
  await until('all of both is on the disk', () => {
    const spooled = memory.spooled();
    return spooled.get(deleted.stream) === deleted.bytes && spooled.get(live.stream) === live.bytes;
  });
  expect([kept.taken, memory.spooled().has(kept.stream)]).toEqual([stalledAt, false]);

  memory.remove(kept.stream);
  await kept.done;
  memory.flush();
  await until('all of the other file is, too', () => memory.spooled().get(kept.stream) === kept.bytes);
  expect(memory.mostBytes()).toBeLessThanOrEqual((slots + 1) * slotBytes);
  // Batches on disk that are not in flight leave memory to others.
  if (requests < slots) await until('there is room again', () => memory.hasSlot());
}
