/** A queue for batches that are made to be compared or shown, not sent: each is handed on as it closes, and the slot is free again. */
import type { Region } from '../../core/block.ts';
import type { Batch } from '../batch.ts';
import { BatchQueue } from '../queue.ts';
import { MemoryBudget } from '../memory-budget.ts';

const SETTINGS = {
  concurrency: 1,
  retry: { initialBackoffMs: 0, maxBackoffMs: 0, maxElapsedMs: 0 },
  policy: { maxBytes: 0, whenFull: 'block', spillFiles: false, writesAtOnce: false },
} as const;

export class MadeBatches extends BatchQueue {
  readonly #made: (batch: Batch) => void;

  constructor(slot: Region, made: (batch: Batch) => void) {
    const budget = new MemoryBudget(slot.bytes.length, slot.bytes.length, [slot]);
    super({ ids: { nextId: () => 0 }, budget, settings: SETTINGS, run: '' });
    this.#made = made;
  }

  override close(batch: Batch): void {
    this.#made(batch);
    batch.release(this.budget);
  }
}
