/** What the client throws when the service refuses, cannot be reached, or answers with something else. */
import { TailraceError } from '../core/errors.ts';
import type { Outcome } from '../core/sink.ts';

export type ClientErrorCode =
  | 'E_UNAUTHORIZED'
  | 'E_NOT_FOUND'
  | 'E_CONFLICT'
  | 'E_TOO_LARGE'
  | 'E_RATE_LIMITED'
  | 'E_REFUSED'
  | 'E_SERVICE'
  | 'E_CONNECTION'
  | 'E_TIMEOUT'
  | 'E_BAD_ANSWER';

/**
 * How a failed ingest request is classified, as by the agent (docs/delivery.md): retry, pause, halve, or bisect to find the refused events.
 */
export type IngestRefusal = Exclude<Outcome['kind'], 'delivered' | 'partial'>;

export interface ClientErrorOptions {
  readonly method: string;
  readonly url: string;
  readonly status?: number;
  /** The JSON body of a refusal. */
  readonly body?: unknown;
  /** Of the connection: `ECONNREFUSED`, …. */
  readonly systemCode?: string;
  readonly fix?: string | undefined;
  readonly cause?: unknown;
  readonly refusal?: IngestRefusal | undefined;
}

export class ClientError extends TailraceError {
  override readonly name = 'ClientError';
  declare readonly code: ClientErrorCode;
  readonly method: string;
  /** The whole address of the request. */
  readonly url: string;
  /** 0 where there was no answer. */
  readonly status: number;
  readonly body: unknown;
  readonly systemCode: string;
  /** Undefined where the request was to store no events. */
  readonly refusal: IngestRefusal | undefined;
  /** The message without method and address. */
  readonly what: string;

  /** `what` follows the method and the address in the message. */
  constructor(code: ClientErrorCode, what: string, options: ClientErrorOptions) {
    const { method, url, status = 0, body, systemCode = '', fix, cause, refusal } = options;
    super(code, `${method} ${url}: ${what}`, { fix, ...(cause !== undefined && { cause }) });
    this.method = method;
    this.url = url;
    this.status = status;
    this.body = body;
    this.systemCode = systemCode;
    this.refusal = refusal;
    this.what = what;
  }
}

/** The code of a refusal, and the fix where the status alone gives one. */
export function codeOfStatus(status: number): { readonly code: ClientErrorCode; readonly fix?: string | undefined } {
  if (status === 401 || status === 403)
    return {
      code: 'E_UNAUTHORIZED',
      fix: 'check that the token may do this: ingest takes API tokens only, users and organisations personal ones, and a personal token needs the id of the organisation',
    };
  if (status === 404) return { code: 'E_NOT_FOUND' };
  if (status === 409) return { code: 'E_CONFLICT' };
  if (status === 413) return { code: 'E_TOO_LARGE' };
  if (status === 429) return { code: 'E_RATE_LIMITED', fix: 'try again later, or ask for a higher limit' };
  if (status >= 500) return { code: 'E_SERVICE', fix: 'try again; the log of the service says more' };
  if (status >= 400) return { code: 'E_REFUSED' };
  return { code: 'E_BAD_ANSWER', fix: 'give the address of the service’s API, without /v1' };
}
