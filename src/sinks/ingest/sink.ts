/**
 * The ingest sink: posts one batch to `/v1/ingest/{dataset}` (or the older path) and classifies the answer. Where an answer names a cause
 * that it can mend at once (a replaced token, a dataset to create) it does that; it decides nothing else, and sends each batch once.
 */
import { basePathOf, ingestPath, prefixHeaders, timestampQuery } from '../../client/paths.ts';
import { SecretReader } from '../../config/connect/secrets.ts';
import type { Clock } from '../../core/time/clock.ts';
import { messageOf, TailraceError } from '../../core/errors.ts';
import { hideSecretsIn, secretsInAddress } from '../../core/text/hide-secrets.ts';
import { type Log, silentLog } from '../../core/log.ts';
import type { Outcome, SinkRequest, SendResult, Sink } from '../../core/sink.ts';
import { version } from '../../core/version.ts';
import { classify } from '../../client/classify.ts';
import { DatasetCreator } from './create-dataset.ts';
import type { IngestForm } from './encode/form.ts';
import type { IngestSinkConfig } from './ingest-config.ts';
import { contentTypeOf, formHeadersOf } from './encode/encoder.ts';
import { Transport } from './transport.ts';

/** How often to check the token's file while a refused token pauses the sink. */
const TOKEN_CHECK_MS = 1000;

/** Makes the sink; opens no connection yet. */
export function createIngestSink(config: IngestSinkConfig, clock: Clock, log: Log = silentLog): Sink {
  const { id, url, proxy, apiUrl, apiProxy, tls, timeoutMs } = config;
  const open = (to: string, through: string | undefined, connections: number): Transport =>
    new Transport({ sink: id, url: to, proxy: through, connections, tls, timeoutMs, clock, log });
  const transport = open(url, proxy, config.concurrency);
  // Create datasets at the service itself, not at an edge.
  const isElsewhere = new URL(apiUrl).origin !== new URL(url).origin;
  const api = isElsewhere ? open(apiUrl, apiProxy, 1) : transport;
  const token = config.token && new SecretReader(config.token);
  const headers = commonHeaders(config);
  const path = requestPath(config);
  const datasetsPath = `${basePathOf(apiUrl)}/v1/datasets`;
  const creator = new DatasetCreator({
    clock,
    async post(body, secret, signal) {
      const all = { ...headers, ...authorization(secret), 'content-type': 'application/json' };
      return (await api.post({ path: datasetsPath, headers: all, body }, signal)).answer;
    },
  });

  /** Of all tokens of late: an answer may be about one that was replaced meanwhile. */
  const secrets = (): string[] => [...(token?.known ?? []), ...secretsInAddress(proxy), ...secretsInAddress(apiProxy)];
  const sendOnce = async (request: SinkRequest, signal: AbortSignal): Promise<SendResult> => {
    const started = clock.monotonic();
    let secret: string | undefined;
    try {
      secret = token?.read();
    } catch (error) {
      return { outcome: unreadable(error), status: 0, elapsedMs: 0, unsent: 'unsigned' };
    }
    const form = (request.form ?? config) as IngestForm;
    const all = { ...headers, ...requestHeaders(config, request, form), ...authorization(secret) };
    const sent = { path: path(request.dataset, form), headers: all, body: request.body };
    const { answer, started: isSent, mayBeStored } = await transport.post(sent, signal);
    const status = answer.kind === 'answer' ? answer.status : 0;
    const elapsedMs = clock.monotonic() - started;
    let outcome = classify(answer, request.events, clock.now());
    if (status === 401 || status === 403) outcome = afterRefusal(outcome, token, secret);
    if (status === 404 && config.createDataset)
      outcome = await creator.handle({ dataset: request.dataset, sentAtMs: started, secret }, outcome, signal);
    return {
      outcome,
      status,
      elapsedMs,
      ...(isSent ? {} : { unsent: 'unconnected' }),
      ...(mayBeStored ? { mayBeStored } : {}),
    };
  };

  return {
    id,
    address: `${url} ${proxy ?? ''}`,
    async send(request, signal): Promise<SendResult> {
      const result = await sendOnce(request, signal);
      return { ...result, outcome: hideSecretsOf(result.outcome, secrets) };
    },
    secrets,
    ...(token && config.token?.kind === 'file' ? { tokenChange: (signal) => waitForChange(token, clock, signal) } : {}),
    missing() {
      try {
        token?.read();
        return undefined;
      } catch (error) {
        return problemOf(error);
      }
    },
    async close() {
      await transport.close();
      if (isElsewhere) await api.close();
    },
  };
}

/** The only way from an answer's text to logs, pages, metrics and dead letters. */
function hideSecretsOf(outcome: Outcome, secrets: () => readonly string[]): Outcome {
  if (outcome.kind === 'delivered') return outcome;
  const known = secrets();
  const hide = (text: string): string => hideSecretsIn(text, known);
  const { detail } = outcome;
  if (outcome.kind === 'partial') {
    const failures = outcome.failures.map((failure) => ({
      ...failure,
      timestamp: hide(failure.timestamp),
      error: hide(failure.error),
    }));
    return { ...outcome, detail: hide(detail), failures };
  }
  if (outcome.kind === 'retry' && outcome.fix !== undefined)
    return { ...outcome, detail: hide(detail), fix: hide(outcome.fix) };
  return { ...outcome, detail: hide(detail) };
}

/** Retries at once with a token that was replaced during the request; the same token would be refused again. */
function afterRefusal(refused: Outcome, token: SecretReader | undefined, sent: string | undefined): Outcome {
  if (!token || refused.kind !== 'pause') return refused;
  token.forget();
  try {
    if (token.read() === sent) return refused;
  } catch (error) {
    return unreadable(error);
  }
  return {
    kind: 'retry',
    reason: 'token_changed',
    detail: `${refused.detail}; the token file holds another token now`,
    afterMs: 0,
  };
}

/** Polls with stat, which notices every way to replace the file, a changed link above it included. */
async function waitForChange(token: SecretReader, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !token.hasChanged) await clock.sleep(TOKEN_CHECK_MS, signal);
}

/** A token that cannot be read pauses the sink as a refused one does. */
function unreadable(error: unknown): Outcome {
  return { kind: 'pause', reason: 'unauthorized', ...problemOf(error) };
}

function problemOf(error: unknown): { detail: string; fix: string } {
  return {
    detail: messageOf(error),
    fix: error instanceof TailraceError && error.fix !== undefined ? error.fix : 'check token_file',
  };
}

function requestPath(config: IngestSinkConfig): (dataset: string, form: IngestForm) => string {
  const prefix = basePathOf(config.url);
  return (dataset, form) => {
    const query = timestampQuery(form);
    return `${prefix}${ingestPath(dataset, config.path)}${query.size > 0 ? `?${query.toString()}` : ''}`;
  };
}

type Headers = Record<string, string>;

function commonHeaders({ headerPrefix, orgId }: IngestSinkConfig): Headers {
  // A proxy may compress the answer to a request that says nothing about it.
  const common = { 'user-agent': `tailrace/${version}`, 'accept-encoding': 'identity' };
  return { ...common, ...prefixHeaders(headerPrefix, orgId === undefined ? {} : { 'org-id': orgId }) };
}

function requestHeaders({ headerPrefix }: IngestSinkConfig, { key, encoding }: SinkRequest, form: IngestForm): Headers {
  const headers = prefixHeaders(headerPrefix, formHeadersOf(form));
  Object.assign(headers, { 'content-type': contentTypeOf(form), 'idempotency-key': key });
  if (encoding !== 'identity') headers['content-encoding'] = encoding;
  return headers;
}

function authorization(secret: string | undefined): Headers {
  return secret === undefined ? {} : { authorization: `Bearer ${secret}` };
}
