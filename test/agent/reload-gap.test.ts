/** Reloads that leave untouched what did not change. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { freePort, takenPort } from '../support/free-port.ts';
import { parsePrometheus, valueOf } from '../support/prometheus-text.ts';
import { until } from '../support/until.ts';
import { healthProblems } from '../support/watch-accounting.ts';
import { openConnection, type Parts, type Rig, startRig, test } from './reload-rig.ts';

const arrives = ({ messages }: Rig, text: string): Promise<void> =>
  until(`"${text}" is stored`, () => messages().includes(text));

test.each<readonly [string, (rig: Rig) => Parts]>([
  ['another source', ({ net, file }) => ({ sources: `${net}\n${file('a', ', fields: {role: web}')}\n${file('b')}` })],
  ['a sink', () => ({ store: ', labels: {team: core}, compression: none' })],
  ['the encoding', () => ({ store: ', encoding: json, json: {envelope: true}' })],
  ['the columns', () => ({ store: ', encoding: csv, csv: {columns: [_time, message], extra: drop}' })],
  [
    'requests at once and memory',
    () => ({ store: ', concurrency: 2, buffer: {max_memory: 128MiB}', batch: ', max_bytes: 64KiB' }),
  ],
  [
    'the sinks that it feeds',
    ({ service }) => ({ sinks: `  more: {type: ingest, url: "${service.url}", token: t, dataset: more}` }),
  ],
])('a connection survives a reload that changes %s', async (_what, change) => {
  const rig = await startRig();
  const { configure, reload, program } = rig;
  const { send, isClosed } = await openConnection(rig);
  send('before');
  await arrives(rig, 'before');
  configure(change(rig));
  expect(await reload()).toMatchObject({ code: 0, ok: true, error: '' });
  send('after');
  await arrives(rig, 'after');
  configure();
  expect(await reload()).toMatchObject({ code: 0, ok: true });
  send('back');
  await arrives(rig, 'back');
  expect(isClosed()).toBe(false);
  expect(program.stderr()).not.toContain('by a restart of the agent');
  expect(await program.end('SIGTERM')).toBe(0);
});

test('a reload takes the datagrams of one source while connections of another end', async ({ rig }) => {
  const { configure, reload, program, net, port } = rig;
  const other = await freePort();
  const sources = (role: string): Parts => ({
    sources: `${net.replace(/}$/, `, fields: {role: ${role}}}`)}
  other: {type: syslog, listen: ["udp://127.0.0.1:${other}"], fields: {role: ${role}}}`,
  });
  configure(sources('before'));
  await reload();
  // It goes on writing, and does not end its side.
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
  const writing = setInterval(() => socket.write('<13>1 - h a - - - on\n'), 50);
  onTestFinished(() => (clearInterval(writing), socket.destroy(), undefined));
  await arrives(rig, 'on');
  configure(sources('after'));
  const ended = once(socket.resume(), 'end');
  const reloaded = reload();
  await ended;
  const sender = createSocket('udp4').on('error', () => {});
  await new Promise((resolve) => sender.send('<13>1 - h a - - - meanwhile', other, '127.0.0.1', resolve));
  sender.close();
  expect(await reloaded).toMatchObject({ code: 0, ok: true });
  await arrives(rig, 'meanwhile');
  expect(await program.end('SIGTERM')).toBe(0);
});

test('a reload that cannot be in force leaves connections open', async ({ rig }) => {
  const { configure, reload, program, net, file } = rig;
  const { send, isClosed } = await openConnection(rig);
  configure({
    sources: `${net}\n${file('a')}\n  other: {type: syslog, listen: ["tcp://127.0.0.1:${await takenPort()}"]}`,
  });
  expect(await reload()).toMatchObject({ code: 1, ok: false, error: expect.stringContaining('the port is taken') });
  send('after');
  await arrives(rig, 'after');
  expect(isClosed()).toBe(false);
  expect(await program.end('SIGTERM')).toBe(0);
});

test('a reload reports changes that need a restart of the agent, and loses nothing', async ({ rig }) => {
  const { configure, reload, program, net } = rig;
  const { send } = await openConnection(rig);
  send('before');
  await arrives(rig, 'before');
  configure({ sources: net.replace(/}$/, ', transform: "extend a = 1 | to_dataset(\'routed\')"}') });
  expect(await reload()).toMatchObject({
    code: 0,
    ok: true,
    restarted: expect.stringContaining('the routes of to_dataset'),
  });
  const again = await openConnection(rig);
  again.send('after');
  await arrives(rig, 'after');
  expect(await program.end('SIGTERM')).toBe(0);
});

test('telemetry is moved and switched while connections stay open and counters go on', async ({ rig }) => {
  const { configure, reload, program, telemetry } = rig;
  const { send, isClosed } = await openConnection(rig);
  send('before');
  await arrives(rig, 'before');
  const other = await freePort();
  const listen = (port: number, more = ''): { top: string } => ({
    top: `telemetry: {listen: "127.0.0.1:${port}"${more}}`,
  });
  const accepted = async (port: number): Promise<number> => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return valueOf(parsePrometheus(text), 'tailrace_events_total', { source: 'net', outcome: 'accepted' }) ?? 0;
  };
  configure(listen(await takenPort()));
  expect(await reload()).toMatchObject({
    code: 1,
    ok: false,
    error: expect.stringContaining('telemetry cannot listen'),
  });
  expect(await accepted(telemetry)).toBe(1);

  configure(listen(other));
  expect(await reload()).toMatchObject({ code: 0, ok: true });
  expect(await accepted(other)).toBe(1);
  await expect(fetch(`http://127.0.0.1:${telemetry}/metrics`)).rejects.toThrow();
  expect((await fetch(`http://127.0.0.1:${other}/`)).status).toBe(200);

  const tailStatus = async (): Promise<number> =>
    (await fetch(`http://127.0.0.1:${other}/tail.json?source=net`)).status;
  for (const [liveTail, status] of [
    [true, 200],
    [false, 404],
  ] as const) {
    configure(listen(other, `, live_tail: ${liveTail}`));
    expect(await reload()).toMatchObject({ code: 0, ok: true });
    expect(await tailStatus()).toBe(status);
  }

  configure(listen(other, ', page: false'));
  expect(await reload()).toMatchObject({ code: 0, ok: true });
  expect((await fetch(`http://127.0.0.1:${other}/`)).status).toBe(404);
  send('after');
  await arrives(rig, 'after');
  expect(await accepted(other)).toBe(2);
  expect(isClosed()).toBe(false);
  expect(program.stderr()).not.toContain('by a restart of the agent');
  expect(await program.end('SIGTERM')).toBe(0);
});

test('limits of dead letters and disk buffer, and tests, change without a restart', async ({ rig }) => {
  const { configure, reload, program } = rig;
  const { isClosed } = await openConnection(rig);
  const top =
    'telemetry: {listen: none}\ndead_letter: {max_bytes: 2MiB, when_full: drop_oldest}\ntests: [{source: a, input: [x], expect: []}]';
  configure({ top, store: ', buffer: {disk: {max_bytes: 2MiB}, when_full: drop_newest}' });
  const report = await reload();
  expect(report).toMatchObject({ code: 0, ok: true });
  expect(report.restarted).toBeUndefined();
  expect(isClosed()).toBe(false);
  expect(await program.end('SIGTERM')).toBe(0);
});

test('another data_dir is refused with the remedy', async () => {
  const { configure, hangUp, program, folder } = await startRig();
  configure({ sinks: '# changed' });
  const config = join(folder, 'tailrace.yaml');
  writeFileSync(config, readFileSync(config, 'utf8').replace('/data\n', '/elsewhere\n'));
  hangUp();
  expect(await program.says('data_dir changed from')).toContain('restart the agent');
  expect(existsSync(join(folder, 'elsewhere'))).toBe(false);
  expect(await program.end('SIGTERM')).toBe(0);
});

test('a sink whose address was wrong delivers what it held under the same keys once a reload puts it right', async ({
  rig,
}) => {
  const { service, folder, configure, reload, program, messages } = rig;
  let isAway = true;
  service.respond = (request, response) =>
    isAway ? void response.writeHead(401).end() : service.storeAll(request, response);
  appendFileSync(join(folder, 'a.log'), 'held\n');
  const { send } = await openConnection(rig);
  send('held, too');
  await until('they are refused', () => service.requests.length > 1);
  isAway = false;
  configure({ store: ', org_id: mended' });
  expect(await reload()).toMatchObject({ code: 0, ok: true });
  await until('both are stored', () => messages().length === 2);
  const keys = new Map<string, Set<string>>();
  for (const { lines, key } of service.requests)
    for (const line of lines) keys.set(line, (keys.get(line) ?? new Set()).add(key));
  expect([...keys.values()].map(({ size }) => size)).toEqual([1, 1]);
  expect(await program.end('SIGTERM')).toBe(0);
});

test('a sink that was removed still delivers what it has', async ({ rig }) => {
  const { service, folder, configure, reload, program, messages } = rig;
  let isAway = true;
  service.respond = (request, response) =>
    isAway ? void response.writeHead(503).end() : service.storeAll(request, response);
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
  expect(healthProblems(await (await fetch(`http://127.0.0.1:${rig.telemetry}/healthz`)).text())).toEqual([]);
  expect(await program.end('SIGTERM')).toBe(0);
});
