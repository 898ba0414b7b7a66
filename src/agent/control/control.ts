/**
 * The control socket of a running agent: a unix socket with mode 0600 in the data folder, one request per connection, JSON
 * both ways. Commands that need the running agent (replay, drop, explain, reload) connect to it. A client that sends garbage,
 * too much, or nothing gets an error or is disconnected, and never outlives the agent.
 */
import { chmodSync, closeSync, openSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { codeOf, messageOf, TailraceError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { giveToOwner, ownerFix } from '../../state/keep-owner.ts';

export interface ControlRequest {
  readonly command: string;
  readonly args: readonly string[];
}

type ControlReply = { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly error: string };

export interface ControlServer {
  /** Takes no more requests and disconnects the clients. */
  close(): void;
}

const SOCKET = 'control.sock';
/** Below the system's limit of 108 bytes for a socket's path. */
const MAX_PATH_BYTES = 100;
const NEWLINE = 10;
const MAX_MESSAGE_BYTES = 1024 * 1024;
const MAX_CLIENTS = 64;
/** A client that has not sent its request after this long is disconnected. */
const REQUEST_MS = 10_000;

/** Starts listening, and replaces the socket of a killed agent. Throws `E_CONTROL`. */
export async function startControl(
  dataDir: string,
  log: Log,
  handle: (request: ControlRequest) => Promise<unknown>,
  requestMs = REQUEST_MS,
): Promise<ControlServer> {
  const clients = new Set<Socket>();
  const server = createServer((socket) => {
    clients.add(socket);
    socket.once('close', () => clients.delete(socket));
    const outlive = (): void => void clients.delete(socket);
    serve(socket, handle, requestMs, outlive).catch((error: unknown) =>
      log.debug({ reason: messageOf(error) }, 'a control request ended early'),
    );
  });
  server.maxConnections = MAX_CLIENTS;
  const file = join(resolve(dataDir), SOCKET);
  const { path, release } = reach(dataDir);
  try {
    rmSync(file, { force: true });
    await new Promise<void>((done, fail) => server.once('error', fail).listen(path, done));
    chmodSync(file, 0o600);
    giveToOwner(file);
  } catch (error) {
    server.close();
    release();
    throw new TailraceError('E_CONTROL', `cannot listen on the control socket "${file}": ${messageOf(error)}`, {
      fix: 'check the free space and the permissions of data_dir, and that its file system takes sockets',
      cause: error,
    });
  }
  return {
    close() {
      server.close();
      for (const socket of clients) socket.destroy();
      release();
    },
  };
}

/**
 * Asks the running agent; undefined when none runs. Throws `E_CONTROL` when it cannot be reached, answers with an error, or, where
 * `withinMs` is given, not in time.
 */
export async function askAgent(
  dataDir: string,
  request: ControlRequest,
  withinMs?: number,
): Promise<{ result: unknown } | undefined> {
  const socket = await connectTo(dataDir);
  if (!socket) return undefined;
  let gone = agentGone;
  const cutOff = (): void => {
    gone = () => new TailraceError('E_CONTROL', `the running agent did not answer within ${withinMs} ms`);
    socket.destroy();
  };
  const late = withinMs === undefined ? undefined : setTimeout(cutOff, withinMs);
  try {
    socket.write(`${JSON.stringify(request)}\n`);
    const reply = parseReply(await readLine(socket, () => gone()));
    if (!reply.ok) throw new TailraceError('E_CONTROL', `the running agent could not do it: ${reply.error}`);
    return { result: reply.result };
  } finally {
    clearTimeout(late);
    socket.destroy();
  }
}

const agentGone = () =>
  new TailraceError('E_CONTROL', 'the running agent stopped, or reloaded its configuration, before it answered', {
    fix: 'look at its log and ask again; dead letters that were not stored yet are kept',
  });

async function connectTo(dataDir: string): Promise<Socket | undefined> {
  try {
    const { path, release } = reach(dataDir);
    try {
      const socket = connect(path);
      await new Promise<void>((done, fail) => socket.once('connect', done).once('error', fail));
      return socket;
    } finally {
      release();
    }
  } catch (error) {
    if (['ENOENT', 'ECONNREFUSED'].includes(codeOf(error))) return undefined;
    throw new TailraceError('E_CONTROL', `cannot reach the running agent: ${messageOf(error)}`, {
      fix: ownerFix(resolve(dataDir)),
      cause: error,
    });
  }
}

/** The socket's path; one that is too long for the system goes through a descriptor of its folder. */
function reach(dataDir: string): { readonly path: string; readonly release: () => void } {
  const folder = resolve(dataDir);
  const path = join(folder, SOCKET);
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return { path, release: () => {} };
  const fd = openSync(folder, 'r');
  return { path: `/proc/self/fd/${fd}/${SOCKET}`, release: () => closeSync(fd) };
}

/** `outlive` keeps the connection when the server closes: a reload may replace the agent that answers it. */
async function serve(
  socket: Socket,
  handle: (request: ControlRequest) => Promise<unknown>,
  requestMs: number,
  outlive: () => void,
): Promise<void> {
  // A broken connection only needs to end.
  socket.on('error', () => {});
  const late = setTimeout(() => socket.destroy(), requestMs);
  let reply: ControlReply;
  try {
    const text = await readLine(socket).finally(() => clearTimeout(late));
    const request = parseRequest(text);
    if (request.command === 'reload') outlive();
    reply = { ok: true, result: await handle(request) };
  } catch (error) {
    reply = { ok: false, error: messageOf(error) };
  }
  // Destroy it: bytes that the client still sends are not read, and would keep the connection open.
  socket.end(`${JSON.stringify(reply)}\n`, () => socket.destroy());
}

function parseRequest(text: string): ControlRequest {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = undefined;
  }
  const { command, args = [] } = (parsed ?? {}) as { command?: unknown; args?: unknown };
  if (typeof command === 'string' && Array.isArray(args) && args.every((arg) => typeof arg === 'string'))
    return { command, args };
  throw new TailraceError('E_CONTROL', 'a request is one line of JSON: {"command": text, "args": [text, …]}');
}

function parseReply(text: string): ControlReply {
  try {
    const reply = JSON.parse(text) as ControlReply | null;
    if (typeof reply?.ok === 'boolean') return reply;
  } catch {
    // Reported below.
  }
  throw new TailraceError(
    'E_CONTROL',
    'another program, or an agent of another version, listens on the control socket of the data folder',
  );
}

const endedEarly = (reason: string) => new TailraceError('E_CONTROL', `the control connection ended early: ${reason}`);

/** Reads up to the first newline, then nothing more. Rejects when the connection ends before it, or after MAX_MESSAGE_BYTES. */
function readLine(socket: Socket, whenClosed = () => endedEarly('it was closed')): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => reject(endedEarly(reason));
    const onData = (chunk: Buffer): void => {
      const end = chunk.indexOf(NEWLINE);
      chunks.push(end < 0 ? chunk : chunk.subarray(0, end));
      length += chunk.length;
      if (end < 0 && length <= MAX_MESSAGE_BYTES) return;
      socket.off('data', onData).pause();
      if (end < 0) fail('the message is too long');
      else resolve(Buffer.concat(chunks).toString('utf8'));
    };
    socket.on('data', onData);
    socket.once('error', (error) => fail(messageOf(error)));
    socket.once('close', () => reject(whenClosed()));
  });
}
