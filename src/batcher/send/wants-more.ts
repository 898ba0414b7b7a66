/** Whether files should be read on for a dataset, or enough of its batches wait. Pure. */
import type { Batch } from '../batch.ts';

export interface WaitingBatches {
  /** Workers. */
  readonly concurrency: number;
  readonly budgetBytes: number;
  /** Those that are closed. */
  readonly batches: readonly Batch[];
  readonly pauses: { has(dataset: string): boolean };
}

/**
 * False while half as many closed batches of files wait as there are workers: batches fill faster than the service answers. A paused dataset has
 * its own count. All paused datasets, and those with parked batches, have half of the memory together, so that they do not starve others.
 */
export function wantsMore(dataset: string, { concurrency, budgetBytes, batches, pauses }: WaitingBatches): boolean {
  const isPaused = pauses.has(dataset);
  let waiting = 0;
  let setBackBytes = 0;
  let isSetBack = isPaused;
  for (const batch of batches) {
    if (batch.state === 'parked') {
      setBackBytes += batch.payload.memory;
      isSetBack ||= batch.dataset === dataset;
    }
    if (batch.state !== 'waiting') continue;
    const waitsForPause = pauses.has(batch.dataset);
    if (waitsForPause) setBackBytes += batch.payload.memory;
    // What is on disk need not be waited for.
    if (batch.isTracked && batch.spoolName === undefined && (isPaused ? batch.dataset === dataset : !waitsForPause)) waiting += 1;
  }
  return waiting < Math.ceil(concurrency / 2) && (!isSetBack || setBackBytes < budgetBytes / 2);
}
