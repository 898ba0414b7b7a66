/** Which pages of other origins a browser may let ask the service: none unless they are named, and never with cookies. */
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Seconds that a browser may keep the answer to a preflight. */
const KEPT_SECONDS = 600;

export interface CorsOptions {
  /** `*` is every origin. */
  readonly origins: ReadonlySet<string>;
  readonly headerPrefix: string;
}

/** Adds the headers of a reply to a page of an allowed origin. True where the request is a preflight, which needs no token: answer it. */
export function allowOrigin(
  { origins, headerPrefix }: CorsOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): boolean {
  const { origin } = request.headers;
  if (origins.size === 0 || origin === undefined) return false;
  void reply.header('Vary', 'Origin');
  if (!origins.has('*') && !origins.has(origin)) return false;
  const exposed = ['Trace-Id', 'Query-Id', 'Bytes-Read', 'History-Query-Id'].map((name) => headerPrefix + name);
  void reply.headers({
    'Access-Control-Allow-Origin': origins.has('*') ? '*' : origin,
    'Access-Control-Expose-Headers': [...exposed, 'Retry-After', 'X-RateLimit-Reset'].join(', '),
  });
  if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return false;
  const taken = ['Org-ID', 'Event-Labels', 'CSV-Fields', 'Query-Id'].map((name) => headerPrefix + name);
  void reply.headers({
    'Access-Control-Allow-Methods': 'GET, POST, PUT, DELETE',
    'Access-Control-Allow-Headers': [
      'Authorization',
      'Content-Type',
      'Content-Encoding',
      'Idempotency-Key',
      ...taken,
    ].join(', '),
    'Access-Control-Max-Age': KEPT_SECONDS,
  });
  return true;
}
