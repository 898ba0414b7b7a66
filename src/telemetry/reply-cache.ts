/** The page's data, cached briefly: however often it is asked for, the agent is observed a few times a second at most. */

const KEPT_MS = 250;

interface CachedReply {
  readonly key: string;
  readonly untilMs: number;
  readonly body: string;
}

export class ReplyCache {
  readonly #now: () => number;
  /** By path: the latest reply of each. */
  readonly #kept = new Map<string, CachedReply>();

  /** `now`: milliseconds of a clock that never goes back. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** `key`: what the reply depends on beside the path. */
  get(path: string, key: string, make: () => string): string {
    const nowMs = this.#now();
    const kept = this.#kept.get(path);
    if (kept && kept.key === key && nowMs < kept.untilMs) return kept.body;
    const body = make();
    this.#kept.set(path, { key, untilMs: nowMs + KEPT_MS, body });
    return body;
  }
}
