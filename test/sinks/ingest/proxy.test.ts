/** The way through a proxy: tunnels for https, forwarding for http, users and passwords, and proxies that fail. */
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, onTestFinished } from 'vitest';
import type { IngestSinkConfig } from '../../../src/sinks/ingest/ingest-config.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import type { Sink } from '../../../src/core/sink.ts';
import type { createIngestSink } from '../../../src/sinks/ingest/sink.ts';
import { hasOpenssl, makeAuthority, makeCertificate, readCertificate } from '../../support/certificates.ts';
import { FakeService, test } from '../../support/fake-service.ts';
import { listen } from '../../support/free-port.ts';
import { startProxy } from '../../support/proxy.ts';
import { sinkConfig } from '../../support/sink-config.ts';
import { makeSink as makeSinkOn, never, sinkRequest } from './rig.ts';
import { until } from '../../support/until.ts';
import { makeTree } from '../../support/temp-tree.ts';

const makeSink = (url: string, changes: Partial<IngestSinkConfig>): Sink =>
  makeSinkOn(url, { timeoutMs: 5000, ...changes });

test.skipIf(!hasOpenssl)(
  'https goes through a tunnel, so that the proxy sees neither events nor token (needs: apt-get install openssl)',
  async () => {
    const folder = makeTree({});
    const authority = makeAuthority(folder, 'authority');
    const server = makeCertificate(folder, 'server', authority, { names: 'DNS:ingest.example.com' });
    const service = await FakeService.start(0, readCertificate(server));
    const proxy = await startProxy(() => service.port);
    const tls = { ca: authority.cert, cert: undefined, key: undefined };
    const sink = makeSink('https://ingest.example.com', { proxy: proxy.url, tls, concurrency: 1 });
    for (const key of ['k1', 'k2'])
      expect((await sink.send({ ...sinkRequest, key }, never)).outcome).toMatchObject({ kind: 'delivered' });
    expect(proxy.seen).toEqual(['CONNECT ingest.example.com:443']);
    expect(service.requests.map(({ headers }) => headers['host'])).toEqual([
      'ingest.example.com',
      'ingest.example.com',
    ]);
    expect(service.requests[0]!.headers).not.toHaveProperty('proxy-authorization');
    const wrongHost = await makeSink('https://other.example.com', { proxy: proxy.url, tls }).send(sinkRequest, never);
    expect(wrongHost.outcome).toMatchObject({
      detail: expect.stringContaining('is for another host (it names DNS:ingest.example.com)'),
    });
    const untrusted = await makeSink('https://ingest.example.com', { proxy: proxy.url }).send(sinkRequest, never);
    expect(untrusted.outcome).toMatchObject({ detail: expect.stringContaining('not trusted here') });
  },
);

test('http is forwarded, with the user and password of the proxy', async ({ service }) => {
  const proxy = await startProxy(() => service.port, 'agent:p@ss');
  const address = (user: string) => proxy.url.replace('//', `//${user}@`);
  const sink = makeSink('http://ingest.example.com', { proxy: address('agent:p%40ss') });
  expect((await sink.send(sinkRequest, never)).outcome).toMatchObject({ kind: 'delivered' });
  expect(proxy.seen).toEqual(['POST http://ingest.example.com/v1/ingest/logs']);
  expect(service.requests[0]!.body.equals(Buffer.from(sinkRequest.body))).toBe(true);
  for (const user of ['agent:wrong', 'agent']) {
    for (const url of ['http://ingest.example.com', 'https://ingest.example.com']) {
      expect(await makeSink(url, { proxy: address(user) }).send(sinkRequest, never)).toMatchObject({
        status: 0,
        outcome: {
          kind: 'retry',
          reason: 'network',
          detail: expect.stringContaining('the proxy wants a user and password, or other ones (407)'),
        },
      });
    }
  }
  expect(service.requests).toHaveLength(1);
});

test('a proxy that refuses to connect, or is not there, is named', async () => {
  const proxy = await startProxy(() => 1);
  const { outcome } = await makeSink('https://ingest.example.com', { proxy: proxy.url }).send(sinkRequest, never);
  expect(outcome).toMatchObject({ kind: 'retry', reason: 'network', detail: expect.stringContaining('proxy') });
  const gone = await makeSink('https://ingest.example.com', { proxy: 'http://127.0.0.1:1' }).send(sinkRequest, never);
  expect(gone.outcome).toMatchObject({
    kind: 'retry',
    reason: 'network',
    detail: expect.stringContaining('ECONNREFUSED 127.0.0.1:1'),
  });
});

// A tunnel that never opens would hold its place among the connections for minutes.
test('a proxy that never answers is given up, and a new connection is tried', async ({ service }) => {
  const waiting: Socket[] = [];
  let answers = false;
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    if (!answers) return waiting.push(socket);
    const onward = connect(service.port, '127.0.0.1', () => socket.pipe(onward).pipe(socket));
    socket.on('close', () => onward.destroy());
    return onward.on('error', () => socket.destroy());
  });
  const proxy = `http://127.0.0.1:${await listen(server)}`;
  const tunnelled = makeSink('https://ingest.example.com', { proxy, timeoutMs: 300, concurrency: 1 });
  for (const taken of [1, 2]) {
    expect(await tunnelled.send(sinkRequest, never)).toMatchObject({ outcome: { kind: 'retry', reason: 'timeout' } });
    // On a busy machine the proxy takes a connection only after it was given up.
    await until('a connection more', () => waiting.length >= taken);
  }
  const forwarded = makeSink('http://ingest.example.com', { proxy, timeoutMs: 1000, concurrency: 1 });
  expect(await forwarded.send(sinkRequest, never)).toMatchObject({ outcome: { kind: 'retry', reason: 'timeout' } });
  answers = true;
  await until(
    'the service is reached',
    async () => (await forwarded.send(sinkRequest, never)).outcome.kind === 'delivered',
  );
});

// Symptom: the built program sent nothing through a proxy ("ProxyAgent is not a constructor"). Cause: a bundled CommonJS
// package that is imported lazily has a default export alone. Fix: that one is used.
test('the sink reaches a proxy as a part of the bundle, too', async () => {
  const folder = makeTree({});
  await build({
    entryPoints: [join(import.meta.dirname, '../../../src/sinks/ingest/sink.ts')],
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    define: { TAILRACE_VERSION: '"0"' },
    banner: {
      js: `import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);`,
    },
  });
  const service = await FakeService.start();
  const proxy = await startProxy(() => service.port);
  const bundle = (await import(join(folder, 'sink.mjs'))) as { createIngestSink: typeof createIngestSink };
  const sink = bundle.createIngestSink(sinkConfig('http://ingest.example.com', { proxy: proxy.url }), systemClock);
  onTestFinished(() => sink.close());
  expect((await sink.send(sinkRequest, never)).outcome).toMatchObject({ kind: 'delivered' });
  expect(proxy.seen).toEqual(['POST http://ingest.example.com/v1/ingest/logs']);
});
