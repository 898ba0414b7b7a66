/**
 * The connections to one origin, at most so many at a time, kept alive between requests. Own code and not undici's pool, which costs an eighth of the agent's CPU
 * (docs/adr/0014). Requests wait in the order in which they came; a connection that cannot be made fails the first that waits, and nothing is tried twice.
 */
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { Connection } from './connection.ts';
import type { DispatchHandler, Dispatcher, DispatchRequest } from './dispatcher.ts';

/** Answers are short; longer ones come in several pieces. */
const READ_BYTES = 16 * 1024;
/** How often idle connections are checked. */
const SWEEP_MS = 5000;
const TCP_KEEP_ALIVE_MS = 60_000;

export interface ConnectionsOptions {
  readonly origin: string;
  readonly connections: number;
  readonly connectTimeoutMs: number;
  readonly idleMs: number;
  readonly maxIdleMs: number;
  /** Wanted for https. */
  readonly secureContext: SecureContext | undefined;
}

interface Waiting {
  readonly request: DispatchRequest;
  readonly handler: DispatchHandler;
}

export class Connections implements Dispatcher {
  readonly #options: ConnectionsOptions;
  readonly #url: URL;
  /** Shared: what a connection reads is used up before another one reads. */
  readonly #buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  readonly #all = new Set<Connection>();
  readonly #free: Connection[] = [];
  readonly #waiting: Waiting[] = [];
  readonly #opening = new Set<Socket>();
  readonly #closed = Promise.withResolvers<void>();
  readonly #sweeper: NodeJS.Timeout;
  #isClosing = false;
  #session: Buffer | undefined;

  constructor(options: ConnectionsOptions) {
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
    const connection = new Connection({
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
