/** One request of the API: where it goes, who asks, how often it is tried, and its answer as JSON or a `ClientError`. */
import { messageOf } from '../core/errors.ts';
import { hideSecretsIn } from '../core/text/hide-secrets.ts';
import { CLIENT_MAX_ASKED_WAIT_MS } from './limits.ts';
import { version } from '../core/version.ts';
import { askedDelayMs, describeAnswer, parseJson } from './answer.ts';
import { classify } from './classify.ts';
import { ClientError, type ClientErrorCode, codeOfStatus, type IngestRefusal } from './client-error.ts';
import { describeFailure, type SettingNames } from './failure.ts';
import type { Http, HttpAnswer, HttpRequest } from './http.ts';
import { prefixHeaders } from './paths.ts';
import { isRetriable, type KnownService, type Repeatable, type Timing, triesOf, waitMsOf } from './retry.ts';

export interface ApiRequest {
  readonly method: HttpRequest['method'];
  /** From `/v1` on. */
  readonly path: string;
  readonly query?: URLSearchParams;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  readonly repeatable: Repeatable;
  /** It stores events, and its answer means what it means to the agent. */
  readonly stores?: boolean;
  /** Goes to the edge, where there is one. */
  readonly edge?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Before a wait: what failed, and which try comes next. */
export interface Retry {
  readonly error: ClientError;
  readonly waitMs: number;
  readonly attempt: number;
  readonly tries: number;
}

export interface RequesterOptions {
  readonly http: Http;
  /** Without trailing slashes. */
  readonly base: string;
  readonly edgeBase: string;
  readonly token: string | undefined;
  readonly orgId: string | undefined;
  readonly headerPrefix: string;
  readonly names: SettingNames;
  /** A client certificate is configured. */
  readonly hasCert: boolean;
  readonly timeoutMs: number;
  readonly timing: Timing;
  readonly onRetry: ((retry: Retry) => unknown) | undefined;
}

export type Requester = ReturnType<typeof createRequester>;

export function createRequester(options: RequesterOptions) {
  const { http, base, edgeBase, token, orgId, headerPrefix, timing } = options;
  const common: Record<string, string> = {
    'user-agent': `tailrace/${version}`,
    'accept-encoding': 'identity',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(orgId !== undefined && prefixHeaders(headerPrefix, { 'org-id': orgId })),
  };
  const services = new Map<string, KnownService>();
  const serviceAt = (url: string): KnownService => {
    const { origin } = new URL(url);
    const known = services.get(origin) ?? { hasAnswered: false, hasStored: false };
    services.set(origin, known);
    return known;
  };
  /** A service may repeat what it was sent. */
  const hide = (text: string): string => hideSecretsIn(text, token === undefined ? [] : [token]);

  const attempt = async (
    url: string,
    { method, headers, body, signal, stores }: ApiRequest,
  ): Promise<HttpAnswer | ClientError> => {
    try {
      const all = { ...common, ...headers };
      const answer = await http.send({
        method,
        url,
        headers: all,
        ...(body !== undefined && { body }),
        ...(signal && { signal }),
      });
      serviceAt(url).hasAnswered = true;
      return answer;
    } catch (cause) {
      if (signal?.aborted) throw cause;
      return connectionError(cause, method, url, options, stores ? 'retry' : undefined);
    }
  };

  const send = async (request: ApiRequest): Promise<string> => {
    const { method, path, query, repeatable, edge, signal, stores } = request;
    const search = query && query.size > 0 ? `?${query.toString()}` : '';
    const url = `${edge ? edgeBase : base}${path}${search}`;
    const tries = triesOf(repeatable);
    for (let count = 1; ; count++) {
      const given = await attempt(url, request);
      const refusal = stores && !(given instanceof ClientError) ? refusalOf(given, timing.now()) : undefined;
      if (!(given instanceof ClientError) && given.status >= 200 && given.status < 300 && refusal === undefined) {
        if (stores) serviceAt(url).hasStored = true;
        return given.text;
      }
      const error = given instanceof ClientError ? given : errorOf(given, method, url, hide, refusal);
      const askedMs = given instanceof ClientError ? undefined : askedDelayMs(given.headers, timing.now());
      const isLast = count === tries || (askedMs ?? 0) > CLIENT_MAX_ASKED_WAIT_MS;
      if (isLast || !isRetriable(error, repeatable, serviceAt(url))) throw error;
      const waitMs = waitMsOf(count, askedMs, () => timing.random());
      if (options.onRetry?.({ error, waitMs, attempt: count + 1, tries }) === false) throw error;
      await timing.wait(waitMs, signal);
    }
  };

  return {
    headerPrefix,
    /** Resolves with the text of a 2xx. */
    send,
    /** Resolves with what `read` makes of the text; an undefined one, or none at all, is a bad answer: `wanted` says of what. */
    async ask<T>(request: ApiRequest, wanted: string, read: (text: string) => T | undefined): Promise<T> {
      const text = await send(request);
      let reason = '';
      try {
        const value = read(text);
        if (value !== undefined) return value;
      } catch (error) {
        reason = ` (${messageOf(error)})`;
      }
      const begins = text.trim() === '' ? 'is empty' : `begins ${JSON.stringify(hide(text.trim().slice(0, 60)))}`;
      const { code, fix } = codeOfStatus(200);
      throw new ClientError(code, `the answer is not ${wanted}, it ${begins}${reason}`, {
        method: request.method,
        url: `${request.edge ? edgeBase : base}${request.path}`,
        status: 200,
        fix,
      });
    },
  };
}

/** Undefined where the events were stored, but for those that the reply counts as failed. */
function refusalOf({ status, headers, text }: HttpAnswer, nowMs: number): IngestRefusal | undefined {
  // Who gives events of others may count them otherwise than the service: the reply's own count is taken.
  const { kind } = classify({ kind: 'answer', status, headers, body: text }, undefined, nowMs);
  return kind === 'delivered' || kind === 'partial' ? undefined : kind;
}

/** The error of an answer that refuses, or answers something else. */
function errorOf(
  { status, headers, text: received }: HttpAnswer,
  method: string,
  url: string,
  hide: (text: string) => string,
  refusal: IngestRefusal | undefined,
): ClientError {
  const text = hide(received);
  const { code, fix } = codeOfStatus(status);
  const target = status >= 300 && status < 400 ? headers['location'] : undefined;
  const what =
    target === undefined
      ? `${describeAnswer(status, text)}${refusal && status < 300 ? ', which is no ingest result' : ''}`
      : `HTTP ${status}, which leads to ${target}; redirects are not followed`;
  return new ClientError(code, hide(what), { method, url, status, body: parseJson(text), fix, refusal });
}

/** The error of a request without an answer. */
function connectionError(
  cause: unknown,
  method: string,
  url: string,
  { names, timeoutMs, hasCert }: RequesterOptions,
  refusal: IngestRefusal | undefined,
): ClientError {
  const timedOut = cause instanceof Error && cause.name === 'TimeoutError';
  const { code: systemCode, message } = describeFailure(cause, new URL(url).origin, hasCert, names);
  const code: ClientErrorCode = timedOut ? 'E_TIMEOUT' : cause instanceof RangeError ? 'E_BAD_ANSWER' : 'E_CONNECTION';
  const { host, hostname } = new URL(url);
  const fix =
    systemCode === 'ECONNREFUSED'
      ? `nothing listens at ${host}: start the service there, or correct ${names.url}`
      : systemCode === 'ENOTFOUND' || systemCode === 'EAI_AGAIN'
        ? `the name ${hostname} cannot be found from here: correct ${names.url}`
        : undefined;
  const what = timedOut ? `no complete answer within ${timeoutMs / 1000} s` : message;
  return new ClientError(code, what, { method, url, systemCode, cause, fix, refusal });
}
