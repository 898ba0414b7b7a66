/**
 * An ingest endpoint that misbehaves as `respond` asks: the judge of delivery. It stores accepted events, keeps every key it ever saw with
 * the events sent under it, and answers an accepted key again from memory, as the service does.
 */
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { HttpServer, type Received } from './http-server.ts';
import { endWithTest } from './program.ts';

/** Its body is not kept. */
export interface FaultRequest extends Omit<Received, 'method' | 'url' | 'raw' | 'body'> {
  readonly path: string;
  /** Of the body as it came. */
  readonly bytes: number;
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
  /** Milliseconds before anything of this answer happens. */
  readonly delayMs?: number;
  /** Breaks the connection without storing or answering. */
  readonly cut?: boolean;
  /** Stores the events, answers half of the reply, and breaks the connection. */
  readonly storeAndTear?: boolean;
  /** Stores the events and sends the reply one byte at a time, with so many milliseconds before each. */
  readonly dripMs?: number;
  /** Never answers; the connection stays open. With `stored` the events are stored first. */
  readonly never?: 'stored' | 'lost';
}

export class FaultService extends HttpServer {
  readonly stored: string[] = [];
  readonly requests: FaultRequest[] = [];
  /** Keys that stood for two different lists of events. */
  readonly misusedKeys: string[] = [];
  /** Answers of a kind that could come before a service looks at the key (see `isBeforeKey`) hold for known keys, too. */
  respond: (request: FaultRequest) => FaultAnswer | undefined | Promise<FaultAnswer | undefined> = () => undefined;
  readonly #eventsOfKey = new Map<string, string>();
  readonly #replies = new Map<string, string>();

  /** Listens on `port`, or on a free one; closed when the test ends. What a hook starts, it stops. */
  static async start(port = 0): Promise<FaultService> {
    const service = new FaultService();
    await service.listen(port);
    endWithTest(() => service.stop());
    return service;
  }

  /** True once the events of the key were stored. */
  hasStored(key: string): boolean {
    return this.#replies.has(key);
  }

  protected async take(received: Received, response: ServerResponse): Promise<void> {
    const request = this.#note(received);
    const told = (await this.respond(request)) ?? {};
    const known = this.#replies.get(request.key);
    const answer = known !== undefined && !isBeforeKey(told) ? withoutStatus(told) : told;
    if (answer.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, answer.delayMs));
    if (answer.cut) return void response.destroy();
    if (answer.never === 'lost') return;
    if (answer.status !== undefined && answer.status !== 200) {
      return void response
        .writeHead(answer.status, answer.headers)
        .end(answer.body ?? JSON.stringify({ code: answer.status, message: `told to answer ${answer.status}` }));
    }
    if (answer.body !== undefined) return void response.writeHead(200, answer.headers).end(answer.body);
    // It may have been stored while this request waited.
    const reply = this.#replies.get(request.key) ?? this.#store(request, answer);
    if (answer.storeAndBreak) return void response.destroy();
    if (answer.never === 'stored') return;
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': reply.length });
    if (answer.storeAndTear) return void response.write(reply.slice(0, reply.length / 2), () => response.destroy());
    if (answer.dripMs !== undefined) return this.#drip(response, reply, answer.dripMs);
    response.end(reply);
  }

  async #drip(response: ServerResponse, reply: string, everyMs: number): Promise<void> {
    for (const byte of reply) {
      if (response.destroyed) return;
      await new Promise((resolve) => setTimeout(resolve, everyMs));
      response.write(byte);
    }
    response.end();
  }

  #store(request: FaultRequest, answer: FaultAnswer): string {
    const failed = new Set(answer.failed ?? []);
    this.stored.push(...request.events.filter((_, index) => !failed.has(index)));
    const failures = [...failed].map((index) => ({
      timestamp: '',
      error: 'told to refuse it',
      ...(answer.withoutIndex ? {} : { index }),
    }));
    const reply = JSON.stringify({
      ingested: request.events.length - failed.size,
      failed: failed.size,
      failures,
      processedBytes: 1,
      blocksCreated: 1,
      walLength: 0,
    });
    if (request.key !== '') this.#replies.set(request.key, reply);
    return reply;
  }

  #note({ at, url, headers, key, raw, body }: Received): FaultRequest {
    const events = body
      .toString('utf8')
      .split('\n')
      .filter((line) => line !== '');
    const request = { at, bytes: raw.length, path: url, key, headers, events };
    this.requests.push(request);
    // Times of reading differ when a batch is read again; the events are the same.
    const hash = createHash('sha256');
    for (const event of events) hash.update(`${event}\n`);
    const named = hash.digest('hex');
    if (this.#eventsOfKey.has(key) && this.#eventsOfKey.get(key) !== named) this.misusedKeys.push(key);
    this.#eventsOfKey.set(key, named);
    return request;
  }
}

/** Overload, authentication and faults of connections come before the key; faults of the events do not. */
function isBeforeKey({ status, cut, never, delayMs }: FaultAnswer): boolean {
  if (status === undefined || status === 200) return cut === true || never !== undefined || delayMs !== undefined;
  return status >= 500 || [401, 403, 408, 429].includes(status);
}

/** Only how the reply is sent. */
function withoutStatus({ dripMs, storeAndBreak, storeAndTear }: FaultAnswer): FaultAnswer {
  return {
    ...(dripMs === undefined ? {} : { dripMs }),
    ...(storeAndBreak === undefined ? {} : { storeAndBreak }),
    ...(storeAndTear === undefined ? {} : { storeAndTear }),
  };
}
