/** /v2/datasets/{id}/mapfields: which fields of a dataset are maps. Their keys are stored like any nested field; the names are for clients. */
import type { FastifyInstance, RouteShorthandOptions } from 'fastify';
import { SERVICE_MAP_FIELDS } from '../limits.ts';
import type { Need } from '../auth/rights.ts';
import type { Catalog } from '../datasets/catalog.ts';
import { MAP_FIELD, MAP_FIELDS } from '../datasets/schemas.ts';
import { badRequest, notFound, quote } from '../http/api-error.ts';
import type { Endpoint } from '../http/openapi.ts';
import { readBody } from '../http/read-body.ts';

interface ById {
  Params: { dataset: string };
}
interface ByName {
  Params: { dataset: string; name: string };
}

const VIEW: Need = { kind: 'dataset-view' };
const CHANGE: Need = { kind: 'org', area: 'datasets', action: 'update' };
const options = (need: Need, doc: Omit<Endpoint, 'tag'>): RouteShorthandOptions => ({ config: { need, doc: { tag: 'datasets', ...doc } } });

export function mapFieldRoutes(server: FastifyInstance, catalog: Catalog): void {
  for (const version of ['v1', 'v2']) {
    const path = `/${version}/datasets/:dataset/mapfields`;
    const list = options(VIEW, { summary: 'The map fields of a dataset', reply: MAP_FIELDS });
    server.get<ById>(path, list, ({ params }) => catalog.get(params.dataset).mapFields);
    const add = options(CHANGE, { summary: 'Makes a field a map field', body: MAP_FIELD, reply: MAP_FIELD });
    server.post<ById>(path, add, ({ params, body }) => {
      const dataset = catalog.get(params.dataset);
      const { name } = readBody(MAP_FIELD, body, 'name (string)');
      const mapFields = [...new Set([...dataset.mapFields, name])];
      if (mapFields.length > SERVICE_MAP_FIELDS) throw badRequest(`a dataset has at most ${SERVICE_MAP_FIELDS} map fields`);
      catalog.update(dataset, { mapFields });
      return { name };
    });
    const set = options(CHANGE, { summary: 'Replaces the list of map fields', body: MAP_FIELDS, reply: MAP_FIELDS });
    server.put<ById>(path, set, ({ params, body }) => {
      const dataset = catalog.get(params.dataset);
      catalog.update(dataset, { mapFields: [...new Set(readBody(MAP_FIELDS, body, 'names, as an array'))] });
      return dataset.mapFields;
    });
    const remove = options(CHANGE, { summary: 'Makes a map field a field like any other' });
    server.delete<ByName>(`${path}/:name`, remove, async ({ params: { dataset: id, name } }, reply) => {
      const dataset = catalog.get(id);
      if (!dataset.mapFields.includes(name)) throw notFound(`map field ${quote(name)} of dataset ${quote(id)} not found`);
      catalog.update(dataset, { mapFields: dataset.mapFields.filter((one) => one !== name) });
      return reply.code(204).send();
    });
  }
}
