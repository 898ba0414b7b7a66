/**
 * Whether a request names this server by a name that no attacker can choose. A web page may point a name of its own at a loopback
 * address (DNS rebinding); the browser then takes the server's replies for that page's own, but still sends the page's name as Host.
 */
import { hostname } from 'node:os';
import { isIP } from 'node:net';

/** `configured`: the host that the server listens on, and others that it is called by. */
export function isOwnHost(header: string | undefined, ...configured: readonly string[]): boolean {
  const name = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::\d{1,5})?$/i.exec(header ?? '')?.[1]?.toLowerCase();
  if (name === undefined) return false;
  // An address cannot be pointed elsewhere.
  if (isIP(name.replaceAll(/[[\]]/g, '')) !== 0) return true;
  return ['localhost', hostname(), ...configured].some((own) => own.toLowerCase() === name);
}
