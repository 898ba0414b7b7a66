/** Addresses that a source listens on. */
import type { FieldKind } from './field.ts';
import { text } from './kinds.ts';
import { parseHostPort } from './kinds-special.ts';

export interface InternetAddress {
  readonly protocol: 'udp' | 'tcp' | 'tls';
  readonly host: string;
  readonly port: number;
}

/** `unix` is a stream socket, `unixgram` a datagram one. */
export interface UnixAddress {
  readonly protocol: 'unix' | 'unixgram';
  readonly path: string;
}

/** Sockets that systemd has opened: those of a name, or all where it is empty. */
export interface SystemdAddress {
  readonly protocol: 'systemd' | 'systemd-tls';
  readonly name: string;
}

export type ListenAddress = InternetAddress | UnixAddress | SystemdAddress;

/** The longest path of a socket on Linux, in bytes. */
const MAX_SOCKET_PATH_BYTES = 107;
const FORMS = '`udp://`, `tcp://` or `tls://host:port`, `unix://` or `unixgram:///path`, or `systemd://name`';
const FIX =
  'write it as `udp://127.0.0.1:5514`, `tls://[::1]:6514`, `unix:///run/tailrace/syslog.sock` or `systemd://`';

/**
 * `udp://`, `tcp://`, `tls://` with `host:port` (IPv6 in brackets; port 0 takes any free one), `unix://` and `unixgram://` with
 * an absolute path, `systemd://` and `systemd-tls://` with the name of a socket unit's descriptors, or none for all.
 */
export const listenAddress: FieldKind<ListenAddress> = text({
  type: FORMS,
  schema: { pattern: '^((udp|tcp|tls|unix|unixgram|systemd|systemd-tls)://|.*\\$\\{)' },
  parse: (value) => {
    const parsed = parseListen(value);
    return 'message' in parsed ? { message: parsed.message, fix: FIX } : { value: parsed };
  },
});

function parseListen(value: string): ListenAddress | { readonly message: string } {
  const [, protocol, rest = ''] = /^([A-Za-z-]+):\/\/(.*)$/.exec(value) ?? [];
  switch (protocol) {
    case undefined:
      return { message: 'is not an address to listen on' };
    case 'udp':
    case 'tcp':
    case 'tls': {
      const address = parseHostPort(rest);
      return 'message' in address ? address : { protocol, ...address };
    }
    case 'unix':
    case 'unixgram':
      if (!rest.startsWith('/') || rest.endsWith('/')) return { message: 'has no absolute path of a socket' };
      if (Buffer.byteLength(rest) > MAX_SOCKET_PATH_BYTES)
        return { message: `has a path of more than ${MAX_SOCKET_PATH_BYTES} bytes` };
      return { protocol, path: rest };
    case 'systemd':
    case 'systemd-tls':
      return /^[^:/]{0,255}$/.test(rest) ? { protocol, name: rest } : { message: 'has no valid name of descriptors' };
    default:
      return { message: `has the unknown protocol \`${protocol}\`` };
  }
}
