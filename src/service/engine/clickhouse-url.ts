/** `--engine clickhouse://user:password@host:8123,host2:8123/database?cluster=name`, taken apart. */
import { UsageError } from '../../core/errors.ts';

export interface ClickhouseAddress {
  /** Base addresses of the HTTP interface, one a shard. */
  readonly hosts: readonly string[];
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Of the server's `remote_servers`; empty for a single server without shards. */
  readonly cluster: string;
}

const FORM = /^clickhouse:\/\/(?:([^:@/?#]*)(?::([^@/?#]*))?@)?([^@/?#]+)(?:\/([^/?#]*))?(?:\?([^#]*))?$/;
const HOST = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$/;
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const PORT = { http: 8123, https: 8443 };
/** As much of what follows the user as is surely no part of a password: hosts, a database, parameters that are known. */
const HOST_TEXT = String.raw`(?:\[[0-9A-Fa-f:.]+\]|[\w.-]+)(?::\d{1,5}(?!\d))?`;
const PARAMETER = String.raw`(?:cluster|secure)=[\w.-]*`;
const SHOWN = new RegExp(
  String.raw`^${HOST_TEXT}(?:,${HOST_TEXT})*(?:/\w*(?=\?|$))?(?:\?${PARAMETER}(?:&${PARAMETER})*)?`,
);

/** Throws a `UsageError` that never repeats the password. */
export function parseClickhouseUrl(text: string, env: Readonly<Record<string, string | undefined>>): ClickhouseAddress {
  const fail = (what: string): never => {
    throw new UsageError('E_ENGINE', `--engine ${hidePassword(text)}: ${what}`, {
      fix: 'write it as clickhouse://user@host:8123/database, or clickhouse://user@host1:8123,host2:8123/database?cluster=name',
    });
  };
  // A part of the password may be where a host, a database or a parameter belongs: no message quotes the address there.
  const bare = text.replace(/^[a-z]+:\/\//, '');
  const end = bare.search(/[@/?#]/);
  if (end >= 0 && bare.lastIndexOf('@') > end)
    fail('write the characters @ / ? # of a user or password as %40 %2F %3F %23');
  const found = FORM.exec(text) ?? fail('it is no address of a ClickHouse server');
  const [, user = '', password = '', hosts = '', database = '', query = ''] = found;
  const parameters = new URLSearchParams(query);
  for (const name of parameters.keys())
    if (name !== 'cluster' && name !== 'secure') fail('a parameter is not known: wanted cluster or secure');
  const scheme = ['1', 'true'].includes(parameters.get('secure') ?? '') ? 'https' : 'http';
  const cluster = parameters.get('cluster') ?? '';
  if (cluster !== '' && !NAME.test(cluster)) fail('the name of the cluster is not a plain name');
  if (database !== '' && !NAME.test(database)) fail('the name of the database is not a plain name');
  const list = hosts.split(',').map((host) => {
    const [, name = '', port = String(PORT[scheme])] =
      HOST.exec(host) ?? fail('wanted host or host:port, and an @ behind a user');
    if (Number(port) > 65_535) fail('a port is above 65535');
    return `${scheme}://${name}:${port}`;
  });
  if (list.length > 1 && cluster === '')
    fail('several hosts are the shards of a cluster: say which with ?cluster=name');
  return {
    hosts: list,
    user: decode(user) || 'default',
    password: decode(password) || (env['TAILRACE_CLICKHOUSE_PASSWORD'] ?? ''),
    database: database || 'tailrace',
    cluster,
  };
}

/**
 * The address for a person to read: whatever may be a password is `***`, also in a misspelt address. A password may hold any
 * character: everything up to the last `@` counts as one, and after it only text that cannot be one is shown.
 */
export function hidePassword(address: string): string {
  const scheme = /^(?:[a-z][a-z0-9+.-]*:\/\/)?/i.exec(address)![0];
  const rest = address.slice(scheme.length);
  const at = rest.lastIndexOf('@');
  const userInfo = rest.slice(0, Math.max(at, 0));
  // A parameter with an `@` in its value looks like a user.
  if (userInfo.includes('?') && userInfo.includes('=')) return `${scheme}***`;
  const colon = userInfo.indexOf(':');
  const user = colon < 0 ? userInfo : `${userInfo.slice(0, colon)}:***`;
  const behind = rest.slice(at + 1);
  const [shown = ''] = SHOWN.exec(behind) ?? [];
  if (shown === behind) return `${scheme}${user}${at < 0 ? '' : '@'}${behind}`;
  // Without an `@`, the text after a colon may be meant as a password.
  return `${scheme}${user}${at < 0 ? shown.replace(/:[^]*/, '') : `@${shown}`}***`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
