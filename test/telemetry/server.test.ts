import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { Observed } from '../../src/telemetry/observed.ts';
import { startTelemetry } from '../../src/telemetry/server.ts';
import { parsePrometheus } from '../support/prometheus-text.ts';
import { makeHistograms, observed, observedSink, observedSource } from './observed.ts';
import { takenPort } from '../support/free-port.ts';

async function start(
  changes: { observe?: () => Observed; stalled?: () => string | undefined; host?: string; port?: number } = {},
) {
  const server = await startTelemetry({
    listen: { host: changes.host ?? '127.0.0.1', port: changes.port ?? 0 },
    histograms: makeHistograms(),
    observe: changes.observe ?? (() => observed()),
    stalled: changes.stalled ?? (() => undefined),
  });
  onTestFinished(() => server.close());
  return server;
}

async function get(
  address: string,
  path: string,
  method = 'GET',
): Promise<{ status: number; text: string; type: string | null }> {
  const reply = await fetch(address + path, { method });
  return { status: reply.status, text: await reply.text(), type: reply.headers.get('content-type') };
}

test('telemetry serves metrics, health and readiness, and nothing else', async () => {
  const { address } = await start();
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const metrics = await get(address, '/metrics?x=1');
  expect(metrics).toMatchObject({ status: 200, type: expect.stringContaining('text/plain') });
  expect(parsePrometheus(metrics.text).size).toBeGreaterThan(20);
  expect(await get(address, '/healthz')).toMatchObject({
    status: 200,
    type: 'application/json',
    text: '{"status":"ok","problems":[]}\n',
  });
  expect(JSON.parse((await get(address, '/readyz')).text)).toEqual({ status: 'ready', paused: [], waiting: [] });
  expect(await get(address, '/elsewhere')).toMatchObject({ status: 404, text: expect.stringContaining('/metrics') });
  expect(await get(address, '/constructor')).toMatchObject({ status: 404 });
  expect(await get(address, '/metrics', 'POST')).toMatchObject({ status: 405 });
  expect(await get(address, '/metrics', 'HEAD')).toMatchObject({ status: 200, text: '' });
});

test('telemetry is unhealthy while the accounting does not balance, and says which and by how much', async () => {
  const sources = [observedSource(), observedSource({ id: 'net', held: 20 })];
  const { address } = await start({ observe: () => observed({ sources }) });
  const { status, text } = await get(address, '/healthz');
  expect(status).toBe(503);
  const { problems } = JSON.parse(text) as { problems: string[] };
  expect(problems).toEqual([expect.stringContaining('source "net": 100 events were accepted, 90 are accounted for')]);
  sources[1] = observedSource({ id: 'net' });
  expect((await get(address, '/healthz')).status).toBe(200);
  // Too many are as wrong as too few.
  sources[1] = observedSource({ id: 'net', held: 31 });
  expect((await get(address, '/healthz')).status).toBe(503);
});

test('telemetry is unhealthy after a stall', async () => {
  let stall: string | undefined = 'the event loop stood still for 6000 ms within the last minute';
  const { address } = await start({ stalled: () => stall });
  expect(await get(address, '/healthz')).toMatchObject({ status: 503, text: expect.stringContaining('6000 ms') });
  stall = undefined;
  expect((await get(address, '/healthz')).status).toBe(200);
});

test('telemetry is not ready before the start is over and while a sink is paused, but healthy', async () => {
  let now = observed({ started: false });
  const { address } = await start({ observe: () => now });
  expect(await get(address, '/readyz')).toMatchObject({ status: 503, text: expect.stringContaining('"starting"') });
  const pauses = new Map([['logs', { reason: 'unauthorized', detail: 'HTTP 403 no', fix: 'check that the token …' }]]);
  now = observed({ sinks: [observedSink(), observedSink({ id: 'second', pauses })] });
  const { status, text } = await get(address, '/readyz');
  expect(status).toBe(503);
  expect(JSON.parse(text)).toEqual({
    status: 'paused',
    paused: [
      { sink: 'second', dataset: 'logs', reason: 'unauthorized', detail: 'HTTP 403 no', fix: 'check that the token …' },
    ],
    waiting: [],
  });
  expect((await get(address, '/healthz')).status).toBe(200);
  now = observed();
  expect((await get(address, '/readyz')).status).toBe(200);
});

test.for([
  [true, 'dead_letters_full'],
  [false, 'dead_letters_refused'],
] as const)('telemetry is not ready while batches wait for the dead letters (full: %s)', async ([isFull, reason]) => {
  const blocked = { batches: 2, events: 3, isFull, reason: 'no room', fix: 'make some' };
  const { address } = await start({ observe: () => observed({ sinks: [observedSink({ blocked })] }) });
  const { status, text } = await get(address, '/readyz');
  expect([status, JSON.parse(text)]).toEqual([
    503,
    {
      status: 'blocked',
      paused: [],
      blocked: [{ sink: 'store', reason, batches: 2, events: 3, detail: 'no room', fix: 'make some' }],
      waiting: [],
    },
  ]);
  expect((await get(address, '/healthz')).status).toBe(200);
});

test('telemetry is ready while positions cannot be saved, and says so', async () => {
  const { address } = await start({
    observe: () =>
      observed({ checkpointRefusal: { reason: 'database or disk is full', fix: 'free space in data_dir' } }),
  });
  const { status, text } = await get(address, '/readyz');
  expect(status).toBe(200);
  expect(JSON.parse(text)).toMatchObject({
    status: 'ready',
    unsaved: { reason: 'database or disk is full', fix: expect.stringContaining('free space') as string },
  });
});

test('telemetry is ready while reading waits, and says which source waits for what', async () => {
  const waiting = {
    sink: 'store',
    dataset: 'logs',
    reason: 'memory_full',
    seconds: 2.5,
    failure: 'timeout: no answer',
  } as const;
  const { address } = await start({
    observe: () => observed({ sources: [observedSource({ waiting }), observedSource({ id: 'net' })] }),
  });
  const { status, text } = await get(address, '/readyz');
  expect(status).toBe(200);
  expect(JSON.parse(text)).toEqual({ status: 'ready', paused: [], waiting: [{ source: 'app', ...waiting }] });
});

test('telemetry on a port that is taken is a declared error with the way out', async () => {
  const port = await takenPort();
  await expect(start({ port })).rejects.toMatchObject({
    code: 'E_TELEMETRY_LISTEN',
    message: `telemetry cannot listen on 127.0.0.1:${port}: the port is taken`,
    fix: expect.stringContaining('telemetry.listen'),
  });
  await expect(start({ host: '192.0.2.1' })).rejects.toMatchObject({
    code: 'E_TELEMETRY_LISTEN',
    message: expect.stringContaining('EADDRNOTAVAIL'),
  });
});

/** The first line of the answer to a request as raw bytes. */
async function ask(address: string, request: string): Promise<string> {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  socket.write(request);
  let text = '';
  for await (const chunk of socket) {
    text += String(chunk);
    if (text.includes('\r\n')) break;
  }
  return text.split('\r\n')[0]!;
}

// Symptom: `GET //` ended the agent. Cause: the URL's parser threw inside the request's handler, where nothing catches.
// Fix: the path is cut at its query, not parsed, and whatever a page throws becomes an answer.
test.for(['//', '//:99999', '/\u0000', 'http://[', '*', '/%', '\\\\'])(
  'telemetry outlives a request for %j',
  async (target) => {
    const { address } = await start();
    expect(await ask(address, `GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`)).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect((await get(address, '/healthz')).status).toBe(200);
  },
);

test('telemetry answers 500 when a page fails, and goes on', async () => {
  let broken = true;
  const { address } = await start({
    observe: () => {
      if (broken) throw new Error('no numbers');
      return observed();
    },
  });
  for (const path of ['/metrics', '/healthz', '/readyz'])
    expect(await get(address, path)).toMatchObject({ status: 500, text: 'no numbers\n' });
  broken = false;
  for (const path of ['/metrics', '/healthz', '/readyz'])
    expect(await get(address, path)).toMatchObject({ status: 200 });
});

test('telemetry closes with connections still open', async () => {
  const server = await start();
  const { hostname, port } = new URL(server.address);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  await once(socket, 'connect');
  const closed = once(socket, 'close');
  await server.close();
  await closed;
});
