/**
 * Whether a request names this server by a name that no attacker can choose. A web page may point a name of its own at a loopback
 * address (DNS rebinding); the browser then takes the server's replies for that page's own, but still sends the page's name as Host.
 */
import type { IncomingMessage } from 'node:http';
import { hostname } from 'node:os';
import { isIP } from 'node:net';

/**
 * What a request calls this server: the target names it where it is a whole address (RFC 9112, 3.2.2), else the header. More than one name
 * gives an empty text.
 */
export function hostOf({
  url = '',
  headers,
  rawHeaders,
}: Pick<IncomingMessage, 'url' | 'headers' | 'rawHeaders'>): string | undefined {
  if (countHosts(rawHeaders) > 1) return '';
  return /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1] ?? headers.host;
}

export const countHosts = (rawHeaders: readonly string[]): number =>
  rawHeaders.filter((name, n) => n % 2 === 0 && name.toLowerCase() === 'host').length;

/**
 * The name in `name:port`, an address of IPv6 in brackets, in small letters and without the dot of a whole name; undefined for other text.
 */
export const nameIn = (host: string): string | undefined =>
  /^(\[[0-9a-f:.]+\]|[^:[\]]+?)\.?(?::\d{1,5})?$/i.exec(host)?.[1]?.toLowerCase();

/** `configured`: the host that the server listens on, and others that it is called by. */
export function isOwnHost(host: string | undefined, ...configured: readonly string[]): boolean {
  const name = nameIn(host ?? '');
  if (name === undefined) return false;
  // An address cannot be pointed elsewhere.
  if (isIP(name.replaceAll(/[[\]]/g, '')) !== 0) return true;
  return ['localhost', hostname(), ...configured].some((own) => nameIn(own) === name);
}
