/**
 * Holds a query with `streaming-duration` that found nothing until events of its dataset are stored or its time is over. Nothing is polled: an ingest request that
 * stored events wakes the queries that wait for its dataset.
 */
import { FairBudget } from '../fairness/fair-budget.ts';
import { SERVICE_HELD_QUERIES } from '../limits.ts';
import { ApiError } from '../http/api-error.ts';

export type Arrivals = ReturnType<typeof openArrivals>;

export function openArrivals() {
  const waiters = new Map<number, Set<() => void>>();
  /** When events were last stored, by dataset: a query that began before need not wait. */
  const lastStored = new Map<number, number>();
  const places = new FairBudget(SERVICE_HELD_QUERIES);
  let isClosed = false;

  const wake = (dataset: number): void => {
    for (const end of [...(waiters.get(dataset) ?? [])]) end();
  };
  return {
    /** False when the time is over and nothing was stored. `holder`: who shares the places. Throws an `ApiError` 429 where none is left for it. */
    async wait(dataset: number, since: number, ms: number, signal: AbortSignal, holder: string): Promise<boolean> {
      signal.throwIfAborted();
      if (isClosed || (lastStored.get(dataset) ?? -1) >= since) return true;
      const place = places.tryTake(holder, 1);
      if (!place)
        throw new ApiError(
          429,
          `${places.used} queries with streaming-duration are open, the most at a time is ${SERVICE_HELD_QUERIES}, half of them of one token`,
          { 'Retry-After': '1' },
        );
      const ofDataset = waiters.get(dataset) ?? new Set();
      waiters.set(dataset, ofDataset);
      const isWoken = await new Promise<boolean>((done) => {
        const finish = (woken: boolean): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', end);
          ofDataset.delete(end);
          if (ofDataset.size === 0 && waiters.get(dataset) === ofDataset) waiters.delete(dataset);
          place.release();
          done(woken);
        };
        const end = (): void => finish(true);
        const timer = setTimeout(() => finish(false), ms);
        signal.addEventListener('abort', end);
        ofDataset.add(end);
      });
      signal.throwIfAborted();
      return isWoken;
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
    waiting: (): number => places.used,
    /** Ends every wait, and those to come. */
    close(): void {
      isClosed = true;
      for (const dataset of [...waiters.keys()]) wake(dataset);
    },
  };
}
