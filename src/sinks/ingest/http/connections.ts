/**
 * The connections to one origin, at most so many at a time, kept alive between requests. Own code and not undici's pool, which costs an eighth of the agent's CPU
 * (docs/adr/0014). Requests wait in the order in which they came; a connection that cannot be made fails the first that waits, and nothing is tried twice.
 */
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { codeOf } from '../../../core/errors.ts';
import type { DispatchHandler, Dispatcher, DispatchRequest } from './dispatcher.ts';
import { ResponseParser, type ResponseHeaders } from './response-parser.ts';

/** Answers are short; longer ones come in several pieces. */
const READ_BYTES = 16 * 1024;
/** How often idle connections are checked. */
const SWEEP_MS = 5000;
const TCP_KEEP_ALIVE_MS = 60_000;

export interface ConnectionPoolOptions {
  readonly origin: string;
  readonly connections: number;
  readonly connectTimeoutMs: number;
  readonly idleMs: number;
  readonly maxIdleMs: number;
  /** Wanted for https. */
  readonly secureContext: SecureContext | undefined;
}

interface WaitingRequest {
  readonly request: DispatchRequest;
  readonly handler: DispatchHandler;
}

export class ConnectionPool implements Dispatcher {
  readonly #options: ConnectionPoolOptions;
  readonly #url: URL;
  /** Shared: what a connection reads is used up before another one reads. */
  readonly #buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  readonly #all = new Set<HttpConnection>();
  readonly #free: HttpConnection[] = [];
  readonly #waiting: WaitingRequest[] = [];
  readonly #opening = new Set<Socket>();
  readonly #closed = Promise.withResolvers<void>();
  readonly #sweeper: NodeJS.Timeout;
  #isClosing = false;
  #session: Buffer | undefined;

  constructor(options: ConnectionPoolOptions) {
    this.#options = options;
    this.#url = new URL(options.origin);
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS).unref();
  }

  dispatch(request: DispatchRequest, handler: DispatchHandler): void {
    if (this.#isClosing) throw new Error('the connections are closed');
    this.#waiting.push({ request, handler });
    this.#assign();
  }

  close(): Promise<void> {
    this.#isClosing = true;
    this.#endIfDone();
    return this.#closed.promise;
  }

  destroy(): Promise<void> {
    this.#isClosing = true;
    const reason = new Error('the connections are closed');
    for (const { handler } of this.#waiting.splice(0)) handler.onResponseError(undefined, reason);
    for (const connection of this.#all) connection.abort(reason);
    this.#endIfDone();
    return this.#closed.promise;
  }

  /** Gives waiting requests to free connections, and opens as many more as are wanted and allowed. */
  #assign(): void {
    while (this.#waiting.length > 0) {
      // The one that was used last, so that those not needed grow old.
      const connection = this.#free.pop();
      if (!connection) break;
      if (!connection.isFresh) {
        // Assigns in its turn: afterwards nothing may be waiting any more.
        connection.abort(new Error('idle for too long'));
        continue;
      }
      const { request, handler } = this.#waiting.shift()!;
      connection.send(request, handler);
    }
    while (this.#opening.size < this.#waiting.length && this.#opening.size + this.#all.size < this.#options.connections)
      this.#open();
    this.#endIfDone();
  }

  #open(): void {
    const { connectTimeoutMs, idleMs, maxIdleMs } = this.#options;
    const connection = new HttpConnection({
      host: this.#url.host,
      idleMs,
      maxIdleMs,
      onFree: () => {
        this.#free.push(connection);
        this.#assign();
      },
      onGone: () => {
        this.#all.delete(connection);
        const index = this.#free.indexOf(connection);
        if (index !== -1) this.#free.splice(index, 1);
        this.#assign();
      },
    });
    const socket = this.#connect((bytes) => connection.read(bytes));
    this.#opening.add(socket);
    // It may fail again while it is being destroyed.
    socket.on('error', () => {});
    const fail = (error: Error): void => {
      if (!this.#opening.delete(socket)) return;
      clearTimeout(timer);
      socket.destroy();
      this.#waiting.shift()?.handler.onResponseError(undefined, error);
      this.#assign();
    };
    const timer = setTimeout(
      () =>
        fail(
          Object.assign(new Error(`no connection to ${this.#url.host} within ${connectTimeoutMs} ms`), {
            code: 'E_CONNECT_TIMEOUT',
          }),
        ),
      connectTimeoutMs,
    );
    socket.once('error', fail);
    socket.once('close', () =>
      fail(Object.assign(new Error('the service closed the connection at once'), { code: 'E_CLOSED' })),
    );
    socket.once(this.#url.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
      if (!this.#opening.delete(socket)) return;
      clearTimeout(timer);
      socket.off('error', fail);
      this.#all.add(connection);
      connection.use(socket);
    });
  }

  #connect(read: (bytes: Uint8Array) => void): Socket {
    const { hostname, port, protocol } = this.#url;
    const isSecure = protocol === 'https:';
    const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
    const options = {
      host,
      port: Number(port) || (isSecure ? 443 : 80),
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: TCP_KEEP_ALIVE_MS,
      onread: {
        buffer: this.#buffer,
        callback: (bytes: number, buffer: Uint8Array): boolean => {
          read(buffer.subarray(0, bytes));
          return true;
        },
      },
    };
    if (!isSecure) return connectPlain(options);
    const socket = process.getBuiltinModule('node:tls').connect({
      ...options,
      ALPNProtocols: ['http/1.1'],
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(this.#options.secureContext ? { secureContext: this.#options.secureContext } : {}),
      ...(this.#session ? { session: this.#session } : {}),
    });
    socket.on('session', (session: Buffer) => (this.#session = session));
    return socket;
  }

  #sweep(): void {
    for (const connection of [...this.#free]) if (!connection.isFresh) connection.abort(new Error('idle for too long'));
  }

  #endIfDone(): void {
    if (!this.#isClosing || this.#waiting.length > 0) return;
    for (const connection of [...this.#free]) connection.abort(new Error('closed'));
    if (this.#all.size > 0) return;
    for (const socket of this.#opening) socket.destroy();
    clearInterval(this.#sweeper);
    this.#closed.resolve();
  }
}

/** Taken off the time for which the service keeps an idle connection, so that no request meets its end. */
const KEEP_ALIVE_MARGIN_MS = 1000;
// oxlint-disable-next-line no-control-regex
const BAD_IN_HEADER = /[^\t\x20-\x7e\x80-\xff]/;

interface HttpConnectionOptions {
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

/**
 * One connection, one request on it at a time. Promises: each request ends with exactly one of `onResponseEnd` and `onResponseError`, and once it
 * did, its body is not read any more, because its slot is reused.
 */
class HttpConnection {
  readonly #options: HttpConnectionOptions;
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

  constructor(options: HttpConnectionOptions) {
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
