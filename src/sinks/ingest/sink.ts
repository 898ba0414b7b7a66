/**
 * The ingest sink: posts one batch to `/v1/ingest/{dataset}` (or the older path) and classifies the answer. It decides
 * nothing else. Redirects are not followed; a request has one timeout from its first byte to the reply's last.
 */
import { Pool } from 'undici';
import type { IngestSinkConfig } from '../../config/model.ts';
import { readSecret } from '../../config/secrets.ts';
import type { Clock } from '../../core/clock.ts';
import { codeOf, messageOf, TailraceError } from '../../core/errors.ts';
import { MAX_ANSWER_BYTES } from '../../core/limits.ts';
import type { Outcome, Parcel, SendResult, Sink } from '../../core/sink.ts';
import { version } from '../../core/version.ts';
import { type Answer, classify } from './classify.ts';

/** Makes the sink; opens no connection yet. */
export function createIngestSink(config: IngestSinkConfig, clock: Clock): Sink {
  const url = new URL(config.url);
  const pool = new Pool(url.origin, {
    connections: config.concurrency,
    pipelining: 1,
    keepAliveTimeout: 30_000,
    connect: { timeout: Math.min(config.timeoutMs, 10_000) },
    headersTimeout: config.timeoutMs,
    bodyTimeout: config.timeoutMs,
  });
  const path = requestPath(config, url.pathname);

  return {
    id: config.id,
    async send(parcel, signal): Promise<SendResult> {
      const started = clock.monotonic();
      const headers = headersOf(config, parcel);
      if (!headers.ok) return { outcome: headers.outcome, status: 0, elapsedMs: 0 };
      const answer = await request(pool, config, path(parcel.dataset), headers.value, parcel, signal);
      return {
        outcome: classify(answer, parcel.events, parcel.encoding !== 'identity', clock.now()),
        status: answer.kind === 'answer' ? answer.status : 0,
        elapsedMs: clock.monotonic() - started,
      };
    },
    close: () => pool.destroy(),
  };
}

async function request(
  pool: Pool,
  config: IngestSinkConfig,
  path: string,
  headers: Headers,
  parcel: Parcel,
  signal: AbortSignal,
): Promise<Answer> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), config.timeoutMs);
  const giveUp = () => timeout.abort();
  signal.addEventListener('abort', giveUp, { once: true });
  if (signal.aborted) giveUp();
  try {
    const response = await pool.request({ method: 'POST', path, headers, body: parcel.body, signal: timeout.signal });
    const body = await readBody(response.body);
    return { kind: 'answer', status: response.statusCode, headers: flatten(response.headers), body };
  } catch (error) {
    if (signal.aborted) throw error;
    if (timeout.signal.aborted) return { kind: 'failure', code: 'E_TIMEOUT', message: `no complete answer within ${config.timeoutMs} ms` };
    return { kind: 'failure', code: codeOf(error), message: messageOf(error) };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
  }
}

/** The path and query of a dataset's requests. */
function requestPath(config: IngestSinkConfig, base: string): (dataset: string) => string {
  const prefix = base.replace(/\/+$/, '');
  const query = new URLSearchParams();
  if (config.timestampField !== undefined) query.set('timestamp-field', config.timestampField);
  if (config.timestampFormat !== undefined) query.set('timestamp-format', config.timestampFormat);
  const tail = query.size > 0 ? `?${query.toString()}` : '';
  return (dataset) => {
    const name = encodeURIComponent(dataset);
    return `${prefix}${config.path === 'legacy' ? `/v1/datasets/${name}/ingest` : `/v1/ingest/${name}`}${tail}`;
  };
}

type Headers = Record<string, string>;

/** The request's headers; a token that cannot be read pauses the sink as a refused one does. */
function headersOf(config: IngestSinkConfig, parcel: Parcel): { ok: true; value: Headers } | { ok: false; outcome: Outcome } {
  const headers: Headers = {
    'content-type': 'application/x-ndjson',
    'idempotency-key': parcel.key,
    'user-agent': `tailrace/${version}`,
  };
  if (parcel.encoding !== 'identity') headers['content-encoding'] = parcel.encoding;
  if (config.orgId !== undefined) headers[`${config.headerPrefix.toLowerCase()}org-id`] = config.orgId;
  try {
    if (config.token) headers['authorization'] = `Bearer ${readSecret(config.token)}`;
  } catch (error) {
    const fix = error instanceof TailraceError && error.fix !== undefined ? error.fix : 'check token_file';
    return { ok: false, outcome: { kind: 'pause', reason: 'unauthorized', detail: messageOf(error), fix } };
  }
  return { ok: true, value: headers };
}

/** Reads the reply, at most MAX_ANSWER_BYTES of it. */
async function readBody(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    chunks.push(chunk);
    // The rest is not read: the connection is given up.
    if (length > MAX_ANSWER_BYTES) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  return flat;
}
