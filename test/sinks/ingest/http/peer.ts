/** Connections of the sink and a bare TCP server before them, for tests. */
import { createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { ConnectionPool, type ConnectionPoolOptions } from '../../../../src/sinks/ingest/http/connections.ts';
import { listen } from '../../../support/free-port.ts';

export const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}';

export interface Peer {
  readonly origin: string;
  readonly server: Server;
  /** Each connection's socket, in the order in which they came, and the bytes of its requests so far. */
  readonly sockets: Socket[];
  received(index: number): string;
}

/** A server that calls `respond` once for each whole request. */
export async function startPeer(respond: (socket: Socket, index: number, request: string) => void): Promise<Peer> {
  const sockets: Socket[] = [];
  const texts: string[] = [];
  const server = createServer((socket) => {
    const index = sockets.push(socket) - 1;
    let text = '';
    texts[index] = '';
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      texts[index] += bytes.toString('latin1');
      for (;;) {
        const end = text.indexOf('\r\n\r\n');
        const length = Number(/content-length: (\d+)/.exec(text)?.[1]);
        if (end < 0 || text.length < end + 4 + length) return;
        respond(socket, index, text.slice(0, end + 4 + length));
        text = text.slice(end + 4 + length);
      }
    });
  });
  return { origin: `http://127.0.0.1:${await listen(server)}`, server, sockets, received: (index) => texts[index]! };
}

export function connect(origin: string, changes: Partial<ConnectionPoolOptions> = {}): ConnectionPool {
  const limits = { connections: 2, connectTimeoutMs: 5000, idleMs: 30_000, maxIdleMs: 60_000 };
  const made = new ConnectionPool({ origin, ...limits, secureContext: undefined, ...changes });
  onTestFinished(() => made.destroy());
  return made;
}

export interface Sent {
  readonly end: Promise<string>;
  started: boolean;
  abort(): void;
}

/** The end is `STATUS body`, or the error's message. */
export function send(
  connections: ConnectionPool,
  body: string | Uint8Array = 'x',
  headers: Record<string, string> = {},
): Sent {
  let controller: { abort(reason: Error): void } | undefined;
  const sent: Sent = { started: false, abort: () => controller?.abort(new Error('given up')), end: undefined as never };
  let [status, text] = [0, ''];
  const end = new Promise<string>((resolve) => {
    const request = { origin: '', method: 'POST', path: '/p', headers, body: Buffer.from(body) } as const;
    connections.dispatch(request, {
      onRequestStart: (given) => {
        controller = given;
        sent.started = true;
      },
      onResponseStart: (_controller, given) => (status = given),
      onResponseData: (_controller, part) => (text += Buffer.from(part).toString()),
      onResponseEnd: () => resolve(`${status} ${text}`),
      onResponseError: (_controller, error) => resolve(error.message),
    });
  });
  return Object.assign(sent, { end });
}
