/** Every combination of memory, batch size and requests that `check` accepts, in powers of two, with a service that is away. */
import { describe, test } from 'vitest';
import { checkFullMemory } from '../agent/check-full-memory.ts';
import { checkDeletedWhileAway } from '../e2e/full-memory.ts';
import { memoryGrid, nameOf } from '../support/memory-grid.ts';

describe('memory that is full of files leaves a way to the disk', () => {
  for (const sizes of memoryGrid()) test(nameOf(sizes), () => checkFullMemory(sizes));
});

describe('real agent loses nothing of deleted files', () => {
  memoryGrid().forEach((sizes, index) => {
    const { memoryBytes, batchBytes, concurrency } = sizes;
    const sink = `concurrency: ${concurrency}, batch: {max_bytes: ${batchBytes}}, buffer: {max_memory: ${memoryBytes}}`;
    const end = index % 2 === 0 ? 'SIGKILL' : 'SIGTERM';
    test(
      `${nameOf(sizes)}, ${end}`,
      () => checkDeletedWhileAway({ sink, bytes: memoryBytes + 4 * batchBytes, end }),
      180_000,
    );
  });
});
