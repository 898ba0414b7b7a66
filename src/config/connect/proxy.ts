/** Which proxy leads to an address, by HTTPS_PROXY, HTTP_PROXY and NO_PROXY, as undici and most other programs read them. */
import { isIP } from 'node:net';
import type { Environment } from '../yaml/expand.ts';
import type { Wrong } from '../config-error.ts';

/** The proxy's address in one spelling, or its fault. */
export function parseProxy(written: string): { readonly value: string } | Wrong {
  const fix = 'write it as `http://host:port` or `http://user:password@host:port`';
  // `proxy:3128` is how many write it in the environment.
  const text = written.includes('://') ? written : `http://${written}`;
  const url = /[\s\\]/.test(text) ? null : URL.parse(text);
  if (url === null || url.hostname === '') return { message: 'is not the address of a proxy', fix };
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return { message: 'is not an http or https proxy', fix };
  if (url.pathname.length > 1 || url.search !== '' || url.hash !== '')
    return { message: 'has more than a host and a port', fix };
  try {
    decodeURIComponent(url.username + url.password);
  } catch {
    return { message: 'has a `%` in its user or password that encodes nothing', fix: 'write `%25` for a percent sign' };
  }
  return { value: url.href.replace(/\/$/, '') };
}

/** The variable that names the proxy for the address, where there is one. Names in small letters win, as everywhere. */
export function proxyVariableFor(address: string, env: Environment): string | undefined {
  const url = new URL(address);
  if (isBypassed(url, env['no_proxy'] ?? env['NO_PROXY'] ?? '')) return undefined;
  // Without a proxy for https the one for http is taken, as undici does.
  const names = [...(url.protocol === 'https:' ? ['https_proxy', 'HTTPS_PROXY'] : []), 'http_proxy', 'HTTP_PROXY'];
  return names.find((name) => (env[name] ?? '') !== '');
}

const PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

function isBypassed({ protocol, hostname, port }: URL, noProxy: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/(.)\.$/, '$1');
  // No proxy reaches this machine's own services; the demo and most tests depend on it.
  if (isLoopback(host)) return true;
  const portOf = port === '' ? PORTS[protocol] : port;
  return noProxy
    .toLowerCase()
    .split(/[,\s]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      const [, bracketed, plain, entryPort] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(entry) ?? [];
      if (entryPort !== undefined && entryPort !== portOf) return false;
      const wanted = (bracketed ?? plain ?? entry).replace(/(.)\.$/, '$1');
      if (wanted === '*') return true;
      const name = wanted.replace(/^\*?\./, '');
      return (host === name && !wanted.startsWith('*')) || host.endsWith(`.${name}`);
    });
}

/** True of hosts that only this machine reaches. */
export function isLoopback(host: string): boolean {
  return (
    host === 'localhost' ||
    host.endsWith('.localhost') ||
    host === '::1' ||
    (isIP(host) === 4 && host.startsWith('127.'))
  );
}
