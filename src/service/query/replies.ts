/** The replies of the query endpoints, as the API document describes them. */
import { z } from 'zod';
import { FIELD } from '../datasets/schemas.ts';

const MESSAGE = z.object({ priority: z.string(), count: z.int(), code: z.string(), msg: z.string() });
const time = z.iso.datetime();

const STATUS = z.object({
  elapsedTime: z.int().min(1),
  minCursor: z.string(),
  maxCursor: z.string(),
  blocksExamined: z.int(),
  blocksCached: z.int(),
  blocksMatched: z.int(),
  rowsExamined: z.int(),
  rowsMatched: z.int(),
  numGroups: z.int(),
  isPartial: z.boolean(),
  isEstimate: z.boolean(),
  cacheStatus: z.int(),
  continuationToken: z.string(),
  minBlockTime: time,
  maxBlockTime: time,
  messages: z.array(MESSAGE),
});

const GROUP = z.object({
  id: z.int(),
  group: z.record(z.string(), z.unknown()),
  aggregations: z.array(z.object({ op: z.string(), value: z.unknown() })),
});
const LEGACY = {
  status: STATUS,
  matches: z.array(z.object({ _time: time, _sysTime: time, _rowId: z.string(), data: z.record(z.string(), z.unknown()) })),
  buckets: z.object({ series: z.array(z.object({ startTime: time, endTime: time, groups: z.array(GROUP) })), totals: z.array(GROUP) }),
};
const DATASETS = {
  datasetNames: z.array(z.string()),
  fieldsMetaMap: z.record(z.string(), z.array(FIELD)),
  /** What `render` says, where the query has it. */
  render: z.object({ chart: z.string(), properties: z.record(z.string(), z.string()) }).optional(),
};

/** Of the per-dataset endpoint. */
export const LEGACY_REPLY = z.object({ ...LEGACY, fieldsMeta: z.array(FIELD) });

const APL_LEGACY = z.object({ format: z.literal('legacy'), ...LEGACY, ...DATASETS, request: z.looseObject({ resolution: z.string() }) });

const ORDER = z.object({ field: z.string(), desc: z.boolean() });
const NAMED = z.object({ name: z.string() });
const AGGREGATION = z.object({ name: z.string(), fields: z.array(z.string()).optional(), args: z.array(z.unknown()).optional() });
const TABLE = z.object({
  name: z.string(),
  sources: z.array(NAMED),
  fields: z.array(z.object({ name: z.string(), type: z.string(), agg: AGGREGATION.optional() })),
  order: z.array(ORDER),
  groups: z.array(NAMED),
  range: z.object({ field: z.string(), start: time, end: time }),
  buckets: z.object({ field: z.string(), size: z.number() }).optional(),
  columns: z.array(z.array(z.unknown())),
});
const APL_TABULAR = z.object({ format: z.literal('tabular'), status: STATUS, tables: z.array(TABLE), ...DATASETS });

export const APL_REPLY = z.union([APL_TABULAR, APL_LEGACY]);
