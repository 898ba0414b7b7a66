/** Exponential backoff with full jitter: every wait is a random part of a ceiling that doubles up to a maximum. */

export interface BackoffOptions {
  readonly initialBackoffMs: number;
  readonly maxBackoffMs: number;
}

/** The wait before the next try, in milliseconds. `attempt` counts from 1; `random` is in [0, 1). */
export function nextBackoffMs(options: BackoffOptions, attempt: number, random: () => number): number {
  const ceiling = Math.min(options.maxBackoffMs, options.initialBackoffMs * 2 ** Math.min(attempt - 1, 30));
  return Math.ceil(ceiling * random());
}
