/** POST /v1/datasets/{id}/query, the legacy form. */
import type { FastifyInstance, RouteShorthandOptions } from 'fastify';
import type { Catalog } from '../datasets/catalog.ts';
import type { Engine } from '../engine/engine.ts';
import { readLegacyQuery } from './legacy/request.ts';
import { runLegacyQuery } from './legacy/run.ts';

export function queryRoutes(server: FastifyInstance, catalog: Catalog, engine: Engine): void {
  const options: RouteShorthandOptions = { config: { need: { kind: 'dataset', right: 'query' } } };
  server.post<{ Params: { dataset: string } }>('/v1/datasets/:dataset/query', options, async ({ params, body }, reply) => {
    const startedAt = performance.now();
    const text = await catalog.use(params.dataset, (dataset) =>
      runLegacyQuery(engine, dataset, readLegacyQuery(body, BigInt(Date.now()) * 1_000_000n), startedAt),
    );
    return reply.type('application/json; charset=utf-8').send(text);
  });
}
