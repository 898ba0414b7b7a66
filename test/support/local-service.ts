/** The real local service as a child process, with a dataset, and the few questions that tests ask it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { type Program, startProgram } from './program.ts';
import { until } from './until.ts';

export const API_TOKEN = 'xaat-11111111-2222-4333-8444-555555555555';
export const PERSONAL_TOKEN = 'xapt-11111111-2222-4333-8444-555555555555';

export interface LocalService {
  readonly url: string;
  readonly program: Program;
  /** Sends a request with the API token and returns the parsed reply; throws on an error status. */
  readonly ask: (method: string, path: string, body?: unknown) => Promise<unknown>;
  /** Values of aggregations over a whole dataset, by their order. */
  aggregate(
    dataset: string,
    aggregations: readonly { op: string; field?: string }[],
    filter?: unknown,
  ): Promise<unknown[]>;
  /** Every event of a dataset, as it was stored; throws when there are more than one query gives. */
  events(dataset: string): Promise<Record<string, unknown>[]>;
  /** Starts one again at the same address, on the same data. */
  again(): Promise<Program>;
}

/** What one query gives at most. */
const MOST_EVENTS = 50_000;
/** All that an event may have: a made-up one may be of 1950. */
const ALL_TIMES = { startTime: '1900-01-01T00:00:00Z', endTime: '2262-04-11T23:47:16Z' };

/** Call in a suite: one service for its tests, empty until they begin; `fill` is called first. */
export function localService(
  dataset: string,
  fill?: (service: LocalService) => Promise<unknown>,
  more: readonly string[] = [],
): LocalService {
  const service = {} as LocalService;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tailrace-service-'));
    Object.assign(service, await startLocalService(folder, dataset, more));
    await fill?.(service);
  });
  afterAll(async () => {
    await service.program.end('SIGKILL');
    rmSync(folder, { recursive: true });
  });
  return service;
}

async function serve(folder: string, listen: string, more: readonly string[]): Promise<Program> {
  const program = startProgram(['serve', '--listen', listen, '--data', join(folder, 'service'), '--json', ...more], {
    TAILRACE_API_TOKEN: API_TOKEN,
    TAILRACE_PERSONAL_TOKEN: PERSONAL_TOKEN,
    TAILRACE_ORG_ID: 'test-org',
  });
  await until(
    'the service’s address',
    () => program.stdout().includes('\n') || program.process.exitCode !== null || program.stderr(),
  );
  if (program.process.exitCode !== null) throw new Error(`the service did not start:\n${program.stderr()}`);
  return program;
}

/** `more`: further arguments of `serve`. */
export async function startLocalService(
  folder: string,
  dataset: string,
  more: readonly string[] = [],
): Promise<LocalService> {
  const program = await serve(folder, '127.0.0.1:0', more);
  const { url } = JSON.parse(program.stdout().split('\n')[0]!) as { url: string };
  const ask = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const headers = { authorization: `Bearer ${API_TOKEN}`, 'content-type': 'application/json' };
    const reply = await fetch(url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${path}: HTTP ${reply.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  await ask('POST', '/v1/datasets', { name: dataset });
  return {
    url,
    program,
    ask,
    again: () => serve(folder, new URL(url).host, more),
    async aggregate(name, aggregations, filter) {
      const query = {
        ...ALL_TIMES,
        aggregations,
        ...(filter === undefined ? {} : { filter }),
      };
      const result = (await ask('POST', `/v1/datasets/${name}/query`, query)) as {
        buckets: { totals: { aggregations: { value: unknown }[] }[] };
      };
      return (result.buckets.totals[0]?.aggregations ?? []).map(({ value }) => value);
    },
    async events(name) {
      const query = { ...ALL_TIMES, limit: MOST_EVENTS };
      const { matches, status } = (await ask('POST', `/v1/datasets/${name}/query`, query)) as {
        matches: { data: Record<string, unknown> }[];
        status: { rowsMatched: number };
      };
      if (status.rowsMatched > matches.length)
        throw new Error(`${status.rowsMatched} events, of which a query gives ${matches.length}`);
      return matches.map(({ data }) => data);
    },
  };
}
