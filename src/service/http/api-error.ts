/**
 * Failures that the service answers with: an HTTP status and the message of the body `{"code": status, "message": …}`.
 * Any other error inside a request is a bug and becomes a 500.
 */
import { TailraceError } from '../../core/errors.ts';

export class ApiError extends TailraceError {
  override readonly name = 'ApiError';
  readonly status: number;
  /** Extra headers of the reply. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of the body beside code and message: where in a query's text, and what kind of error. */
  readonly detail: object | undefined;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}, detail?: object) {
    super(`E_HTTP_${status}`, message);
    this.status = status;
    this.headers = headers;
    this.detail = detail;
  }
}

export const badRequest = (message: string): ApiError => new ApiError(400, message);
export const forbidden = (message: string): ApiError => new ApiError(403, message);
export const notFound = (message: string): ApiError => new ApiError(404, message);

/** A user's text for a message: quoted, and cut when long. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
