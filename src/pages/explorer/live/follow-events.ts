/**
 * Asks again and again for the events that the service stored since the page began. Each question overlaps the one before, as events can be
 * found a little after they were stored; so what came too fast is the difference of two counts up to the same time, never a sum of polls.
 */
import { FollowWindow } from '../../../core/follow-window.ts';
import { readIsoTime } from '../../../core/time/time-text.ts';
import { AplError } from '../../../language/syntax/apl-error.ts';
import { sinceStored, storedBetween } from '../../../language/text/arrivals-text.ts';
import { formatCell } from '../../parts/show-text.ts';
import { type Api, type QueryResult, Refused, type CellValue } from '../data/api.ts';
import { eventAt, rowsOf } from '../data/results.ts';

/** Kept in the page. */
export const MOST_EVENTS = 1000;
/** Asked for at once. */
const PAGE = 1000;
const HOLD_MS = 2000;
const PAUSE_MS = 500;
const RETRY_MS = 2000;
/** Counting reads all that came since the beginning. */
const COUNT_EVERY_MS = 1000;
/** By the times of events: an hour late, a day early. */
const RANGE = { startTime: 'now-1h', endTime: 'now+1d' };

export interface TailedEvent {
  readonly cursor: string;
  readonly fields: readonly (readonly [name: string, value: CellValue])[];
}

export interface FollowedEvents {
  /** Newest first. */
  readonly events: readonly TailedEvent[];
  /** Stored since the page began, as far as it knows. */
  readonly count: number;
  /** Those of them that came too fast to be shown. */
  readonly leftOut: number;
  readonly problem: string;
  /** The problem is one that ends it. */
  readonly isOver: boolean;
}

export const NO_TAIL: FollowedEvents = { events: [], count: 0, leftOut: 0, problem: '', isOver: false };

const NO_EVENTS =
  'A live tail shows events as they are stored, and this query sums up, sorts or takes some. Run it instead.';

/** Ends when the signal aborts, or the service refuses the query. */
export async function followEvents(
  api: Api,
  query: string,
  signal: AbortSignal,
  set: (change: (tail: FollowedEvents) => FollowedEvents) => void,
): Promise<void> {
  const window = new FollowWindow(performance.now(), HOLD_MS);
  /** The service's own time. */
  let began: string | undefined;
  let newest = '';
  let seen = 0;
  /** A page was full: events may have been left out. */
  let isCounted = false;
  let countedAt = 0;
  while (!signal.aborted) {
    let waitMs = PAUSE_MS;
    try {
      began ??= await askTime(api, signal);
      const result = await api.query(narrowed(query, window.ask(performance.now()), began), RANGE, signal, {
        hold: `${HOLD_MS}ms`,
        limit: PAGE,
      });
      const rows = rowsOf(result);
      const { cursors } = rows;
      if (rows.count > 0 && !cursors) return set((tail) => ({ ...tail, isOver: true, problem: NO_EVENTS }));
      const events = (cursors ?? []).flatMap((cursor, row) =>
        window.admit(cursor) ? [{ cursor, fields: eventAt(rows, row) }] : [],
      );
      window.answered();
      seen += events.length;
      for (const { fields } of events) newest = laterOf(newest, storedAt(fields));
      isCounted ||= result.status.rowsMatched > rows.count;
      let leftOut: number | undefined;
      if (isCounted && newest !== '' && performance.now() - countedAt >= COUNT_EVERY_MS) {
        leftOut = Math.max(0, (await countBetween(api, query, began, newest, signal)) - seen);
        countedAt = performance.now();
      }
      set((tail) => ({
        events: [...events, ...tail.events].slice(0, MOST_EVENTS),
        leftOut: leftOut ?? tail.leftOut,
        count: seen + (leftOut ?? tail.leftOut),
        problem: '',
        isOver: false,
      }));
    } catch (error) {
      if (signal.aborted) return;
      const isOver = error instanceof Refused && error.status >= 400 && error.status < 500 && error.status !== 429;
      set((tail) => ({ ...tail, isOver, problem: error instanceof Error ? error.message : String(error) }));
      if (isOver) return;
      waitMs = RETRY_MS;
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

async function askTime(api: Api, signal: AbortSignal): Promise<string> {
  return textIn(await api.query('print began = now()', RANGE, signal));
}

async function countBetween(
  api: Api,
  query: string,
  first: string,
  last: string,
  signal: AbortSignal,
): Promise<number> {
  const result = await api.query(`${storedBetween(query, first, last)}\n| summarize count()`, RANGE, signal, {
    isFresh: true,
  });
  return Number(textIn(result));
}

/** Of a result with one value. */
function textIn(result: QueryResult): string {
  return formatCell(rowsOf(result).columns[0]?.[0]);
}

function storedAt(fields: TailedEvent['fields']): string {
  const value = fields.find(([name]) => name === '_sysTime')?.[1];
  return typeof value === 'string' ? value : '';
}

/** The later of two times as the service prints them, which have as many decimals as they need. */
const laterOf = (a: string, b: string): string => ((readIsoTime(a) ?? 0n) >= (readIsoTime(b) ?? 0n) ? a : b);

function narrowed(query: string, seconds: number, began: string): string {
  try {
    return sinceStored(storedBetween(query, began), seconds);
  } catch (error) {
    // The service names the mistake in it.
    if (error instanceof AplError) return query;
    throw error;
  }
}
