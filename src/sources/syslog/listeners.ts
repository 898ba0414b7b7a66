/**
 * Sockets that listen: UDP through dgram, TCP through net. Promises: an address that cannot be listened on is a
 * `TailraceError` `E_LISTEN` that names the address and the remedy; `close` leaves nothing open.
 */
import { createSocket } from 'node:dgram';
import { createServer, isIPv6 } from 'node:net';
import type { Socket } from 'node:net';
import type { ListenAddress } from '../../config/model.ts';
import { TailraceError, codeOf, messageOf } from '../../core/errors.ts';
import { UDP_RECEIVE_BUFFER_BYTES } from '../../core/limits.ts';

export interface Listener {
  /** Where it really listens: the port the system chose, when 0 was asked for. */
  readonly address: ListenAddress;
  /** Bytes of the receive buffer that the kernel granted; UDP only. */
  readonly receiveBufferBytes?: number;
  close(): Promise<void>;
}

/** `onError` hears of errors after the start. */
export async function listenUdp(
  address: ListenAddress,
  onDatagram: (bytes: Buffer, peer: string) => void,
  onError: (error: Error) => void,
): Promise<Listener> {
  const socket = createSocket({ type: isIPv6(address.host) ? 'udp6' : 'udp4', recvBufferSize: UDP_RECEIVE_BUFFER_BYTES });
  await new Promise<void>((resolve, reject) => {
    socket.once('error', (error) => {
      socket.close();
      reject(listenError(address, error));
    });
    socket.bind({ port: address.port, address: address.host, exclusive: true }, () => {
      socket.removeAllListeners('error');
      resolve();
    });
  });
  socket.on('error', onError);
  socket.on('message', (bytes, from) => onDatagram(bytes, formatPeer(from.address, from.port)));
  return {
    address: { ...address, port: socket.address().port },
    // The kernel books twice of what is asked for and says so.
    receiveBufferBytes: socket.getRecvBufferSize() / 2,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

/** `onError` hears of errors after the start. Connections are the caller's to close, before `close` can end. */
export async function listenTcp(
  address: ListenAddress,
  onConnection: (socket: Socket) => void,
  onError: (error: Error) => void,
): Promise<Listener> {
  const server = createServer(onConnection);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(address, error)));
    server.listen({ port: address.port, host: address.host, exclusive: true }, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
  server.on('error', onError);
  const bound = server.address();
  return {
    address: { ...address, port: typeof bound === 'object' && bound !== null ? bound.port : address.port },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** `address:port`, IPv6 in brackets, IPv4 mapped into IPv6 as IPv4. */
export function formatPeer(address: string | undefined, port: number | undefined): string {
  if (address === undefined) return 'unknown';
  const plain = address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
  return plain.includes(':') ? `[${plain}]:${port}` : `${plain}:${port}`;
}

/** As it is written in the configuration. */
export function formatListen(address: ListenAddress): string {
  return `${address.protocol}://${isIPv6(address.host) ? `[${address.host}]` : address.host}:${address.port}`;
}

const REASONS: Record<string, readonly [reason: string, fix: (address: ListenAddress) => string]> = {
  EADDRINUSE: [
    'the port is taken by another program',
    ({ protocol, port }) => `find it with "ss -ln${protocol === 'udp' ? 'u' : 't'}p sport = :${port}", or listen on another port`,
  ],
  EACCES: ['the port needs privileges', () => 'listen on a port from 1024 up, or give the agent CAP_NET_BIND_SERVICE'],
  EADDRNOTAVAIL: ['this machine does not have the address', () => 'listen on an address that "ip addr" shows, on 0.0.0.0, or on [::]'],
  ENOTFOUND: ['the name has no address', () => 'write an IP address'],
};

function listenError(address: ListenAddress, cause: Error): TailraceError {
  const [reason, fix] = REASONS[codeOf(cause)] ?? [messageOf(cause), () => 'correct the address in `listen`'];
  return new TailraceError('E_LISTEN', `cannot listen on ${formatListen(address)}: ${reason}`, { fix: fix(address), cause });
}
