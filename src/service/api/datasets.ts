/** The dataset endpoints of /v1, their /v2 names, and the fields of a dataset. */
import { z } from 'zod';
import type { Caller } from '../auth/auth.ts';
import type { AccessAction, Need } from '../auth/rights.ts';
import type { Arrivals } from '../datasets/arrivals.ts';
import type { Catalog, DatasetRecord } from '../datasets/catalog.ts';
import { INFO, infoOf } from '../datasets/info.ts';
import {
  CREATE,
  DATASET,
  DATASET_FIELDS,
  DATASET_V2,
  datasetFields,
  FIELD,
  FIELD_CHANGES,
  fieldOf,
  retentionIn,
  TRIM,
  TRIMMED,
  UPDATE,
  viewOf,
  viewOfV2,
} from '../datasets/schemas.ts';
import type { Trimmer } from '../datasets/trim.ts';
import type { Engine } from '../engine/engine.ts';
import { badRequest, quote } from '../http/api-error.ts';
import { parseDuration } from '../http/duration.ts';
import { type AddEndpoint, group, underBoth } from './endpoint.ts';

interface DatasetParts {
  readonly catalog: Catalog;
  readonly trimmer: Trimmer;
  readonly arrivals: Arrivals;
  readonly engine: Engine;
}

const VIEW: Need = { kind: 'dataset-view' };
const org = (action: AccessAction): Need => ({ kind: 'org', area: 'datasets', action });

const TYPES = { Dataset: DATASET, DatasetInfo: INFO, FieldMeta: FIELD };

export const datasets = group('datasets', TYPES, (endpoint, parts: DatasetParts) => {
  const { catalog, engine } = parts;
  addUnder(endpoint, '/v1/datasets', DATASET, viewOf, parts);
  addUnder(endpoint, '/v2/datasets', DATASET_V2, viewOfV2, parts);
  endpoint(
    'GET /v1/datasets/:dataset/info',
    { summary: 'What a dataset holds; deprecated', need: VIEW, reply: INFO },
    ({ params }) => catalog.use(params.dataset, (dataset) => infoOf(engine, dataset)),
  );
  const both = underBoth(endpoint);
  const listed = { summary: 'The fields of all datasets that the token may see', reply: z.array(DATASET_FIELDS) };
  both('GET /v2/datasets/_fields', listed, ({ caller }) =>
    visibleTo(catalog, caller).map((dataset) => ({ datasetName: dataset.name, fields: datasetFields(dataset) })),
  );
  const vacuum = { summary: 'Gives back the space of deleted events', need: org('update'), reply: z.object({}) };
  both('POST /v2/datasets/:dataset/vacuum', vacuum, async ({ params }) => {
    await catalog.use(params.dataset, (dataset) => parts.trimmer.vacuum(dataset));
    return {};
  });
  const fields = { summary: 'The fields of a dataset', need: VIEW, reply: z.array(FIELD) };
  both('GET /v2/datasets/:dataset/fields', fields, ({ params }) => datasetFields(catalog.get(params.dataset)));
  both(
    'GET /v2/datasets/:dataset/fields/:field',
    { summary: 'A field of a dataset', need: VIEW, reply: FIELD },
    ({ params }) => fieldOf(catalog.get(params.dataset), params.field),
  );
  both(
    'PUT /v2/datasets/:dataset/fields/:field',
    { summary: 'Says something about a field', need: org('update'), body: FIELD_CHANGES, reply: FIELD },
    ({ params, body }) => {
      const dataset = catalog.get(params.dataset);
      const { unit, hidden, description } = body();
      const { name } = fieldOf(dataset, params.field);
      catalog.describeField(dataset, name, {
        unit: unit ?? undefined,
        hidden: hidden ?? undefined,
        description: description ?? undefined,
      });
      return fieldOf(dataset, name);
    },
  );
});

const visibleTo = (catalog: Catalog, caller: Caller): DatasetRecord[] =>
  catalog.list().filter(({ name }) => caller.may(VIEW, name));

function addUnder<View extends object>(
  endpoint: AddEndpoint,
  path: '/v1/datasets' | '/v2/datasets',
  reply: z.ZodType<View>,
  view: (dataset: DatasetRecord) => View,
  { catalog, trimmer, arrivals }: DatasetParts,
): void {
  endpoint(`GET ${path}`, { summary: 'The datasets that the token may see', reply: z.array(reply) }, ({ caller }) =>
    visibleTo(catalog, caller).map(view),
  );
  endpoint(
    `POST ${path}`,
    { summary: 'Makes a dataset', need: org('create'), body: CREATE, reply },
    async ({ caller, body }) => {
      const wanted = body();
      const dataset = await catalog.create(wanted.name, wanted.description ?? '', caller.user.name, wanted.kind);
      const days = retentionIn(wanted);
      if (days !== undefined) catalog.update(dataset, { retentionDays: days });
      return view(dataset);
    },
  );
  endpoint(`GET ${path}/:dataset`, { summary: 'A dataset', need: VIEW, reply }, ({ params }) =>
    view(catalog.get(params.dataset)),
  );
  endpoint(
    `PUT ${path}/:dataset`,
    { summary: 'Changes a dataset', need: org('update'), body: UPDATE, reply },
    ({ params, body }) => {
      const dataset = catalog.get(params.dataset);
      const { description, ...rest } = body();
      const days = retentionIn(rest);
      catalog.update(dataset, {
        ...(typeof description === 'string' && { description }),
        ...(days !== undefined && { retentionDays: days }),
      });
      return view(dataset);
    },
  );
  endpoint(
    `DELETE ${path}/:dataset`,
    { summary: 'Removes a dataset and all its events', need: org('delete') },
    async ({ params }) => {
      const dataset = catalog.get(params.dataset);
      const removed = catalog.remove(dataset);
      arrivals.removed(dataset.id);
      await removed;
    },
  );
  endpoint(
    `POST ${path}/:dataset/trim`,
    {
      summary: 'Deletes the events older than maxDuration',
      need: { kind: 'dataset', right: 'trim' },
      body: TRIM,
      reply: TRIMMED,
    },
    async ({ params, body }) => {
      const { maxDuration } = body();
      const keep = parseDuration(maxDuration);
      if (keep === undefined)
        throw badRequest(`maxDuration ${quote(maxDuration)}: wanted a duration such as 1h30m, 720h or 30d`);
      const now = BigInt(Date.now()) * 1_000_000n;
      return { numDeleted: await catalog.use(params.dataset, (dataset) => trimmer.trim(dataset, keep, now)) };
    },
  );
}
