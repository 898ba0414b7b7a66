/** What a sink is to the batcher: it sends one batch and says what the answer means. It never retries and never waits. */

/** The six counts of the service's reply to an ingest request. */
export interface IngestResult {
  readonly ingested: number;
  readonly failed: number;
  readonly processedBytes: number;
  readonly blocksCreated: number;
  readonly walLength: number;
}

/** One request's worth of events. */
export interface Parcel {
  /** The Idempotency-Key: the same events keep it over retries and restarts, other events never get it. */
  readonly key: string;
  readonly dataset: string;
  readonly events: number;
  readonly body: Uint8Array;
  readonly encoding: 'gzip' | 'zstd' | 'identity';
}

/**
 * What an answer means (CONTRACT.md, "Delivery promise").
 *
 * - `delivered`: the service has stored every event.
 * - `retry`: try again after a backoff, or after `afterMs` where the service said so.
 * - `hold`: nothing is dropped and nothing acknowledged: the sink pauses for the dataset, says why, and probes.
 */
export type Outcome =
  | { readonly kind: 'delivered'; readonly result: IngestResult }
  | { readonly kind: 'retry'; readonly reason: RetryReason; readonly detail: string; readonly afterMs?: number }
  | { readonly kind: 'hold'; readonly reason: HoldReason; readonly detail: string; readonly fix: string };

export type RetryReason = 'rate_limited' | 'timeout' | 'server_error' | 'network' | 'bad_answer';
export type HoldReason = 'unauthorized' | 'not_found' | 'too_large' | 'unsupported_encoding' | 'rejected' | 'partly_rejected';

export interface SendResult {
  readonly outcome: Outcome;
  /** HTTP status, or 0 where no answer came. */
  readonly status: number;
  readonly elapsedMs: number;
}

export interface Sink {
  readonly id: string;
  /** Sends once. Resolves whatever happens; rejects only when `signal` aborts. */
  send(parcel: Parcel, signal: AbortSignal): Promise<SendResult>;
  close(): Promise<void>;
}
