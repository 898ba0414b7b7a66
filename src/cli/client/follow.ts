/** `tailrace query --follow`: events as they are stored, until Ctrl-C. Reconnects when the service restarts; shows no event twice. */
import type { TabularResult } from '../../client/api-types.ts';
import { ClientError } from '../../client/client-error.ts';
import type { Client } from '../../client/client.ts';
import { pagesOf } from '../../client/pages.ts';
import { FollowWindow } from '../../core/follow-window.ts';
import { systemClock } from '../../core/time/clock.ts';
import { CLIENT_PAGE_ROWS } from '../../client/limits.ts';
import { AplError, attempt } from '../../language/syntax/apl-error.ts';
import { sinceStored } from '../../language/text/arrivals-text.ts';
import { flush } from './output/print.ts';
import { plural, say, usageError } from '../output/say.ts';
import { type OutputFormat, rowWriter } from './output/row-writers.ts';
import { rowsOfTables, type OutputRows } from './output/rows.ts';
import { sentenceOf } from './sentence.ts';

export interface FollowOptions {
  readonly output: Exclude<OutputFormat, 'json'>;
  /** Hides events whose `_time` is earlier. */
  readonly start: string;
  /** Ends after this many. */
  readonly limit: number;
  readonly stopping: AbortSignal;
}

/** How long the service holds an answer back until events are stored. */
const HOLD_MS = 2000;
/** At most two questions a second, however fast events come. */
const PAUSE_MS = 500;
/** Rows shown of one answer; the rest are left out, with a note. */
const MOST_ROWS = 50_000;
const FIRST_ROWS = 10;

/** Resolves when `stopping` aborts, or `limit` events were shown. Throws a `ClientError` for a refusal, a `UsageError` for a query that gives no events. */
export async function follow(
  client: Client,
  apl: string,
  { output, start, limit, stopping }: FollowOptions,
): Promise<void> {
  const window = new FollowWindow(performance.now(), HOLD_MS);
  const write = rowWriter(output);
  let [isFirst, isAway, shown] = [true, false, 0];
  while (!stopping.aborted && shown < limit) {
    try {
      const found = await ask(client, narrowed(apl, window.ask(performance.now())), start, stopping, isFirst);
      if (isAway) say('tailrace: the service answers again');
      isAway = false;
      const fresh = { ...found, rows: newRows(found, window) };
      window.answered();
      // Show a few earlier events as a preview of those to come.
      const rows = (isFirst ? fresh.rows.slice(-FIRST_ROWS) : fresh.rows).slice(0, limit - shown);
      isFirst = false;
      shown += rows.length;
      if (rows.length > 0) await write(withoutCursor({ ...fresh, rows }));
    } catch (error) {
      if (stopping.aborted) break;
      if (!(error instanceof ClientError) || !isPassing(error, isFirst)) throw error;
      if (!isAway) say(`tailrace: ${sentenceOf(error)}; trying again`);
      isAway = true;
    }
    if (shown < limit) await systemClock.sleep(PAUSE_MS, stopping);
  }
  await flush();
}

function narrowed(apl: string, seconds: number): string {
  const narrow = attempt(() => sinceStored(apl, seconds));
  // The service names the mistake and its place.
  return narrow instanceof AplError ? apl : narrow;
}

/** All rows of the answer, oldest first. */
async function ask(
  client: Client,
  apl: string,
  startTime: string,
  signal: AbortSignal,
  isFirst: boolean,
): Promise<OutputRows> {
  const options = {
    startTime,
    endTime: 'now+1d',
    limit: CLIENT_PAGE_ROWS,
    includeCursorField: true,
    noCache: true,
    signal,
  };
  let all: OutputRows = { name: '', columns: [], rows: [] };
  for await (const result of pagesOf(client, apl, {
    ...options,
    ...(isFirst ? {} : { streamingDuration: `${HOLD_MS}ms` }),
  })) {
    refuseSummary(result);
    const [page] = rowsOfTables(result);
    if (page) all = joined(all, page);
    // A page that is not full is the last one.
    if ((page?.rows.length ?? 0) < CLIENT_PAGE_ROWS) break;
    if (all.rows.length >= MOST_ROWS) {
      say(
        `tailrace: more than ${plural(MOST_ROWS, 'event')} came at once, the oldest are left out; a narrower query shows all`,
      );
      break;
    }
  }
  return { ...all, rows: all.rows.toReversed() };
}

function refuseSummary({ tables: [table] }: TabularResult): void {
  if (!table || table.fields.some(({ name }) => name === '_cursor') || (table.columns[0]?.length ?? 0) === 0) return;
  throw usageError(
    '--follow shows events as they are stored, and this query gives none: it sums up, sorts or takes some',
    'leave out summarize, count, sort, take and the like, or ask again from time to time',
  );
}

/** Pages may have different fields. */
function joined(before: OutputRows, page: OutputRows): OutputRows {
  const columns = [...new Set([...before.columns, ...page.columns])];
  const fit = ({ columns: own, rows }: OutputRows): (readonly unknown[])[] => {
    const places = columns.map((name) => own.indexOf(name));
    return rows.map((row) => places.map((place) => row[place]));
  };
  return { ...page, columns, rows: [...fit(before), ...fit(page)] };
}

function newRows({ columns, rows }: OutputRows, window: FollowWindow): (readonly unknown[])[] {
  const place = columns.indexOf('_cursor');
  return rows.filter((row) => window.admit(String(row[place])));
}

function withoutCursor({ columns, rows, ...rest }: OutputRows): OutputRows {
  const keep = columns.flatMap((name, index) => (name === '_cursor' ? [] : [index]));
  return {
    ...rest,
    columns: keep.map((index) => columns[index]!),
    rows: rows.map((row) => keep.map((index) => row[index])),
  };
}

/** The service stopped, restarts or is busy. A 500 to the first question is a fault that the next one meets again. */
function isPassing({ status }: ClientError, isFirst: boolean): boolean {
  if (isFirst && status === 500) return false;
  return status === 0 || status === 408 || status === 429 || status >= 500;
}
