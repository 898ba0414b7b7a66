/**
 * A service for the client's tests, written from the specification: datasets, ingest in three formats with keys, queries with cursors, account
 * and tokens, all in memory over real HTTP. `respond` takes its place where a test wants another answer.
 */
import type { ServerResponse } from 'node:http';
import { test as base } from 'vitest';
import { FakeIngest, type ReceivedRequest, replyWith } from './fake-ingest.ts';

export interface FakeDataset {
  readonly id: string;
  readonly name: string;
  description: string;
  readonly created: string;
  readonly integrationConfigs: string[];
  readonly who: string;
}

export interface FakeService {
  readonly url: string;
  readonly http: FakeIngest;
  readonly requests: readonly ReceivedRequest[];
  readonly datasets: Map<string, FakeDataset>;
  /** Events by dataset, once for each key, in the order in which they came. */
  readonly events: Map<string, unknown[]>;
  /** The last request. */
  readonly last: ReceivedRequest;
  /** Answers the next requests, one answer each, before the service itself answers again. */
  answerNext(...answers: ((request: ReceivedRequest, response: ServerResponse) => void)[]): void;
  /** Does what a request asks and returns the answer, without sending it. */
  handle(request: ReceivedRequest): readonly [status: number, body: unknown];
  /** Most requests in flight at once. */
  mostAtOnce(): number;
}

const USER = {
  id: 'u1',
  name: 'Ann',
  email: 'ann@example.com',
  role: 'owner',
  permissions: ['CanIngest', 'ManageBilling'],
};

export async function startFakeService(): Promise<FakeService> {
  const http = await FakeIngest.start();
  const datasets = new Map<string, FakeDataset>();
  const events = new Map<string, unknown[]>();
  const replies = new Map<string, object>();
  const tokens = new Map<string, Record<string, unknown>>();
  const planned: ((request: ReceivedRequest, response: ServerResponse) => void)[] = [];
  let [underWay, most] = [0, 0];

  const make = (name: string, description: string): FakeDataset => {
    const made = {
      id: name,
      name,
      description,
      created: '2026-01-02T03:04:05.678Z',
      integrationConfigs: [],
      who: 'Ann',
    };
    datasets.set(name, made);
    return made;
  };
  const route = (request: ReceivedRequest): readonly [status: number, body: unknown] => {
    const { pathname, searchParams } = new URL(request.url, http.url);
    const body = request.body.toString('utf8');
    const path = pathname.replace(/^\/base/, '');
    const [, , group = '', id = '', verb = ''] = path.split('/').map(decodeURIComponent);
    const call = `${request.method} ${group}`;
    const missing = [404, { code: 404, message: `dataset "${id}" not found` }] as const;
    if (id === '_apl') return [200, queryResult(JSON.parse(body), events, searchParams.get('format') ?? '')];
    if (group === 'ingest' || verb === 'ingest') return datasets.has(id) ? [200, store(id, request, body)] : missing;
    if (verb === 'query')
      return datasets.has(id) ? [200, queryResult({ apl: id, ...JSON.parse(body) }, events, 'legacy')] : missing;
    if (verb === 'trim') return datasets.has(id) ? [200, { numDeleted: events.get(id)?.length ?? 0 }] : missing;
    if (call === 'GET datasets' && id === '') return [200, [...datasets.values()]];
    if (call === 'POST datasets') {
      const { name, description = '' } = JSON.parse(body) as { name: string; description?: string };
      return datasets.has(name)
        ? [409, { code: 409, message: `dataset "${name}" exists` }]
        : [200, make(name, description)];
    }
    const dataset = datasets.get(id);
    if (group === 'datasets' && !dataset) return missing;
    if (call === 'GET datasets') return [200, dataset];
    if (call === 'PUT datasets') return [200, Object.assign(dataset!, JSON.parse(body))];
    if (call === 'DELETE datasets') return [204, datasets.delete(id) && ''];
    if (call === 'GET user') return [200, { id: USER.id, name: USER.name, emails: [USER.email] }];
    if (call === 'GET users') return [200, [USER]];
    if (call === 'GET orgs')
      return [200, [{ id: 'org', name: 'Org', plan: 'free', role: 'owner', license: { maxDatasets: 3 } }]];
    if (call === 'GET tokens') return [200, [...tokens.values()]];
    if (call === 'POST tokens') {
      const made = {
        ...(JSON.parse(body) as object),
        id: `t${tokens.size + 1}`,
        kind: 'api',
        created: '2026-01-02T03:04:05Z',
      };
      tokens.set(made.id, made);
      return [200, { ...made, token: 'xaat-00000000-0000-4000-8000-000000000001' }];
    }
    if (call === 'DELETE tokens')
      return tokens.delete(id) ? [204, ''] : [404, { code: 404, message: `token "${id}" not found` }];
    return [404, { code: 404, message: `route ${request.method} ${path} not found` }];
  };
  const store = (dataset: string, request: ReceivedRequest, body: string): object => {
    const known = replies.get(request.key);
    if (known && request.key !== '') return known;
    const read = eventsIn(String(request.headers['content-type']), body);
    events.set(dataset, [...(events.get(dataset) ?? []), ...read]);
    const reply = {
      ingested: read.length,
      failed: 0,
      failures: [],
      processedBytes: request.body.length,
      blocksCreated: 1,
      walLength: events.get(dataset)!.length,
    };
    replies.set(request.key, reply);
    return reply;
  };

  http.respond = (request, response) => {
    underWay += 1;
    most = Math.max(most, underWay);
    response.on('close', () => (underWay -= 1));
    const answer = planned.shift();
    if (answer) return answer(request, response);
    const [status, body] = route(request);
    if (status === 204) response.writeHead(204).end();
    else replyWith(response, status, body);
  };
  return {
    url: http.url,
    http,
    requests: http.requests,
    datasets,
    events,
    get last() {
      return http.requests.at(-1)!;
    },
    answerNext: (...answers) => void planned.push(...answers),
    handle: route,
    mostAtOnce: () => most,
  };
}

function eventsIn(contentType: string, body: string): unknown[] {
  if (contentType === 'application/json') return JSON.parse(body) as unknown[];
  const lines = body.split('\n').filter((line) => line !== '');
  return contentType === 'text/csv' ? lines.slice(1) : lines.map((line) => JSON.parse(line) as unknown);
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

/** Tests that begin with a service. */
export const test = base.extend('service', () => startFakeService());
