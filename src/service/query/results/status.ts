/** The status of a result, the same in both forms. */
import { formatTime, MIN_TIME_NS, NO_TIME } from '../../../core/time/time-text.ts';
import type { Extent } from '../../engine/engine.ts';
import type { Message, QueryAnswer } from './answer.ts';

/** Rows in one block of the engine's index. */
const BLOCK_ROWS = 8192;

export interface StatusParts {
  /** `performance.now()` of the request. */
  readonly startedAt: number;
  /** [start, end) of the query. */
  readonly start: bigint | undefined;
  readonly end: bigint;
  /** Undefined for an empty dataset. */
  readonly data: Extent | undefined;
  /** The cursor of the request, empty for none. */
  readonly cursor: string;
  readonly numGroups: number;
  readonly messages: readonly Message[];
}

export function statusOf(answer: QueryAnswer, parts: StatusParts): Readonly<Record<string, unknown>> {
  const { rowsExamined, rowsMatched, more, cut, table, minCursor, maxCursor } = answer;
  const examined = examinedRange(parts);
  const blocksExamined = rowsMatched > 0 ? Math.max(1, Math.ceil(rowsExamined / BLOCK_ROWS)) : 0;
  return {
    elapsedTime: Math.max(1, Math.round((performance.now() - parts.startedAt) * 1000)),
    // Behind the last page the cursor stays where it is.
    minCursor: minCursor || parts.cursor,
    maxCursor: maxCursor || parts.cursor,
    blocksExamined,
    blocksCached: 0,
    blocksMatched: Math.min(blocksExamined, Math.ceil(rowsMatched / BLOCK_ROWS)),
    rowsExamined,
    rowsMatched,
    numGroups: parts.numGroups,
    isPartial: cut,
    isEstimate: false,
    cacheStatus: 0,
    continuationToken: more && table.byTime !== undefined ? (table.byTime === 'desc' ? minCursor : maxCursor) : '',
    minBlockTime: examined ? formatTime(examined.min) : NO_TIME,
    maxBlockTime: examined ? formatTime(examined.max) : NO_TIME,
    messages: parts.messages,
  };
}

/** What the dataset has of the query's range. */
function examinedRange({ data, start = MIN_TIME_NS, end }: StatusParts): Pick<Extent, 'min' | 'max'> | undefined {
  if (!data || data.min >= end || data.max < start) return undefined;
  return { min: data.min > start ? data.min : start, max: data.max < end ? data.max : end - 1n };
}
