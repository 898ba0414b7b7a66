/**
 * An ingest endpoint that misbehaves as told: the judge of delivery. It stores what it accepts, keeps every key it ever saw
 * with the events sent under it, and answers an accepted key again from memory, as the service does.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';

export interface FaultRequest {
  readonly path: string;
  readonly key: string;
  readonly headers: IncomingMessage['headers'];
  /** The events, without newlines. */
  readonly events: readonly string[];
}

/** What to answer: `undefined` stores everything. `failed`: places of the events to refuse with 200. */
export interface FaultAnswer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly failed?: readonly number[];
  /** Leaves `index` out of the failures, as older services do. */
  readonly withoutIndex?: boolean;
  /** Stores the events and then breaks the connection instead of answering. */
  readonly storeAndBreak?: boolean;
}

export class FaultService {
  readonly stored: string[] = [];
  readonly requests: FaultRequest[] = [];
  /** Keys that stood for two different lists of events. */
  readonly misusedKeys: string[] = [];
  respond: (request: FaultRequest) => FaultAnswer | undefined = () => undefined;
  readonly #eventsOfKey = new Map<string, string>();
  readonly #replies = new Map<string, string>();
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  /** Listens on `port`, or on a free one; returns its base address. */
  async start(port = 0): Promise<string> {
    await new Promise<void>((resolve, reject) => this.#server.once('error', reject).listen(port, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of message) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const request = this.#note(message, decode(Buffer.concat(chunks), message.headers['content-encoding']));
    const known = this.#replies.get(request.key);
    if (known !== undefined) return void response.writeHead(200, { 'content-type': 'application/json' }).end(known);
    const answer = this.respond(request) ?? {};
    if (answer.status !== undefined && answer.status !== 200) {
      return void response
        .writeHead(answer.status, answer.headers)
        .end(answer.body ?? JSON.stringify({ code: answer.status, message: `told to answer ${answer.status}` }));
    }
    if (answer.body !== undefined) return void response.writeHead(200, answer.headers).end(answer.body);
    const failed = new Set(answer.failed ?? []);
    this.stored.push(...request.events.filter((_, index) => !failed.has(index)));
    const failures = [...failed].map((index) => ({ timestamp: '', error: 'told to refuse it', ...(answer.withoutIndex ? {} : { index }) }));
    const reply = JSON.stringify({
      ingested: request.events.length - failed.size,
      failed: failed.size,
      failures,
      processedBytes: 1,
      blocksCreated: 1,
      walLength: 0,
    });
    if (request.key !== '') this.#replies.set(request.key, reply);
    if (answer.storeAndBreak) return void message.socket.destroy();
    response.writeHead(200, { 'content-type': 'application/json' }).end(reply);
  }

  #note(message: IncomingMessage, body: string): FaultRequest {
    const events = body.split('\n').filter((line) => line !== '');
    const key = String(message.headers['idempotency-key'] ?? '');
    const request = { path: message.url ?? '', key, headers: message.headers, events };
    this.requests.push(request);
    // Times of reading differ when a batch is read again; the events are the same.
    const named = events.map((event) => event.replace(/^\{"_time":"[^"]*"/, '{')).join('\n');
    if (this.#eventsOfKey.has(key) && this.#eventsOfKey.get(key) !== named) this.misusedKeys.push(key);
    this.#eventsOfKey.set(key, named);
    return request;
  }
}

function decode(body: Buffer, encoding: string | undefined): string {
  if (encoding === 'gzip') return gunzipSync(body).toString('utf8');
  if (encoding === 'zstd') return zstdDecompressSync(body).toString('utf8');
  return body.toString('utf8');
}
