/** When a failed request is sent again, and after how long. Deciding is pure; waiting goes through one seam. */
import { nextBackoffMs } from '../core/time/backoff.ts';
import { CLIENT_FIRST_WAIT_MS, CLIENT_INGEST_TRIES, CLIENT_LAST_WAIT_MS, CLIENT_TRIES } from './limits.ts';
import type { ClientError } from './client-error.ts';

/** What a second request with the same content does: reads again, stores nothing twice (it has a key), or does it twice. */
export type Repeatable = 'read' | 'keyed' | 'no';

/** Clock, waiting and chance, for tests. */
export interface Timing {
  /** Wall clock, ms. */
  now(): number;
  /** In [0, 1). */
  random(): number;
  /** Rejects with the signal's reason when it aborts. */
  wait(ms: number, signal: AbortSignal | undefined): Promise<void>;
}

export const realTiming: Timing = {
  now: Date.now,
  random: Math.random,
  async wait(ms, signal) {
    const { setTimeout } = await import('node:timers/promises');
    await setTimeout(ms, undefined, signal && { signal });
  },
};

export const triesOf = (repeatable: Repeatable): number =>
  repeatable === 'keyed' ? CLIENT_INGEST_TRIES : CLIENT_TRIES;

/** The connection broke while the answer was awaited. */
const CUT_OFF = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/** Facts about the service at an address. */
export interface KnownService {
  /** It has answered this client before, so that a refused connection is a passing one. */
  hasAnswered: boolean;
  /** It has stored events, so that an answer of another kind is a passing one, as of a proxy. */
  hasStored: boolean;
}

/** Retries ingest as the agent does, except failures that will not pass: a user is waiting. */
export function isRetriable(
  { code, status, systemCode, refusal }: ClientError,
  repeatable: Repeatable,
  { hasAnswered, hasStored }: KnownService,
): boolean {
  // Over the limit nothing was done, whatever was asked.
  if (code === 'E_RATE_LIMITED') return true;
  if (repeatable === 'no' || status === 501) return false;
  if (repeatable === 'read') return status >= 500 || CUT_OFF.has(systemCode);
  if (refusal !== 'retry') return false;
  if (code === 'E_CONNECTION') return hasAnswered || CUT_OFF.has(systemCode);
  return status === 408 || status >= 500 || code === 'E_TIMEOUT' || hasStored;
}

const BACKOFF = { initialBackoffMs: CLIENT_FIRST_WAIT_MS, maxBackoffMs: CLIENT_LAST_WAIT_MS };

/** The wait before the next try, but at least what the service asked for. `attempt` counts from 1. */
export function waitMsOf(attempt: number, askedMs: number | undefined, random: () => number): number {
  return Math.max(askedMs ?? 0, nextBackoffMs(BACKOFF, attempt, random));
}
