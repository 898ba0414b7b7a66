/**
 * nginx from Debian on a loopback port, with its configuration and logs in a folder of the test, and logrotate to rotate
 * them as a server's administrator would: `create`, then USR1 so that nginx opens the new files.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { findProgram } from './installed.ts';
import { until } from './until.ts';

export const hasNginx = findProgram('nginx') !== undefined && findProgram('logrotate') !== undefined;

export interface Nginx {
  /** Where its logs are: `access.log`, `raw.log` (bytes as they came), `json.log` and `error.log`. */
  readonly logs: string;
  /** Sends bytes on a connection of their own and waits until nginx closes it. */
  send(bytes: Uint8Array): Promise<void>;
  /** Rotates every log once. */
  rotate(): Promise<void>;
  /** Lets requests in flight end, then nginx. */
  stop(): Promise<void>;
}

export async function startNginx(folder: string): Promise<Nginx> {
  const logs = join(folder, 'logs');
  mkdirSync(logs, { recursive: true });
  const port = await freePort();
  writeFileSync(join(folder, 'nginx.conf'), configuration(folder, logs, port));
  writeFileSync(join(folder, 'logrotate.conf'), rotation(folder, logs), { mode: 0o600 });
  const child = spawn(findProgram('nginx')!, ['-p', folder, '-c', join(folder, 'nginx.conf')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  await until('nginx to listen', async () => (await isOpen(port)) || child.exitCode !== null, { everyMs: 20 });
  if (child.exitCode !== null) throw new Error(`nginx did not start: ${said}`);
  return {
    logs,
    send: (bytes) => sendBytes(port, bytes),
    rotate: () =>
      runToEnd(
        spawn(findProgram('logrotate')!, [
          '--force',
          '--state',
          join(folder, 'rotated'),
          join(folder, 'logrotate.conf'),
        ]),
      ),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const closed = once(child, 'close');
      child.kill('SIGQUIT');
      await closed;
    },
  };
}

function configuration(folder: string, logs: string, port: number): string {
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${logs}/error.log info;
events { worker_connections 64; }
http {
  ${places.map((place) => `${place}_temp_path ${folder}/${place};`).join(' ')}
  log_format raw escape=none '$request_length "$request" "$http_user_agent"';
  log_format json escape=json '{"request":"$request","agent":"$http_user_agent","status":$status}';
  access_log ${logs}/access.log combined;
  access_log ${logs}/raw.log raw;
  access_log ${logs}/json.log json;
  server { listen 127.0.0.1:${port}; location / { return 204; } }
}
`;
}

function rotation(folder: string, logs: string): string {
  return `${logs}/*.log {
  rotate 2
  create 0644
  sharedscripts
  postrotate
    kill -USR1 "$(cat ${folder}/nginx.pid)"
  endscript
}
`;
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => resolve(false));
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

function sendBytes(port: number, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.resume();
    // What nginx refuses it may also reset, after it has logged it.
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' || error.code === 'EPIPE' ? resolve() : reject(error),
    );
    socket.on('close', () => resolve());
  });
}

async function runToEnd(child: ChildProcess): Promise<void> {
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${child.spawnfile} ended with ${code}: ${said}`);
}
