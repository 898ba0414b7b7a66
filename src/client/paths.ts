/** Where the endpoints are and what the service's own headers are called. Pure; the ingest sink uses them, too. */
import { trimEndOf } from '../core/text/trim-end.ts';

export type IngestPath = 'current' | 'legacy';

export interface TimestampOptions {
  /** The field with the time, instead of `_time`. */
  readonly timestampField?: string | undefined;
  /** A Go layout such as `2/Jan/2006:15:04:05 -0700`, or a name that the service knows. */
  readonly timestampFormat?: string | undefined;
}

/** The path of a base address, without trailing slashes. */
export function basePathOf(url: string): string {
  return trimEndOf(new URL(url).pathname, '/');
}

/** The address of an edge: a domain takes the place of the base's, a whole address is taken unchanged. Without trailing slashes. */
export function edgeBaseOf(base: string, domain: string): string {
  const { protocol, pathname } = new URL(base);
  return trimEndOf(new URL(domain.includes('://') ? domain : `${protocol}//${domain}${pathname}`).href, '/');
}

export function ingestPath(dataset: string, form: IngestPath): string {
  const name = encodeURIComponent(dataset);
  return form === 'legacy' ? `/v1/datasets/${name}/ingest` : `/v1/ingest/${name}`;
}

/** The query parameters of an ingest request. */
export function timestampQuery({ timestampField, timestampFormat }: TimestampOptions): URLSearchParams {
  const query = new URLSearchParams();
  if (timestampField !== undefined) query.set('timestamp-field', timestampField);
  if (timestampFormat !== undefined) query.set('timestamp-format', timestampFormat);
  return query;
}

/** Headers of the service's own under their whole names: `org-id` becomes `x-service-org-id`. */
export function prefixHeaders(prefix: string, headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [`${prefix}${name}`.toLowerCase(), value]));
}

/** JSON text of ASCII alone, for a header. */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
