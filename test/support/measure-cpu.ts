/** Each file of tests notes the CPU-seconds that it cost, for `scripts/test-times.ts`. */
import { afterAll } from 'vitest';
import { cpuSeconds } from '../../scripts/test-times.ts';

/** Where a process runs several files, each counts from the end of the one before. */
const counted = globalThis as { countedCpuSeconds?: number };

// oxlint-disable-next-line no-empty-pattern -- Vitest takes nothing else there.
afterAll(({}, file) => {
  const seconds = cpuSeconds();
  file.meta.cpuSeconds = seconds - (counted.countedCpuSeconds ?? 0);
  counted.countedCpuSeconds = seconds;
});
