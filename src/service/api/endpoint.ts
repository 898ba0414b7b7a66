/**
 * Describes an endpoint once: its address, who may call it, the schemas of its request and reply, and its handler. Checks of requests, the
 * OpenAPI document, the tests' checks of replies and the types of clients come from that. A group of endpoints is a file, and a line in `groups.ts`.
 */
import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RouteShorthandOptions,
} from 'fastify';
import type { z } from 'zod';
import type { Endpoint } from '../http/openapi.ts';
import { type Querystring, readBody, readQuery } from '../http/read-request.ts';
import type { Caller } from '../auth/auth.ts';

/** The names behind the colons of an address. */
type RouteParams<Route extends string> = Route extends `${string}:${infer Tail}`
  ? Tail extends `${infer Name}/${infer Rest}`
    ? Readonly<Record<Name, string>> & RouteParams<Rest>
    : Readonly<Record<Tail, string>>
  : object;

/** A request to an endpoint. */
export interface EndpointRequest<Route extends string, Body extends z.ZodType, Query extends z.ZodObject> {
  readonly params: RouteParams<Route>;
  readonly caller: Caller;
  /** The body and the query by their schemas. They throw an `ApiError` 400. */
  readonly body: () => z.output<Body>;
  readonly query: () => z.output<Query>;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

type Access = Pick<FastifyContextConfig, 'public' | 'publicHere' | 'tokens' | 'org' | 'need'>;

type EndpointReply<Reply extends z.ZodType> = Readonly<z.output<Reply>> | FastifyReply | void;

/** Adds an endpoint to a server. */
export type AddEndpoint = <
  Route extends `${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`,
  Body extends z.ZodType,
  Query extends z.ZodObject,
  Reply extends z.ZodType,
>(
  /** Method and address. */
  route: Route,
  endpoint: Access & Omit<Endpoint, 'tag'> & { readonly body?: Body; readonly query?: Query; readonly reply?: Reply },
  /** Without a `reply` in the description the answer is a 204. */
  handle: (asked: EndpointRequest<Route, Body, Query>) => EndpointReply<Reply> | Promise<EndpointReply<Reply>>,
  hooks?: Pick<RouteShorthandOptions, 'onRequest'>,
) => void;

export interface EndpointGroup<Parts> {
  /** What clients call the schemas of its requests and replies, for `src/client/api-types.ts`. */
  readonly types: Readonly<Record<string, z.ZodType>>;
  bind(server: FastifyInstance, parts: Parts): void;
}

export function group<Parts>(
  /** Of all its endpoints in the OpenAPI document. */
  tag: string,
  types: EndpointGroup<Parts>['types'],
  bind: (endpoint: AddEndpoint, parts: Parts, server: FastifyInstance) => void,
): EndpointGroup<Parts> {
  return { types, bind: (server, parts) => bind(endpointsOf(server, tag), parts, server) };
}

/** Adds a /v2 endpoint under /v1 as well, where older clients look for it. */
export const underBoth =
  (endpoint: AddEndpoint): AddEndpoint =>
  (route, ...rest) => {
    endpoint(route, ...rest);
    endpoint(route.replace('/v2/', '/v1/') as typeof route, ...rest);
  };

export const endpointsOf =
  (server: FastifyInstance, tag: string): AddEndpoint =>
  (route, endpoint, handle, hooks = {}) => {
    const [method, url] = route.split(' ') as [string, string];
    server.route({
      method,
      url,
      ...hooks,
      config: { ...endpoint, doc: { ...endpoint, tag } },
      handler: async (request, reply) => {
        const { params, caller } = request;
        const body = (): never => readBody(endpoint.body!, request.body) as never;
        const query = (): never => readQuery(endpoint.query!, request.query as Querystring) as never;
        const answer = await handle({ params: params as never, caller, body, query, request, reply });
        return endpoint.reply || endpoint.replyText ? answer : reply.code(204).send();
      },
    });
  };
