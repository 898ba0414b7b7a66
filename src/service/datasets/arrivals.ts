/**
 * Holds a query with `streaming-duration` until events of its dataset are stored or its time is over. Nothing is polled: an ingest request that
 * stored events wakes the queries that wait for its dataset.
 */
import { SERVICE_HELD_QUERIES } from '../limits.ts';
import { ApiError } from '../http/api-error.ts';

export type Arrivals = ReturnType<typeof openArrivals>;

export function openArrivals() {
  const waiters = new Map<number, Set<() => void>>();
  /** When events were last stored, by dataset: a query that began before need not wait. */
  const lastStored = new Map<number, number>();
  let waiting = 0;
  let isClosed = false;

  const wake = (dataset: number): void => {
    for (const end of [...(waiters.get(dataset) ?? [])]) end();
  };
  return {
    async wait(dataset: number, since: number, ms: number, signal: AbortSignal): Promise<void> {
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
    stored(dataset: number): void {
      lastStored.set(dataset, performance.now());
      wake(dataset);
    },
    /** The dataset is gone. */
    removed(dataset: number): void {
      wake(dataset);
      lastStored.delete(dataset);
    },
    /** How many wait. */
    waiting: (): number => waiting,
    /** Ends every wait, and those to come. */
    close(): void {
      isClosed = true;
      for (const dataset of [...waiters.keys()]) wake(dataset);
    },
  };
}
