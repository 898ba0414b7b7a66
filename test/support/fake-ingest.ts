/**
 * An ingest service for tests: a real HTTP server on loopback that keeps every request, decoded, and answers by `respond`. Without one it
 * stores everything, once for each key.
 */
import type { ServerResponse } from 'node:http';
import type { ServerOptions } from 'node:https';
import { parse as parseCsv } from 'csv-parse/sync';
import { IngestServer, type Received } from './ingest-server.ts';
import { endWithTest } from './program.ts';
import { test as base } from './temp-tree.ts';

export interface ReceivedRequest extends Received {
  /** The events: the lines of NDJSON, else each event as JSON. */
  readonly lines: readonly string[];
}

/** Answers a request; without an answer it stays open. */
export type Responder = (request: ReceivedRequest, response: ServerResponse) => void;

export class FakeIngest extends IngestServer {
  readonly requests: ReceivedRequest[] = [];
  /** Bodies' lines that were answered with a 200, once for each key, in the order of their arrival. */
  readonly stored = new Map<string, readonly string[]>();
  /** How a request is answered; by default `storeAll`. */
  respond: Responder = (request, response) => this.storeAll(request, response);

  /** Starts on a port of its own, or on `port`; closed when the test ends. With `tls` it is an https server. */
  static async start(port?: number, tls?: ServerOptions, host?: string): Promise<FakeIngest> {
    const service = new FakeIngest(tls);
    await service.listen(port, host);
    endWithTest(() => service.stop());
    return service;
  }

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

  protected take(received: Received, response: ServerResponse): void {
    const request = { ...received, lines: eventsIn(received.body.toString('utf8'), received.headers['content-type']) };
    this.requests.push(request);
    this.respond(request, response);
  }
}

export function replyWith(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

/** A body that cannot be read has lines all the same: what it is answered is the test's. */
function eventsIn(text: string, type: string | undefined): string[] {
  try {
    if (type === 'application/json' && text.startsWith('['))
      return (JSON.parse(text) as unknown[]).map((event) => JSON.stringify(event));
    if (type === 'text/csv') return parseCsv(text, { columns: true }).map((event) => JSON.stringify(event));
  } catch {
    // Read as lines.
  }
  return text.split('\n').slice(0, -1);
}

/** Tests that begin with a service, and with an empty folder where they ask for it. */
export const test = base.extend('service', () => FakeIngest.start());
