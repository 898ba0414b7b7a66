/**
 * The OpenAPI 3.1 document of the service, built from the routes: each carries its description (`config.doc`) with the schema that its handler
 * validates requests by, and the one that tests validate replies by.
 */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { version } from '../../core/version.ts';

export interface Endpoint {
  readonly summary: string;
  /** Group in the document. */
  readonly tag: string;
  /** The request's JSON body. */
  readonly body?: z.ZodType;
  /** Bodies that are not JSON, or not only: content type → description. */
  readonly bodies?: Readonly<Record<string, string>>;
  /** Its query parameters, each with a description. */
  readonly query?: z.ZodObject;
  /** Request headers and their descriptions; a leading `*` is the configured prefix. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The body of the 200; absent: a 204 without one. */
  readonly reply?: z.ZodType;
  /** The 200 is plain text. */
  readonly replyText?: boolean;
}

const ERROR = z
  .object({
    code: z.int(),
    message: z.string(),
    detail: z.looseObject({}).optional(),
  })
  .meta({ description: 'every failure' });

const jsonSchema = (schema: z.ZodType, io: 'input' | 'output'): object => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
};
const text = { type: 'string' } as const;

/** Collects the routes that are registered after it, and serves the document at /openapi.json. */
export function describeApi(server: FastifyInstance, headerPrefix: string): void {
  const paths: Record<string, Record<string, object>> = {};
  server.addHook('onRoute', ({ method, url, config }) => {
    const doc = config?.doc;
    if (doc === undefined || typeof method !== 'string' || method === 'HEAD') return;
    const path = url.replace(/:([A-Za-z]+)/g, '{$1}');
    (paths[path] ??= {})[method.toLowerCase()] = operation(path, doc, config?.tokens, headerPrefix);
  });
  server.get('/openapi.json', { config: { public: true } }, () => ({
    openapi: '3.1.0',
    info: { title: 'Tailrace', version, description: 'Dataset ingestion and queries' },
    security: [{ bearer: [] }],
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: jsonSchema(ERROR, 'output') },
    },
  }));
}

function operation(path: string, doc: Endpoint, tokens: string | undefined, headerPrefix: string): object {
  const parameters = [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: text })),
    ...Object.entries(doc.query?.shape ?? {}).map(([name, { description }]) => ({
      name,
      in: 'query',
      description,
      schema: text,
    })),
    ...Object.entries(doc.headers ?? {}).map(([name, description]) => ({
      name: name.replace(/^\*/, headerPrefix),
      in: 'header',
      description,
      schema: text,
    })),
  ];
  const content: Record<string, object> = {};
  if (doc.body) content['application/json'] = { schema: jsonSchema(doc.body, 'input') };
  for (const [type, description] of Object.entries(doc.bodies ?? {})) content[type] = { schema: { description } };
  return {
    summary: doc.summary,
    tags: [doc.tag],
    ...(tokens !== undefined && { description: `${tokens === 'api' ? 'API' : 'Personal'} tokens only.` }),
    parameters,
    ...(Object.keys(content).length > 0 && { requestBody: { required: true, content } }),
    responses: {
      ...(doc.reply
        ? { 200: { description: 'done', content: { 'application/json': { schema: jsonSchema(doc.reply, 'output') } } } }
        : doc.replyText
          ? { 200: { description: 'done', content: { 'text/plain': { schema: text } } } }
          : { 204: { description: 'done, without a body' } }),
      default: {
        description: 'refused',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  };
}
