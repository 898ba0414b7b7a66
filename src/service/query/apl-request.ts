/** The body and the parameters of a query by text, checked. */
import { z } from 'zod';
import { SERVICE_HOLD_SECONDS } from '../limits.ts';
import { ApiError, badRequest, quote } from '../http/api-error.ts';
import { parseDuration } from '../http/duration.ts';
import { flagParameter, parameter } from '../http/read-request.ts';
import { readRowId } from './sql/field.ts';
import type { QueryCursor } from './plan/program.ts';
import { constantOf, type Constant } from '../../language/types.ts';

const text = z.string().nullish();
const flag = z.boolean().nullish();
const count = z.int().min(0).nullish();

export const APL_BODY = z.object({
  apl: text,
  startTime: text,
  endTime: text,
  limit: count,
  defaultLimit: count,
  cursor: text,
  includeCursor: flag,
  includeCursorField: flag,
  variables: z.record(z.string(), z.unknown()).nullish(),
  queryOptions: z.record(z.string(), z.unknown()).nullish(),
});
export type AplBody = z.infer<typeof APL_BODY>;

/** Parameters that both forms take in the address. */
export const QUERY_PARAMETERS = z.object({
  format: oneOf('tabular', 'legacy').describe('tabular, or legacy, the default'),
  nocache: flagParameter('true: nothing that an earlier query left behind is used'),
  saveAsKind: oneOf('analytics', 'stream', 'apl').describe(
    'analytics, stream or apl: the reply names a history id in a header',
  ),
  'streaming-duration': z
    .string()
    .default('')
    .transform(readHold)
    .describe('a duration for which the request waits for events to be stored, at most 60s; auto does not wait'),
  cursor: parameter('as in the body'),
  includeCursor: flagParameter('as in the body'),
  includeCursorField: flagParameter('as in the body'),
});
export type QueryParameters = z.infer<typeof QUERY_PARAMETERS>;

function oneOf(...values: readonly string[]) {
  const wanted = `wanted ${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;
  return z
    .string()
    .default('')
    .refine((text) => text === '' || values.includes(text), wanted);
}

/** Milliseconds. `auto` leaves it to the service, which answers at once. Go clients send a plain count of ns. */
function readHold(text: string, context: z.RefinementCtx): number {
  if (text === '' || text === 'auto') return 0;
  const ns = /^\d{1,18}$/.test(text) ? BigInt(text) : parseDuration(text);
  if (ns === undefined) context.addIssue('wanted a duration such as 10s, or auto');
  return Math.min(Number((ns ?? 0n) / 1_000_000n), SERVICE_HOLD_SECONDS * 1000);
}

/** Throws an `ApiError` 422 when there is no query. */
export function withText<Body extends Pick<AplBody, 'apl'>>(body: Body): Body & { readonly apl: string } {
  const { apl } = body;
  if (!apl || apl.trim() === '') throw new ApiError(422, 'the request has no query: send it as "apl"');
  return { ...body, apl };
}

/** The row id that a page begins after, or with when `include` is set; undefined for an empty text. */
export function readCursor(cursor: string, include: boolean): QueryCursor | undefined {
  if (cursor === '') return undefined;
  const id = readRowId(cursor);
  if (!id) throw badRequest(`cursor ${quote(cursor)}: wanted a minCursor, a maxCursor or the _rowId of an event`);
  return { ...id, include };
}

/** Values for names in the text. */
export function readVariables(
  variables: Readonly<Record<string, unknown>> | null | undefined,
): ReadonlyMap<string, Constant> {
  return new Map(Object.entries(variables ?? {}).map(([name, value]) => [name, constantOf(value)]));
}
