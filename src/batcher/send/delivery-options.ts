/** What the delivery of one sink is given, and what it tells about itself. */
import type { Clock } from '../../core/time/clock.ts';
import type { Log } from '../../core/log.ts';
import type { BodyForms, CompressionSetting, DeadLetter, Sink } from '../../core/sink.ts';
import type { BackoffOptions } from '../../core/time/backoff.ts';
import type { SinkHistograms } from '../../telemetry/metrics.ts';
import type { AddressEncodings } from '../../core/requests.ts';
import type { BatchStores } from '../store.ts';
import type { MemoryBudget } from '../fill/memory-budget.ts';
import type { BatchQueue } from '../queue.ts';

export interface DeliveryOptions {
  readonly sink: Sink;
  readonly budget: MemoryBudget;
  readonly queue: BatchQueue;
  readonly compression: CompressionSetting;
  /** Shared by all sinks of the process. */
  readonly encodings: AddressEncodings;
  /** How bodies are written that are not NDJSON as it is. */
  readonly forms?: Pick<BodyForms<object>, 'encoderOf'> | undefined;
  /** Names of the metrics that its answers bring. */
  readonly facts?: readonly string[];
  /** At the start; `Delivery.reconfigure` replaces it. */
  readonly retry: BackoffOptions & { readonly maxElapsedMs: number };
  readonly clock: Clock;
  readonly log: Log;
  readonly histograms: SinkHistograms;
  /** Batches that close within this time of a commit share the next one: a transaction costs as much as sending 100 KiB. */
  readonly commitEveryMs: number;
  readonly random: () => number;
  readonly stores: BatchStores;
  /**
   * Keeps dead letters durably under a name; the same name again replaces them. Resolves with `dropped` where a full store's
   * policy says so; rejects when they cannot be kept now.
   */
  readonly deadLetter: (name: string, letters: readonly DeadLetter[]) => Promise<'kept' | 'dropped'>;
  /** Called when a dataset is paused. */
  readonly paused: (dataset: string) => void;
}
