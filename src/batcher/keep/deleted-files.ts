/**
 * Streams whose file was deleted. Their batches are spooled at once, under their own keys; the rest of their bytes is spooled as it is
 * read.
 */
import type { Batch } from '../batch.ts';
import type { Batcher } from '../fill/batcher.ts';
import type { DiskBuffer } from './disk-buffer.ts';
import type { MemoryBudget } from '../fill/memory-budget.ts';
import type { BatchQueue } from '../queue.ts';

export interface DeletedFilesSink {
  readonly batcher: Batcher;
  readonly queue: BatchQueue;
  readonly buffer: DiskBuffer;
  readonly budget: MemoryBudget;
}

export class DeletedFiles {
  readonly #sinks: ReadonlyMap<string, DeletedFilesSink>;
  readonly #streams = new Set<string>();

  constructor(sinks: ReadonlyMap<string, DeletedFilesSink>) {
    this.#sinks = sinks;
  }

  has(stream: string): boolean {
    return this.#streams.has(stream);
  }

  keep(stream: string): void {
    if (this.#streams.has(stream)) return;
    this.#streams.add(stream);
    const isOf = ({ spans }: Batch): boolean => spans.some((span) => span.stream === stream);
    for (const { batcher, queue, buffer, budget } of this.#sinks.values()) {
      batcher.closeWhere((batch) => batch.canBeRebuilt && isOf(batch));
      for (const batch of queue.sending) if (isOf(batch)) buffer.keepDeleted(batch);
      // Its next events wait only for the disk.
      budget.wake();
    }
  }

  /** Closes the open batches that hold lines of deleted files. */
  flush(): void {
    for (const { batcher } of this.#sinks.values()) batcher.closeWhere(({ origin }) => origin === 'orphan');
  }

  /** True while the disk buffer of a sink is full. */
  get isFull(): boolean {
    for (const { queue } of this.#sinks.values()) if (queue.isFull) return true;
    return false;
  }

  /** Called when the stream is settled, or its bytes were found again. */
  forget(stream: string): void {
    this.#streams.delete(stream);
  }
}
