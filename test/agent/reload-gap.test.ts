/** Reloads that leave untouched what did not change. */
import { appendFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../support/until.ts';
import { type Bench, openConnection, type Parts, startBench, stormOfReloads } from './reload-bench.ts';

const arrives = ({ messages }: Bench, text: string): Promise<void> => until(`"${text}" is stored`, () => messages().includes(text));

test.each<readonly [string, (bench: Bench) => Parts]>([
  ['another source', ({ net, file }) => ({ sources: `${net}\n${file('a', ', fields: {role: web}')}\n${file('b')}` })],
  ['a sink', () => ({ store: ', labels: {team: core}, compression: none' })],
  ['the sinks that it feeds', ({ service }) => ({ sinks: `  more: {type: ingest, url: "${service.url}", token: t, dataset: more}` })],
])('a connection survives a reload that changes %s', async (_what, change) => {
  const bench = await startBench();
  const { configure, reload, program } = bench;
  const { send, isClosed } = await openConnection(bench);
  send('before');
  await arrives(bench, 'before');
  configure(change(bench));
  expect(await reload()).toMatchObject({ code: 0, ok: true, error: '' });
  send('after');
  await arrives(bench, 'after');
  configure();
  expect(await reload()).toMatchObject({ code: 0, ok: true });
  send('back');
  await arrives(bench, 'back');
  expect(isClosed()).toBe(false);
  expect(program.stderr()).not.toContain('by a restart of the agent');
  expect(await program.end('SIGTERM')).toBe(0);
});

test('a reload that cannot be in force leaves connections open', async () => {
  const bench = await startBench();
  const { configure, reload, program, net, file } = bench;
  const { send, isClosed } = await openConnection(bench);
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as AddressInfo;
  configure({ sources: `${net}\n${file('a')}\n  other: {type: syslog, listen: ["tcp://127.0.0.1:${port}"]}` });
  expect(await reload()).toMatchObject({ code: 1, ok: false, error: expect.stringContaining('the port is taken') });
  send('after');
  await arrives(bench, 'after');
  expect(isClosed()).toBe(false);
  expect(await program.end('SIGTERM')).toBe(0);
});

test('what takes a restart of the agent is said, and loses nothing', async () => {
  const bench = await startBench();
  const { configure, reload, program } = bench;
  const { send } = await openConnection(bench);
  send('before');
  await arrives(bench, 'before');
  configure({ store: ', buffer: {max_memory: 16MiB}' });
  expect(await reload()).toMatchObject({ code: 0, ok: true, restarted: expect.stringContaining('sink "store" changed in its memory') });
  const again = await openConnection(bench);
  again.send('after');
  await arrives(bench, 'after');
  expect(await program.end('SIGTERM')).toBe(0);
});

test('a sink whose address was wrong delivers what it held under the same keys once a reload puts it right', async () => {
  const bench = await startBench();
  const { service, folder, configure, reload, program, messages } = bench;
  let isAway = true;
  service.respond = (request, response) => (isAway ? void response.writeHead(401).end() : service.storeAll(request, response));
  appendFileSync(join(folder, 'a.log'), 'held\n');
  const { send } = await openConnection(bench);
  send('held, too');
  await until('they are refused', () => service.requests.length > 1);
  isAway = false;
  configure({ store: ', org_id: mended' });
  expect(await reload()).toMatchObject({ code: 0, ok: true });
  await until('both are stored', () => messages().length === 2);
  const keys = new Map<string, Set<string>>();
  for (const { lines, key } of service.requests) for (const line of lines) keys.set(line, (keys.get(line) ?? new Set()).add(key));
  expect([...keys.values()].map(({ size }) => size)).toEqual([1, 1]);
  expect(await program.end('SIGTERM')).toBe(0);
});

test('a sink that was removed still delivers what it has', async () => {
  const bench = await startBench();
  const { service, folder, configure, reload, program, messages } = bench;
  let isAway = true;
  service.respond = (request, response) => (isAway ? void response.writeHead(503).end() : service.storeAll(request, response));
  const more = `  more: {type: ingest, url: "${service.url}", token: t, dataset: more, batch: {max_age: 50ms}, retry: {initial_backoff: 5ms, max_backoff: 50ms}}`;
  configure({ sinks: more });
  expect((await reload()).ok).toBe(true);
  appendFileSync(join(folder, 'a.log'), 'for both\n');
  await until('both try', () => new Set(service.requests.map(({ url }) => url)).size === 2);
  configure();
  expect((await reload()).ok).toBe(true);
  appendFileSync(join(folder, 'a.log'), 'for one\n');
  isAway = false;
  await until('all is stored', () => messages().length === 3);
  expect(messages().toSorted()).toEqual(['for both', 'for both', 'for one']);
  await program.says('has delivered everything and is closed');
  expect(await (await fetch(`http://127.0.0.1:${bench.telemetry}/healthz`)).json()).toMatchObject({ status: 'ok' });
  expect(await program.end('SIGTERM')).toBe(0);
});

test('thirty reloads under load, the service up and down, lose nothing, store nothing twice, and take no counter back', () =>
  stormOfReloads(30));
