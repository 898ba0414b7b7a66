/** Notices a step that is due and does not come, for the watchdog. While nothing is due, no time counts. */
import type { Clock } from './clock.ts';

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
