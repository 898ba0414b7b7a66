/** /v2/datasets/{id}/mapfields: which fields of a dataset are maps. Their keys are stored like any nested field; the names are for clients. */
import { SERVICE_MAP_FIELDS } from '../limits.ts';
import type { Need } from '../auth/rights.ts';
import type { Catalog } from '../datasets/catalog.ts';
import { MAP_FIELD, MAP_FIELDS } from '../datasets/schemas.ts';
import { ApiError, badRequest, notFound, quote } from '../http/api-error.ts';
import { group } from './endpoint.ts';

const need: Need = { kind: 'org', area: 'datasets', action: 'update' };

export const mapFields = group('datasets', {}, (endpoint, { catalog }: { readonly catalog: Catalog }) => {
  for (const version of ['v1', 'v2'] as const) {
    const path = `/${version}/datasets/:dataset/mapfields` as const;
    const list = { summary: 'The map fields of a dataset', need: { kind: 'dataset-view' }, reply: MAP_FIELDS } as const;
    endpoint(`GET ${path}`, list, ({ params }) => catalog.get(params.dataset).mapFields);
    endpoint(
      `POST ${path}`,
      { summary: 'Makes a field a map field', need, body: MAP_FIELD, reply: MAP_FIELD },
      ({ params, body }) => {
        const dataset = catalog.get(params.dataset);
        const { name } = body();
        if (dataset.mapFields.includes(name))
          throw new ApiError(409, `dataset ${quote(params.dataset)} has a map field ${quote(name)} already`);
        const mapFields = [...dataset.mapFields, name];
        if (mapFields.length > SERVICE_MAP_FIELDS)
          throw badRequest(`a dataset has at most ${SERVICE_MAP_FIELDS} map fields`);
        catalog.update(dataset, { mapFields });
        return { name };
      },
    );
    endpoint(
      `PUT ${path}`,
      { summary: 'Replaces the list of map fields', need, body: MAP_FIELDS, reply: MAP_FIELDS },
      ({ params, body }) => {
        const dataset = catalog.get(params.dataset);
        catalog.update(dataset, { mapFields: body() });
        return dataset.mapFields;
      },
    );
    endpoint(
      `DELETE ${path}/:name`,
      { summary: 'Makes a map field a field like any other', need },
      ({ params: { dataset: id, name } }) => {
        const dataset = catalog.get(id);
        if (!dataset.mapFields.includes(name))
          throw notFound(`map field ${quote(name)} of dataset ${quote(id)} not found`);
        catalog.update(dataset, { mapFields: dataset.mapFields.filter((one) => one !== name) });
      },
    );
  }
});
