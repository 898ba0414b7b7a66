/** The type `syslog`: its keys, and what commands ask of its sources. */
import type { Wrong } from '../../config/config-error.ts';
import { type Context, credentialPath } from '../../config/fields/context.ts';
import { field, group, type FieldKind, type FieldTable, type FieldValues } from '../../config/fields/field.ts';
import { messageCharset } from '../../config/fields/kinds-lines.ts';
import { listenAddress } from '../../config/fields/kinds-listen.ts';
import { timezone } from '../../config/fields/kinds-special.ts';
import { anyText, choice, durationOr, flag, integer, list, size, text } from '../../config/fields/kinds.ts';
import type { PathReport } from '../../config/fields/path-report.ts';
import { onOversize } from '../common/line-fields.ts';
import { type CommonSourceConfig, hostZone, maxEventBytes } from '../common/source-fields.ts';
import type { LocatedDraft, SourceType } from '../common/source-type.ts';
import { windowBytesFor } from '../common/window-bytes.ts';
import { SYSLOG_KERNEL_BYTES, SYSLOG_PARTS_BYTES } from './limits.ts';

/** Octal digits, such as `0660`; YAML reads those without quotes as text, too. */
const socketMode: FieldKind<number> = text({
  type: 'octal permissions in quotes',
  parse: (value): { value: number } | Wrong =>
    /^0?[0-7]{3}$/.test(value)
      ? { value: Number.parseInt(value, 8) }
      : { message: 'is no set of permissions', fix: 'write three or four octal digits in quotes, such as `"0660"`' },
});

const tlsTable = {
  cert: field(anyText, { example: 'tls.crt', doc: 'certificate of TLS listeners, with the chain behind it' }),
  key: field(anyText, { example: 'tls.key', doc: 'its private key, not encrypted' }),
  ca: field(anyText, {
    example: 'ca.crt',
    doc: 'certificates of the authorities that may sign the certificates of senders',
  }),
  max_version: field(choice(['1.2', '1.3']), {
    default: '"1.2"',
    doc: 'the newest version that is spoken; with 1.3, senders that never read lose what they wrote just before they close',
  }),
  require_client_cert: field(flag, {
    default: 'false',
    doc: 'refuses senders without a certificate that `ca` has signed',
  }),
} satisfies FieldTable;

const fields = {
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
  max_connections: field(integer(1, 10_000), {
    default: '1024',
    doc: 'connections of this source; more are closed at once',
  }),
  idle_timeout: field(durationOr('never', '1s', '7d'), {
    default: 'never',
    doc: 'a connection that brings nothing for so long is closed; dead peers are noticed in any case',
  }),
  max_event_bytes: maxEventBytes,
  on_oversize: onOversize,
  charset: field(messageCharset, {
    default: 'utf-8',
    doc: 'how a message that is no UTF-8 is encoded; what is invalid becomes U+FFFD',
  }),
} satisfies FieldTable;

export type SyslogConfig = CommonSourceConfig & ReturnType<typeof derive> & { readonly type: 'syslog' };

function derive({ tls, timezone: zone, ...values }: FieldValues<typeof fields>, context: Context) {
  const path = (file: string | undefined) => (file === undefined ? undefined : credentialPath(file, context));
  return {
    ...values,
    tls: { ...tls, cert: path(tls.cert), key: path(tls.key), ca: path(tls.ca) },
    timezone: zone ?? hostZone(),
  };
}

export const syslogType: SourceType<typeof fields, SyslogConfig> = {
  exampleId: 'net',
  doc: 'listens for syslog messages, RFC 5424 and RFC 3164',
  fields,
  derive,
  readsLines: false,
  isRereadable: false,
  checkKeys: checkTls,
  listens: ({ listen = [] }) => listen,
  windowBytes: (config) => windowBytesFor(2, config) + SYSLOG_KERNEL_BYTES + 2 * SYSLOG_PARTS_BYTES,
  create: async (config, context, kernel) => (await import('./source.ts')).createSyslogSource(config, context, kernel),
  secretFiles: ({ tls: { key } }) => (key === undefined ? [] : [{ path: key, what: 'the tls.key' }]),
  check: async (config, machine) => (await import('./check-sockets.ts')).checkSockets(config, machine),
  preview: async (config, tools) => new (await import('./message-reader.ts')).MessageReader(config, tools),
};

function checkTls({ path, draft }: LocatedDraft<typeof fields>, at: PathReport): void {
  const index = (draft.listen ?? []).findIndex(
    (address) => address?.protocol === 'tls' || address?.protocol === 'systemd-tls',
  );
  if (index >= 0) {
    for (const part of ['cert', 'key'] as const) {
      if (at.has(`${path}.tls.${part}`)) continue;
      at.atValue(
        `${path}.listen.${index}`,
        `a TLS listener has no \`tls.${part}\``,
        `add \`tls: {cert: tls.crt, key: tls.key}\``,
      );
      break;
    }
  }
  if (draft.tls?.require_client_cert === true && !at.has(`${path}.tls.ca`))
    at.atKey(
      `${path}.tls.require_client_cert`,
      '`require_client_cert` is given without `ca`',
      'add the `ca` that signs client certificates',
    );
}
