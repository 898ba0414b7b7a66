/** How `buffer.max_memory` of a sink is divided into slots, each for one batch, and how many requests these carry. */
import { KERNEL_SLACK_BYTES } from './limits.ts';

const DEFAULT_BATCH_BYTES = 2 ** 20;

/** `batch.max_bytes` where it is not written: a batch takes at most half of the memory. */
export function defaultBatchBytes(memoryBytes: number): number {
  return Math.min(DEFAULT_BATCH_BYTES, Math.floor(memoryBytes / 2));
}

export interface SinkMemory {
  /** Bytes of one slot: a full batch, and what the kernel may overwrite. */
  readonly slotBytes: number;
  /** Slots for any batch: at least two, so that one can fill while the other is sent. One more, the reserve, is for what goes to the disk buffer. */
  readonly slots: number;
  /** Concurrent requests at most. Each holds a batch, so they never hold the reserve. */
  readonly requests: number;
}

export function divideMemory(memoryBytes: number, batchBytes: number, concurrency: number): SinkMemory {
  const slotBytes = batchBytes + KERNEL_SLACK_BYTES;
  const slots = Math.max(2, Math.floor(memoryBytes / slotBytes) - 1);
  return { slotBytes, slots, requests: Math.min(concurrency, slots) };
}

/** The whole MiB that `requests` requests at a time need, in bytes. */
export function memoryFor(requests: number, batchBytes: number): number {
  const bytes = (requests + 1) * (batchBytes + KERNEL_SLACK_BYTES);
  return Math.ceil(bytes / 2 ** 20) * 2 ** 20;
}
