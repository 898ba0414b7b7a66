/**
 * The queries that wait or run, by the token that asked. Each has an id, which its reply's headers name; its token may list it and end it,
 * and it ends when its client leaves. The bounds of waiting, held and running queries bound their number.
 */
import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../auth/auth.ts';
import { ApiError, badRequest, notFound, quote } from '../http/api-error.ts';
import { SERVICE_LISTED_QUERY_CHARS, SERVICE_QUERY_ID_CHARS } from '../limits.ts';
import type { QueryListing } from './replies.ts';

export interface RunningQuery {
  /** Aborts when the query is to end; its reason is the `ApiError` to answer with. */
  readonly signal: AbortSignal;
  /** Call it once the datasets are known. */
  readonly reads: (datasets: readonly string[]) => void;
  /** Call it when its turn has come, and when it is held. */
  readonly is: (state: QueryListing['state']) => void;
}

interface RunningEntry {
  readonly list: () => QueryListing;
  readonly end: (reason: ApiError) => Promise<void>;
}

interface RunRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Made only when it is listed. */
  readonly text: () => string;
}

export type RunningQueries = ReturnType<typeof openRunningQueries>;

export function openRunningQueries(headerPrefix: string) {
  const header = `${headerPrefix}Query-Id`;
  const tokens = new Map<string, Map<string, RunningEntry>>();
  let isStopping = false;

  return {
    /**
     * Does the work of one query, listed meanwhile. Throws an `ApiError`: 400 for a malformed id, 409 for one in use; 499 when it was
     * ended.
     */
    async track<T>({ request, reply, text }: RunRequest, work: (query: RunningQuery) => Promise<T>): Promise<T> {
      const id = readId(header, request.headers[header.toLowerCase()]) ?? randomUUID();
      const { token } = request.caller;
      const own = tokens.get(token) ?? new Map<string, RunningEntry>();
      if (own.has(id))
        throw new ApiError(
          409,
          `a query with the id ${quote(id)} waits or runs already: send another id, or end it with DELETE /v1/queries/${id}`,
        );
      void reply.header(header, id);

      const ending = new AbortController();
      const { signal } = ending;
      const leave = (): void => {
        if (!reply.raw.writableFinished) ending.abort(new ApiError(499, 'the client went away'));
      };
      reply.raw.once('close', leave);
      if (reply.raw.destroyed) leave();
      if (isStopping) ending.abort(stopping());

      const startedAt = new Date();
      let state: QueryListing['state'] = 'waiting';
      let datasets: readonly string[] = [];
      const ended = Promise.withResolvers<void>();
      tokens.set(
        token,
        own.set(id, {
          list: () => ({
            id,
            text: cut(text()),
            datasets: [...datasets],
            startTime: startedAt.toISOString(),
            state,
            elapsedTime: Math.max(1, Math.round((performance.now() - request.startedAt) * 1000)),
          }),
          end: (reason) => {
            ending.abort(reason);
            return ended.promise;
          },
        }),
      );
      try {
        return await work({ signal, reads: (names) => void (datasets = names), is: (now) => void (state = now) });
      } finally {
        own.delete(id);
        if (own.size === 0) tokens.delete(token);
        ended.resolve();
      }
    },
    list: ({ token }: Caller): QueryListing[] => [...(tokens.get(token)?.values() ?? [])].map(({ list }) => list()),
    /** Resolves once it has ended. Throws an `ApiError` 404 where the token has no such query. */
    async end({ token }: Caller, id: string): Promise<void> {
      const entry = tokens.get(token)?.get(id);
      if (!entry) throw notFound(`query ${quote(id)} not found: it has ended, or this token did not ask it`);
      await entry.end(new ApiError(499, `the query was ended: DELETE /v1/queries/${id} asked for it`));
    },
    /** Ends every query, and those to come: a service that stops does not wait for their limits. */
    stop(): void {
      isStopping = true;
      for (const own of tokens.values()) for (const { end } of own.values()) void end(stopping());
    },
  };
}

const stopping = (): ApiError =>
  new ApiError(503, 'the service stops: ask again once it is back', { 'Retry-After': '5' });

const cut = (text: string): string =>
  text.length > SERVICE_LISTED_QUERY_CHARS ? `${text.slice(0, SERVICE_LISTED_QUERY_CHARS)}…` : text;

/** Undefined where the client names none. Throws an `ApiError` 400. */
function readId(header: string, given: string | readonly string[] | undefined): string | undefined {
  if (given === undefined) return undefined;
  if (typeof given === 'string' && given.length <= SERVICE_QUERY_ID_CHARS && /^[\w-]+$/.test(given)) return given;
  throw badRequest(
    `${header} ${quote(String(given))}: wanted 1 to ${SERVICE_QUERY_ID_CHARS} letters of ASCII, digits, _ and -`,
  );
}
