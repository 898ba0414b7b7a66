/** Refusals that the sink mends itself: a token that was replaced, a dataset that is not there; and connections that age. */
import { renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { IngestSinkConfig } from '../../../src/sinks/ingest/ingest-config.ts';
import { type Clock, systemClock } from '../../../src/core/time/clock.ts';
import { CREATE_DATASET_PAUSE_MS, MAX_CONNECTION_AGE_MS } from '../../../src/sinks/ingest/limits.ts';
import type { Outcome, SinkRequest, Sink } from '../../../src/core/sink.ts';
import { FakeService, replyWith, test } from '../../support/fake-service.ts';
import { makeSink as makeSinkOn, never, sinkRequest } from './rig.ts';
import { SteppedClock } from '../../support/stepped-clock.ts';
import { makeTree } from '../../support/temp-tree.ts';
import { until } from '../../support/until.ts';

const makeSink = (url: string, changes: Partial<IngestSinkConfig>, clock: Clock = new SteppedClock()): Sink =>
  makeSinkOn(url, changes, clock);

const send = async (sink: Sink, changes: Partial<SinkRequest> = {}): Promise<Outcome> =>
  (await sink.send({ ...sinkRequest, ...changes }, never)).outcome;

/** A service that takes one token. */
async function startGuarded(): Promise<{ service: FakeService; guard: { token: string } }> {
  const service = await FakeService.start();
  const guard = { token: 'old' };
  service.respond = (request, response) => {
    if (request.headers.authorization === `Bearer ${guard.token}`) return service.storeAll(request, response);
    replyWith(response, 401, { code: 401, message: 'invalid token' });
  };
  return { service, guard };
}

test('a refused token that was replaced meanwhile is followed by the new one at once, the same one by a pause', async () => {
  const { service, guard } = await startGuarded();
  const path = join(makeTree({ token: 'old' }), 'token');
  const sink = makeSink(service.url, { token: { kind: 'file', path } });
  expect(await send(sink)).toMatchObject({ kind: 'delivered' });
  guard.token = 'new';
  expect(await send(sink)).toMatchObject({ kind: 'pause', reason: 'unauthorized' });
  // As large as the old one, and with its times: only the refusal makes the agent look into it.
  const respond = service.respond;
  service.respond = (request, response) => {
    writeFileSync(path, 'new');
    utimesSync(path, new Date(0), new Date(0));
    respond(request, response);
  };
  expect(await send(sink)).toEqual({
    kind: 'retry',
    reason: 'token_changed',
    detail: 'HTTP 401 invalid token; the token file holds another token now',
    afterMs: 0,
  });
  expect(await send(sink)).toMatchObject({ kind: 'delivered' });
  expect(await send(makeSink(service.url, { token: { kind: 'value', value: 'fixed' } }))).toMatchObject({
    kind: 'pause',
  });
});

test('a token file that is swapped under load costs no batch but those in flight', async () => {
  const { service, guard } = await startGuarded();
  const folder = makeTree({ token: 'old' });
  const path = join(folder, 'token');
  const sink = makeSink(service.url, { token: { kind: 'file', path }, concurrency: 8 });
  const outcomes: string[] = [];
  const failedAfterSwap: number[] = [];
  let sent = 0;
  let swappedAt = Infinity;
  const worker = async (): Promise<void> => {
    while (sent < 400) {
      const number = sent++;
      for (let outcome: Outcome | undefined; outcome?.kind !== 'delivered';) {
        outcome = await send(sink, { key: `k${number}` });
        outcomes.push(outcome.kind === 'retry' ? outcome.reason : outcome.kind);
        if (outcome.kind !== 'delivered') failedAfterSwap.push(number);
      }
      if (number === 200) {
        writeFileSync(join(folder, 'next'), 'new');
        renameSync(join(folder, 'next'), path);
        guard.token = 'new';
        swappedAt = sent;
      }
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  expect(service.stored.size).toBe(400);
  expect(new Set(outcomes)).toEqual(
    new Set(failedAfterSwap.length > 0 ? ['delivered', 'token_changed'] : ['delivered']),
  );
  expect(failedAfterSwap.length).toBeLessThanOrEqual(8);
  for (const number of failedAfterSwap) expect(number).toBeLessThan(swappedAt);
});

/** A service without datasets; `create` answers their creation. */
async function startEmpty(create: { status: number; body?: object; works?: boolean }) {
  const service = await FakeService.start();
  const datasets = new Set<string>();
  const created: { url: string; body: string; authorization: string | undefined }[] = [];
  service.respond = (request, response) => {
    if (request.url.endsWith('/v1/datasets')) {
      const body = request.body.toString();
      created.push({ url: request.url, body, authorization: request.headers.authorization });
      if (create.works !== false && create.status < 500) datasets.add((JSON.parse(body) as { name: string }).name);
      return replyWith(response, create.status, create.body ?? {});
    }
    if (datasets.has(request.url.split('/').at(-1)!)) return service.storeAll(request, response);
    replyWith(response, 404, { code: 404, message: 'dataset not found' });
  };
  return { service, created };
}

test.each([200, 201, 409])(
  'a missing dataset is created, once for all workers, when the service answers %i',
  async (status) => {
    const { service, created } = await startEmpty({ status });
    const sink = makeSink(`${service.url}/base`, { createDataset: true });
    // None is answered before all four are there.
    const { respond } = service;
    const waiting: (() => void)[] = [];
    service.respond = (request, response) => {
      waiting.push(() => respond(request, response));
      if (waiting.length < 4) return;
      service.respond = respond;
      for (const answer of waiting) answer();
    };
    const outcomes = await Promise.all(Array.from({ length: 4 }, () => send(sink)));
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ kind: 'retry', reason: 'dataset_created', afterMs: 0 });
    expect(created).toEqual([
      { url: '/base/v1/datasets', body: '{"name":"logs"}', authorization: 'Bearer secret-token' },
    ]);
    expect(await send(sink)).toMatchObject({ kind: 'delivered' });
  },
);

test('without create_dataset a missing dataset is left alone', async () => {
  const { service, created } = await startEmpty({ status: 200 });
  expect(await send(makeSink(service.url, {}))).toMatchObject({ kind: 'pause', reason: 'not_found' });
  expect(created).toEqual([]);
});

test('a dataset that cannot be created pauses with the reason, and is not asked for again within ten seconds', async () => {
  const { service, created } = await startEmpty({ status: 503, body: { message: 'no room' } });
  const clock = new SteppedClock();
  const sink = makeSink(service.url, { createDataset: true }, clock);
  const refused = {
    kind: 'pause',
    reason: 'not_found',
    detail: 'HTTP 404 dataset not found; creating the dataset: HTTP 503 no room',
    fix: expect.stringContaining('create the dataset by hand'),
  };
  expect(await send(sink)).toEqual(refused);
  await clock.advance(CREATE_DATASET_PAUSE_MS - 1);
  expect(await send(sink)).toEqual(refused);
  expect(created).toHaveLength(1);
  // Another dataset has its own attempts.
  await send(sink, { dataset: 'other' });
  expect(created).toHaveLength(2);
  await clock.advance(1);
  expect(await send(sink)).toEqual(refused);
  expect(created).toHaveLength(3);
});

test('a service that creates a dataset and still does not find it is not asked in a circle', async () => {
  const { service, created } = await startEmpty({ status: 200, works: false });
  const clock = new SteppedClock();
  const sink = makeSink(service.url, { createDataset: true }, clock);
  expect(await send(sink)).toMatchObject({ kind: 'retry', reason: 'dataset_created' });
  await clock.advance(1);
  for (let n = 0; n < 3; n++) {
    expect(await send(sink)).toMatchObject({
      kind: 'pause',
      detail: expect.stringContaining('the service created it and does not find it'),
    });
  }
  expect(created).toHaveLength(1);
});

test('datasets are created at the service itself, events go to its edge', async () => {
  const edge = await startEmpty({ status: 200 });
  const api = await startEmpty({ status: 200 });
  const sink = makeSink(`${edge.service.url}/edge`, { apiUrl: `${api.service.url}/api`, createDataset: true });
  expect(await send(sink)).toMatchObject({ reason: 'dataset_created' });
  expect(edge.created).toEqual([]);
  expect(api.created.map(({ url }) => url)).toEqual(['/api/v1/datasets']);
  const gone = makeSink(edge.service.url, { apiUrl: 'http://127.0.0.1:1', createDataset: true });
  expect(await send(gone)).toMatchObject({ kind: 'pause', detail: expect.stringContaining('ECONNREFUSED') });
});

test('connections are renewed after five minutes, while a request in flight goes on', async ({ service }) => {
  const clock = new SteppedClock();
  const sink = makeSink(service.url, { concurrency: 1 }, clock);
  await send(sink);
  await clock.advance(MAX_CONNECTION_AGE_MS - 1);
  await send(sink);
  expect(service.connections).toBe(1);
  let answer = () => {};
  service.respond = (request, response) => {
    if (request.key === 'slow') answer = () => service.storeAll(request, response);
    else service.storeAll(request, response);
  };
  const slow = send(sink, { key: 'slow' });
  await until('it is under way', () => service.requests.length === 3);
  await clock.advance(1);
  expect(await send(sink)).toMatchObject({ kind: 'delivered' });
  expect(service.connections).toBe(2);
  answer();
  expect(await slow).toMatchObject({ kind: 'delivered' });
});

test('a name that has several addresses, none of which answers, fails with each of them', async () => {
  const { detail } = (await send(makeSink('http://localhost:1', {}, systemClock))) as { detail: string };
  expect(detail).toMatch(/ECONNREFUSED/);
  expect(detail).not.toContain('AggregateError');
});
