/**
 * The connections to one address: straight or through a proxy, plain or TLS. They are renewed as a whole after five minutes, when a
 * certificate file changed, and when a request found no connection in time, so that whatever changed around the agent (names, certificates,
 * routes) takes effect; requests in flight end on the old ones. A request has one timeout from the first byte to the answer's last, a
 * bounded answer, and follows no redirect.
 */
import type { SecureContext } from 'node:tls';
import type { TlsFiles } from '../../config/values.ts';
import { readTlsFiles, systemAuthorities, tlsStampOf } from '../../config/connect/tls-files.ts';
import type { Clock } from '../../core/time/clock.ts';
import { messageOf, TailraceError } from '../../core/errors.ts';
import { MAX_CONNECT_MS } from '../../core/limits.ts';
import { IDLE_CONNECTION_MS, MAX_ANSWER_BYTES, MAX_CONNECTION_AGE_MS, MAX_IDLE_CONNECTION_MS } from './limits.ts';
import type { Log } from '../../core/log.ts';
import type { HttpOutcome } from '../../client/classify.ts';
import { flattenHeaders, unpack } from '../../client/answer.ts';
import { describeFailure } from '../../client/failure.ts';
import { ConnectionPool } from './http/connections.ts';
import type { DispatchController, DispatchHandler, Dispatcher } from './http/dispatcher.ts';

export interface IngestRequest {
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** A client certificate is configured. */
  readonly hasCert?: boolean;
}

export interface Exchanged {
  readonly answer: HttpOutcome;
  /** False when no connection took the request. */
  readonly started: boolean;
  /** No answer came, and the service may have the whole request. */
  readonly mayBeStored: boolean;
}

export interface TransportOptions {
  /** Id of the sink, for the log. */
  readonly sink: string;
  readonly log: Log;
  /** Base address; only its origin counts. */
  readonly url: string;
  readonly proxy: string | undefined;
  readonly tls: TlsFiles;
  readonly connections: number;
  /** Of a whole request. */
  readonly timeoutMs: number;
  readonly clock: Clock;
}

interface Generation {
  readonly dispatcher: Dispatcher;
  readonly madeAtMs: number;
  readonly stamp: string;
}

export class Transport {
  readonly #options: TransportOptions;
  readonly #origin: string;
  readonly #isTls: boolean;
  readonly #dispatchers = new Set<Dispatcher>();
  readonly #retired = new WeakSet<Dispatcher>();
  #current: Generation | undefined;
  #making: Promise<Generation> | undefined;
  #context: { readonly stamp: string; readonly value: SecureContext } | undefined;
  #closed = false;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#origin = new URL(options.url).origin;
    this.#isTls = this.#origin.startsWith('https:');
  }

  /** Posts once. Rejects only when `signal` aborts. */
  async post(request: Omit<IngestRequest, 'origin'>, signal: AbortSignal): Promise<Exchanged> {
    let generation: Generation;
    try {
      generation = await this.#ensure();
    } catch (error) {
      if (!(error instanceof TailraceError)) throw error;
      const message = error.fix === undefined ? error.message : `${error.message}: ${error.fix}`;
      return {
        answer: { kind: 'failure', code: error.code, message, fix: error.fix },
        started: false,
        mayBeStored: false,
      };
    }
    const { timeoutMs, tls } = this.#options;
    const whole = { ...request, origin: this.#origin, hasCert: tls.cert !== undefined };
    const exchanged = await exchange(generation.dispatcher, whole, timeoutMs, signal);
    const { answer, started } = exchanged;
    if (answer.kind === 'failure' && !started && answer.code === 'E_TIMEOUT') this.#retire(generation);
    return exchanged;
  }

  /** Ends every connection at once. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#current = undefined;
    await Promise.all([...this.#dispatchers].map((dispatcher) => dispatcher.destroy()));
  }

  async #ensure(): Promise<Generation> {
    const stamp = this.#isTls ? tlsStampOf(this.#options.tls) : '';
    const current = this.#current;
    const age = current ? this.#options.clock.monotonic() - current.madeAtMs : Infinity;
    if (current && age < MAX_CONNECTION_AGE_MS && current.stamp === stamp) return current;
    this.#making ??= this.#make(stamp).finally(() => (this.#making = undefined));
    return this.#making;
  }

  async #make(stamp: string): Promise<Generation> {
    const dispatcher = await this.#dispatcher(stamp);
    if (this.#closed) {
      await dispatcher.destroy();
      throw new TailraceError('E_STOPPED', 'the sink is closed');
    }
    const old = this.#current;
    const made = { dispatcher, stamp, madeAtMs: this.#options.clock.monotonic() };
    this.#dispatchers.add(dispatcher);
    this.#current = made;
    if (old) this.#retire(old);
    return made;
  }

  async #dispatcher(stamp: string): Promise<Dispatcher> {
    const { connections, timeoutMs, proxy } = this.#options;
    const secureContext = this.#isTls ? this.#secureContext(stamp) : undefined;
    const connectTimeout = Math.min(timeoutMs, MAX_CONNECT_MS);
    if (proxy === undefined)
      return new ConnectionPool({
        origin: this.#origin,
        connections,
        connectTimeoutMs: connectTimeout,
        idleMs: IDLE_CONNECTION_MS,
        maxIdleMs: MAX_IDLE_CONNECTION_MS,
        secureContext,
      });
    // undici costs memory and CPU, and few need it. A bundle has only its default export.
    const { default: undici } = await import('undici');
    return new undici.ProxyAgent({
      connections,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: IDLE_CONNECTION_MS,
      keepAliveMaxTimeout: MAX_IDLE_CONNECTION_MS,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      connectTimeout,
      uri: proxy,
      requestTls: { timeout: connectTimeout, ...(secureContext ? { secureContext } : {}) },
      proxyTls: { timeout: connectTimeout },
    });
  }

  /**
   * Made anew only when a file changed: the system's store takes long to read. Files that cannot be used (they may be half written) leave
   * the loaded ones in use until they change again; without loaded ones, throws `TailraceError`.
   */
  #secureContext(stamp: string): SecureContext {
    if (this.#context?.stamp === stamp) return this.#context.value;
    try {
      this.#context = { stamp, value: this.#loadContext() };
    } catch (error) {
      if (!this.#context || !(error instanceof TailraceError)) throw error;
      this.#options.log.error(
        { sink: this.#options.sink, reason: error.message, fix: error.fix },
        'the changed files of tls cannot be used; those loaded before stay in use',
      );
      this.#context = { stamp, value: this.#context.value };
    }
    return this.#context.value;
  }

  #loadContext(): SecureContext {
    const { ca, cert, key } = readTlsFiles(this.#options.tls);
    const authorities = ca ?? systemAuthorities();
    try {
      return process.getBuiltinModule('node:tls').createSecureContext({
        ...(authorities ? { ca: authorities } : {}),
        ...(cert ? { cert } : {}),
        ...(key ? { key } : {}),
      });
    } catch (cause) {
      throw new TailraceError('E_TLS_FILE', `the files of tls cannot be used: ${messageOf(cause)}`, {
        fix: 'give them in PEM form',
        cause,
      });
    }
  }

  /** Takes no new requests on it; those in flight end, or are ended when their time is over. */
  #retire({ dispatcher }: Generation): void {
    if (this.#current?.dispatcher === dispatcher) this.#current = undefined;
    if (this.#retired.has(dispatcher)) return;
    this.#retired.add(dispatcher);
    const timer = setTimeout(() => void this.#end(dispatcher), this.#options.timeoutMs);
    timer.unref();
    void this.#drain(dispatcher, timer);
  }

  async #drain(dispatcher: Dispatcher, timer: NodeJS.Timeout): Promise<void> {
    try {
      await dispatcher.close();
      this.#dispatchers.delete(dispatcher);
    } catch {
      // Destroyed in the meantime.
    } finally {
      clearTimeout(timer);
    }
  }

  async #end(dispatcher: Dispatcher): Promise<void> {
    await dispatcher.destroy();
    this.#dispatchers.delete(dispatcher);
  }
}

/** Posts the request over a dispatcher. Rejects only when `signal` aborts; every failure is an answer of its own. */
export function exchange(
  dispatcher: Dispatcher,
  request: IngestRequest,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    let controller: DispatchController | undefined;
    let givenUp: Error | undefined;
    let status = 0;
    let headers: Record<string, string> = {};
    // Grows twofold: an answer that comes byte by byte would be as many objects.
    let body = Buffer.alloc(0);
    let length = 0;

    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    };
    const answer = (given: HttpOutcome): void => {
      end();
      const mayBeStored = given.kind === 'failure' && controller !== undefined && controller.isSent !== false;
      resolve({ answer: given, started: controller !== undefined, mayBeStored });
    };
    const answerSoFar = () => {
      const plain = unpack(body.subarray(0, length), headers['content-encoding'], MAX_ANSWER_BYTES);
      if ('bytes' in plain) answer({ kind: 'answer', status, headers, body: plain.bytes.toString('utf8') });
      else answer({ kind: 'answer', status, headers, body: plain.problem });
    };
    /** Aborts now, or as soon as a waiting request gets a connection. */
    const giveUp = (reason: Error): void => {
      givenUp = reason;
      controller?.abort(reason);
    };
    const stop = (): void => {
      end();
      const reason = signal.reason instanceof Error ? signal.reason : new Error('stopped');
      reject(reason);
      giveUp(reason);
    };
    const timer = setTimeout(() => {
      answer({ kind: 'failure', code: 'E_TIMEOUT', message: `no complete answer within ${timeoutMs} ms` });
      giveUp(new Error('timeout'));
    }, timeoutMs);
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });

    const handler: DispatchHandler = {
      onRequestStart(started) {
        if (givenUp) started.abort(givenUp);
        else controller = started;
      },
      onResponseStart(_controller, statusCode, answered) {
        if (statusCode < 200) return;
        status = statusCode;
        headers = flattenHeaders(answered);
      },
      onResponseData(_controller, chunk) {
        if (length + chunk.length > body.length)
          body = Buffer.concat([body], Math.max(2 * body.length, length + chunk.length));
        body.set(chunk, length);
        length += chunk.length;
        if (length <= MAX_ANSWER_BYTES) return;
        // The rest is not read: the connection is given up.
        answerSoFar();
        giveUp(new Error('the answer is too long'));
      },
      onResponseEnd: answerSoFar,
      onResponseError(_controller, error) {
        answer({ kind: 'failure', ...describeFailure(error, request.origin, request.hasCert) });
      },
    };
    try {
      dispatcher.dispatch({ ...request, method: 'POST' }, handler);
    } catch (error) {
      answer({ kind: 'failure', ...describeFailure(error, request.origin, request.hasCert) });
    }
  });
}
