/**
 * How far full scans are apart. Where every folder is watched and each change that a scan finds had been told of, the watches prove
 * themselves and the next scan comes later, up to a maximum; a change that was missed brings the short interval back.
 */
import { LOOK_EVERY_MS } from '../limits.ts';

export interface ScanPaceOptions {
  readonly scanIntervalMs: number;
  readonly maxScanIntervalMs: number;
}

/** Where watches have not proved themselves yet, whatever was written. */
const UNPROVEN_INTERVAL_MS = 1000;

export class ScanPace {
  readonly #options: ScanPaceOptions;
  #intervalMs: number;

  constructor(options: ScanPaceOptions) {
    this.#options = options;
    this.#intervalMs = this.#shortestMs;
  }

  /** Until the next full scan. */
  get intervalMs(): number {
    return this.#intervalMs;
  }

  /** A scan was made. `isWatched`: every folder is. */
  scanned(isWatched: boolean): void {
    const { scanIntervalMs, maxScanIntervalMs } = this.#options;
    this.#intervalMs = isWatched ? Math.min(maxScanIntervalMs, this.#intervalMs * 2) : scanIntervalMs;
  }

  /** A scan found a change that no watch told of. */
  missed(): void {
    this.#intervalMs = this.#shortestMs;
  }

  get #shortestMs(): number {
    return Math.min(UNPROVEN_INTERVAL_MS, this.#options.scanIntervalMs);
  }
}

/** A timer may be early by so much. */
const TIMER_SLACK_MS = 10;

/** Until the next look between scans. They come at the same times as looks at busy folders: a waking of the process costs more than a look. */
export function untilNextLookMs(nowMs: number): number {
  return (Math.floor((nowMs + TIMER_SLACK_MS) / LOOK_EVERY_MS) + 1) * LOOK_EVERY_MS - nowMs;
}
