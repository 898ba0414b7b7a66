/**
 * A trivial load generator: posts one 1 MiB body again and again over four connections. It shows how much the null sink
 * can take, so that a run's rate can be set against it.
 *
 * As a process: `load.ts PORT BYTES` sends that many bytes and prints the seconds it took.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';

const BODY_BYTES = 1 << 20;
const CONNECTIONS = 4;

async function send(port: number, requests: number): Promise<void> {
  const line = Buffer.from(
    `{"_time":"2026-01-01T00:00:00.000Z","message":"${'x'.repeat(180)}","host":"bench","file":"/var/log/x.log"}\n`,
  );
  const body = Buffer.alloc(BODY_BYTES, line);
  const head = `POST /v1/ingest/bench HTTP/1.1\r\nHost: bench\r\nX-Event-Count: 4096\r\nContent-Length: ${body.length}\r\n\r\n`;
  const socket: Socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.setNoDelay(true);
  for (let i = 0; i < requests; i++) {
    socket.cork();
    socket.write(head);
    socket.write(body);
    socket.uncork();
    await once(socket, 'data');
  }
  socket.destroy();
}

if (import.meta.main) {
  const port = Number(process.argv[2]);
  const requests = Math.ceil(Number(process.argv[3]) / BODY_BYTES / CONNECTIONS);
  const started = performance.now();
  await Promise.all(Array.from({ length: CONNECTIONS }, () => send(port, requests)));
  process.stdout.write(
    JSON.stringify({ seconds: (performance.now() - started) / 1000, bytes: requests * CONNECTIONS * BODY_BYTES }),
  );
}
