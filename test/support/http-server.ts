/** Under both services of tests: a real server on loopback that reads each request to its end, decompressed. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';

export interface Received {
  /** Milliseconds since the epoch at which its first byte came. */
  readonly at: number;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly key: string;
  /** As it came. */
  readonly raw: Buffer;
  /** After decompression. */
  readonly body: Buffer;
}

export abstract class HttpServer {
  /** Its base address, once it listens. */
  url = '';
  /** Connections that were taken so far. */
  connections = 0;
  /** Connections are broken while a request's body still comes, where this says so. */
  interrupts: () => boolean = () => false;
  readonly #server: Server;
  readonly #scheme: string;

  /** With `tls` it is an https server. */
  constructor(tls?: ServerOptions) {
    this.#server = tls ? createTlsServer(tls) : createServer();
    this.#scheme = tls ? 'https' : 'http';
    this.#server.on(tls ? 'secureConnection' : 'connection', () => (this.connections += 1));
    this.#server.on('request', (request, response) => void this.#receive(request, response));
  }

  /** Listens on `port`, or on a free one; also after `stop`. */
  async listen(port = 0, host = '127.0.0.1'): Promise<void> {
    await new Promise<void>((resolve, reject) => this.#server.once('error', reject).listen(port, host, resolve));
    const { address, family, port: own } = this.#server.address() as AddressInfo;
    this.url = `${this.#scheme}://${family === 'IPv6' ? `[${address}]` : address}:${own}`;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  protected abstract take(request: Received, response: ServerResponse): unknown;

  async #receive(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = Date.now();
    if (this.interrupts()) return void message.once('data', () => message.socket.destroy());
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of message) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const raw = Buffer.concat(chunks);
    const { method = '', url = '', headers } = message;
    const key = String(headers['idempotency-key'] ?? '');
    await this.take({ at, method, url, headers, key, raw, body: decode(raw, headers['content-encoding']) }, response);
  }
}

function decode(raw: Buffer, encoding: string | undefined): Buffer {
  if (encoding === 'gzip') return gunzipSync(raw);
  if (encoding === 'zstd') return zstdDecompressSync(raw);
  if (encoding !== undefined) throw new Error(`unknown content-encoding ${encoding}`);
  return raw;
}
