/**
 * An endpoint is told once: its address, who may call it, the schemas of its request and reply, and its handler. Checks of requests, the
 * OpenAPI document, the tests' checks of replies and the types of clients come from that. A group of endpoints is a file, and a line in `groups.ts`.
 */
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';
import type { z } from 'zod';
import type { Endpoint } from '../http/openapi.ts';
import { readBody } from '../http/read-body.ts';

export type Querystring = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The names behind the colons of an address. */
type Params<Route extends string> = Route extends `${string}:${infer Tail}`
  ? Tail extends `${infer Name}/${infer Rest}`
    ? Readonly<Record<Name, string>> & Params<Rest>
    : Readonly<Record<Tail, string>>
  : object;

export type Asked<Route extends string = string> = FastifyRequest<{ Params: Params<Route>; Querystring: Querystring }>;

type Access = Pick<FastifyContextConfig, 'public' | 'publicHere' | 'tokens' | 'org' | 'need'>;

type Answer<Reply extends z.ZodType> = Readonly<z.output<Reply>> | FastifyReply | void;

/** Adds an endpoint to a server. */
export type AddEndpoint = <
  Route extends `${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`,
  Body extends z.ZodType,
  Reply extends z.ZodType,
>(
  /** Method and address. */
  route: Route,
  endpoint: Access & Omit<Endpoint, 'tag'> & { readonly body?: Body; readonly reply?: Reply },
  /** `body` reads the body by its schema; it throws an `ApiError` 400. Without a `reply` in the description the answer is a 204. */
  handle: (request: Asked<Route>, body: () => z.output<Body>, reply: FastifyReply) => Answer<Reply> | Promise<Answer<Reply>>,
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

export const endpointsOf =
  (server: FastifyInstance, tag: string): AddEndpoint =>
  (route, endpoint, handle, hooks = {}) => {
    const [method, url] = route.split(' ') as [string, string];
    const { body: schema, reply: replySchema, replyText } = endpoint;
    server.route({
      method,
      url,
      ...hooks,
      config: { ...endpoint, doc: { ...endpoint, tag } },
      handler: async (request, reply) => {
        const body = (): never => readBody(schema!, request.body) as never;
        const answer = await handle(request as Asked<never>, body, reply);
        return replySchema || replyText ? answer : reply.code(204).send();
      },
    });
  };
