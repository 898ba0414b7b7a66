/** What an operator sees of the service: health, metrics, the access log; and who may see it. */
import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { isLocal } from '../../src/service/http/is-local.ts';
import { until } from '../support/until.ts';
import { ask } from './raw-request.ts';
import { serviceForSuite } from './support.ts';

interface Line {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly ms: number;
  readonly token: string | null;
}

const written: string[] = [];
const { under, client } = serviceForSuite({ accessLog: (line) => written.push(line) }, { logs: [] });

async function metrics(url = client.url): Promise<Map<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    samples.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
}
const openStreams = async (): Promise<number> => (await metrics()).get('tailrace_service_open_streams')!;
const hold = (signal?: AbortSignal): Promise<Response> =>
  fetch(`${client.url}/v1/datasets/logs/query?streaming-duration=1m`, {
    method: 'POST',
    headers: { authorization: `Bearer ${client.apiToken}`, 'content-type': 'application/json' },
    body: '{"startTime":"now+1h","endTime":"now+2h"}',
    ...(signal && { signal }),
  });

describe('/healthz and /readyz', () => {
  test.each([
    ['/healthz', 'ok'],
    ['/readyz', 'ready'],
  ])('%s needs no token', async (path, status) => {
    const answer = await client.call('GET', path, { token: '' });
    expect([answer.status, answer.json]).toEqual([200, { status }]);
  });
});

describe('/metrics', () => {
  test('counts requests by route and status, never by the path that was asked for', async () => {
    await client.call('GET', '/v1/datasets/never-there');
    await client.call('GET', '/nowhere/secret');
    await client.call('GET', '/v1/datasets', { token: 'none' });
    await until('the last reply to be counted', async () =>
      (await metrics()).has('tailrace_service_requests_total{route="/v1/datasets",status="403"}'),
    );
    const text = await (await fetch(`${client.url}/metrics`)).text();
    expect(text).toMatch(/^tailrace_service_requests_total\{route="\/v1\/datasets\/\{dataset\}",status="404"\} 1$/m);
    expect(text).toMatch(/^tailrace_service_requests_total\{route="none",status="404"\} 1$/m);
    expect(text).toMatch(/^tailrace_service_request_seconds_count\{route="\/v1\/datasets\/\{dataset\}"\} 1$/m);
    for (const raw of ['never-there', 'secret']) expect(text).not.toContain(raw);
  });

  test('counts events, bytes, queries and rows', async () => {
    await client.createDataset('counted');
    const before = await metrics();
    const sent = await client.ingest('counted', '{"a":1}\n{"a":2}\n{');
    await client.query('counted');
    const after = await metrics();
    const grown = (name: string): number => after.get(name)! - (before.get(name) ?? 0);
    expect(grown('tailrace_service_ingested_events_total{dataset="counted"}')).toBe(2);
    expect(grown('tailrace_service_failed_events_total{dataset="counted"}')).toBe(1);
    expect(grown('tailrace_service_ingested_bytes_total{dataset="counted"}')).toBe(sent.json['processedBytes']);
    expect(grown('tailrace_service_ingest_seconds_count')).toBe(1);
    expect(grown('tailrace_service_query_seconds_count')).toBe(1);
    expect(grown('tailrace_service_query_rows_read_total')).toBeGreaterThanOrEqual(2);
    expect(after.get('tailrace_service_engine_memory_bytes')).toBeGreaterThan(0);
    expect(after.get('process_resident_memory_bytes')).toBeGreaterThan(1e7);
  });

  test('needs no token on loopback, and one that may read datasets for what a proxy passes on or a browser was made to ask', async () => {
    expect((await ask(client.url, '/metrics', {})).status).toBe(200);
    const { json } = await client.call('POST', '/v2/tokens', {
      token: client.personalToken,
      headers: { 'x-service-org-id': client.orgId },
      body: { name: 'scrape', orgCapabilities: { datasets: ['read'] } },
    });
    const weak = await client.call('POST', '/v2/tokens', {
      token: client.personalToken,
      headers: { 'x-service-org-id': client.orgId },
      body: { name: 'ingest', datasetCapabilities: { logs: { ingest: ['create'] } } },
    });
    for (const headers of [
      { 'x-forwarded-for': '10.0.0.1' },
      { forwarded: 'for=10.0.0.1' },
      { via: '1.1 proxy' },
      { host: 'logs.example.org' },
    ]) {
      const bearer = (token: unknown) => ({ ...headers, authorization: `Bearer ${String(token)}` });
      expect((await ask(client.url, '/metrics', headers)).status).toBe(403);
      expect((await ask(client.url, '/metrics', bearer(weak.json['token']))).status).toBe(403);
      expect((await ask(client.url, '/metrics', bearer(json['token']))).status).toBe(200);
    }
  });

  test.each([
    ['127.0.0.1', '127.0.0.1', 'localhost:4100', true],
    ['::1', '::1', '[::1]:4100', true],
    ['::ffff:127.0.0.1', '::ffff:127.0.0.1', '127.0.0.1', true],
    ['10.0.0.7', '10.0.0.2', '127.0.0.1:4100', false],
    ['10.0.0.2', '10.0.0.2', 'localhost', false],
    ['127.0.0.1', '127.0.0.1', '127.0.0.1.example.org', false],
    ['127.0.0.1', '127.0.0.1', undefined, false],
  ])('a request from %s to %s for %j is local: %j', (remoteAddress, localAddress, host, local) => {
    expect(
      isLocal({
        socket: { remoteAddress, localAddress },
        headers: { host },
        rawHeaders: [],
      } as unknown as IncomingMessage),
    ).toBe(local);
  });
});

describe('open streams', () => {
  test('end when the client goes away', async () => {
    const gone = new AbortController();
    const held = hold(gone.signal);
    await until('the query to wait', async () => (await openStreams()) === 1);
    gone.abort();
    await expect(held).rejects.toThrow();
    await until('its wait to end', async () => (await openStreams()) === 0);
    await until(
      'its end to be counted',
      async () =>
        (await metrics()).get('tailrace_service_requests_total{route="/v1/datasets/{dataset}/query",status="499"}') ===
        1,
    );
  });

  test('wait by the hundred with one query each, and run another when they are woken', async () => {
    const queries = async (): Promise<number> => (await metrics()).get('tailrace_service_query_seconds_count')!;
    const before = await queries();
    const held = Array.from({ length: 200 }, () => hold());
    await until('all to wait', async () => (await openStreams()) === 200);
    expect(await queries()).toBe(before + 200);
    await client.ingest('logs', [{ a: 1 }]);
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual(Array.from({ length: 200 }, () => 200));
    expect([await queries(), await openStreams()]).toEqual([before + 400, 0]);
  });
});

describe('the access log', () => {
  test('has a line for each request, with the token’s id and never its text', async () => {
    const lineOf = async (path: string, status: number): Promise<Line> => {
      const find = (): Line | undefined =>
        written.map((line) => JSON.parse(line) as Line).find((line) => line.path === path && line.status === status);
      await until(`a line of ${path}`, () => find() !== undefined);
      return find()!;
    };
    const { json } = await client.call('POST', '/v2/tokens', {
      token: client.personalToken,
      headers: { 'x-service-org-id': client.orgId },
      body: { name: 'weak', orgCapabilities: { annotations: ['read'] } },
    });
    await client.call('GET', '/v1/datasets/of-weak?token=in-the-query', { token: json['token'] as string });
    await client.call('GET', '/v1/datasets/of-none', { token: 'xaat-unknown' });
    await client.call('GET', '/v1/datasets/logs');
    expect(await lineOf('/v1/datasets/of-weak', 403)).toMatchObject({
      method: 'GET',
      token: json['id'],
      ms: expect.any(Number),
    });
    expect(await lineOf('/v1/datasets/of-none', 403)).toMatchObject({ token: null });
    expect(await lineOf('/v1/datasets/logs', 200)).toMatchObject({ token: 'api' });
    const all = written.join('');
    expect(all.split('\n').slice(0, -1)).toHaveLength(written.length);
    for (const secret of [
      json['token'] as string,
      client.apiToken,
      client.personalToken,
      'xaat-unknown',
      'in-the-query',
    ])
      expect(all).not.toContain(secret);
  });
});

// Last: the service is gone then.
test('a stop of the service answers open streams', async () => {
  const held = hold();
  await until('the query to wait', async () => (await openStreams()) === 1);
  await under.stop();
  expect((await held).status).toBe(503);
});
