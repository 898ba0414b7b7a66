/** /v2/annotations: what happened at a time, beside the events of some datasets. */
import type { FastifyInstance, RouteShorthandOptions } from 'fastify';
import { z } from 'zod';
import { SERVICE_DESCRIPTION_LENGTH, SERVICE_NAME_LENGTH, SERVICE_QUERY_PARTS } from '../limits.ts';
import type { Caller } from '../auth/auth.ts';
import type { Action } from '../auth/rights.ts';
import { badRequest, notFound, quote } from '../http/api-error.ts';
import type { Endpoint } from '../http/openapi.ts';
import { optionalTime, readBody } from '../http/read-body.ts';
import type { Metadata } from '../metadata.ts';
import { openStore } from './store.ts';

const time = optionalTime.transform((text) => text && new Date(text).toISOString());
const datasets = z.array(z.string().max(128)).min(1).max(SERVICE_QUERY_PARTS);
const type = z
  .string()
  .max(SERVICE_NAME_LENGTH)
  .regex(/^[a-z0-9-]+$/, 'wanted lower-case letters, digits and -');
const OPTIONAL = {
  time,
  endTime: time,
  title: z.string().max(SERVICE_NAME_LENGTH).nullish(),
  description: z.string().max(SERVICE_DESCRIPTION_LENGTH).nullish(),
  url: z.string().max(2000).nullish(),
};
const CREATE = z.strictObject({ datasets, type, ...OPTIONAL });
const UPDATE = z.strictObject({ datasets: datasets.nullish(), type: type.nullish(), ...OPTIONAL });
const FIELDS = {
  datasets: z.array(z.string()),
  type: z.string(),
  time: z.iso.datetime(),
  endTime: z.iso.datetime().optional(),
  title: z.string().optional(),
  description: z.string().optional(),
  url: z.string().optional(),
};
const KEPT = z.object(FIELDS);
const ANNOTATION = z.strictObject({ id: z.string(), ...FIELDS });
type Kept = z.infer<typeof KEPT>;
type Changes = z.infer<typeof UPDATE>;

interface ById {
  Params: { id: string };
}

const options = (doc: Omit<Endpoint, 'tag'>): RouteShorthandOptions => ({ config: { doc: { tag: 'annotations', ...doc } } });
const WANTED = 'datasets (names), type, time, endTime, title, description, url';

export function annotationRoutes(server: FastifyInstance, metadata: Metadata): void {
  const store = openStore<Kept>(metadata, 'annotation', 'annotation', 'ann_');
  const sees = (caller: Caller, { datasets: names }: Kept): boolean => names.some((name) => caller.may({ kind: 'dataset-view' }, name));
  /** Who may change what a dataset shows: who may change datasets, or annotations alone. */
  const requireChange = (caller: Caller, action: Action): void => {
    if (!caller.may({ kind: 'org', area: 'annotations', action })) caller.require({ kind: 'org', area: 'datasets', action: 'update' });
  };
  const visible = (caller: Caller, id: string): Kept & { id: string } => {
    const found = store.get(id);
    if (!sees(caller, found)) throw notFound(`annotation ${quote(id)} not found`);
    return found;
  };

  const list = {
    summary: 'The annotations',
    query: { datasets: 'names, by commas or repeated', start: 'of the range', end: 'of the range' },
    reply: z.array(ANNOTATION),
  };
  server.get<{ Querystring: Record<string, string | string[] | undefined> }>('/v2/annotations', options(list), ({ query, caller }) => {
    const names = [query['datasets'] ?? []].flat().flatMap((text) => text.split(',')).filter((name) => name !== ''); // prettier-ignore
    const [start, end] = [bound(query, 'start'), bound(query, 'end')];
    return store.list().filter((annotation) => {
      const last = annotation.endTime ?? annotation.time;
      const isInside = (start === undefined || last >= start) && (end === undefined || annotation.time <= end);
      return isInside && sees(caller, annotation) && (names.length === 0 || annotation.datasets.some((name) => names.includes(name)));
    });
  });
  server.post('/v2/annotations', options({ summary: 'Makes an annotation', body: CREATE, reply: ANNOTATION }), ({ body, caller }) => {
    requireChange(caller, 'create');
    const wanted = readBody(CREATE, body, WANTED);
    return store.create(merged({ datasets: wanted.datasets, type: wanted.type, time: new Date().toISOString() }, wanted));
  });
  server.get<ById>('/v2/annotations/:id', options({ summary: 'An annotation', reply: ANNOTATION }), ({ params, caller }) =>
    visible(caller, params.id),
  );
  server.put<ById>(
    '/v2/annotations/:id',
    options({ summary: 'Changes an annotation', body: UPDATE, reply: ANNOTATION }),
    ({ params, body, caller }) => {
      requireChange(caller, 'update');
      const { id, ...kept } = visible(caller, params.id);
      return store.update(id, merged(kept, readBody(UPDATE, body, WANTED)));
    },
  );
  server.delete<ById>('/v2/annotations/:id', options({ summary: 'Removes an annotation' }), ({ params, caller }, reply) => {
    requireChange(caller, 'delete');
    store.remove(visible(caller, params.id).id);
    return reply.code(204).send();
  });
}

/** Absent and null keys stay as they are. Throws an `ApiError` 400. */
function merged(kept: Kept, changes: Changes): Kept {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined && value !== null);
  const all: Kept = { ...kept, ...(Object.fromEntries(given) as Partial<Kept>) };
  if (all.endTime !== undefined && all.endTime < all.time) throw badRequest(`endTime ${all.endTime} is before time ${all.time}`);
  return all;
}

function bound(query: Record<string, string | string[] | undefined>, name: string): string | undefined {
  const text = query[name];
  if (text === undefined || text === '') return undefined;
  const ms = typeof text === 'string' ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw badRequest(`${name} ${quote(String(text))}: wanted an RFC 3339 time`);
  return new Date(ms).toISOString();
}
