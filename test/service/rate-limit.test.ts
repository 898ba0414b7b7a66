/** The rate limit by itself, second by second. */
import { expect, test } from 'vitest';
import { rateLimit } from '../../src/service/auth/rate-limit.ts';

test('as many requests a second as it says, and not one more; each second begins anew', () => {
  const limit = rateLimit(3);
  for (const at of [10_000, 11_999, 12_000]) {
    const remaining = [0, 1, 2].map(() => limit.count(at)['X-RateLimit-Remaining']);
    expect(remaining).toEqual(['2', '1', '0']);
    const headers = { 'X-RateLimit-Scope': 'organization', 'X-RateLimit-Limit': '3', 'X-RateLimit-Remaining': '0' };
    for (let n = 0; n < 2; n++)
      expect(() => limit.count(at)).toThrow(
        expect.objectContaining({
          status: 429,
          headers: { ...headers, 'X-RateLimit-Reset': String(Math.floor(at / 1000) + 1) },
        }),
      );
  }
});
