/** The body of a legacy query: every key may be missing or null; unknown keys are ignored, as clients send their own. */
import { z } from 'zod';
import { CLIENT_TYPES } from '../../http/client-types.ts';
import { SERVICE_QUERY_PARTS } from '../../limits.ts';

const text = z.string().nullish();
const flag = z.boolean().nullish();
const list = <T extends z.ZodType>(item: T) => z.array(item).max(SERVICE_QUERY_PARTS).nullish();

export const ORDER = z.object({ field: z.string(), desc: flag });
export const AGGREGATION = z.object({ op: z.string(), field: text, alias: text, argument: z.unknown().optional() });

export const LEGACY_BODY = z.object({
  startTime: text,
  endTime: text,
  limit: z.int().min(0).nullish(),
  order: list(ORDER),
  aggregations: list(AGGREGATION),
  groupBy: list(z.string()),
  project: list(z.object({ field: z.string(), alias: text })),
  filter: z.unknown().register(CLIENT_TYPES, { type: 'Filter | null' }).optional(),
  virtualFields: list(z.object({ alias: z.string(), expr: z.string() })),
  resolution: text,
  cursor: text,
  continuationToken: text,
  includeCursor: flag,
  queryOptions: z.record(z.string(), z.unknown()).nullish(),
});
export type LegacyBody = z.infer<typeof LEGACY_BODY>;

export const FILTER = z.object({
  op: text,
  field: text,
  value: z.unknown().optional(),
  caseSensitive: flag,
  children: z.array(z.unknown().register(CLIENT_TYPES, { type: 'Filter' })).nullish(),
});
