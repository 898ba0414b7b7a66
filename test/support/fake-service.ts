/**
 * A service for tests, written from the specification: a real HTTP server on loopback that keeps every request, decoded. It has datasets, ingest in
 * three formats with keys, queries with cursors, account and tokens, all in memory; `respond` takes its place where a test wants another answer.
 */
import type { ServerResponse } from 'node:http';
import type { ServerOptions } from 'node:https';
import { parse as parseCsv } from 'csv-parse/sync';
import { HttpServer, type Received } from './http-server.ts';
import { endWithTest } from './program.ts';
import { test as base } from './temp-tree.ts';

export interface ReceivedRequest extends Received {
  /** The events: the lines of NDJSON, else each event as JSON. */
  readonly lines: readonly string[];
}

/** Answers a request; without an answer it stays open. */
export type Responder = (request: ReceivedRequest, response: ServerResponse) => void;

export interface FakeDataset {
  readonly id: string;
  readonly name: string;
  description: string;
  readonly created: string;
  readonly integrationConfigs: string[];
  readonly who: string;
}

const USER = {
  id: 'u1',
  name: 'Ann',
  email: 'ann@example.com',
  role: 'owner',
  permissions: ['CanIngest', 'ManageBilling'],
};

export class FakeService extends HttpServer {
  readonly requests: ReceivedRequest[] = [];
  /** Bodies' lines that were answered with a 200, once for each key, in the order of their arrival. */
  readonly stored = new Map<string, readonly string[]>();
  /** Events by dataset, once for each key, in the order in which they came. */
  readonly events = new Map<string, unknown[]>();
  /** Where one was made, events go only to those that were made. */
  readonly datasets = new Map<string, FakeDataset>();
  /** How a request is answered; by default as the API does. */
  respond: Responder = (request, response) => {
    const [status, body] = this.handle(request);
    if (status === 204) response.writeHead(204).end();
    else replyWith(response, status, body);
  };
  readonly #tokens = new Map<string, object>();
  readonly #planned: Responder[] = [];

  /** Starts on a port of its own, or on `port`; closed when the test ends. With `tls` it is an https server. */
  static async start(port?: number, tls?: ServerOptions, host?: string): Promise<FakeService> {
    const service = new FakeService(tls);
    await service.listen(port, host);
    endWithTest(() => service.stop());
    return service;
  }

  /** Every stored line. */
  get lines(): string[] {
    return [...this.stored.values()].flat();
  }

  /** The last request. */
  get last(): ReceivedRequest {
    return this.requests.at(-1)!;
  }

  /** Answers the next requests, one answer each, before `respond` does again. */
  answerNext(...answers: readonly Responder[]): void {
    this.#planned.push(...answers);
  }

  storeAll(request: ReceivedRequest, response: ServerResponse): void {
    replyWith(response, 200, this.#store(request));
  }

  protected take(received: Received, response: ServerResponse): void {
    const request = { ...received, lines: linesIn(received.body.toString('utf8'), received.headers['content-type']) };
    this.requests.push(request);
    (this.#planned.shift() ?? this.respond)(request, response);
  }

  /** Does what a request asks and returns the answer, without sending it. */
  handle(request: ReceivedRequest): readonly [status: number, body: unknown] {
    const { path, parameters, group, id, verb } = partsOf(request.url);
    const body = request.body.toString('utf8');
    const call = `${request.method} ${group}`;
    const missing = [404, { code: 404, message: `dataset "${id}" not found` }] as const;
    if (id === '_apl') return [200, queryResult(JSON.parse(body), this.events, parameters.get('format') ?? '')];
    if (group === 'ingest' || verb === 'ingest')
      return this.datasets.size > 0 && !this.datasets.has(id) ? missing : [200, this.#store(request)];
    const dataset = this.datasets.get(id);
    if (group === 'datasets' && id !== '' && !dataset) return missing;
    if (verb === 'query') return [200, queryResult({ apl: id, ...JSON.parse(body) }, this.events, 'legacy')];
    if (verb === 'trim') return [200, { numDeleted: this.events.get(id)?.length ?? 0 }];
    if (call === 'GET datasets') return [200, dataset ?? [...this.datasets.values()]];
    if (call === 'POST datasets') return this.#make(JSON.parse(body) as { name: string; description?: string });
    if (call === 'PUT datasets') return [200, Object.assign(dataset!, JSON.parse(body))];
    if (call === 'DELETE datasets') return [204, this.datasets.delete(id) && ''];
    if (call === 'GET user') return [200, { id: USER.id, name: USER.name, emails: [USER.email] }];
    if (call === 'GET users') return [200, [USER]];
    if (call === 'GET orgs')
      return [200, [{ id: 'org', name: 'Org', plan: 'free', role: 'owner', license: { maxDatasets: 3 } }]];
    if (call === 'GET tokens') return [200, [...this.#tokens.values()]];
    if (call === 'POST tokens') {
      const made = {
        ...JSON.parse(body),
        id: `t${this.#tokens.size + 1}`,
        kind: 'api',
        created: '2026-01-02T03:04:05Z',
      };
      this.#tokens.set(made.id, made);
      return [200, { ...made, token: 'xaat-00000000-0000-4000-8000-000000000001' }];
    }
    if (call === 'DELETE tokens')
      return this.#tokens.delete(id) ? [204, ''] : [404, { code: 404, message: `token "${id}" not found` }];
    return [404, { code: 404, message: `route ${request.method} ${path} not found` }];
  }

  #make({ name, description = '' }: { name: string; description?: string }): readonly [number, object] {
    if (this.datasets.has(name)) return [409, { code: 409, message: `dataset "${name}" exists` }];
    const created = '2026-01-02T03:04:05.678Z';
    const made = { id: name, name, description, created, integrationConfigs: [], who: 'Ann' };
    this.datasets.set(name, made);
    return [200, made];
  }

  #store({ key, url, lines, body }: ReceivedRequest): object {
    const { id } = partsOf(url);
    const events = this.events.get(id) ?? [];
    this.events.set(id, events);
    const name = key === '' ? `without a key ${this.stored.size}` : key;
    const kept = this.stored.get(name);
    if (!kept) {
      this.stored.set(name, lines);
      for (const line of lines) events.push(parsed(line));
    }
    return {
      // Of the first request of a key, whatever a repeated one brings.
      ingested: (kept ?? lines).length,
      failed: 0,
      failures: [],
      processedBytes: body.length,
      blocksCreated: 1,
      walLength: events.length,
    };
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

/** `/v1/GROUP/ID/VERB` below any base path. */
function partsOf(url: string) {
  const { pathname, searchParams: parameters } = new URL(url, 'http://service');
  const path = pathname.replace(/^.*(?=\/v1\/)/, '');
  const [, , group = '', id = '', verb = ''] = path.split('/').map(decodeURIComponent);
  return { path, parameters, group, id, verb };
}

/** A body that cannot be read has lines all the same: what it is answered is the test's. */
function linesIn(text: string, type: string | undefined): string[] {
  try {
    if (type === 'application/json' && text.startsWith('['))
      return (JSON.parse(text) as unknown[]).map((event) => JSON.stringify(event));
    if (type === 'text/csv') return parseCsv(text, { columns: true }).map((event) => JSON.stringify(event));
  } catch {
    // Read as lines.
  }
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}

interface Asked {
  readonly apl: string;
  readonly limit?: number;
  readonly cursor?: string;
  readonly order?: readonly { readonly field: string; readonly desc?: boolean }[];
}

/** Pages over the events of a dataset: their places are the cursors, the later the newer. */
function queryResult(
  { apl, limit = 1000, cursor, order }: Asked,
  all: ReadonlyMap<string, unknown[]>,
  format: string,
): object {
  const dataset = /^[\w-]+/.exec(apl)?.[0] ?? '';
  const isDescending = !/sort by _time asc/.test(apl) && order?.[0]?.desc !== false;
  const places = (all.get(dataset) ?? []).map((event, place) => ({
    event: event as Record<string, unknown>,
    place: String(place).padStart(8, '0'),
  }));
  const after = places.filter(({ place }) => cursor === undefined || (isDescending ? place < cursor : place > cursor));
  const page = (isDescending ? after.toReversed() : after).slice(0, limit);
  const [first, last] = [page.at(0)?.place ?? cursor ?? '', page.at(-1)?.place ?? cursor ?? ''];
  const status = {
    elapsedTime: 1200,
    rowsMatched: after.length,
    messages: [],
    minCursor: isDescending ? last : first,
    maxCursor: isDescending ? first : last,
  };
  if (format === 'legacy') {
    const matches = page.map(({ event, place }) => ({
      _rowId: place,
      _time: timeOf(place),
      _sysTime: timeOf(place),
      data: event,
    }));
    return { status, matches, buckets: { series: [], totals: [] }, fieldsMeta: [] };
  }
  const names = [...new Set(page.flatMap(({ event }) => Object.keys(event)))].sort();
  const columns = [
    page.map(({ place }) => timeOf(place)),
    page.map(({ place }) => timeOf(place)),
    ...names.map((name) => page.map(({ event }) => event[name] ?? null)),
  ];
  const fields = ['_sysTime', '_time', ...names].map((name) => ({ name, type: 'string' }));
  const table = {
    name: '0',
    sources: [{ name: dataset }],
    fields,
    order: [{ field: '_time', desc: isDescending }],
    groups: [],
    range: { field: '_time', start: '1970-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' },
    columns,
  };
  return { format: 'tabular', status, tables: [table], datasetNames: [dataset], fieldsMetaMap: {} };
}

const timeOf = (place: string): string => new Date(1_767_225_600_000 + Number(place)).toISOString();

/** Tests that begin with a service, and with an empty folder where they ask for it. */
export const test = base.extend('service', () => FakeService.start());
