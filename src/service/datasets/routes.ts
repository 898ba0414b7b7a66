/** GET, POST /v1/datasets and GET, PUT, DELETE /v1/datasets/{id}. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { badRequest } from '../http/api-error.ts';
import { viewOf, type Catalog } from './catalog.ts';

const CREATE = z.object({ name: z.string(), description: z.string().nullish() });
const UPDATE = z.object({ description: z.string().nullish() });
const MAX_DESCRIPTION = 10_000;

interface ById {
  Params: { dataset: string };
}

export function datasetRoutes(server: FastifyInstance, catalog: Catalog, who: string): void {
  server.get('/v1/datasets', () => catalog.list().map(viewOf));
  server.post('/v1/datasets', async ({ body }) => {
    const { name, description } = read(CREATE, body, 'name (string), description (string)');
    return viewOf(await catalog.create(name, checkDescription(description), who));
  });
  server.get<ById>('/v1/datasets/:dataset', ({ params }, reply) => reply.send(viewOf(catalog.get(params.dataset))));
  server.put<ById>('/v1/datasets/:dataset', ({ params, body }, reply) => {
    const dataset = catalog.get(params.dataset);
    const { description } = read(UPDATE, body, 'description (string)');
    if (typeof description === 'string') catalog.update(dataset, checkDescription(description));
    return reply.send(viewOf(dataset));
  });
  server.delete<ById>('/v1/datasets/:dataset', async ({ params }, reply) => {
    await catalog.remove(catalog.get(params.dataset));
    return reply.code(204).send();
  });
}

function read<T>(schema: z.ZodType<T>, body: unknown, wanted: string): T {
  const parsed = schema.safeParse(body);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw badRequest(`${issue?.path.join('.') || 'the body'}: ${issue?.message}; wanted a JSON object with ${wanted}`);
  }
  return parsed.data;
}

function checkDescription(description: string | null | undefined): string {
  if ((description ?? '').length > MAX_DESCRIPTION) throw badRequest(`description: longer than ${MAX_DESCRIPTION} characters`);
  return description ?? '';
}
