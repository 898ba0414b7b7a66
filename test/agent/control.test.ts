import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, lstatSync, mkdirSync, statSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { askAgent, type ControlRequest, type ControlServer, startControl } from '../../src/agent/control/control.ts';
import { MemoryLog } from '../support/memory-log.ts';
import { makeTree, test } from '../support/temp-tree.ts';
import { until } from '../support/until.ts';

const echo = (request: ControlRequest): Promise<unknown> => Promise.resolve({ got: request });

async function start(
  folder: string,
  handle: (request: ControlRequest) => Promise<unknown> = echo,
  requestMs?: number,
): Promise<ControlServer> {
  const server = await startControl(folder, new MemoryLog(), handle, requestMs);
  let closed = false;
  const once = { close: () => (closed ? undefined : ((closed = true), server.close())) };
  onTestFinished(() => once.close());
  return once;
}

interface Client {
  readonly socket: Socket;
  /** Everything that came, once the connection is over. */
  readonly reply: Promise<string>;
}

async function client(folder: string): Promise<Client> {
  const socket = connect(join(folder, 'control.sock'));
  onTestFinished(() => void socket.destroy());
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  socket.on('error', () => {});
  const reply = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
  await once(socket, 'connect');
  return { socket, reply };
}

test('control socket answers a request, and only its owner may open it', async ({ folder }) => {
  await start(folder);
  expect(statSync(join(folder, 'control.sock')).mode & 0o777).toBe(0o600);
  expect(await askAgent(folder, { command: 'explain', args: ['/var/log/ü.log'] })).toEqual({
    result: { got: { command: 'explain', args: ['/var/log/ü.log'] } },
  });
});

test('control socket says why a request failed', async ({ folder }) => {
  await start(folder, () => Promise.reject(new Error('there is no such letter')));
  await expect(askAgent(folder, { command: 'drop', args: [] })).rejects.toMatchObject({
    code: 'E_CONTROL',
    message: expect.stringContaining('there is no such letter'),
  });
});

// Symptom: a replay that a reload or a stop of the agent cut off reported "the control connection ended early: it was closed", and nothing
// of the letters.
test('asking an agent that stops or reloads before it answers says so, and what to do', async ({ folder }) => {
  const asked = Promise.withResolvers<void>();
  const server = await start(folder, () => (asked.resolve(), new Promise(() => {})));
  const reply = askAgent(folder, { command: 'replay', args: [] });
  reply.catch(() => {});
  await asked.promise;
  server.close();
  await expect(reply).rejects.toMatchObject({
    code: 'E_CONTROL',
    message: expect.stringContaining('stopped, or reloaded its configuration, before it answered'),
    fix: expect.stringContaining('dead letters that were not stored yet are kept'),
  });
});

test('asking where no agent runs gives nothing', async () => {
  const folder = makeTree({ 'a-file': '' });
  expect(await askAgent(folder, { command: 'drop', args: [] })).toBeUndefined();
  expect(await askAgent(join(folder, 'missing'), { command: 'drop', args: [] })).toBeUndefined();
  const server = await start(folder);
  server.close();
  expect(existsSync(join(folder, 'control.sock'))).toBe(false);
  expect(await askAgent(folder, { command: 'drop', args: [] })).toBeUndefined();
});

// Symptom: with a long data_dir the socket was in the temporary folder, where systemd's PrivateTmp hides it from commands.
// Fix: it is always in the data folder, reached through the folder's descriptor where its path is too long for a socket.
test('control socket works in a data folder whose path is too long for a socket', async () => {
  const folder = join(makeTree({}), 'a'.repeat(120), 'ü'.repeat(60));
  mkdirSync(folder, { recursive: true });
  expect(await askAgent(folder, { command: 'drop', args: [] })).toBeUndefined();
  const server = await start(folder);
  expect(lstatSync(join(folder, 'control.sock')).isSocket()).toBe(true);
  expect(statSync(join(folder, 'control.sock')).mode & 0o777).toBe(0o600);
  expect(await askAgent(folder, { command: 'drop', args: ['x'] })).toEqual({
    result: { got: { command: 'drop', args: ['x'] } },
  });
  server.close();
  expect(existsSync(join(folder, 'control.sock'))).toBe(false);
});

test('control socket that a killed agent left behind is replaced', async ({ folder }) => {
  const path = join(folder, 'control.sock');
  const child = spawn(process.execPath, [
    '-e',
    `require('net').createServer().listen(${JSON.stringify(path)}, () => console.log('up'))`,
  ]);
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(existsSync(path)).toBe(true);
  expect(await askAgent(folder, { command: 'drop', args: [] })).toBeUndefined();
  await start(folder);
  expect(await askAgent(folder, { command: 'drop', args: [] })).toBeDefined();
});

test('control socket that cannot be made is an error that names it', async () => {
  const folder = makeTree({ 'control.sock/file': '' });
  await expect(startControl(folder, new MemoryLog(), echo)).rejects.toMatchObject({
    code: 'E_CONTROL',
    message: expect.stringContaining(join(folder, 'control.sock')),
  });
});

test.for([
  '',
  'garbage',
  'null',
  '5',
  '[]',
  '{}',
  '{"command":5}',
  '{"command":"drop","args":5}',
  '{"command":"drop","args":[{}]}',
  '\0\u00ff',
  '['.repeat(100_000),
])('control socket answers garbage (%.40j) with an error, and serves the next one', async (text) => {
  const folder = makeTree({});
  let handled = 0;
  await start(folder, () => Promise.resolve((handled += 1)));
  const { socket, reply } = await client(folder);
  socket.write(`${text}\n`);
  expect(JSON.parse(await reply)).toMatchObject({
    ok: false,
    error: expect.stringContaining('a request is one line of JSON'),
  });
  expect(handled).toBe(0);
  expect(await askAgent(folder, { command: 'drop', args: [] })).toEqual({ result: 1 });
});

// Symptom: a client that never stopped sending filled the agent's memory. Cause: what came after the limit was kept as well.
// Fix: it is cut off.
test('control socket cuts off a client that sends without end', async ({ folder }) => {
  await start(folder);
  const { socket, reply } = await client(folder);
  const chunk = Buffer.alloc(64 * 1024, 'x');
  const send = (): void => void socket.write(chunk, (error) => (error ? undefined : send()));
  send();
  await reply;
  expect(socket.bytesWritten).toBeLessThan(8 * 1024 * 1024);
  expect(await askAgent(folder, { command: 'drop', args: [] })).toBeDefined();
});

test('control socket takes no more than one request of a client', async ({ folder }) => {
  let handled = 0;
  await start(folder, () => Promise.resolve((handled += 1)));
  const { socket, reply } = await client(folder);
  socket.write('{"command":"drop"}\n'.repeat(1000));
  expect(JSON.parse(await reply)).toEqual({ ok: true, result: 1 });
  expect(handled).toBe(1);
});

// Symptom: a few clients that connected and sent nothing made the agent deaf to commands. Fix: they are cut off in time.
test('control socket cuts off clients that never ask, and is free for others then', async ({ folder }) => {
  await start(folder, echo, 300);
  const silent = await Promise.all(Array.from({ length: 64 }, () => client(folder)));
  silent[0]!.socket.write('{"command":');
  expect(await Promise.all(silent.map(({ reply }) => reply))).toHaveLength(64);
  expect(await askAgent(folder, { command: 'drop', args: [] })).toBeDefined();
});

test('control socket waits for a slow command however long it takes, and for a client that went away not at all', async ({
  folder,
}) => {
  const slow = Promise.withResolvers<string>();
  let handled = 0;
  await start(folder, () => (handled++ === 0 ? slow.promise : Promise.resolve('quick')), 100);
  const gone = await client(folder);
  gone.socket.write('{"command":"replay"}\n');
  await until('it is under way', () => handled === 1);
  gone.socket.destroy();
  const waiting = askAgent(folder, { command: 'replay', args: [] });
  expect(await waiting).toEqual({ result: 'quick' });
  const patient = await client(folder);
  handled = 0;
  patient.socket.write('{"command":"replay"}\n');
  // Longer than a client may take to ask.
  const idle = await client(folder);
  await idle.reply;
  slow.resolve('done');
  expect(JSON.parse(await patient.reply)).toEqual({ ok: true, result: 'done' });
});

test('control socket serves fifty clients at once', async ({ folder }) => {
  await start(folder);
  const replies = await Promise.all(
    Array.from({ length: 50 }, (_, i) => askAgent(folder, { command: 'drop', args: [String(i)] })),
  );
  expect(replies).toEqual(
    Array.from({ length: 50 }, (_, i) => ({ result: { got: { command: 'drop', args: [String(i)] } } })),
  );
});

test('control socket that is flooded answers or cuts off each client, and goes on', async ({ folder }) => {
  await start(folder);
  const results = await Promise.allSettled(
    Array.from({ length: 300 }, () => askAgent(folder, { command: 'drop', args: [] })),
  );
  for (const result of results) {
    if (result.status === 'fulfilled') expect(result.value).toBeDefined();
    else expect(result.reason).toMatchObject({ code: 'E_CONTROL' });
  }
  expect(await askAgent(folder, { command: 'drop', args: [] })).toBeDefined();
});

// Symptom: an agent that was stopping did not end while a client of its control socket was connected.
test('control socket lets go of its clients when it closes', async ({ folder }) => {
  const server = await start(folder, () => new Promise(() => {}));
  const silent = await client(folder);
  const asking = askAgent(folder, { command: 'replay', args: [] });
  asking.catch(() => {});
  await client(folder);
  server.close();
  expect(await silent.reply).toBe('');
  await expect(asking).rejects.toMatchObject({ code: 'E_CONTROL' });
});

test.for(['nonsense', 'null', '{}', '{"ok":"yes"}'])(
  'asking what is no agent (it answers %s) is an error',
  async (answer) => {
    const folder = makeTree({});
    const server = createServer((socket) => void socket.end(`${answer}\n`)).listen(join(folder, 'control.sock'));
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    await expect(askAgent(folder, { command: 'drop', args: [] })).rejects.toMatchObject({ code: 'E_CONTROL' });
  },
);
