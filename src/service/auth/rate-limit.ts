/**
 * Limits the requests of the organisation per second. Every reply has the number of requests left; one over the limit gets a 429 with the
 * second in which the count starts again.
 */
import { ApiError } from '../http/api-error.ts';

export type RateLimit = ReturnType<typeof rateLimit>;

/** `perSecond` 0: no limit and no headers. */
export function rateLimit(perSecond: number) {
  let second = 0;
  let used = 0;
  return {
    /** Counts one request; returns the reply's headers. Throws an `ApiError` 429. */
    count(nowMs: number): Readonly<Record<string, string>> {
      if (perSecond === 0) return {};
      const now = Math.floor(nowMs / 1000);
      if (now !== second) [second, used] = [now, 0];
      used++;
      const headers = {
        'X-RateLimit-Scope': 'organization',
        'X-RateLimit-Limit': String(perSecond),
        'X-RateLimit-Remaining': String(Math.max(0, perSecond - used)),
        'X-RateLimit-Reset': String(second + 1),
      };
      if (used > perSecond) throw new ApiError(429, 'rate limit exceeded', headers);
      return headers;
    },
  };
}
