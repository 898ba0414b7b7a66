/**
 * One connection to the service, one request on it at a time. Promises: each request ends with exactly one of `onResponseEnd` and `onResponseError`, and
 * once it did, its body is not read any more, because its slot is reused.
 */
import type { Socket } from 'node:net';
import { codeOf } from '../../../core/errors.ts';
import type { DispatchHandler, DispatchRequest } from './dispatcher.ts';
import { ResponseParser, type ResponseHeaders } from './response-parser.ts';

/** Taken off the time for which the service keeps an idle connection, so that no request meets its end. */
const KEEP_ALIVE_MARGIN_MS = 1000;
// oxlint-disable-next-line no-control-regex
const BAD_IN_HEADER = /[^\t\x20-\x7e\x80-\xff]/;

export interface ConnectionOptions {
  /** For the `Host` header. */
  readonly host: string;
  /** An idle connection is kept for this long; */
  readonly idleMs: number;
  /** at most this long where the service announces how long it keeps them. */
  readonly maxIdleMs: number;
  /** It can take another request. */
  onFree(): void;
  /** It takes none any more. */
  onGone(): void;
}

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #parser = new ResponseParser({
    head: (status, headers) => this.#head(status, headers),
    data: (part) => this.#handler?.onResponseData(this, part),
    complete: (keepAlive) => this.#complete(keepAlive),
  });
  #socket: Socket | undefined;
  #handler: DispatchHandler | undefined;
  #failure: Error | undefined;
  #idleMs = 0;
  #freeUntilMs = 0;
  #isGone = false;
  /** Of the request in flight. */
  isSent = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Whether it is worth giving a request to: the service may end it at any moment after this time. */
  get isFresh(): boolean {
    return performance.now() < this.#freeUntilMs;
  }

  /** Takes over a socket that is connected; its bytes come through `read`. */
  use(socket: Socket): void {
    this.#socket = socket;
    socket.on('error', (error) => (this.#failure ??= error));
    socket.on('end', () => this.#end());
    socket.on('close', () => this.#gone());
    this.#idleMs = this.#options.idleMs;
    this.#free();
  }

  /** Takes bytes that came; they are used up when it returns. */
  read(bytes: Uint8Array): void {
    // Bytes without a pending request are no answer, not even on a fresh connection.
    if (!this.#handler) return this.abort(new Error('the service sent more than it was asked for'));
    try {
      this.#parser.push(bytes);
    } catch (error) {
      this.abort(error as Error);
    }
    // Free it only after all bytes are read: bytes behind an answer belong to no other request.
    if (!this.#handler) this.#free();
  }

  /** Sends a request; every failure goes to the handler. To be called only while it is free. */
  send(request: DispatchRequest, handler: DispatchHandler): void {
    let head: string;
    try {
      head = this.#headOf(request);
    } catch (error) {
      handler.onResponseError(this, error as Error);
      return this.#free();
    }
    this.#handler = handler;
    this.#parser.reset();
    handler.onRequestStart(this);
    // It may have been given up while it waited.
    if (this.#failure) return;
    const socket = this.#socket!;
    socket.cork();
    socket.write(head, 'latin1');
    this.isSent = false;
    socket.write(request.body, (error) => {
      // Those of a former request are through: it ended only once they were, or with the connection.
      if (!error) this.isSent = true;
    });
    socket.uncork();
  }

  /** Ends the connection at once, and with it the request in flight. */
  abort(reason: Error): void {
    this.#failure ??= reason;
    this.#socket?.destroy();
    this.#gone();
  }

  #headOf({ path, headers, body }: DispatchRequest): string {
    let head = `POST ${path} HTTP/1.1\r\nhost: ${this.#options.host}\r\nconnection: keep-alive\r\n`;
    for (const name in headers) {
      const value = headers[name]!;
      if (BAD_IN_HEADER.test(value)) throw new TypeError(`the header ${name} holds a character that no header can`);
      head += `${name}: ${value}\r\n`;
    }
    return `${head}content-length: ${body.length}\r\n\r\n`;
  }

  /** The service sends nothing more. */
  #end(): void {
    try {
      this.#parser.end();
    } catch (error) {
      this.abort(error as Error);
    }
    this.abort(Object.assign(new Error('the service closed the connection before it answered'), { code: 'E_CLOSED' }));
  }

  #head(status: number, headers: ResponseHeaders): void {
    const seconds = /(?:^|[,;\s])timeout=(\d{1,9})/i.exec(String(headers['keep-alive'] ?? ''))?.[1];
    const { idleMs, maxIdleMs } = this.#options;
    this.#idleMs = seconds === undefined ? idleMs : Math.min(Number(seconds) * 1000 - KEEP_ALIVE_MARGIN_MS, maxIdleMs);
    this.#handler?.onResponseStart(this, status, headers);
  }

  #complete(keepAlive: boolean): void {
    const handler = this.#handler;
    this.#handler = undefined;
    // Answered before all of the body was taken: the rest must not be read from where it lies.
    const canStay = keepAlive && !this.#failure && this.#socket!.writableLength === 0;
    if (!canStay) this.abort(new Error('not kept'));
    handler?.onResponseEnd();
  }

  #free(): void {
    if (this.#isGone) return;
    this.#freeUntilMs = performance.now() + this.#idleMs;
    this.#options.onFree();
  }

  #gone(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    const handler = this.#handler;
    this.#handler = undefined;
    this.#options.onGone();
    const failure = this.#failure ?? new Error('the connection was closed');
    handler?.onResponseError(
      this,
      codeOf(failure) === 'EPIPE'
        ? Object.assign(new Error('the service closed the connection while it was sent to', { cause: failure }), {
            code: 'EPIPE',
          })
        : failure,
    );
  }
}
