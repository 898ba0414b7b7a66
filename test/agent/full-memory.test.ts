// Symptom: with the service away and as many requests as slots of `buffer.max_memory`, deleted files and standard input never reached the
// disk buffer; a kill lost them. Cause: batches of files that waited to be sent again held every slot. Fix: a slot that they never get.
import { test } from 'vitest';
import { nameOf, type SinkSizes } from '../support/memory-grid.ts';
import { checkFullMemory } from './check-full-memory.ts';

const KiB = 1024;
const MiB = 1024 * KiB;

/** The ends of the grid, and the combinations that were found; `npm run test:long` goes through all. */
const SIZES: readonly SinkSizes[] = [
  { memoryBytes: MiB, batchBytes: 512 * KiB, concurrency: 4 },
  { memoryBytes: MiB, batchBytes: 64 * KiB, concurrency: 1 },
  { memoryBytes: MiB, batchBytes: 64 * KiB, concurrency: 64 },
  { memoryBytes: 4 * MiB, batchBytes: MiB, concurrency: 4 },
  { memoryBytes: 4 * MiB, batchBytes: 256 * KiB, concurrency: 16 },
  { memoryBytes: 16 * MiB, batchBytes: 8 * MiB, concurrency: 1 },
  { memoryBytes: 32 * MiB, batchBytes: MiB, concurrency: 32 },
  { memoryBytes: 64 * MiB, batchBytes: 8 * MiB, concurrency: 64 },
];

for (const sizes of SIZES) {
  test(`deleted files and standard input reach the disk buffer past a full memory: ${nameOf(sizes)}`, () =>
    checkFullMemory(sizes));
}
