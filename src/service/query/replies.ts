/** The replies of the query endpoints, as the API document describes them. */
import { z } from 'zod';
import { FIELD } from '../datasets/schemas.ts';
import { CLIENT_TYPES, looser } from '../http/client-types.ts';
import { APL_BODY } from './apl-request.ts';
import { FILTER, LEGACY_BODY } from './legacy/schema.ts';

const MESSAGE = z.object({ priority: z.string(), count: z.int(), code: z.string(), msg: z.string() });
const time = z.iso.datetime();

/** Absent from some services. */
const text = () => z.string().register(CLIENT_TYPES, looser);
const list = <T extends z.ZodType>(item: T) => z.array(item).register(CLIENT_TYPES, looser);

const STATUS = z.object({
  elapsedTime: z.int().min(1).describe('Microseconds.'),
  minCursor: text().describe('Of the oldest row of the page.'),
  maxCursor: text().describe('Of the newest row of the page.'),
  blocksExamined: z.int(),
  blocksCached: z.int().register(CLIENT_TYPES, looser),
  blocksMatched: z.int().register(CLIENT_TYPES, looser),
  rowsExamined: z.int(),
  rowsMatched: z.int().describe("Rows that match, whatever the page's size."),
  numGroups: z.int(),
  isPartial: z.boolean(),
  isEstimate: z.boolean(),
  cacheStatus: z.int(),
  continuationToken: text(),
  minBlockTime: time,
  maxBlockTime: time,
  messages: list(MESSAGE),
});

const GROUP = z.object({
  id: z.int(),
  group: z.record(z.string(), z.unknown()),
  aggregations: list(z.object({ op: z.string(), value: z.unknown() })),
});
const MATCH = z.object({ _time: time, _sysTime: time, _rowId: z.string(), data: z.record(z.string(), z.unknown()) });
const LEGACY = {
  status: STATUS,
  matches: list(MATCH),
  buckets: z.object({
    series: list(z.object({ startTime: time, endTime: time, groups: list(GROUP) })),
    totals: list(GROUP),
  }),
};
const DATASETS = {
  datasetNames: z.array(z.string()),
  fieldsMetaMap: z.record(z.string(), z.array(FIELD)),
  render: z
    .object({ chart: z.string(), properties: z.record(z.string(), z.string()) })
    .optional()
    .describe('What `render` says, where the query has it.'),
};

/** Of the per-dataset endpoint. */
export const LEGACY_REPLY = z.object({ ...LEGACY, fieldsMeta: z.array(FIELD) });

const APL_LEGACY = z.object({
  format: z.literal('legacy'),
  ...LEGACY,
  ...DATASETS,
  request: z.looseObject({ resolution: z.string() }),
});

const ORDER = z.object({ field: z.string(), desc: z.boolean() });
const NAMED = z.object({ name: z.string() });
const AGGREGATION = z.object({
  name: z.string(),
  fields: z.array(z.string()).optional(),
  args: z.array(z.unknown()).optional(),
});
const TABLE_FIELD = z.object({
  name: z.string(),
  type: z.string(),
  agg: AGGREGATION.optional().describe('Of a column that a summary made.'),
});
const TABLE = z.object({
  name: z.string(),
  sources: z.array(NAMED),
  fields: z.array(TABLE_FIELD),
  order: z.array(ORDER),
  groups: z.array(NAMED),
  range: z.object({ field: z.string(), start: time, end: time }).register(CLIENT_TYPES, looser),
  buckets: z
    .object({ field: z.string(), size: z.number() })
    .optional()
    .describe('Of a summary by time; the size is in nanoseconds.'),
  columns: z.array(z.array(z.unknown())).describe('One list for each field, one value in it for each row.'),
});
const APL_TABULAR = z.object({ format: z.literal('tabular'), status: STATUS, tables: z.array(TABLE), ...DATASETS });

export const APL_REPLY = z.union([APL_TABULAR, APL_LEGACY]);

export const LISTED_QUERY = z.object({
  id: z.string(),
  text: z.string().describe('The text of the query, APL or JSON, cut when long.'),
  datasets: z.array(z.string()),
  startTime: time,
  elapsedTime: z.int().min(1).describe('Microseconds.'),
  state: z.enum(['waiting', 'running']),
});
export type QueryListing = z.infer<typeof LISTED_QUERY>;

export const QUERY_TYPES = {
  ListedQuery: LISTED_QUERY,
  AplQuery: APL_BODY,
  TabularResult: APL_TABULAR,
  Table: TABLE,
  TableField: TABLE_FIELD,
  QueryStatus: STATUS,
  QueryMessage: MESSAGE,
  LegacyQuery: LEGACY_BODY,
  Filter: FILTER,
  LegacyResult: LEGACY_REPLY.extend(APL_LEGACY.shape)
    .partial({ format: true, fieldsMeta: true, datasetNames: true, fieldsMetaMap: true, request: true })
    .describe('Of a query of one dataset, with `fieldsMeta`; or of one by text, with the other optional keys.'),
  Match: MATCH,
  GroupResult: GROUP,
};
