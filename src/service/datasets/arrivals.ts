/**
 * Holds a query with `streaming-duration` until events of its dataset are stored or its time is over. Nothing is polled: an ingest request that
 * stored events wakes the queries that wait for its dataset.
 */
import { SERVICE_HELD_QUERIES } from '../limits.ts';
import { ApiError } from '../http/api-error.ts';

export interface Arrivals {
  /**
   * Resolves once events were stored in the dataset after `since` (a `performance.now()`), `ms` have passed, the dataset is removed or the service
   * stops. Rejects with the signal's reason; throws an `ApiError` 429 when too many wait.
   */
  wait(dataset: number, since: number, ms: number, signal: AbortSignal): Promise<void>;
  stored(dataset: number): void;
  /** The dataset is gone. */
  removed(dataset: number): void;
  /** How many wait. */
  readonly waiting: () => number;
  /** Ends every wait, and those to come. */
  close(): void;
}

export function openArrivals(): Arrivals {
  const waiters = new Map<number, Set<() => void>>();
  /** When events were last stored, by dataset: a query that began before need not wait. */
  const lastStored = new Map<number, number>();
  let waiting = 0;
  let isClosed = false;

  const wake = (dataset: number): void => {
    for (const end of [...(waiters.get(dataset) ?? [])]) end();
  };
  return {
    async wait(dataset, since, ms, signal) {
      signal.throwIfAborted();
      if (isClosed || (lastStored.get(dataset) ?? -1) >= since) return;
      if (waiting >= SERVICE_HELD_QUERIES)
        throw new ApiError(429, `${waiting} queries with streaming-duration are open, the most at a time`, { 'Retry-After': '1' });
      const ofDataset = waiters.get(dataset) ?? new Set();
      waiters.set(dataset, ofDataset);
      waiting++;
      await new Promise<void>((done) => {
        const end = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', end);
          ofDataset.delete(end);
          if (ofDataset.size === 0 && waiters.get(dataset) === ofDataset) waiters.delete(dataset);
          waiting--;
          done();
        };
        const timer = setTimeout(end, ms);
        signal.addEventListener('abort', end);
        ofDataset.add(end);
      });
      signal.throwIfAborted();
    },
    stored(dataset) {
      lastStored.set(dataset, performance.now());
      wake(dataset);
    },
    removed(dataset) {
      wake(dataset);
      lastStored.delete(dataset);
    },
    waiting: () => waiting,
    close() {
      isClosed = true;
      for (const dataset of [...waiters.keys()]) wake(dataset);
    },
  };
}
