/**
 * How much may be ingested in a calendar month (UTC): counted in the `processedBytes` that replies tell, kept over restarts. Over it ingest is
 * refused with 430 until the next month; queries go on.
 */
import { ApiError } from '../http/api-error.ts';
import type { Metadata } from '../metadata.ts';

export type Quota = ReturnType<typeof openQuota>;

const FACT = 'ingested';

/** `monthlyBytes` 0: any number, and nothing is counted. */
export function openQuota(metadata: Metadata, monthlyBytes: number) {
  if (monthlyBytes === 0) return { check() {}, add() {} };
  let { month, bytes } = JSON.parse(metadata.fact(FACT) ?? '{"month":"","bytes":0}') as {
    month: string;
    bytes: number;
  };
  const turn = (now: Date): void => {
    const current = now.toISOString().slice(0, 7);
    if (current !== month) [month, bytes] = [current, 0];
  };
  return {
    /** Throws an `ApiError` 430 when the month's bytes are used up. */
    check(now: Date): void {
      turn(now);
      if (bytes < monthlyBytes) return;
      const next = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1));
      throw new ApiError(
        430,
        `the month's ingest quota of ${monthlyBytes} bytes is used up: it starts anew at ${next.toISOString()}`,
        {
          'Retry-After': String(Math.ceil((next.getTime() - now.getTime()) / 1000)),
        },
      );
    },
    /** Counts bytes, or takes back those of a request that failed. */
    add(more: number, now: Date): void {
      turn(now);
      const sum = Math.max(0, bytes + more);
      metadata.setFact(FACT, JSON.stringify({ month, bytes: sum }));
      metadata.afterCommit(() => void (bytes = sum));
    },
  };
}
