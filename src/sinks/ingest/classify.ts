/** What an answer of the ingest endpoint means. Pure: the table of docs/delivery.md as a function. */
import type { IngestResult, NamedFailure, Outcome, PauseReason } from '../../core/sink.ts';

/** An HTTP answer, or the failure that came in its place. */
export type Answer =
  | { readonly kind: 'answer'; readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string }
  | { readonly kind: 'failure'; readonly code: string; readonly message: string };

/** Characters of an answer that are quoted in a log line. */
const QUOTED_CHARACTERS = 200;

/** The outcome of an answer to a request with `events` events. `nowMs` is the wall clock, for dates in headers. */
export function classify(answer: Answer, events: number, compressed: boolean, nowMs: number): Outcome {
  if (answer.kind === 'failure') {
    const timeout = answer.code === 'E_TIMEOUT' || answer.code.endsWith('_TIMEOUT') || answer.code === 'ETIMEDOUT';
    return { kind: 'retry', reason: timeout ? 'timeout' : 'network', detail: `${answer.message} (${answer.code || 'no code'})` };
  }
  const { status } = answer;
  const detail = describe(answer);
  if (status === 200) return classifyResult(answer.body, events, detail);
  if (status === 429) return withDelay({ kind: 'retry', reason: 'rate_limited', detail }, answer.headers, nowMs);
  if (status === 408) return withDelay({ kind: 'retry', reason: 'timeout', detail }, answer.headers, nowMs);
  if (status >= 500) return withDelay({ kind: 'retry', reason: 'server_error', detail }, answer.headers, nowMs);
  if (status === 401 || status === 403)
    return pause('unauthorized', detail, 'check that the token is an API token that may ingest into this dataset');
  if (status === 404) return pause('not_found', detail, 'create the dataset (or set create_dataset: true), or correct dataset and url');
  if (status === 413) return { kind: 'halve', detail };
  if (status === 415 && compressed) return { kind: 'uncompress', detail };
  if (status >= 400) return { kind: 'bisect', detail };
  return { kind: 'retry', reason: 'bad_answer', detail };
}

function classifyResult(body: string, events: number, detail: string): Outcome {
  const result = parseResult(body);
  if (!result) return { kind: 'retry', reason: 'bad_answer', detail: `${detail}: not an ingest result` };
  if (result.ingested + result.failed !== events) {
    return {
      kind: 'retry',
      reason: 'bad_answer',
      detail: `${detail}: ${result.ingested} ingested and ${result.failed} failed, but ${events} events were sent`,
    };
  }
  if (result.failed === 0) return { kind: 'delivered', result };
  return { kind: 'partial', result, failures: result.failures, detail: `${result.failed} of ${events} events were rejected` };
}

/** The reply's counts, or undefined where it is no valid ingest result. */
function parseResult(body: string): (IngestResult & { failures: NamedFailure[] }) | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (typeof parsed !== 'object' || parsed === null) return undefined;
  const reply = parsed as Record<string, unknown>;
  const count = (name: string): number | undefined => {
    const value = reply[name];
    return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  };
  const ingested = count('ingested');
  const failed = count('failed');
  if (ingested === undefined || failed === undefined) return undefined;
  return {
    ingested,
    failed,
    processedBytes: count('processedBytes') ?? 0,
    blocksCreated: count('blocksCreated') ?? 0,
    walLength: count('walLength') ?? 0,
    failures: parseFailures(reply['failures']),
  };
}

/** The entries of `failures` that can be read; `{timestamp, error}` and, from some services, `index`. */
function parseFailures(value: unknown): NamedFailure[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown): NamedFailure[] => {
    if (typeof entry !== 'object' || entry === null) return [];
    const { index, timestamp, error } = entry as Record<string, unknown>;
    return [
      {
        index: typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 ? index : undefined,
        timestamp: typeof timestamp === 'string' ? timestamp : '',
        error: typeof error === 'string' ? error.slice(0, QUOTED_CHARACTERS) : 'no reason given',
      },
    ];
  });
}

function pause(reason: PauseReason, detail: string, fix: string): Outcome {
  return { kind: 'pause', reason, detail, fix };
}

/** Adds what Retry-After (seconds or an HTTP date) or X-RateLimit-Reset (epoch seconds) asks for; the longer of both. */
function withDelay(outcome: Extract<Outcome, { kind: 'retry' }>, headers: Readonly<Record<string, string>>, nowMs: number): Outcome {
  const delays = [retryAfterMs(headers['retry-after'], nowMs), rateLimitResetMs(headers, nowMs)].filter((delay) => delay !== undefined);
  return delays.length === 0 ? outcome : { ...outcome, afterMs: Math.max(...delays) };
}

function retryAfterMs(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  // Date.parse takes "-5" and "in 3" for dates, too.
  if (!/^(mon|tue|wed|thu|fri|sat|sun)/i.test(text)) return undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

function rateLimitResetMs(headers: Readonly<Record<string, string>>, nowMs: number): number | undefined {
  const value = headers['x-ratelimit-reset'];
  if (value === undefined || !/^\d+$/.test(value.trim())) return undefined;
  return Math.max(0, Number(value) * 1000 - nowMs);
}

/** `HTTP 404` and what the answer says, on one line. */
export function describe(answer: Extract<Answer, { kind: 'answer' }>): string {
  const text = messageIn(answer.body).replaceAll(/\s+/g, ' ').trim();
  return `HTTP ${answer.status}${text ? ` ${text.slice(0, QUOTED_CHARACTERS)}` : ''}`;
}

/** The `message` of a JSON error body, or the body itself. */
function messageIn(body: string): string {
  try {
    const parsed: unknown = JSON.parse(body);
    const message = (parsed as { message?: unknown } | null)?.message;
    return typeof message === 'string' ? message : '';
  } catch {
    return body;
  }
}
