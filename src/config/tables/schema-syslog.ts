/** The field table of the syslog source. */
import { field, group, type Table, type Kind } from '../fields/field.ts';
import { anyText, choice, durationOr, flag, integer, list, size, text } from '../fields/kinds.ts';
import { timezone, parseHostPort } from '../fields/kinds-special.ts';
import type { Wrong } from '../config-error.ts';
import type { ListenAddress } from '../model.ts';

/** The longest path of a socket on Linux, in bytes. */
const MAX_SOCKET_PATH_BYTES = 107;
const FORMS = '`udp://`, `tcp://` or `tls://host:port`, `unix://` or `unixgram:///path`, or `systemd://name`';
const FIX = 'write it as `udp://127.0.0.1:5514`, `tls://[::1]:6514`, `unix:///run/tailrace/syslog.sock` or `systemd://`';

/**
 * `udp://`, `tcp://`, `tls://` with `host:port` (IPv6 in brackets; port 0 takes any free one), `unix://` and `unixgram://` with
 * an absolute path, `systemd://` and `systemd-tls://` with the name of a socket unit's descriptors, or none for all.
 */
const listenAddress: Kind<ListenAddress> = text({
  type: FORMS,
  schema: { pattern: '^((udp|tcp|tls|unix|unixgram|systemd|systemd-tls)://|.*\\$\\{)' },
  parse: (value) => {
    const parsed = parseListen(value);
    return 'message' in parsed ? { message: parsed.message, fix: FIX } : { value: parsed };
  },
});

/** Octal digits, such as `0660`; YAML reads those without quotes as text, too. */
const socketMode: Kind<number> = text({
  type: 'octal permissions in quotes',
  parse: (value): { value: number } | Wrong =>
    /^0?[0-7]{3}$/.test(value)
      ? { value: Number.parseInt(value, 8) }
      : { message: 'is no set of permissions', fix: 'write three or four octal digits in quotes, such as `"0660"`' },
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
      if (Buffer.byteLength(rest) > MAX_SOCKET_PATH_BYTES) return { message: `has a path of more than ${MAX_SOCKET_PATH_BYTES} bytes` };
      return { protocol, path: rest };
    case 'systemd':
    case 'systemd-tls':
      return /^[^:/]{0,255}$/.test(rest) ? { protocol, name: rest } : { message: 'has no valid name of descriptors' };
    default:
      return { message: `has the unknown protocol \`${protocol}\`` };
  }
}

const tlsTable = {
  cert: field(anyText, { example: 'tls.crt', doc: 'certificate of TLS listeners, with the chain behind it' }),
  key: field(anyText, { example: 'tls.key', doc: 'its private key, not encrypted' }),
  ca: field(anyText, { example: 'ca.crt', doc: 'certificates of the authorities that may sign the certificates of senders' }),
  max_version: field(choice(['1.2', '1.3']), {
    default: '"1.2"',
    doc: 'the newest version that is spoken; with 1.3, senders that never read lose what they wrote just before they close',
  }),
  require_client_cert: field(flag, { default: 'false', doc: 'refuses senders without a certificate that `ca` has signed' }),
} satisfies Table;

/** The keys that no other source has. */
export const syslogOwn = {
  listen: field(list(listenAddress, { filled: true, example: '[udp://127.0.0.1:5514]' }), {
    required: true,
    example: '[udp://127.0.0.1:5514, tcp://127.0.0.1:5514]',
    doc: 'addresses to listen on; IPv6 in brackets, port 0 takes a free one; unix:// is a stream socket, unixgram:// a datagram one, systemd:// what systemd opened',
  }),
  tls: field(group(tlsTable), {
    default: '{}',
    doc: 'of tls:// listeners; relative paths as for token_file, files are read again when they change',
  }),
  timezone: field(timezone, { computed: "the host's", example: 'Europe/Athens', doc: 'of times without a zone' }),
  parse_json: field(choice(['none', 'cee', 'all', 'fields']), {
    default: 'none',
    doc: 'a message that is a JSON object is also parsed into the field `json`: cee behind `@cee:`, all with and without it; fields: its members become fields, which overwrite nothing',
  }),
  parse: field(choice(['none', 'cef', 'leef', 'kv', 'auto']), {
    default: 'none',
    doc: 'fields out of the message, which overwrite nothing: of CEF, of LEEF, of `key=value` pairs, or of whichever it is (auto)',
  }),
  receive_buffer: field(size('64KiB', '1GiB'), {
    default: '16MiB',
    doc: 'what the system may hold of datagrams that are not read yet, for each socket; it caps it at net.core.rmem_max without CAP_NET_ADMIN',
  }),
  socket_mode: field(socketMode, { default: '"0660"', doc: 'permissions of unix sockets' }),
  proxy_protocol: field(flag, {
    default: 'false',
    doc: 'tcp:// and tls:// connections begin with a PROXY protocol header (version 1 or 2), which names the sender; others are closed',
  }),
  max_connections: field(integer(1, 10_000), { default: '1024', doc: 'connections of this source; more are closed at once' }),
  idle_timeout: field(durationOr('never', '1s', '7d'), {
    default: 'never',
    doc: 'a connection that brings nothing for so long is closed; dead peers are noticed in any case',
  }),
} satisfies Table;
