/** Events as the service stores them, newest on top, until one stops it. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { FollowWindow } from '../../core/follow-window.ts';
import { sinceStored } from '../../language/text/arrivals-text.ts';
import { AplError } from '../../language/syntax/apl-error.ts';
import { formatCount } from '../parts/format.ts';
import { type Api, Refused, type Value } from './data/api.ts';
import { EventPanel } from './results/event-panel.tsx';
import { chooseColumns, eventAt, type Rows, rowsOf } from './data/results.ts';
import { ResultsTable } from './results/results-table.tsx';

/** Kept in the page. */
const MOST_EVENTS = 1000;
/** Asked for at once. */
const PAGE = 1000;
const HOLD_MS = 2000;
const PAUSE_MS = 500;
const RETRY_MS = 2000;

interface TailedEvent {
  readonly cursor: string;
  readonly fields: readonly (readonly [name: string, value: Value])[];
}

interface Tail {
  /** Newest first. */
  readonly events: readonly TailedEvent[];
  readonly count: number;
  /** Came faster than they could be shown. */
  readonly leftOut: number;
  readonly problem: string;
  /** The problem is one that ends it. */
  readonly isOver: boolean;
}

const EMPTY: Tail = { events: [], count: 0, leftOut: 0, problem: '', isOver: false };

export interface LiveTailProps {
  readonly api: Api;
  readonly query: string;
  readonly onFilter: (condition: string) => void;
  readonly onStop: () => void;
}

export function LiveTail({ api, query, onFilter, onStop }: LiveTailProps) {
  const [tail, setTail] = useState(EMPTY);
  const [opened, setOpened] = useState<TailedEvent | undefined>();
  useEffect(() => {
    const abort = new AbortController();
    setTail(EMPTY);
    void run(api, query, abort.signal, setTail);
    return () => abort.abort();
  }, [api, query]);
  const rows = useMemo(() => tableOf(tail.events), [tail.events]);
  const shown = useMemo(() => chooseColumns(rows), [rows]);
  const selected = opened && tail.events.findIndex(({ cursor }) => cursor === opened.cursor);
  return (
    <>
      <div class="results-bar">
        <p role="status">
          <b>Live</b> · {formatCount(tail.count)} events since you began
          {tail.count > MOST_EVENTS && <span class="soft"> · the newest {formatCount(MOST_EVENTS)} are shown</span>}
          {tail.leftOut > 0 && <span class="soft"> · {formatCount(tail.leftOut)} came too fast to be shown</span>}
        </p>
        <button type="button" onClick={onStop}>
          Stop
        </button>
      </div>
      {tail.problem !== '' && (
        <p class="alert" role="alert">
          {tail.problem}
          {tail.isOver ? '' : ' Trying again.'}
        </p>
      )}
      {rows.count === 0 ? (
        <p class="empty">{tail.isOver ? '' : 'Waiting for events …'}</p>
      ) : (
        <div class={opened ? 'found found-open' : 'found'}>
          <ResultsTable rows={rows} shown={shown} selected={selected} onSelect={(row) => setOpened(tail.events[row])} />
          {opened && (
            <EventPanel key={opened.cursor} event={opened.fields} canFilter onFilter={onFilter} onClose={() => setOpened(undefined)} />
          )}
        </div>
      )}
    </>
  );
}

/** Ends when the signal aborts, or the service refuses the query. */
async function run(api: Api, query: string, signal: AbortSignal, set: (change: (tail: Tail) => Tail) => void): Promise<void> {
  const window = new FollowWindow(performance.now(), HOLD_MS);
  while (!signal.aborted) {
    let waitMs = PAUSE_MS;
    try {
      const text = narrowed(query, window.ask(performance.now()));
      const result = await api.query(text, { startTime: 'now-1h', endTime: 'now+1d' }, signal, { hold: `${HOLD_MS}ms`, limit: PAGE });
      const rows = rowsOf(result);
      const { cursors } = rows;
      if (rows.count > 0 && !cursors) return set((tail) => ({ ...tail, isOver: true, problem: NO_EVENTS }));
      const events = (cursors ?? []).flatMap((cursor, row) => (window.admit(cursor) ? [{ cursor, fields: eventAt(rows, row) }] : []));
      window.answered();
      const leftOut = Math.max(0, result.status.rowsMatched - rows.count);
      set((tail) => ({
        events: [...events, ...tail.events].slice(0, MOST_EVENTS),
        count: tail.count + events.length,
        leftOut: tail.leftOut + leftOut,
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

const NO_EVENTS = 'A live tail shows events as they are stored, and this query sums up, sorts or takes some. Run it instead.';

function narrowed(query: string, seconds: number): string {
  try {
    return sinceStored(query, seconds);
  } catch (error) {
    // The service says what is wrong with it.
    if (error instanceof AplError) return query;
    throw error;
  }
}

function tableOf(events: readonly TailedEvent[]): Rows {
  const names = [...new Set(events.flatMap(({ fields }) => fields.map(([name]) => name)))];
  const records = events.map(({ fields }) => new Map(fields));
  const columns = names.map((name) => records.map((record) => record.get(name) ?? null));
  return { names, columns, count: events.length, areEvents: true, cursors: events.map(({ cursor }) => cursor) };
}
