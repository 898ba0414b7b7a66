/** Addresses in words: of listeners as configured, of peers, and in errors. */
import { isIPv6 } from 'node:net';
import type { ListenAddress } from '../../../config/fields/kinds-listen.ts';
import { TailraceError, codeOf, messageOf } from '../../../core/errors.ts';

/** What listens. */
export interface Listener {
  /** The bound address, with the port that the system chose for 0. */
  readonly address: ListenAddress;
  /** Accepts no more; sockets that were not handed over are closed once it resolves. */
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
  const { protocol } = address;
  if ('path' in address) return `${protocol}://${address.path}`;
  if ('name' in address) return `${protocol}://${address.name}`;
  return `${protocol}://${isIPv6(address.host) ? `[${address.host}]` : address.host}:${address.port}`;
}

type Reason = readonly [reason: string, fix: string];

/** By the system's code. */
function reasonOf(address: ListenAddress, code: string): Reason | undefined {
  if ('port' in address) {
    const kind = address.protocol === 'udp' ? 'u' : 't';
    const reasons: Record<string, Reason> = {
      EADDRINUSE: [
        'the port is taken by another program',
        `find it with "ss -ln${kind}p sport = :${address.port}", or listen on another port`,
      ],
      EACCES: ['the port needs privileges', 'listen on a port from 1024 up, or give the agent CAP_NET_BIND_SERVICE'],
      EADDRNOTAVAIL: [
        'this machine does not have the address',
        'listen on an address that "ip addr" shows, on 0.0.0.0, or on [::]',
      ],
      ENOTFOUND: ['the name has no address', 'write an IP address'],
    };
    return reasons[code];
  }
  const reasons: Record<string, Reason> = {
    EADDRINUSE: ['another program listens there', 'find it with "ss -lxp", or choose another path'],
    EACCES: [
      'this user may not make a socket there',
      "choose a folder that is the agent's, such as its RuntimeDirectory",
    ],
  };
  return reasons[code];
}

export function listenError(address: ListenAddress, cause: unknown): TailraceError {
  if (cause instanceof TailraceError) return cause;
  const [reason, fix] = reasonOf(address, codeOf(cause)) ?? [messageOf(cause), 'correct the address in `listen`'];
  return new TailraceError('E_LISTEN', `cannot listen on ${formatListen(address)}: ${reason}`, { fix, cause });
}
