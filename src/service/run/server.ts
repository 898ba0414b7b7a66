/**
 * The HTTP server, by fastify. Every reply carries a trace id and is not cached; every failure, also of fastify and Node, is
 * `{"code": status, "message": …}`; every request is authenticated first, unless its route is public.
 */
import { randomUUID } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { SERVICE_CONNECTIONS, SERVICE_JSON_BYTES } from '../limits.ts';
import type { Log } from '../../core/log.ts';
import { messageOf } from '../../core/errors.ts';
import type { Auth, Caller } from '../auth/auth.ts';
import type { RateLimit } from '../auth/rate-limit.ts';
import type { Need } from '../auth/rights.ts';
import type { TokenKind } from '../auth/tokens.ts';
import type { FairBudget } from '../fairness/fair-budget.ts';
import { watchReply, type LeastRate } from '../fairness/least-rate.ts';
import { takeReplyRoom, tooMuchUnread } from '../fairness/unread-replies.ts';
import { lackOf } from '../engine/settings.ts';
import { countHosts, hostOf, isOwnHost, nameIn } from '../../web/host-check.ts';
import { ApiError, badRequest, forbidden, quote } from '../http/api-error.ts';
import { drainAfter, isAnswered } from '../fairness/body.ts';
import { boundConnections } from '../fairness/connections.ts';
import { allowOrigin } from '../http/cors.ts';
import { isLocal, isLoopback } from '../http/is-local.ts';
import { jsonBodies } from '../fairness/json-body.ts';
import type { Metrics } from '../http/metrics.ts';
import type { Endpoint } from '../http/openapi.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True for what needs no token (a page, the API's description). Everything else is authenticated, whatever its path. */
    public?: boolean;
    /** True for what a program on this machine needs no token for (`http/is-local`). */
    publicHere?: boolean;
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

const VERSIONED = /^\/v\d+(?:\/|\?|$)/;

export interface ServerOptions {
  readonly auth: Auth;
  readonly rateLimit: RateLimit;
  readonly headerPrefix: string;
  /** Names by which it may be called on loopback, beside `localhost` and the machine's. */
  readonly ownHosts: readonly string[];
  readonly corsOrigins: ReadonlySet<string>;
  /** For a request to arrive whole; then 408. */
  readonly requestSeconds: number;
  readonly leastRate: LeastRate;
  /** Bytes of bodies of JSON in flight, except ingest. */
  readonly jsonBytes: number;
  /** Bytes of replies in flight. */
  readonly replies: FairBudget;
  readonly log: Log;
  readonly countRequest: Metrics['countRequest'];
  readonly accessLog: ((line: string) => void) | undefined;
}

/** A server without routes: each part registers its own. */
export function createServer(options: ServerOptions): FastifyInstance {
  const { auth, rateLimit, headerPrefix, ownHosts, corsOrigins, requestSeconds, leastRate, jsonBytes, replies, log } =
    options;
  const cors = { origins: corsOrigins, headerPrefix };
  const traceHeader = `${headerPrefix}Trace-Id`;
  const orgHeader = `${headerPrefix}Org-ID`.toLowerCase();
  const server = fastify({
    logger: false,
    bodyLimit: SERVICE_JSON_BYTES,
    requestTimeout: requestSeconds * 1000,
    // How often Node looks for requests that took too long.
    // Node refuses a request without one, with no word.
    http: {
      requireHostHeader: false,
      headersTimeout: Math.min(60, requestSeconds) * 1000,
      connectionsCheckingInterval: Math.min(10, requestSeconds) * 1000,
    },
    keepAliveTimeout: 75_000,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    genReqId: () => randomUUID(),
    routerOptions: { maxParamLength: 1024 },
    clientErrorHandler: answerBadHttp,
    frameworkErrors: (error, request, reply) => {
      void fail(decorate(request, reply) ?? error, request, reply);
    },
  });

  const connections = boundConnections(server.server, SERVICE_CONNECTIONS);

  /** Returns why the request is to be refused. */
  const decorate = (request: FastifyRequest, reply: FastifyReply): ApiError | undefined => {
    request.startedAt = performance.now();
    const { socket } = request.raw;
    const isOne = connections.begin(socket);
    reply.raw.once('close', () => {
      connections.end(socket);
      request.bodyHeld?.release();
      noteEnd(options, request, reply);
    });
    void reply
      .header(traceHeader, request.id)
      .header('X-Content-Type-Options', 'nosniff')
      .header('Cache-Control', 'no-cache');
    if (isOne) return undefined;
    void reply.header('connection', 'close');
    return new ApiError(503, `there are ${SERVICE_CONNECTIONS} connections already, the most at a time: try again`, {
      'Retry-After': '1',
    });
  };
  const fail = (thrown: FastifyError | ApiError, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const error = lackOf(thrown) ?? thrown;
    const status = error instanceof ApiError ? error.status : (error.statusCode ?? 500);
    if (error instanceof ApiError) void reply.headers(error.headers);
    // The rest of the body is read, and the connection goes on.
    if (status === 413) void reply.removeHeader('connection');
    if (status >= 500 && status !== 501)
      log.error(
        { trace: request.id, method: request.method, url: request.url, error: messageOf(thrown) },
        'a request failed',
      );
    const message =
      status >= 500 && !(error instanceof ApiError) ? `internal error, trace ${request.id}` : messageOf(error);
    const detail = error instanceof ApiError ? error.detail : undefined;
    return reply
      .code(status)
      .type('application/json; charset=utf-8')
      .send(JSON.stringify({ code: status, message, ...(detail && { detail }) }));
  };
  const authenticate = (request: FastifyRequest): void => {
    const caller = auth.authenticate(request.headers.authorization);
    request.caller = caller;
    const { tokens, org, need } = request.routeOptions.config;
    if (tokens !== undefined && caller.kind !== tokens) throw forbidden(WRONG_KIND[tokens]);
    const given = request.headers[orgHeader];
    if (caller.kind === 'personal' && org !== false && !auth.isOrg(typeof given === 'string' ? given : undefined))
      throw forbidden(`a personal token needs the header ${headerPrefix}Org-ID with the id of the organisation`);
    if (need !== undefined) caller.require(need, (request.params as { dataset?: string }).dataset);
  };

  /** A page that was led here by its own name (DNS rebinding) would read the replies as its own. */
  const checkHost = (request: IncomingMessage): void => {
    const host = hostOf(request);
    if (host === undefined || !isLoopback(request.socket.localAddress) || isOwnHost(host, ...ownHosts)) return;
    const name = nameIn(host) ?? host;
    throw forbidden(
      `the service is not called ${quote(name)}: if that is a name of it, start it with --allow-host ${name.slice(0, 253)}`,
    );
  };

  // Clients send a content type without a body, mostly with DELETE: treat it as no body.
  const parseJson = server.getDefaultJsonParser('error', 'error');
  // Among those that fastify has is one for plain text, which nothing here bounds.
  server.removeAllContentTypeParsers();
  const readJson = jsonBodies(jsonBytes, leastRate);
  server.addContentTypeParser('application/json', async (request: FastifyRequest) => {
    const text = await readJson(request);
    if (text === '') return undefined;
    return new Promise((resolve, reject) => {
      void parseJson(request, text, (error, body) => (error ? reject(error) : resolve(body)));
    });
  });
  server.decorateRequest('bodyHeld', undefined);
  server.decorateRequest('hasReplyRoom', false);
  server.decorateRequest('caller', null as unknown as Caller);
  server.decorateRequest('startedAt', 0);
  server.addHook('onRequest', (request, reply, done) => {
    const refused = decorate(request, reply);
    if (refused) throw refused;
    const hosts = countHosts(request.raw.rawHeaders);
    if (hosts > 1 || (hosts === 0 && request.raw.httpVersion === '1.1'))
      throw badRequest(`wanted one Host header, not ${hosts}`);
    if (allowOrigin(cors, request, reply)) {
      void reply.code(204).send();
      return;
    }
    // Decide by the route, not by the path, which has other spellings (`/%761/…`).
    const { config } = request.routeOptions;
    const isPublic = request.is404
      ? !VERSIONED.test(request.url)
      : config.public === true || (config.publicHere === true && isLocal(request.raw));
    if (isPublic) checkHost(request.raw);
    else {
      authenticate(request);
      void reply.headers(rateLimit.count(Date.now()));
    }
    done();
  });
  let isClosing = false;
  server.addHook('preClose', (done) => {
    isClosing = true;
    done();
  });
  // A kept-alive connection would delay the stop.
  server.addHook('onSend', (request, reply, payload, done) => {
    if (!takeReplyRoom(replies, request, reply, payload)) {
      done(tooMuchUnread());
      return;
    }
    drainAfter(request.raw, reply.raw, leastRate);
    watchReply(reply.raw, leastRate);
    if (isClosing) void reply.header('connection', 'close');
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

/** API tokens outlive the people who set programs up; personal tokens carry the name of a person. */
const WRONG_KIND: Readonly<Record<TokenKind, string>> = {
  api: `this endpoint takes API tokens only (xaat-…), and a personal token was sent: programs ingest with tokens of the organisation, which may do no more than they were given and outlive the users who made them; make one with \`tailrace tokens create NAME --ingest DATASET\` or POST /v2/tokens, or start the service with --accept-personal-tokens-for-ingest`,
  personal: `this endpoint takes personal tokens only (xapt-…), and an API token was sent: it is about the user who asks, and an API token belongs to the organisation; make one with \`tailrace tokens create NAME --personal\``,
};

/** Counts a request that has ended and writes its access log line, with the token's id, never its text, and the path without its query. */
function noteEnd({ countRequest, accessLog }: ServerOptions, request: FastifyRequest, reply: FastifyReply): void {
  const { raw } = reply;
  const status = raw.headersSent ? raw.statusCode : 499;
  const ms = performance.now() - request.startedAt;
  countRequest(request.is404 ? undefined : request.routeOptions.url, status, ms / 1000);
  if (accessLog === undefined) return;
  const path = request.url.split('?', 1)[0]!.slice(0, 300);
  // There is no caller before authentication.
  const { token = null } = (request.caller as Caller | null) ?? {};
  const line = {
    time: new Date().toISOString(),
    method: request.method,
    path,
    status,
    ms: Math.round(ms * 10) / 10,
    token,
    trace: request.id,
  };
  accessLog(`${JSON.stringify(line)}\n`);
}

/** A request that is not HTTP: Node has no reply object for it. */
function answerBadHttp(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswered(socket)) {
    socket.destroy();
    return;
  }
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  const reason =
    status === 408
      ? 'the request did not come in time'
      : `the request is not valid HTTP: ${error.code ?? error.message}`;
  const body = JSON.stringify({ code: status, message: reason });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
