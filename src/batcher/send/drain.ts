/** Waits until a delivery holds nothing, or until waiting gains nothing. */
import { HOPELESS_AFTER_MS } from '../limits.ts';
import { type Clock, whenAborted } from '../../core/time/clock.ts';
import type { Batch } from '../batch.ts';
import type { Dispatch } from './dispatch.ts';

const DRAIN_CHECK_MS = 250;

export interface DrainOptions {
  readonly clock: Clock;
  readonly dispatch: Pick<Dispatch, 'storedAtMs' | 'failedAtMs' | 'underWay'>;
  /** Batches that are closed and not settled. */
  held(): readonly Batch[];
  /** True where every batch waits for a dataset that is paused. */
  isPaused(): boolean;
  /** Resolves when nothing is held any more. */
  emptied(): Promise<void>;
}

/**
 * Resolves when nothing is held, or when `signal` aborts; sooner where nothing is gained by waiting: every dataset is paused, or
 * the service refuses and has stored nothing for `patienceMs`, and everything held is safe on disk or can be read again. `Infinity` waits in any case.
 */
export async function drain(options: DrainOptions, signal: AbortSignal, patienceMs = HOPELESS_AFTER_MS): Promise<void> {
  const { clock, dispatch } = options;
  const since = clock.monotonic();
  const isRefused = (): boolean =>
    clock.monotonic() - Math.max(since, dispatch.storedAtMs) > patienceMs &&
    dispatch.failedAtMs > dispatch.storedAtMs &&
    // While a wait is on, longer ago than the drain began.
    (dispatch.failedAtMs > since || dispatch.underWay === 0);
  const isSafe = (batch: Batch): boolean => batch.isDurable || batch.canBeRebuilt;
  const isHopeless = (): boolean => patienceMs < Infinity && (options.isPaused() || isRefused()) && options.held().every(isSafe);
  const given = whenAborted(signal);
  while (!signal.aborted && options.held().length > 0 && !isHopeless()) {
    await Promise.race([options.emptied(), given, clock.sleep(DRAIN_CHECK_MS, signal)]);
  }
}
