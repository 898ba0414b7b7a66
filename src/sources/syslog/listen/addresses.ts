/** Addresses that are listened on, in words: as they are configured, as peers are named, and what is wrong with them. */
import { isIPv6 } from 'node:net';
import type { ListenAddress } from '../../../config/model.ts';
import { TailraceError, codeOf, messageOf } from '../../../core/errors.ts';

/** What listens. */
export interface Listener {
  /** Where it really listens: the port the system chose, when 0 was asked for. */
  readonly address: ListenAddress;
  /** Takes no more; what it opened and did not hand over is gone once it resolves. */
  close(): Promise<void>;
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

export function listenError(address: ListenAddress, cause: unknown): TailraceError {
  const [reason, fix] = REASONS[codeOf(cause)] ?? [messageOf(cause), () => 'correct the address in `listen`'];
  return new TailraceError('E_LISTEN', `cannot listen on ${formatListen(address)}: ${reason}`, { fix: fix(address), cause });
}
