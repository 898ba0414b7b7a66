/**
 * The HTTP face, by fastify: every reply carries a trace id and is not cached, every failure is `{"code": status, "message": …}`,
 * fastify's and Node's own included, and every request is authenticated before anything else is looked at, but for routes that say they are public.
 */
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { SERVICE_CONNECTIONS } from '../../core/limits.ts';
import type { Log } from '../../core/log.ts';
import { messageOf } from '../../core/errors.ts';
import type { Auth, Caller } from '../auth/auth.ts';
import type { RateLimit } from '../auth/rate-limit.ts';
import type { Need } from '../auth/rights.ts';
import type { TokenKind } from '../auth/tokens.ts';
import { ApiError, forbidden } from './api-error.ts';
import type { Endpoint } from './openapi.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True for what needs no token (a page, the API's description). Everything else is authenticated, whatever its path. */
    public?: boolean;
    /** Tokens that may call it; both when absent. */
    tokens?: TokenKind;
    /** False where a personal token needs no org header. */
    org?: boolean;
    /** What its caller must be allowed; a dataset is the path's `dataset`. Without it the handler asks `request.caller`, or anyone may. */
    need?: Need;
    /** How the OpenAPI document describes it. */
    doc?: Endpoint;
  }
  interface FastifyRequest {
    /** Of every route that is not public. */
    caller: Caller;
    /** When its headers were there, as `performance.now()` tells it. */
    startedAt: number;
  }
}

/** A JSON body of the metadata and query routes, not of ingest. */
const JSON_BODY_BYTES = 1024 * 1024;
const VERSIONED = /^\/v\d+(?:\/|\?|$)/;

export interface HttpOptions {
  readonly auth: Auth;
  readonly rateLimit: RateLimit;
  readonly headerPrefix: string;
  /** For a request to arrive whole; then 408. */
  readonly requestSeconds: number;
  readonly log: Log;
}

/** A server without routes; the rooms register theirs. */
export function createServer({ auth, rateLimit, headerPrefix, requestSeconds, log }: HttpOptions): FastifyInstance {
  const traceHeader = `${headerPrefix}Trace-Id`;
  const orgHeader = `${headerPrefix}Org-ID`.toLowerCase();
  const server = fastify({
    logger: false,
    bodyLimit: JSON_BODY_BYTES,
    requestTimeout: requestSeconds * 1000,
    // How often Node looks for requests that took too long.
    http: { headersTimeout: Math.min(60, requestSeconds) * 1000, connectionsCheckingInterval: Math.min(10, requestSeconds) * 1000 },
    keepAliveTimeout: 75_000,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    genReqId: () => randomUUID(),
    routerOptions: { maxParamLength: 1024 },
    clientErrorHandler: answerBadHttp,
    frameworkErrors: (error, request, reply) => {
      decorate(request, reply);
      void fail(error, request, reply);
    },
  });

  server.server.maxConnections = SERVICE_CONNECTIONS;

  const decorate = (request: FastifyRequest, reply: FastifyReply): void => {
    void reply.header(traceHeader, request.id).header('X-Content-Type-Options', 'nosniff').header('Cache-Control', 'no-cache');
  };
  const fail = (error: FastifyError | ApiError, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const status = error instanceof ApiError ? error.status : (error.statusCode ?? 500);
    if (error instanceof ApiError) void reply.headers(error.headers);
    // A client that still sends would find its connection reset in place of the reply: the rest of its body is read and dropped.
    if (status === 413) void reply.removeHeader('connection');
    if (status >= 500)
      log.error({ trace: request.id, method: request.method, url: request.url, error: messageOf(error) }, 'a request failed');
    const message = status >= 500 && !(error instanceof ApiError) ? `internal error, trace ${request.id}` : messageOf(error);
    const detail = error instanceof ApiError ? error.detail : undefined;
    return reply
      .code(status)
      .type('application/json; charset=utf-8')
      .send(JSON.stringify({ code: status, message, ...(detail && { detail }) }));
  };
  const authenticate = (request: FastifyRequest): Caller => {
    const caller = auth.authenticate(request.headers.authorization);
    const { tokens, org, need } = request.routeOptions.config;
    if (tokens !== undefined && caller.kind !== tokens)
      throw forbidden(`this endpoint takes ${tokens === 'api' ? 'API' : 'personal'} tokens only`);
    const given = request.headers[orgHeader];
    if (caller.kind === 'personal' && org !== false && !auth.isOrg(typeof given === 'string' ? given : undefined))
      throw forbidden(`a personal token needs the header ${headerPrefix}Org-ID with the id of the organisation`);
    if (need !== undefined) caller.require(need, (request.params as { dataset?: string }).dataset);
    return caller;
  };

  // Clients send a content type without a body, with DELETE above all: that is no body, not a bad one.
  const parseJson = server.getDefaultJsonParser('error', 'error');
  server.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined);
    else void parseJson(request, body as string, done);
  });
  server.decorateRequest('caller', null as unknown as Caller);
  server.decorateRequest('startedAt', 0);
  server.addHook('onRequest', (request, reply, done) => {
    request.startedAt = performance.now();
    decorate(request, reply);
    // By the route, not by the text of the path, which may be written in other ways (`/%761/…`).
    const isPublic = request.is404 ? !VERSIONED.test(request.url) : request.routeOptions.config.public === true;
    if (!isPublic) {
      request.caller = authenticate(request);
      void reply.headers(rateLimit.count(Date.now()));
    }
    done();
  });
  server.setErrorHandler(fail);
  server.setNotFoundHandler((request, reply) =>
    fail(
      new ApiError(
        404,
        `route ${request.method} ${request.url.split('?')[0]!.slice(0, 200)} not found; GET /openapi.json tells all that are there`,
      ),
      request,
      reply,
    ),
  );
  return server;
}

/** A request that is not HTTP: Node has no reply object for it. */
function answerBadHttp(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const body = JSON.stringify({ code: status, message: `the request is not valid HTTP: ${error.code ?? error.message}` });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
