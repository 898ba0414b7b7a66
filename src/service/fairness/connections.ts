/**
 * Bounds the connections at a time. Whoever comes when all are taken takes the place of the one that is idle longest, between requests or before the end
 * of its first headers; where none is, the request is for the server to refuse.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** So many more are accepted, to be answered that there are too many. */
const REFUSED_AT_A_TIME = 64;

export function boundConnections(server: Server, most: number) {
  const open = new Set<Socket>();
  /** Those without a request, idle longest first. */
  const idle = new Set<Socket>();
  server.maxConnections = most + REFUSED_AT_A_TIME;
  const forget = (socket: Socket): void => {
    open.delete(socket);
    idle.delete(socket);
  };
  const makeRoom = (): void => {
    const [longest] = idle;
    if (open.size <= most || longest === undefined) return;
    // Its close event comes later, maybe after the first request of the connection that takes its place.
    forget(longest);
    longest.destroy();
  };
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => forget(socket));
    makeRoom();
    idle.add(socket);
  });
  return {
    /** A request of the connection has begun. False when there are too many connections. */
    begin(socket: Socket): boolean {
      idle.delete(socket);
      makeRoom();
      return open.size <= most;
    },
    end(socket: Socket): void {
      if (open.has(socket)) idle.add(socket);
    },
  };
}
