/** The one seam for time, so that tests can step it. */
export interface Clock {
  /** Wall clock, milliseconds since 1970. May jump. */
  now(): number;
  /** Monotonic milliseconds, for durations. Never jumps. */
  monotonic(): number;
  /** Resolves after `ms`, soon where that is over already, or at once when `signal` aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) =>
    signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true }),
  );
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, Math.max(0, ms));
      signal?.addEventListener('abort', done, { once: true });
    }),
};

/** Wall clock milliseconds as RFC 3339, always 24 characters: kept within the years 1970 to 9999. */
export function timeText(ms: number): string {
  return new Date(Math.min(Math.max(ms, 0), 253_402_300_799_999)).toISOString();
}

/** Notices a step that is due and does not come, for the watchdog. While nothing is due, no time counts. */
export class StepDeadline {
  readonly #name: string;
  readonly #clock: Clock;
  readonly #graceMs: number;
  #dueMs = Infinity;

  /** `graceMs`: how late the step may be. */
  constructor(name: string, clock: Clock, graceMs: number) {
    this.#name = name;
    this.#clock = clock;
    this.#graceMs = graceMs;
  }

  /** The step is due at `atMs` (monotonic). */
  expect(atMs: number): void {
    this.#dueMs = atMs;
  }

  /** The step goes on. */
  progressed(): void {
    if (this.#dueMs !== Infinity) this.#dueMs = this.#clock.monotonic();
  }

  /** It is due no more. */
  end(): void {
    this.#dueMs = Infinity;
  }

  /** The step that is late, and by how much; undefined while none is. */
  describe(): string | undefined {
    const lateMs = this.#clock.monotonic() - this.#dueMs;
    return lateMs > this.#graceMs ? `${this.#name} is ${Math.round(lateMs / 1000)} s late` : undefined;
  }
}
