/**
 * Follows a query's pages by cursor, newest or oldest first as its order has it, each row once. Promises: it ends; oldest first, the range of
 * the first page is that of all, so that what arrives meanwhile does not make it endless.
 */
import type { LegacyQuery, LegacyResult, TabularResult } from './api-types.ts';
import type { AplOptions, Client, LegacyOptions } from './client.ts';

/** What the next request needs to know of a page. */
interface PagePosition {
  readonly rows: number;
  /** Of the order by `_time`; undefined where the rows have another one, or are groups. */
  readonly isDescending: boolean | undefined;
  readonly minCursor: string | undefined;
  readonly maxCursor: string | undefined;
  readonly end: string | undefined;
}

/** Pages of a query in APL. A query that has no pages, such as a summary, gives its one result. */
export function pagesOf(
  client: Pick<Client, 'query'>,
  apl: string,
  options: AplOptions = {},
): AsyncGenerator<TabularResult> {
  return follow((next) => client.query(apl, { ...options, ...next }), placeInTable);
}

export function pagesOfDataset(
  client: Pick<Client, 'queryDataset'>,
  id: string,
  query: LegacyQuery,
  options: LegacyOptions = {},
): AsyncGenerator<LegacyResult> {
  return follow(
    (next) => client.queryDataset(id, { ...query, ...next }, options),
    (result) => placeInMatches(result, query),
  );
}

/** True where rows that the result lacks can be had with its cursor: no summary, and in the order of `_time`. */
export function isPage(result: TabularResult | LegacyResult, order?: LegacyQuery['order']): boolean {
  const { rows, isDescending } =
    'tables' in result ? placeInTable(result) : placeInMatches(result, { ...(order !== undefined && { order }) });
  return rows > 0 && isDescending !== undefined;
}

async function* follow<Result>(
  ask: (next: { cursor?: string; endTime?: string }) => Promise<Result>,
  placeOf: (result: Result) => PagePosition,
): AsyncGenerator<Result> {
  let result = await ask({});
  yield result;
  const { isDescending, end } = placeOf(result);
  if (isDescending === undefined) return;
  const range = isDescending || end === undefined ? {} : { endTime: end };
  for (let sent = ''; ;) {
    const { rows, minCursor, maxCursor } = placeOf(result);
    const cursor = isDescending ? minCursor : maxCursor;
    if (rows === 0 || cursor === undefined || cursor === '' || cursor === sent) return;
    sent = cursor;
    result = await ask({ ...range, cursor });
    if (placeOf(result).rows > 0) yield result;
  }
}

function placeInTable({ tables, status }: TabularResult): PagePosition {
  const [table] = tables;
  const isSummary = (table?.groups.length ?? 0) > 0 || (table?.fields.some(({ agg }) => agg !== undefined) ?? false);
  return {
    rows: table?.columns[0]?.length ?? 0,
    isDescending: isSummary ? undefined : directionOf(table?.order),
    minCursor: status.minCursor,
    maxCursor: status.maxCursor,
    end: table?.range?.end,
  };
}

function placeInMatches({ matches, status }: LegacyResult, { order, endTime }: LegacyQuery): PagePosition {
  const isDescending = directionOf(order);
  const last = matches?.at(-1)?._rowId;
  return {
    rows: matches?.length ?? 0,
    isDescending,
    minCursor: status.minCursor ?? last,
    maxCursor: status.maxCursor ?? last,
    end: endTime ?? undefined,
  };
}

/** Without an order the newest rows come first. */
function directionOf(order: LegacyQuery['order']): boolean | undefined {
  const [first] = order ?? [];
  if (first === undefined) return true;
  return first.field === '_time' ? (first.desc ?? false) : undefined;
}
