/**
 * The control socket of a running agent: a unix socket with mode 0600, one request a connection, JSON both ways. Commands
 * that must not run beside the agent (replay, drop, explain) reach it here.
 */
import { createHash } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { codeOf, messageOf, TailraceError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';

export interface ControlRequest {
  readonly command: string;
  readonly args: readonly string[];
}

export type ControlReply = { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly error: string };

/** The system's limit for a socket's path, less what it needs itself. */
const MAX_PATH_BYTES = 100;
const NEWLINE = 10;
const MAX_MESSAGE_BYTES = 1024 * 1024;

/** Where the agent of a data folder listens; beside the folder's own name when that is too long for a socket. */
export function controlPath(dataDir: string): string {
  const path = join(resolve(dataDir), 'control.sock');
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return path;
  return join(tmpdir(), `tailrace-${createHash('sha256').update(path).digest('hex').slice(0, 24)}.sock`);
}

/** Listens until closed. A socket left by a killed agent is replaced: the folder's lock says that none runs. */
export async function startControl(dataDir: string, log: Log, handle: (request: ControlRequest) => Promise<unknown>): Promise<Server> {
  const path = controlPath(dataDir);
  rmSync(path, { force: true });
  const server = createServer((socket) => {
    serve(socket, handle).catch((error: unknown) => log.debug({ reason: messageOf(error) }, 'a control request ended early'));
  });
  server.maxConnections = 16;
  await new Promise<void>((done, fail) => server.once('error', fail).listen(path, done));
  chmodSync(path, 0o600);
  return server;
}

/** Asks the running agent; undefined when none runs. Throws `E_CONTROL` when it answers with an error. */
export async function askAgent(dataDir: string, request: ControlRequest): Promise<{ result: unknown } | undefined> {
  const socket = connect(controlPath(dataDir));
  try {
    await new Promise<void>((done, fail) => socket.once('connect', done).once('error', fail));
  } catch (error) {
    if (['ENOENT', 'ECONNREFUSED'].includes(codeOf(error))) return undefined;
    throw new TailraceError('E_CONTROL', `cannot reach the running agent: ${messageOf(error)}`, {
      fix: 'run the command as the user that runs the agent, or as root',
      cause: error,
    });
  }
  socket.write(`${JSON.stringify(request)}\n`);
  const reply = JSON.parse(await readLine(socket)) as ControlReply;
  socket.destroy();
  if (!reply.ok) throw new TailraceError('E_CONTROL', `the running agent could not do it: ${reply.error}`);
  return { result: reply.result };
}

async function serve(socket: Socket, handle: (request: ControlRequest) => Promise<unknown>): Promise<void> {
  let reply: ControlReply;
  try {
    const { command, args } = JSON.parse(await readLine(socket)) as { command?: unknown; args?: unknown };
    reply = { ok: true, result: await handle({ command: String(command), args: Array.isArray(args) ? args.map(String) : [] }) };
  } catch (error) {
    reply = { ok: false, error: messageOf(error) };
  }
  socket.end(`${JSON.stringify(reply)}\n`);
}

/** Reads up to the first newline. Rejects when the connection ends before it. */
function readLine(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => reject(new TailraceError('E_CONTROL', `the control connection ended early: ${reason}`));
    socket.on('data', (chunk: Buffer) => {
      const end = chunk.indexOf(NEWLINE);
      chunks.push(end < 0 ? chunk : chunk.subarray(0, end));
      length += chunk.length;
      if (end >= 0) resolve(Buffer.concat(chunks).toString('utf8'));
      else if (length > MAX_MESSAGE_BYTES) fail('the message is too long');
    });
    socket.once('error', (error) => fail(messageOf(error)));
    socket.once('close', () => fail('it was closed'));
  });
}
