/** A failed request as the command line reports it: first the fault, then the request. Pure. */
import type { ClientError } from '../../client/client-error.ts';

/** The service's own sentence comes first; a query that is wrong at a place is named by that alone. */
export function sentenceOf({ what, method, url, status, body }: ClientError): string {
  const prefix = `HTTP ${status}`;
  if (!what.startsWith(prefix)) return `${what} (${method} ${withoutQuery(url)})`;
  const said = what.slice(prefix.length).replace(/^[ ,]+/, '');
  const detail = (body as { readonly detail?: { readonly line?: unknown } } | null | undefined)?.detail;
  if (said !== '' && typeof detail?.line === 'number') return said;
  const request = `${method} ${withoutQuery(url)}`;
  return said === '' ? `the service answers HTTP ${status} (${request})` : `${said} (HTTP ${status}, ${request})`;
}

/** Its parameters are this program's, and tell nothing. */
const withoutQuery = (url: string): string => url.split('?', 1)[0]!;

export const isIngest = ({ method, url }: ClientError): boolean =>
  method === 'POST' && /\/ingest$|\/v1\/ingest\//.test(new URL(url).pathname);
