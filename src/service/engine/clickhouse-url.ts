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

/** Throws a `UsageError` that never repeats the password. */
export function parseClickhouseUrl(text: string, env: Readonly<Record<string, string | undefined>>): ClickhouseAddress {
  const fail = (what: string): never => {
    throw new UsageError('E_ENGINE', `--engine ${hidePassword(text)}: ${what}`, {
      fix: 'write it as clickhouse://user@host:8123/database, or clickhouse://user@host1:8123,host2:8123/database?cluster=name',
    });
  };
  // Else a part of the password would be taken for a host, a database or a parameter, and named.
  const bare = text.replace(/^[a-z]+:\/\//, '');
  const end = bare.search(/[@/?#]/);
  if (end >= 0 && bare.lastIndexOf('@') > end) fail('write the characters @ / ? # of a user or password as %40 %2F %3F %23');
  const found = FORM.exec(text) ?? fail('it is no address of a ClickHouse server');
  const [, user = '', password = '', hosts = '', database = '', query = ''] = found;
  const parameters = new URLSearchParams(query);
  for (const name of parameters.keys())
    if (name !== 'cluster' && name !== 'secure') fail(`the parameter ${JSON.stringify(name)} is not known`);
  const scheme = ['1', 'true'].includes(parameters.get('secure') ?? '') ? 'https' : 'http';
  const cluster = parameters.get('cluster') ?? '';
  if (cluster !== '' && !NAME.test(cluster)) fail(`the cluster name ${JSON.stringify(cluster)} is not a plain name`);
  if (database !== '' && !NAME.test(database)) fail(`the database name ${JSON.stringify(database)} is not a plain name`);
  const list = hosts.split(',').map((host) => {
    const [, name = '', port = String(PORT[scheme])] = HOST.exec(host) ?? fail(`${JSON.stringify(host)} is no host or host:port`);
    if (Number(port) > 65_535) fail(`the port ${port} is above 65535`);
    return `${scheme}://${name}:${port}`;
  });
  if (list.length > 1 && cluster === '') fail('several hosts are the shards of a cluster: say which with ?cluster=name');
  return {
    hosts: list,
    user: decode(user) || 'default',
    password: decode(password) || (env['TAILRACE_CLICKHOUSE_PASSWORD'] ?? ''),
    database: database || 'tailrace',
    cluster,
  };
}

/** Hides all up to the last `@` behind the first `:`, as a password may hold any character, and a parameter that looks like one. */
export function hidePassword(address: string): string {
  const text = address.replaceAll(/([?&]pass(?:word)?=)[^&]*/gi, '$1***');
  const [, before = '', userInfo = '', after = ''] = /^([a-z]+:\/\/|)(.*)(@[^@]*)$/s.exec(text) ?? [];
  const colon = userInfo.indexOf(':');
  return colon < 0 ? text : `${before}${userInfo.slice(0, colon)}:***${after}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
