/** Sizes of a sink's memory: every combination of powers of two that `check` accepts, from the least up. */

export interface SinkSizes {
  /** `buffer.max_memory`. */
  readonly memoryBytes: number;
  /** `batch.max_bytes`. */
  readonly batchBytes: number;
  readonly concurrency: number;
}

export function memoryGrid(): SinkSizes[] {
  return powers(2 ** 20, 2 ** 26).flatMap((memoryBytes) =>
    powers(2 ** 16, Math.min(2 ** 23, memoryBytes / 2)).flatMap((batchBytes) =>
      powers(1, 64).map((concurrency) => ({ memoryBytes, batchBytes, concurrency })),
    ),
  );
}

export function nameOf({ memoryBytes, batchBytes, concurrency }: SinkSizes): string {
  return `${memoryBytes / 2 ** 20} MiB of memory, batches of ${batchBytes / 1024} KiB, ${concurrency} requests`;
}

function powers(from: number, to: number): number[] {
  return from > to ? [] : [from, ...powers(from * 2, to)];
}
