/** /v2/annotations: what happened at a time, beside the events of some datasets. */
import { z } from 'zod';
import { SERVICE_DESCRIPTION_LENGTH, SERVICE_NAME_LENGTH, SERVICE_QUERY_PARTS } from '../limits.ts';
import type { Caller } from '../auth/auth.ts';
import type { AccessAction } from '../auth/rights.ts';
import { badRequest, forbidden, notFound, quote } from '../http/api-error.ts';
import { isUnset, optionalTime } from '../http/read-request.ts';
import type { Metadata } from '../metadata.ts';
import { openStore, type Saved } from '../saved/store.ts';
import { group, underBoth } from './endpoint.ts';

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
const instant = z
  .string()
  .refine((text) => text === '' || !Number.isNaN(Date.parse(text)), 'wanted an RFC 3339 time')
  .transform((text) => (text === '' || isUnset(text) ? undefined : new Date(text).toISOString()));
const LISTED = z.object({
  datasets: z
    .union([z.string(), z.array(z.string())])
    .default('')
    .describe('names, by commas or repeated'),
  start: z
    .union([instant.transform((one) => [one]), z.array(instant).max(2)])
    .default([])
    .describe('of the range; given twice, the second is its end, as Go clients send it'),
  end: instant.optional().describe('of the range'),
});
type KeptAnnotation = z.infer<typeof KEPT>;
type Changes = z.infer<typeof UPDATE>;

const VIEW = { kind: 'dataset-view' } as const;

export const annotations = group(
  'annotations',
  { Annotation: ANNOTATION },
  (add, { metadata }: { readonly metadata: Metadata }) => {
    const endpoint = underBoth(add);
    const store = openStore<KeptAnnotation>(metadata, {
      kind: 'annotation',
      word: 'annotation',
      prefix: 'ann_',
      datasetsOf: ({ datasets }) => datasets,
    });
    const seen = (caller: Caller, names: readonly string[]): string[] => names.filter((name) => caller.may(VIEW, name));
    /** Who may change what a dataset shows: who may change datasets, or annotations alone. */
    const requireChange = (caller: Caller, action: AccessAction): void => {
      if (!caller.may({ kind: 'org', area: 'annotations', action }))
        caller.require({ kind: 'org', area: 'datasets', action: 'update' });
    };
    const visible = (caller: Caller, id: string): Saved<KeptAnnotation> => {
      const found = store.get(id);
      const datasets = seen(caller, found.datasets);
      if (datasets.length === 0) throw notFound(`annotation ${quote(id)} not found`);
      return { ...found, datasets };
    };
    /** The whole annotation, of which the caller must see every dataset. */
    const changeable = (caller: Caller, action: AccessAction, id: string): Saved<KeptAnnotation> => {
      requireChange(caller, action);
      const found = store.get(id);
      if (visible(caller, id).datasets.length < found.datasets.length)
        throw forbidden('the annotation is about other datasets, too, which the token may not see');
      return found;
    };

    endpoint(
      'GET /v2/annotations',
      { summary: 'The annotations', query: LISTED, reply: z.array(ANNOTATION) },
      ({ query, caller }) => {
        const { datasets, start: starts, end = starts[1] } = query();
        const [start] = starts;
        const names = [datasets]
          .flat()
          .flatMap((text) => text.split(','))
          .filter((name) => name !== '');
        const isInside = ({ time, endTime = time }: KeptAnnotation): boolean =>
          (start === undefined || endTime >= start) && (end === undefined || time <= end);
        const isAsked = (datasets: readonly string[]): boolean =>
          seen(caller, names.length === 0 ? datasets : datasets.filter((name) => names.includes(name))).length > 0;
        return store
          .list((annotation) => isInside(annotation) && isAsked(annotation.datasets))
          .map((annotation) => ({ ...annotation, datasets: seen(caller, annotation.datasets) }));
      },
    );
    endpoint(
      'POST /v2/annotations',
      { summary: 'Makes an annotation', body: CREATE, reply: ANNOTATION },
      ({ caller, body }) => {
        requireChange(caller, 'create');
        const wanted = body();
        for (const name of wanted.datasets) caller.require(VIEW, name);
        return store.create(
          merged({ datasets: wanted.datasets, type: wanted.type, time: new Date().toISOString() }, wanted),
        );
      },
    );
    endpoint('GET /v2/annotations/:id', { summary: 'An annotation', reply: ANNOTATION }, ({ params, caller }) =>
      visible(caller, params.id),
    );
    endpoint(
      'PUT /v2/annotations/:id',
      { summary: 'Changes an annotation', body: UPDATE, reply: ANNOTATION },
      ({ params, caller, body }) => {
        const { id, ...kept } = changeable(caller, 'update', params.id);
        const wanted = body();
        for (const name of wanted.datasets ?? []) caller.require(VIEW, name);
        return store.update(id, merged(kept, wanted));
      },
    );
    endpoint('DELETE /v2/annotations/:id', { summary: 'Removes an annotation' }, ({ params, caller }) =>
      store.remove(changeable(caller, 'delete', params.id).id),
    );
  },
);

/** Absent and null keys stay as they are. Throws an `ApiError` 400. */
function merged(kept: KeptAnnotation, changes: Changes): KeptAnnotation {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined && value !== null);
  const all: KeptAnnotation = { ...kept, ...(Object.fromEntries(given) as Partial<KeptAnnotation>) };
  if (all.endTime !== undefined && all.endTime < all.time)
    throw badRequest(`endTime ${all.endTime} is before time ${all.time}`);
  return all;
}
