/**
 * The interval between full scans. While every folder is watched and the watches reported each change that a scan finds, they prove
 * themselves and the next scan comes later, up to a maximum; a change that was missed brings the short interval back.
 */
import { LOOK_EVERY_MS } from '../limits.ts';

export interface ScanPaceOptions {
  readonly scanIntervalMs: number;
  readonly maxScanIntervalMs: number;
}

/** Until watches have proved themselves, whatever the configuration says. */
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

  /** Notes a scan. `isWatched`: every folder is watched. */
  scanned(isWatched: boolean): void {
    const { scanIntervalMs, maxScanIntervalMs } = this.#options;
    this.#intervalMs = isWatched ? Math.min(maxScanIntervalMs, this.#intervalMs * 2) : scanIntervalMs;
  }

  /** A scan found a change that no watch reported. */
  missed(): void {
    this.#intervalMs = this.#shortestMs;
  }

  get #shortestMs(): number {
    return Math.min(UNPROVEN_INTERVAL_MS, this.#options.scanIntervalMs);
  }
}

/** A timer may fire this much too early. */
const TIMER_SLACK_MS = 10;

/** Until the next check between scans. Checks share their times with those of busy folders: waking the process costs more than a check. */
export function untilNextCheckMs(nowMs: number): number {
  return (Math.floor((nowMs + TIMER_SLACK_MS) / LOOK_EVERY_MS) + 1) * LOOK_EVERY_MS - nowMs;
}
