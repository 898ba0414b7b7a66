/** The body and the parameters of a query by text, checked. */
import { z } from 'zod';
import { SERVICE_HOLD_SECONDS } from '../limits.ts';
import { ApiError, badRequest, quote } from '../http/api-error.ts';
import { parseDuration } from '../http/duration.ts';
import { readRowId } from './sql/field.ts';
import type { Cursor } from './plan/program.ts';
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
export interface QueryParameters {
  readonly format: 'tabular' | 'legacy';
  readonly fresh: boolean;
  /** How long to wait for events to be stored before the query runs; 0: not at all. */
  readonly holdMs: number;
  /** A history id is to be named in the reply. */
  readonly save: boolean;
  readonly cursor: string;
  readonly includeCursor: boolean;
  readonly includeCursorField: boolean;
}

export type Querystring = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Throws an `ApiError` 400. */
export function readParameters(query: Querystring): QueryParameters {
  const format = one(query, 'format') || 'legacy';
  if (format !== 'tabular' && format !== 'legacy') throw badRequest(`format ${quote(format)}: wanted tabular or legacy`);
  const kind = one(query, 'saveAsKind');
  if (kind !== '' && !['analytics', 'stream', 'apl'].includes(kind)) throw badRequest(`saveAsKind ${quote(kind)}: wanted analytics, stream or apl`);
  return {
    format,
    fresh: isTrue(query, 'nocache'),
    holdMs: readHold(one(query, 'streaming-duration')),
    save: kind !== '',
    cursor: one(query, 'cursor'),
    includeCursor: isTrue(query, 'includeCursor'),
    includeCursorField: isTrue(query, 'includeCursorField'),
  };
} // prettier-ignore

/** `auto` leaves it to the service, which answers at once. Go clients send a plain count of ns. */
function readHold(text: string): number {
  if (text === '' || text === 'auto') return 0;
  const ns = /^\d{1,18}$/.test(text) ? BigInt(text) : parseDuration(text);
  if (ns === undefined) throw badRequest(`streaming-duration ${quote(text)}: wanted a duration such as 10s, or auto`);
  return Math.min(Number(ns / 1_000_000n), SERVICE_HOLD_SECONDS * 1000);
}

function one(query: Querystring, name: string): string {
  const value = query[name] ?? '';
  if (typeof value !== 'string') throw badRequest(`the query parameter ${name} is given ${value.length} times`);
  return value;
}

function isTrue(query: Querystring, name: string): boolean {
  const value = one(query, name).toLowerCase();
  if (['', '0', 'false'].includes(value)) return false;
  if (['1', 'true'].includes(value)) return true;
  throw badRequest(`${name} ${quote(value)}: wanted true or false`);
}

/** Throws an `ApiError` 400; 422 when there is no query. */
export function readAplBody(body: unknown): AplBody & { readonly apl: string } {
  const parsed = APL_BODY.safeParse(body ?? {});
  if (!parsed.success) throw bodyError(parsed.error);
  const apl = parsed.data.apl ?? '';
  if (apl.trim() === '') throw new ApiError(422, 'the request has no query: send it as "apl"');
  return { ...parsed.data, apl };
}

export function bodyError({ issues: [issue] }: z.ZodError): ApiError {
  return badRequest(`the query is not valid: ${issue?.path.join('.') || 'the body'}: ${issue?.message}`);
}

/** The row id that a page begins behind, or with when `include` is set; an empty text is none. */
export function readCursor(cursor: string, include: boolean): Cursor | undefined {
  if (cursor === '') return undefined;
  const id = readRowId(cursor);
  if (!id) throw badRequest(`cursor ${quote(cursor)}: wanted a minCursor, a maxCursor or the _rowId of an event`);
  return { ...id, include };
}

/** Values for names in the text. */
export function readVariables(variables: Readonly<Record<string, unknown>> | null | undefined): ReadonlyMap<string, Constant> {
  return new Map(Object.entries(variables ?? {}).map(([name, value]) => [name, constantOf(value)]));
}
