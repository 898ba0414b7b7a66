/**
 * Which events are new to somebody who asks for the latest again and again. Each question goes back to a while before the last one that was
 * answered, as events may become visible a little later than they were stored; events seen already are left out. Pure; also runs in browsers.
 */

/** An event that was stored longer than this before it can be found is not noticed. */
const LATE_MS = 5000;

export class FollowWindow {
  /** When events were first seen, by their cursors, oldest first. */
  readonly #seen = new Map<string, number>();
  readonly #holdMs: number;
  #answeredMs: number;
  #askedMs: number;

  /** Times are of a clock that never goes back. `holdMs`: how long an answer may take to begin. */
  constructor(nowMs: number, holdMs: number) {
    this.#answeredMs = nowMs;
    this.#askedMs = nowMs;
    this.#holdMs = holdMs;
  }

  /** Begins a question; returns how many seconds back it has to look. */
  ask(nowMs: number): number {
    this.#askedMs = nowMs;
    return Math.ceil((nowMs - this.#answeredMs + this.#holdMs + LATE_MS) / 1000);
  }

  /** True for an event that was not seen before. */
  admit(cursor: string): boolean {
    if (this.#seen.has(cursor)) return false;
    this.#seen.set(cursor, this.#askedMs);
    return true;
  }

  /** The question was answered and all of its events were admitted: forget those too old to be returned again. */
  answered(): void {
    this.#answeredMs = this.#askedMs;
    const oldestMs = this.#askedMs - 2 * (this.#holdMs + LATE_MS);
    for (const [cursor, seenMs] of this.#seen) {
      if (seenMs >= oldestMs) break;
      this.#seen.delete(cursor);
    }
  }
}
