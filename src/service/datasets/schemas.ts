/** Requests and replies of the dataset endpoints. */
import { z } from 'zod';
import {
  SERVICE_DESCRIPTION_LENGTH,
  SERVICE_MAP_FIELDS,
  SERVICE_NAME_LENGTH,
  SERVICE_RETENTION_DAYS,
  SERVICE_UNIT_LENGTH,
} from '../limits.ts';
import { notFound, quote } from '../http/api-error.ts';
import { CLIENT_TYPES, looser } from '../http/client-types.ts';
import { NO_NOTE, OWN_FIELDS, type DatasetRecord } from './catalog.ts';
import { shownFields, typeName } from './field-types.ts';

const description = z.string().max(SERVICE_DESCRIPTION_LENGTH).nullish();
/** How newer clients say how long events are kept; 0 days, or a false flag: for ever. */
const retention = {
  useRetentionPeriod: z.boolean().nullish(),
  retentionDays: z.int().min(0).max(SERVICE_RETENTION_DAYS).nullish(),
};

/** What datasets are for, in the words of this API family; the first where a request says nothing. Events of every kind are stored alike. */
const DATASET_KINDS = ['axiom:events:v1', 'otel:logs:v1', 'otel:traces:v1', 'otel:metrics:v1'] as const;

/** `events` is what this service called the first kind; clients in Go send an empty text for none. */
const kind = z
  .enum([...DATASET_KINDS, 'events', ''])
  .nullish()
  .transform((given) => (given === 'events' ? undefined : given) || DATASET_KINDS[0]);
/** Where a hosted service would keep it. */
const place = z.string().max(SERVICE_NAME_LENGTH).nullish();

export const CREATE = z.strictObject({
  name: z.string(),
  description,
  kind,
  region: place,
  edgeDeployment: place,
  ...retention,
});
export const UPDATE = z.strictObject({ description, ...retention });
export const TRIM = z.strictObject({ maxDuration: z.string().max(64).describe('such as 720h or 30d') });
export const TRIMMED = z.object({ numDeleted: z.int() });

export const DATASET = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  created: z.iso.datetime({ precision: 3 }),
  who: z.string(),
  integrationConfigs: z.array(z.string()).register(CLIENT_TYPES, looser),
  kind: z.enum(DATASET_KINDS).register(CLIENT_TYPES, looser),
  region: z.string().register(CLIENT_TYPES, looser),
  edgeDeployment: z.string().register(CLIENT_TYPES, looser),
});

/** What newer clients read, too. */
export const DATASET_V2 = DATASET.extend({
  updatedAt: z.iso.datetime(),
  canWrite: z.boolean(),
  useRetentionPeriod: z.boolean(),
  retentionDays: z.int(),
  mapFields: z.array(z.string()),
});

/** The one place that there is. */
export const HERE = 'local';

export const FIELD = z.object({
  name: z.string(),
  type: z.string(),
  unit: z.string(),
  hidden: z.boolean(),
  description: z.string(),
});

export const FIELD_CHANGES = z.strictObject({
  unit: z.string().max(SERVICE_UNIT_LENGTH).nullish(),
  hidden: z.boolean().nullish(),
  description,
});

const FIELD_NAME = z
  .string()
  .max(SERVICE_NAME_LENGTH)
  .regex(/^[A-Za-z][\w.-]*$/, 'wanted a letter, then letters, digits, _, . and -');
export const MAP_FIELD = z.strictObject({ name: FIELD_NAME });
export const MAP_FIELDS = z
  .array(FIELD_NAME)
  .max(SERVICE_MAP_FIELDS)
  .refine((names) => new Set(names).size === names.length, 'a name stands twice');

/** Of one dataset among all. */
export const DATASET_FIELDS = z.object({ datasetName: z.string(), fields: z.array(FIELD) });

export const viewOf = ({
  name,
  description: text,
  created,
  who,
  kind: what,
}: DatasetRecord): z.infer<typeof DATASET> => ({
  id: name,
  name,
  description: text,
  created,
  who,
  integrationConfigs: [],
  kind: (what || DATASET_KINDS[0]) as (typeof DATASET_KINDS)[number],
  region: HERE,
  edgeDeployment: HERE,
});

export const viewOfV2 = (dataset: DatasetRecord): z.infer<typeof DATASET_V2> => ({
  ...viewOf(dataset),
  updatedAt: dataset.updated || dataset.created,
  canWrite: true,
  useRetentionPeriod: dataset.retentionDays > 0,
  retentionDays: dataset.retentionDays,
  mapFields: [...dataset.mapFields],
});

/** The service's own two fields, then the dataset's by name. */
export function datasetFields(dataset: DatasetRecord): z.infer<typeof FIELD>[] {
  const field = (name: string, type: string) => ({ name, type, ...(dataset.notes.get(name) ?? NO_NOTE) });
  const fields = shownFields(dataset.fields)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, bits]) => field(name, typeName(bits)));
  return [...OWN_FIELDS.map((name) => field(name, 'datetime')), ...fields];
}

/** One of them. Throws an `ApiError` 404. */
export function fieldOf(dataset: DatasetRecord, name: string): z.infer<typeof FIELD> {
  const found = datasetFields(dataset).find((field) => field.name === name);
  if (!found) throw notFound(`field ${quote(name)} of dataset ${quote(dataset.name)} not found`);
  return found;
}

/** Days from a request; undefined when it says nothing about them. */
export function retentionIn(body: {
  useRetentionPeriod?: boolean | null | undefined;
  retentionDays?: number | null | undefined;
}): number | undefined {
  if (body.useRetentionPeriod === false) return 0;
  return body.retentionDays ?? undefined;
}
