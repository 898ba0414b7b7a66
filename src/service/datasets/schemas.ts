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
import { NO_NOTE, OWN_FIELDS, typeName, type Dataset } from './catalog.ts';

const description = z.string().max(SERVICE_DESCRIPTION_LENGTH).nullish();
/** How newer clients say how long events are kept; 0 days, or a false flag: for ever. */
const retention = {
  useRetentionPeriod: z.boolean().nullish(),
  retentionDays: z.int().min(0).max(SERVICE_RETENTION_DAYS).nullish(),
};

/** Events of any kind are stored alike; metrics have another form. */
const kind = z
  .string()
  .max(64)
  .regex(/^(?:events|[a-z]+:(?:events|logs|traces):v\d+)$/, 'this service stores events only')
  .nullish();
/** Where a hosted service would keep it. */
const place = z.string().max(SERVICE_NAME_LENGTH).nullish();

export const CREATE = z.strictObject({ name: z.string(), description, kind, region: place, edgeDeployment: place, ...retention });
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
});

/** What newer clients read, too. */
export const DATASET_V2 = DATASET.extend({
  kind: z.string(),
  canWrite: z.boolean(),
  useRetentionPeriod: z.boolean(),
  retentionDays: z.int(),
  mapFields: z.array(z.string()),
  region: z.string(),
  edgeDeployment: z.string(),
});

/** The one place that there is. */
const HERE = 'local';

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

const FIELD_NAME = z.string().min(1).max(SERVICE_NAME_LENGTH);
export const MAP_FIELD = z.strictObject({ name: FIELD_NAME });
export const MAP_FIELDS = z.array(FIELD_NAME).max(SERVICE_MAP_FIELDS);

export const viewOf = ({ name, description: text, created, who }: Dataset): z.infer<typeof DATASET> => ({
  id: name,
  name,
  description: text,
  created,
  who,
  integrationConfigs: [],
});

export const viewOfV2 = (dataset: Dataset): z.infer<typeof DATASET_V2> => ({
  ...viewOf(dataset),
  kind: 'events',
  canWrite: true,
  useRetentionPeriod: dataset.retentionDays > 0,
  retentionDays: dataset.retentionDays,
  mapFields: [...dataset.mapFields],
  region: HERE,
  edgeDeployment: HERE,
});

/** The service's own two fields, then the dataset's by name. */
export function fieldsOf(dataset: Dataset): z.infer<typeof FIELD>[] {
  const field = (name: string, type: string) => ({ name, type, ...(dataset.notes.get(name) ?? NO_NOTE) });
  const fields = [...dataset.fields].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, bits]) => field(name, typeName(bits)));
  return [...OWN_FIELDS.map((name) => field(name, 'datetime')), ...fields];
}

/** One of them. Throws an `ApiError` 404. */
export function fieldOf(dataset: Dataset, name: string): z.infer<typeof FIELD> {
  const found = fieldsOf(dataset).find((field) => field.name === name);
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
