/** What an exchange needs of the connections to one address. undici's dispatchers, which lead through proxies, have this form, too. */
import type { ResponseHeaders } from './response-parser.ts';

export interface DispatchRequest {
  readonly origin: string;
  readonly method: 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Read until the request ends. */
  readonly body: Uint8Array;
}

/** A request in flight. */
export interface DispatchController {
  /** Ends it at once, and the connection with it. */
  abort(reason: Error): void;
  /** False while the system has not taken all of the request; undefined where nobody knows. */
  readonly isSent?: boolean;
}

export interface DispatchHandler {
  /** A connection takes the request. */
  onRequestStart(controller: DispatchController): void;
  onResponseStart(controller: DispatchController, status: number, headers: ResponseHeaders): void;
  /** `part` is used up when this returns. */
  onResponseData(controller: DispatchController, part: Uint8Array): void;
  onResponseEnd(): void;
  onResponseError(controller: DispatchController | undefined, error: Error): void;
}

export interface Dispatcher {
  /** Sends the request as soon as a connection is free. May throw; every other failure goes to the handler. */
  dispatch(request: DispatchRequest, handler: DispatchHandler): unknown;
  /** Takes no new request; resolves when those it has are through. */
  close(): Promise<void>;
  /** Ends everything at once. */
  destroy(): Promise<void>;
}
