/** The door to undici: one request and its whole answer. Promises: one timeout for all of it, a bounded answer, no redirect is followed. */
import { Agent, ProxyAgent } from 'undici';
import { systemAuthorities } from '../config/connect/tls-files.ts';
import { flattenHeaders, unpack } from './answer.ts';
import { CLIENT_ANSWER_BYTES, CLIENT_CONNECTIONS } from './limits.ts';
import { MAX_CONNECT_MS } from '../core/limits.ts';

/** PEM text or bytes. */
export interface Tls {
  readonly ca?: string | Buffer | undefined;
  readonly cert?: string | Buffer | undefined;
  readonly key?: string | Buffer | undefined;
}

export interface HttpOptions {
  readonly timeoutMs: number;
  /** False where every address is plain http: reading the machine's certificate authorities takes long. */
  readonly isTls: boolean;
  /** Address of a proxy. */
  readonly proxy?: string | undefined;
  readonly tls?: Tls | undefined;
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Whole, query included. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  readonly signal?: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export interface Http {
  /** Rejects with undici's errors, with a `TimeoutError`, and with the reason of an aborted `signal`. */
  send(request: HttpRequest): Promise<HttpAnswer>;
  close(): Promise<void>;
}

export function createHttp({ timeoutMs, isTls, proxy, tls = {} }: HttpOptions): Http {
  const ca = isTls ? (tls.ca ?? systemAuthorities()) : undefined;
  const secure = { ...(ca && { ca }), ...(tls.cert && { cert: tls.cert }), ...(tls.key && { key: tls.key }) };
  const connect = { timeout: Math.min(timeoutMs, MAX_CONNECT_MS), ...secure };
  const common = { connections: CLIENT_CONNECTIONS, pipelining: 1, allowH2: false, headersTimeout: 0, bodyTimeout: 0 };
  const dispatcher =
    proxy === undefined
      ? new Agent({ ...common, connect })
      : new ProxyAgent({ ...common, uri: proxy, requestTls: connect });

  return {
    async send({ method, url, headers, body, signal }) {
      const { origin, pathname, search } = new URL(url);
      const timeout = AbortSignal.timeout(timeoutMs);
      const answer = await dispatcher.request({
        origin,
        path: pathname + search,
        method,
        headers,
        ...(body !== undefined && { body }),
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      const answered = flattenHeaders(answer.headers);
      return {
        status: answer.statusCode,
        headers: answered,
        text: await readBounded(answer.body, answered['content-encoding']),
      };
    },
    close: () => dispatcher.destroy(),
  };
}

async function readBounded(body: AsyncIterable<Uint8Array>, contentEncoding: string | undefined): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > CLIENT_ANSWER_BYTES) throw new RangeError(`the answer is longer than ${CLIENT_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  const plain = unpack(Buffer.concat(chunks, length), contentEncoding, CLIENT_ANSWER_BYTES);
  if ('problem' in plain) throw new RangeError(plain.problem);
  return plain.bytes.toString('utf8');
}
