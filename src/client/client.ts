/**
 * A typed client for any service that speaks the API: datasets, ingest, queries in both forms, users,
 * organizations, tokens. Promises: requests that may be repeated are repeated over a passing failure, others never are; every
 * failure is a `ClientError`, or the reason of the caller's own signal.
 */
import { CLIENT_TIMEOUT_MS } from './limits.ts';
import type * as api from './api-types.ts';
import { CONFIG_NAMES, type SettingNames } from './failure.ts';
import { createHttp, type Tls } from './http.ts';
import { readIngestResult, type IngestReply } from './answer.ts';
import {
  asciiJson,
  edgeBaseOf,
  ingestPath,
  type IngestPath,
  prefixHeaders,
  timestampQuery,
  type TimestampOptions,
} from './paths.ts';
import { type ApiRequest, createRequester, type Requester, type Retry } from './requester.ts';
import { realTiming, type Timing } from './retry.ts';
import { trimEndOf } from '../core/text/trim-end.ts';

export interface ClientOptions {
  /** The service's base address, without `/v1`. */
  readonly url: string;
  /** An API token or a personal one. */
  readonly token?: string;
  /** Needed with a personal token. */
  readonly orgId?: string;
  /** Host, or whole address, that takes ingest and queries in place of the base address. */
  readonly edgeDomain?: string;
  /** Of the headers for organization, labels and CSV fields; default `X-Service-`. */
  readonly headerPrefix?: string;
  /** Of one try of one request; default a minute. */
  readonly timeoutMs?: number;
  /** Address of a proxy. */
  readonly proxy?: string;
  readonly tls?: Tls;
  /** Reads answers; for a parser that keeps integers over 2^53 exact. */
  readonly parseJson?: (text: string) => unknown;
  /** Called before every wait; after `false` the request is not tried again. */
  readonly onRetry?: (retry: Retry) => unknown;
  /** What messages call the settings; for a program that has other names for them. */
  readonly names?: SettingNames;
  readonly timing?: Timing;
}

export type IngestFormat = 'ndjson' | 'json' | 'csv';

export interface IngestOptions extends TimestampOptions {
  readonly format: IngestFormat;
  /** Of the body, when it is compressed already. */
  readonly encoding?: 'gzip' | 'zstd' | undefined;
  /** Added to every event. */
  readonly labels?: Readonly<Record<string, unknown>> | undefined;
  readonly csvDelimiter?: string | undefined;
  /** Column names, when the first line does not hold them. */
  readonly csvFields?: readonly string[] | undefined;
  /** Makes the request repeatable: a service that knows keys stores it once. */
  readonly idempotencyKey?: string | undefined;
  readonly path?: IngestPath | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Options of every query. */
interface Asking {
  readonly noCache?: boolean | undefined;
  /** A Go duration, or `auto`: the answer waits so long for events to be stored. */
  readonly streamingDuration?: string | undefined;
  readonly queryId?: string | undefined;
  /** Ends the query, too. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of a query in APL beside its text. Times are RFC 3339 or relative, such as `now-1h`; without them all that is stored counts. */
export interface AplOptions extends Omit<api.AplQuery, 'apl'>, Asking {}

export interface LegacyOptions extends Asking {
  /** `analytics`, `stream` or `apl`. */
  readonly saveAsKind?: string;
}

export type Client = ReturnType<typeof createClient>;

/** Opens no connection yet. Throws a `TypeError` for a malformed address. */
export function createClient(options: ClientOptions) {
  const {
    token,
    orgId,
    headerPrefix = 'X-Service-',
    timeoutMs = CLIENT_TIMEOUT_MS,
    proxy,
    tls,
    parseJson = JSON.parse,
    onRetry,
  } = options;
  const base = trimEndOf(new URL(options.url).href, '/');
  const edgeBase = options.edgeDomain === undefined ? base : edgeBaseOf(base, options.edgeDomain);
  const http = createHttp({ timeoutMs, isTls: /^https:/m.test(`${base}\n${edgeBase}`), proxy, tls });
  const names = options.names ?? CONFIG_NAMES;
  const timing = options.timing ?? realTiming;
  const hasCert = options.tls?.cert !== undefined;
  const requester = createRequester({
    http,
    base,
    edgeBase,
    token,
    orgId,
    headerPrefix,
    names,
    hasCert,
    timeoutMs,
    timing,
    onRetry,
  });

  const list = <T>(path: string, what: string): Promise<T[]> =>
    requester.ask({ method: 'GET', path, repeatable: 'read' }, `a list of ${what}`, (text) => {
      const value = parseJson(text);
      return Array.isArray(value) ? (value as T[]) : undefined;
    });
  const object = <T extends object>(request: ApiRequest, what: string, ...keys: (keyof T & string)[]): Promise<T> =>
    requester.ask(request, what, (text) => objectIn<T>(parseJson(text), keys));
  const remove = async (path: string): Promise<void> =>
    void (await requester.send({ method: 'DELETE', path, repeatable: 'no' }));
  const json = (value: unknown, headers = {}) => ({
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(value),
  });
  const datasetPath = (id: string) => `/v1/datasets/${encodeURIComponent(id)}`;
  const question = (path: string, body: object, how: LegacyOptions & { readonly format?: string }): ApiRequest => ({
    method: 'POST',
    path,
    query: new URLSearchParams({
      ...(how.format !== undefined && { format: how.format }),
      ...(how.noCache && { nocache: 'true' }),
      ...(how.saveAsKind !== undefined && { saveAsKind: how.saveAsKind }),
      ...(how.streamingDuration !== undefined && { 'streaming-duration': how.streamingDuration }),
    }),
    ...json(body, how.queryId === undefined ? {} : prefixHeaders(headerPrefix, { 'query-id': how.queryId })),
    repeatable: 'read',
    edge: true,
    signal: how.signal,
  });
  const apl = (
    text: string,
    format: string,
    { noCache, streamingDuration, queryId, signal, ...body }: AplOptions,
  ): ApiRequest => {
    const path = edgeBase === base ? '/v1/datasets/_apl' : '/v1/query/_apl';
    return question(path, { apl: text, ...body }, { format, noCache, streamingDuration, queryId, signal });
  };

  return {
    datasets: {
      list: () => list<api.Dataset>('/v1/datasets', 'datasets'),
      get: (id: string) =>
        object<api.Dataset>({ method: 'GET', path: datasetPath(id), repeatable: 'read' }, 'a dataset', 'name'),
      create: (dataset: { readonly name: string; readonly description?: string }) =>
        object<api.Dataset>(
          { method: 'POST', path: '/v1/datasets', ...json(dataset), repeatable: 'no' },
          'a dataset',
          'name',
        ),
      update: (id: string, changes: { readonly description: string }) =>
        object<api.Dataset>(
          { method: 'PUT', path: datasetPath(id), ...json(changes), repeatable: 'no' },
          'a dataset',
          'name',
        ),
      delete: (id: string) => remove(datasetPath(id)),
      /** Deletes the events older than `maxDuration`, such as `720h`; resolves with how many. */
      async trim(id: string, maxDuration: string): Promise<number> {
        const request: ApiRequest = {
          method: 'POST',
          path: `${datasetPath(id)}/trim`,
          ...json({ maxDuration }),
          repeatable: 'no',
        };
        return (await object<{ numDeleted: number }>(request, 'a count of deleted events', 'numDeleted')).numDeleted;
      },
    },
    tokens: {
      list: () => list<api.Token>('/v2/tokens', 'tokens'),
      create: (wanted: api.NewToken) =>
        object<api.CreatedToken>(
          { method: 'POST', path: '/v2/tokens', ...json(wanted), repeatable: 'no' },
          'a token',
          'id',
          'token',
        ),
      revoke: (id: string) => remove(`/v2/tokens/${encodeURIComponent(id)}`),
    },
    /** One request with the events of `body`. */
    ingest: (dataset: string, body: Uint8Array | string, how: IngestOptions): Promise<IngestReply> =>
      requester.ask(ingestRequest(dataset, body, how, requester), 'an ingest result', readIngestResult),
    /** A query in APL; its result as tables. */
    query: (text: string, how: AplOptions = {}) =>
      object<api.TabularResult>(apl(text, 'tabular', how), 'a tabular result', 'tables', 'status'),
    /** A query in APL; its result in the legacy form. */
    queryLegacy: (text: string, how: AplOptions = {}) =>
      object<api.LegacyResult>(apl(text, 'legacy', how), 'a query result', 'buckets', 'status'),
    /** A structured query of one dataset. */
    queryDataset(id: string, query: api.LegacyQuery, how: LegacyOptions = {}) {
      return object<api.LegacyResult>(
        question(`${datasetPath(id)}/query`, query, how),
        'a query result',
        'buckets',
        'status',
      );
    },
    /** The token's own that wait or run. */
    queries: {
      list: () => list<api.ListedQuery>('/v1/queries', 'queries'),
      end: (id: string) => remove(`/v1/queries/${encodeURIComponent(id)}`),
    },
    currentUser: () => object<api.CurrentUser>({ method: 'GET', path: '/v1/user', repeatable: 'read' }, 'a user', 'id'),
    users: () => list<api.User>('/v1/users', 'users'),
    orgs: () => list<api.Organization>('/v1/orgs', 'organizations'),
    /** Ends every connection; requests in flight fail. */
    close: () => http.close(),
  };
}

const CONTENT_TYPES: Readonly<Record<IngestFormat, string>> = {
  ndjson: 'application/x-ndjson',
  json: 'application/json',
  csv: 'text/csv',
};

function ingestRequest(
  dataset: string,
  body: Uint8Array | string,
  how: IngestOptions,
  { headerPrefix }: Requester,
): ApiRequest {
  const query = timestampQuery(how);
  if (how.csvDelimiter !== undefined) query.set('csv-delimiter', how.csvDelimiter);
  return {
    method: 'POST',
    path: ingestPath(dataset, how.path ?? 'current'),
    query,
    headers: {
      'content-type': CONTENT_TYPES[how.format],
      ...(how.encoding && { 'content-encoding': how.encoding }),
      ...(how.idempotencyKey !== undefined && { 'idempotency-key': how.idempotencyKey }),
      ...prefixHeaders(headerPrefix, {
        ...(how.labels && { 'event-labels': asciiJson(how.labels) }),
        // The bytes of UTF-8: a header has no other way to carry them.
        ...(how.csvFields && { 'csv-fields': Buffer.from(how.csvFields.join(',')).toString('latin1') }),
      }),
    },
    body,
    repeatable: how.idempotencyKey === undefined ? 'no' : 'keyed',
    stores: true,
    edge: true,
    signal: how.signal,
  };
}

function objectIn<T extends object>(value: unknown, keys: readonly (keyof T & string)[]): T | undefined {
  const isObject = typeof value === 'object' && value !== null && keys.every((key) => key in value);
  return isObject ? (value as T) : undefined;
}
