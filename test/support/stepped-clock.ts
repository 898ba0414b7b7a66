/** A clock that only a test moves. Sleepers wake in the order of their time. */
import type { Clock } from '../../src/core/time/clock.ts';
import { settleTurns } from './until.ts';

interface Sleeper {
  readonly wakeAt: number;
  readonly wake: () => void;
}

export class SteppedClock implements Clock {
  nowMs: number;
  #monotonicMs = 1000;
  readonly #sleepers: Sleeper[] = [];
  /** Every wait that was asked for, in milliseconds, in order. */
  readonly sleeps: number[] = [];

  constructor(nowMs = 1_795_256_100_000) {
    this.nowMs = nowMs;
  }

  now(): number {
    return this.nowMs;
  }

  monotonic(): number {
    return this.#monotonicMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.sleeps.push(ms);
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const sleeper: Sleeper = {
        wakeAt: this.#monotonicMs + ms,
        wake: () => {
          const at = this.#sleepers.indexOf(sleeper);
          if (at >= 0) this.#sleepers.splice(at, 1);
          signal?.removeEventListener('abort', sleeper.wake);
          resolve();
        },
      };
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', sleeper.wake, { once: true });
    });
  }

  /** How many sleep now. */
  get sleeping(): number {
    return this.#sleepers.length;
  }

  /** Milliseconds until the next one wakes; Infinity when nobody sleeps. */
  get nextMs(): number {
    return Math.min(Infinity, ...this.#sleepers.map(({ wakeAt }) => wakeAt - this.#monotonicMs));
  }

  /** Moves time on by `ms`, waking whoever is due on the way, and lets woken work go on. */
  async advance(ms: number): Promise<void> {
    const target = this.#monotonicMs + ms;
    for (;;) {
      const due = this.#sleepers.filter(({ wakeAt }) => wakeAt <= target).toSorted((a, b) => a.wakeAt - b.wakeAt)[0];
      if (!due) break;
      this.#move(Math.max(this.#monotonicMs, due.wakeAt));
      due.wake();
      await settleTurns();
    }
    this.#move(target);
    await settleTurns();
  }

  #move(to: number): void {
    this.nowMs += to - this.#monotonicMs;
    this.#monotonicMs = to;
  }
}
