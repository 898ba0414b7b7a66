/**
 * An ingest service for tests: a real HTTP server on loopback that keeps every request, decoded, and answers what it is
 * told to. Without orders it stores everything, once for each key.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { parse as parseCsv } from 'csv-parse/sync';
import { onTestFinished } from 'vitest';
import { test as base } from './temp-tree.ts';

export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly key: string;
  /** As it came. */
  readonly raw: Buffer;
  /** After decompression. */
  readonly body: Buffer;
  /** The events: the lines of NDJSON, else each event as JSON. */
  readonly lines: readonly string[];
}

/** Answers a request; what is not answered stays open. */
export type Responder = (request: ReceivedRequest, response: ServerResponse) => void;

export class FakeIngest {
  readonly requests: ReceivedRequest[] = [];
  /** Bodies' lines that were answered with a 200, once for each key, in the order of their arrival. */
  readonly stored = new Map<string, readonly string[]>();
  /** How a request is answered; by default `storeAll`. */
  respond: Responder = (request, response) => this.storeAll(request, response);
  readonly #server: Server;
  readonly #scheme: string;

  private constructor(server: Server, scheme: string) {
    this.#server = server;
    this.#scheme = scheme;
  }

  /** Starts on a port of its own, or on `port`; closed when the test ends. With `tls` it is an https server. */
  static async start(port = 0, tls?: ServerOptions, host = '127.0.0.1'): Promise<FakeIngest> {
    const server = tls ? createTlsServer(tls) : createServer();
    const service = new FakeIngest(server, tls ? 'https' : 'http');
    server.on(tls ? 'secureConnection' : 'connection', () => (service.connections += 1));
    server.on('request', (request, response) => void service.#receive(request, response));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
    onTestFinished(() => service.stop());
    return service;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    const { address, family } = this.#server.address() as AddressInfo;
    return `${this.#scheme}://${family === 'IPv6' ? `[${address}]` : address}:${this.port}`;
  }

  /** Connections that were taken so far. */
  connections = 0;

  /** Every stored line. */
  get lines(): string[] {
    return [...this.stored.values()].flat();
  }

  storeAll(request: ReceivedRequest, response: ServerResponse): void {
    if (!this.stored.has(request.key)) this.stored.set(request.key, request.lines);
    replyWith(response, 200, {
      ingested: request.lines.length,
      failed: 0,
      failures: [],
      processedBytes: request.body.length,
      blocksCreated: 1,
      walLength: this.stored.size,
    });
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const raw = Buffer.concat(chunks);
    const body = decode(raw, request.headers['content-encoding']);
    const received: ReceivedRequest = {
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      key: String(request.headers['idempotency-key'] ?? ''),
      raw,
      body,
      lines: eventsIn(body.toString('utf8'), request.headers['content-type']),
    };
    this.requests.push(received);
    this.respond(received, response);
  }
}

export function replyWith(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

/** A body that cannot be read has lines all the same: what it is answered is the test's. */
function eventsIn(text: string, type: string | undefined): string[] {
  try {
    if (type === 'application/json' && text.startsWith('[')) return (JSON.parse(text) as unknown[]).map((event) => JSON.stringify(event));
    if (type === 'text/csv') return parseCsv(text, { columns: true }).map((event) => JSON.stringify(event));
  } catch {
    // Read as lines.
  }
  return text.split('\n').slice(0, -1);
}

function decode(raw: Buffer, encoding: string | undefined): Buffer {
  if (encoding === 'gzip') return gunzipSync(raw);
  if (encoding === 'zstd') return zstdDecompressSync(raw);
  if (encoding !== undefined) throw new Error(`unknown content-encoding ${encoding}`);
  return raw;
}

/** Tests that begin with a service, and with an empty folder where they ask for it. */
export const test = base.extend('service', () => FakeIngest.start());
