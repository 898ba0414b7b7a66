/** An HTTP proxy for tests: tunnels and forwards, wants a password where configured, and keeps its requests. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { listen } from './free-port.ts';
import type { ReceivedRequest } from './fake-service.ts';

export interface Proxy {
  readonly url: string;
  /** `CONNECT host:port` and `POST http://…`, as they came. */
  readonly seen: string[];
  readonly authorizations: (string | undefined)[];
}

/** A proxy whose names all lead to `target`; with `password` it wants one. */
export async function startProxy(target: () => number, password?: string): Promise<Proxy> {
  const seen: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const isAllowed = (authorization: string | undefined): boolean => {
    authorizations.push(authorization);
    return password === undefined || authorization === `Basic ${Buffer.from(password).toString('base64')}`;
  };
  const server = createServer((incoming, response) => {
    seen.push(`${incoming.method} ${incoming.url}`);
    if (!isAllowed(incoming.headers['proxy-authorization'])) {
      response.writeHead(407).end();
      return;
    }
    const { pathname, search } = new URL(incoming.url!);
    const { method, headers } = incoming;
    const onward = httpRequest(
      { port: target(), host: '127.0.0.1', method, path: pathname + search, headers },
      (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      },
    );
    incoming.pipe(onward);
  });
  server.on('connect', (incoming, socket: Socket) => {
    seen.push(`CONNECT ${incoming.url}`);
    socket.on('error', () => {});
    if (!isAllowed(incoming.headers['proxy-authorization'])) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      return;
    }
    const onward = connect(target(), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    onward.on('error', () => socket.destroy());
    socket.on('close', () => onward.destroy());
  });
  return { url: `http://127.0.0.1:${await listen(server)}`, seen, authorizations };
}

/** Asks the server at `origin` the same: its answer, of which nothing was passed on yet. */
export async function askSame(
  origin: string,
  { url, method, headers, raw }: ReceivedRequest,
): Promise<IncomingMessage> {
  const onward = httpRequest(origin + url, { method, headers });
  onward.end(raw);
  const [answer] = (await once(onward, 'response')) as [IncomingMessage];
  return answer;
}
