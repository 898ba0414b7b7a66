/** Options of the writers of one sink's disk buffer. */
import type { Log } from '../../core/log.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { Spool } from '../../state/spool/spool.ts';
import type { MemoryBudget } from '../fill/memory-budget.ts';
import type { BatchQueue } from '../queue.ts';
import type { Delivery } from '../send/delivery.ts';
import type { SpoolStore } from './spool-store.ts';

export interface SpoolerOptions {
  readonly sink: string;
  readonly spool: Spool;
  readonly queue: BatchQueue;
  readonly delivery: Delivery;
  readonly store: SpoolStore;
  readonly budget: MemoryBudget;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborts when the agent stops. */
  readonly stopping: AbortSignal;
}
