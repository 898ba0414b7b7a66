/** Options of the writers of one sink's disk buffer. */
import type { Log } from '../../core/log.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { Spool } from '../../state/spool/spool.ts';
import type { MemoryBudget } from '../fill/memory-budget.ts';
import type { BatchQueue } from '../queue.ts';
import type { Delivery } from '../send/delivery.ts';
import type { SpoolKeeper } from './spool-keeper.ts';

/** The configuration of the disk buffer. */
export interface BufferPolicy {
  readonly maxBytes: number;
  readonly whenFull: 'block' | 'drop_newest' | 'drop_oldest';
  /** Batches of files go to disk while the service is slow. */
  readonly spillFiles: boolean;
  /** Events that cannot be read again are written at once, not when their batch is old enough. */
  readonly writesAtOnce: boolean;
}

export interface SpoolerOptions {
  readonly sink: string;
  readonly spool: Spool;
  /** In force now. */
  readonly policy: BufferPolicy;
  readonly queue: BatchQueue;
  readonly delivery: Delivery;
  readonly keeper: SpoolKeeper;
  readonly budget: MemoryBudget;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborts when the agent stops. */
  readonly stopping: AbortSignal;
}
