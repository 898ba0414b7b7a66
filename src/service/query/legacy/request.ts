/**
 * The body of a legacy query, checked: every key may be missing or null, unknown keys are ignored as clients send their own.
 * Throws an `ApiError` 400 that names the place.
 */
import { z } from 'zod';
import { SERVICE_QUERY_DEFAULT_EVENTS, SERVICE_QUERY_MAX_EVENTS, SERVICE_QUERY_PARTS } from '../../../core/limits.ts';
import { badRequest, quote } from '../../http/api-error.ts';
import { parseDuration, parseTime } from '../times.ts';

export interface Filter {
  readonly op: string;
  readonly field: string;
  readonly value: unknown;
  readonly caseSensitive: boolean;
  readonly children: readonly Filter[];
}

export interface Aggregation {
  readonly op: string;
  readonly field: string;
  /** Its name in the result: the alias, else the operation in upper case. */
  readonly name: string;
}

export interface LegacyQuery {
  /** [start, end) in ns; undefined start: from the beginning. */
  readonly start: bigint | undefined;
  readonly end: bigint;
  readonly limit: number;
  readonly order: readonly { readonly field: string; readonly desc: boolean }[];
  readonly aggregations: readonly Aggregation[];
  readonly groupBy: readonly string[];
  readonly project: readonly { readonly field: string; readonly alias: string }[];
  readonly filter: Filter | undefined;
  /** Width of the time buckets, ns; undefined to choose one. */
  readonly step: bigint | undefined;
}

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');
const flag = z
  .boolean()
  .nullish()
  .transform((value) => value ?? false);
const list = <T extends z.ZodType>(item: T) =>
  z.array(item).max(SERVICE_QUERY_PARTS).nullish().transform((value) => value ?? []); // prettier-ignore

const BODY = z.object({
  startTime: text,
  endTime: text,
  limit: z.number().int().min(0).nullish(),
  order: list(z.object({ field: z.string(), desc: flag })),
  aggregations: list(z.object({ op: z.string(), field: text, alias: text, argument: z.unknown().optional() })),
  groupBy: list(z.string()),
  project: list(z.object({ field: z.string(), alias: text })),
  filter: z.unknown().optional(),
  virtualFields: list(z.unknown()),
  resolution: text,
  cursor: text,
  continuationToken: text,
  includeCursor: flag,
});

export function readLegacyQuery(body: unknown, now: bigint): LegacyQuery {
  const parsed = BODY.safeParse(body ?? {});
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw badRequest(`the query is not valid: ${issue?.path.join('.') || 'the body'}: ${issue?.message}`);
  }
  const query = parsed.data;
  for (const name of ['cursor', 'continuationToken'] as const)
    if (query[name] !== '') throw badRequest(`${name} is not available yet: page by startTime or endTime`);
  if (query.virtualFields.length > 0) throw badRequest('virtualFields are not available yet');
  const start = query.startTime === '' ? undefined : parseTime('startTime', query.startTime, now);
  // The end is exclusive and defaults to now: to the end of this millisecond, so that what was stored just now is in.
  const end = query.endTime === '' ? now + 1_000_000n : parseTime('endTime', query.endTime, now);
  const limit = query.limit || SERVICE_QUERY_DEFAULT_EVENTS;
  let parts = 0;
  return {
    start,
    end,
    limit: Math.min(limit, SERVICE_QUERY_MAX_EVENTS),
    order: query.order,
    aggregations: query.aggregations.map(({ op, field, alias }) => ({ op: op.toLowerCase(), field, name: alias || op.toUpperCase() })),
    groupBy: query.groupBy,
    project: query.project.map(({ field, alias }) => ({ field, alias: alias || field })),
    filter: readFilter(query.filter, () => ++parts),
    step: readStep(query.resolution),
  };
}

function readStep(resolution: string): bigint | undefined {
  if (resolution === '' || resolution === 'auto') return undefined;
  const step = parseDuration(resolution);
  if (step === undefined) throw badRequest(`resolution ${quote(resolution)}: wanted auto or a duration such as 5m`);
  return step > 0n ? step : undefined;
}

const FILTER = z.object({
  op: text,
  field: text,
  value: z.unknown().optional(),
  caseSensitive: flag,
  children: z.array(z.unknown()).nullish(),
});

/** A filter tree; an empty `op` is no filter. */
function readFilter(raw: unknown, count: () => number): Filter | undefined {
  if (raw === null || raw === undefined) return undefined;
  if (count() > SERVICE_QUERY_PARTS) throw badRequest(`the filter has more than ${SERVICE_QUERY_PARTS} parts`);
  const parsed = FILTER.safeParse(raw);
  if (!parsed.success)
    throw badRequest(`the filter is not valid: ${parsed.error.issues[0]?.path.join('.')}: ${parsed.error.issues[0]?.message}`);
  const { op, field, value, caseSensitive, children } = parsed.data;
  if (op === '') return undefined;
  const name = op.toLowerCase();
  const nested = name === 'and' || name === 'or' || name === 'not' ? (children ?? []) : [];
  return {
    op: name,
    field,
    value,
    caseSensitive,
    children: nested.map((child) => readFilter(child, count)).filter((child) => child !== undefined),
  };
}
