/**
 * Limit of concurrent requests: additive increase, multiplicative decrease, within the configured maximum.
 * It starts at the maximum, is halved when the service is overloaded (429, 503, timeouts, or requests that take much
 * longer than they used to), and grows by one for each round of requests that went well.
 */

/** A request this many times slower than the best seen lately counts as a sign of overload … */
const SLOW_FACTOR = 8;
/** … when it also took at least this long. */
const SLOW_AT_LEAST_MS = 2000;

export class Concurrency {
  #maximum: number;
  #limit: number;
  #good = 0;
  #fastestMs = Infinity;

  constructor(maximum: number) {
    this.#maximum = maximum;
    this.#limit = maximum;
  }

  /** Current limit of concurrent requests: 1 … maximum. */
  get limit(): number {
    return Math.max(1, Math.floor(this.#limit));
  }

  /** Changes the maximum. Where the one before was in use the new one is, too; else what the service was seen to bear holds. */
  limitTo(maximum: number): void {
    this.#limit = this.#limit >= this.#maximum ? maximum : Math.min(this.#limit, maximum);
    this.#maximum = maximum;
    this.#good = 0;
  }

  /** A request was answered well in `elapsedMs`. */
  noteSuccess(elapsedMs: number): void {
    this.#fastestMs = Math.min(elapsedMs, this.#fastestMs * 1.01);
    if (elapsedMs > SLOW_AT_LEAST_MS && elapsedMs > this.#fastestMs * SLOW_FACTOR) return this.noteOverload();
    this.#good += 1;
    if (this.#good < this.limit) return;
    this.#good = 0;
    this.#limit = Math.min(this.#maximum, this.#limit + 1);
  }

  /** The service is overloaded. */
  noteOverload(): void {
    this.#good = 0;
    this.#limit = Math.max(1, this.#limit / 2);
  }
}
