/** The dataset endpoints of /v1, and their /v2 names. */
import type { FastifyInstance, RouteShorthandOptions } from 'fastify';
import { z } from 'zod';
import type { Caller } from '../auth/auth.ts';
import type { Action, Need } from '../auth/rights.ts';
import { badRequest, quote } from '../http/api-error.ts';
import type { Engine } from '../engine/engine.ts';
import type { Endpoint } from '../http/openapi.ts';
import { readBody } from '../http/read-body.ts';
import { parseDuration } from '../http/duration.ts';
import type { Arrivals } from './arrivals.ts';
import type { Catalog, Dataset } from './catalog.ts';
import {
  CREATE,
  DATASET,
  DATASET_V2,
  FIELD,
  FIELD_CHANGES,
  fieldOf,
  fieldsOf,
  retentionIn,
  TRIM,
  TRIMMED,
  UPDATE,
  viewOf,
  viewOfV2,
} from './schemas.ts';
import { INFO, infoOf } from './info.ts';
import type { Trimmer } from './trim.ts';

interface ById {
  Params: { dataset: string };
}

interface ByField {
  Params: { dataset: string; field: string };
}

const org = (action: Action): Need => ({ kind: 'org', area: 'datasets', action });
const options = (need: Need | undefined, doc: Omit<Endpoint, 'tag'>): RouteShorthandOptions => ({
  config: { ...(need && { need }), doc: { tag: 'datasets', ...doc } },
});

export interface DatasetParts {
  readonly catalog: Catalog;
  readonly trimmer: Trimmer;
  readonly arrivals: Arrivals;
  readonly engine: Engine;
}

export function datasetRoutes(server: FastifyInstance, parts: DatasetParts): void {
  const { catalog, engine } = parts;
  routesUnder(server, '/v1/datasets', DATASET, viewOf, parts);
  routesUnder(server, '/v2/datasets', DATASET_V2, viewOfV2, parts);
  const info = options({ kind: 'dataset-view' }, { summary: 'What a dataset holds; deprecated', reply: INFO });
  server.get<ById>('/v1/datasets/:dataset/info', info, ({ params }) => catalog.use(params.dataset, (dataset) => infoOf(engine, dataset)));
  const one = '/v2/datasets/:dataset/fields/:field';
  server.get<ByField>(one, options({ kind: 'dataset-view' }, { summary: 'A field of a dataset', reply: FIELD }), ({ params }) =>
    fieldOf(catalog.get(params.dataset), params.field),
  );
  const change = options(org('update'), { summary: 'Says something about a field', body: FIELD_CHANGES, reply: FIELD });
  server.put<ByField>(one, change, ({ params, body }) => {
    const dataset = catalog.get(params.dataset);
    const { unit, hidden, description } = readBody(FIELD_CHANGES, body, 'unit (string), hidden (boolean), description (string)');
    const { name } = fieldOf(dataset, params.field);
    catalog.describeField(dataset, name, { unit: unit ?? undefined, hidden: hidden ?? undefined, description: description ?? undefined });
    return fieldOf(dataset, name);
  });
  const fields = options({ kind: 'dataset-view' }, { summary: 'The fields of a dataset', reply: z.array(FIELD) });
  server.get<ById>('/v2/datasets/:dataset/fields', fields, ({ params }) => fieldsOf(catalog.get(params.dataset)));
}

function routesUnder<View extends object>(
  server: FastifyInstance,
  path: string,
  reply: z.ZodType<View>,
  view: (dataset: Dataset) => View,
  { catalog, trimmer, arrivals }: DatasetParts,
): void {
  const one = `${path}/:dataset`;
  const visibleTo = (caller: Caller, { name }: Dataset): boolean => caller.may({ kind: 'dataset-view' }, name);

  server.get(path, options(undefined, { summary: 'The datasets that the token may see', reply: z.array(reply) }), ({ caller }) =>
    catalog
      .list()
      .filter((dataset) => visibleTo(caller, dataset))
      .map(view),
  );
  server.post(path, options(org('create'), { summary: 'Makes a dataset', body: CREATE, reply }), async ({ body, caller }) => {
    const wanted = readBody(
      CREATE,
      body,
      'name, description, kind, region, edgeDeployment (strings), useRetentionPeriod (boolean), retentionDays (integer)',
    );
    const dataset = await catalog.create(wanted.name, wanted.description ?? '', caller.user.name);
    const days = retentionIn(wanted);
    if (days !== undefined) catalog.update(dataset, { retentionDays: days });
    return view(dataset);
  });
  server.get<ById>(one, options({ kind: 'dataset-view' }, { summary: 'A dataset', reply }), ({ params }) =>
    view(catalog.get(params.dataset)),
  );
  server.put<ById>(one, options(org('update'), { summary: 'Changes a dataset', body: UPDATE, reply }), ({ params, body }) => {
    const dataset = catalog.get(params.dataset);
    const { description, ...rest } = readBody(UPDATE, body, 'description (string), useRetentionPeriod (boolean), retentionDays (integer)');
    const days = retentionIn(rest);
    catalog.update(dataset, {
      ...(typeof description === 'string' && { description }),
      ...(days !== undefined && { retentionDays: days }),
    });
    return view(dataset);
  });
  server.delete<ById>(one, options(org('delete'), { summary: 'Removes a dataset and all its events' }), async ({ params }, response) => {
    const dataset = catalog.get(params.dataset);
    const removed = catalog.remove(dataset);
    arrivals.removed(dataset.id);
    await removed;
    return response.code(204).send();
  });
  const trim = options(
    { kind: 'dataset', right: 'trim' },
    { summary: 'Deletes the events older than maxDuration', body: TRIM, reply: TRIMMED },
  );
  server.post<ById>(`${one}/trim`, trim, async ({ params, body }) => {
    const { maxDuration } = readBody(TRIM, body, 'maxDuration (string), such as 720h or 30d');
    const keep = parseDuration(maxDuration);
    if (keep === undefined) throw badRequest(`maxDuration ${quote(maxDuration)}: wanted a duration such as 1h30m, 720h or 30d`);
    const now = BigInt(Date.now()) * 1_000_000n;
    return { numDeleted: await catalog.use(params.dataset, (dataset) => trimmer.trim(dataset, keep, now)) };
  });
}
