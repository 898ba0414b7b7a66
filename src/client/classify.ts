/** What an answer of the ingest endpoint means. Pure: the table of docs/delivery.md as a function. */
import { askedDelayMs, describeAnswer, type IngestReply, readIngestResult } from './answer.ts';
import { UNREACHABLE_FIX } from './failure.ts';
import type { FactTable, Outcome, PauseReason } from '../core/sink.ts';

/** An HTTP answer, or the failure that came in its place. */
export type HttpOutcome =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    }
  | { readonly kind: 'failure'; readonly code: string; readonly message: string; readonly fix?: string | undefined };

const TOKEN_FIX = 'check that the token is an API token that may ingest into this dataset';
const PAGE_FIX =
  'a page answered, not the service: look whether a proxy or a firewall in front of it refuses the content of an event';

/** What nginx, Go and Apache say to a plain request on a port for TLS. */
const PLAIN_TO_TLS =
  /plain HTTP request was sent to HTTPS port|sent an HTTP request to an HTTPS server|speaking plain HTTP to an SSL-enabled/;
const PLAIN_FIX = 'write https:// in url';

/** The outcome of an answer to a request with `events` events, or as many as the reply says. `nowMs` is the wall clock, for dates in headers. */
export function classify(answer: HttpOutcome, events: number | undefined, nowMs: number): Outcome {
  if (answer.kind === 'failure') {
    const timeout = answer.code === 'E_TIMEOUT' || answer.code.endsWith('_TIMEOUT') || answer.code === 'ETIMEDOUT';
    const code = answer.code || 'no code';
    const detail = answer.message.includes(code) ? answer.message : `${answer.message} (${code})`;
    if (timeout) return { kind: 'retry', reason: 'timeout', detail, fix: answer.fix };
    return { kind: 'retry', reason: 'network', detail, fix: answer.fix ?? UNREACHABLE_FIX };
  }
  const { status } = answer;
  if (status === 200) return classifyResult(answer.body, events);
  const detail = describeAnswer(status, answer.body);
  // 430: the quota of a month is used up; there is nothing wrong with the events.
  if (status === 429 || status === 430)
    return withDelay({ kind: 'retry', reason: 'rate_limited', detail }, answer.headers, nowMs);
  if (status === 408) return withDelay({ kind: 'retry', reason: 'timeout', detail }, answer.headers, nowMs);
  if (status >= 500) return withDelay({ kind: 'retry', reason: 'server_error', detail }, answer.headers, nowMs);
  if (status === 403 && isPage(answer.body)) return pause('unauthorized', detail, `${PAGE_FIX}; or ${TOKEN_FIX}`);
  if (status === 401 || status === 403) return pause('unauthorized', detail, TOKEN_FIX);
  if (status === 404)
    return pause('not_found', detail, 'create the dataset (or set create_dataset: true), or correct dataset and url');
  // Nothing is wrong with the events.
  if (status === 400 && PLAIN_TO_TLS.test(answer.body.slice(0, 1000)))
    return { kind: 'retry', reason: 'bad_answer', detail: `${detail}: ${PLAIN_FIX}`, fix: PLAIN_FIX };
  if (status === 413) return { kind: 'halve', detail };
  if (status >= 400) return { kind: 'bisect', detail };
  return { kind: 'retry', reason: 'bad_answer', detail };
}

function classifyResult(body: string, given: number | undefined): Outcome {
  const result = readIngestResult(body);
  const bad = (what: string) =>
    ({ kind: 'retry', reason: 'bad_answer', detail: `${describeAnswer(200, body)}: ${what}` }) as const;
  if (!result) return bad('not an ingest result');
  const events = given ?? result.ingested + result.failed;
  if (result.ingested + result.failed !== events) {
    const counts = `${result.ingested} ingested and ${result.failed} failed, but ${events} events were sent`;
    return { ...bad(counts), isUnstored: result.ingested === 0 };
  }
  const { ingested: stored, failed, failures } = result;
  const facts = factsOf(result);
  if (failed === 0) return { kind: 'delivered', stored, facts };
  return { kind: 'partial', stored, failed, facts, failures, detail: `${failed} of ${events} events were rejected` };
}

const isPage = (body: string): boolean => body.trimStart().startsWith('<');

function pause(reason: PauseReason, detail: string, fix: string): Outcome {
  return { kind: 'pause', reason, detail, fix };
}

/** Adds what the headers ask for. */
function withDelay(
  outcome: Extract<Outcome, { kind: 'retry' }>,
  headers: Readonly<Record<string, string>>,
  nowMs: number,
): Outcome {
  const afterMs = askedDelayMs(headers, nowMs);
  return afterMs === undefined ? outcome : { ...outcome, afterMs };
}

/** What the replies tell beside the events, as metrics. */
export const ingestFacts = {
  ingest_processed_bytes_total: ['processedBytes of the service’s replies'],
  ingest_blocks_created_total: ['blocksCreated of the service’s replies'],
  ingest_wal_length: ['walLength of the service’s last reply'],
} satisfies FactTable;

export function factsOf({
  processedBytes,
  blocksCreated,
  walLength,
}: IngestReply): Record<keyof typeof ingestFacts, number> {
  return {
    ingest_processed_bytes_total: processedBytes,
    ingest_blocks_created_total: blocksCreated,
    ingest_wal_length: walLength,
  };
}
