/** Events as the service stores them, newest on top, until one stops it. While one scrolls, opens an event or goes through rows by keys, they stay where they are. */
import { Alert } from '../../parts/alert.tsx';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { formatCount, formatMany } from '../../parts/format.ts';
import type { Api } from '../data/api.ts';
import type { FieldFilter } from '../data/filters.ts';
import type { LinkState } from '../data/link-state.ts';
import { chooseColumns, type TableRows } from '../data/results.ts';
import { ColumnPicker } from '../results/column-picker.tsx';
import { EventPanel } from '../results/event-panel.tsx';
import { ResultsTable } from '../results/results-table.tsx';
import { followEvents, MOST_EVENTS, NO_TAIL, type FollowedEvents, type TailedEvent } from './follow-events.ts';

export interface LiveTailProps {
  readonly api: Api;
  readonly query: string;
  /** Those that were chosen; none for those that the page chooses. */
  readonly columns: readonly string[];
  readonly onLink: (part: Partial<LinkState>) => void;
  readonly onFilter: (filter: FieldFilter) => void;
  readonly onStop: () => void;
}

export function LiveTail({ api, query, columns, onLink, onFilter, onStop }: LiveTailProps) {
  const [tail, setTail] = useState(NO_TAIL);
  const [opened, setOpened] = useState<TailedEvent | undefined>();
  /** The events shown while the user reads. */
  const [held, setHeld] = useState<FollowedEvents | undefined>();
  const holder = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const abort = new AbortController();
    setTail(NO_TAIL);
    setHeld(undefined);
    setOpened(undefined);
    void followEvents(api, query, abort.signal, setTail);
    return () => abort.abort();
  }, [api, query]);
  const { events } = held ?? tail;
  const fresh = held === undefined ? 0 : tail.count - held.count;
  const rows = useMemo(() => tableOf(events), [events]);
  // Events that come later may have a field that these have not.
  const shown = useMemo(() => (columns.length > 0 ? columns : chooseColumns(rows)), [columns, rows]);
  const selected = opened && events.findIndex(({ cursor }) => cursor === opened.cursor);
  const read = (isReading: boolean) => setHeld(isReading ? (held ?? tail) : undefined);
  const open = (event: TailedEvent | undefined) => {
    setOpened(event);
    read(event !== undefined || (holder.current?.querySelector('.rows')?.scrollTop ?? 0) > 0);
  };
  const follow = () => {
    setOpened(undefined);
    setHeld(undefined);
    holder.current?.querySelector('.rows')?.scrollTo(0, 0);
  };
  return (
    <>
      <div class="results-bar">
        <p role="status">
          <b>Live</b> · {formatMany(tail.count, 'event')} since you began
          {tail.count > MOST_EVENTS && <span class="soft"> · the newest {formatCount(MOST_EVENTS)} are shown</span>}
          {tail.leftOut > 0 && <span class="soft"> · {formatCount(tail.leftOut)} came too fast to be shown</span>}
        </p>
        <span class="buttons">
          {fresh > 0 && (
            <button type="button" class="primary" onClick={follow}>
              {formatCount(fresh)} new ↑
            </button>
          )}
          {rows.count > 0 && (
            <ColumnPicker names={rows.names} shown={shown} onChange={(chosen) => onLink({ columns: chosen })} />
          )}
          <button type="button" onClick={onStop}>
            Stop
          </button>
        </span>
      </div>
      <Alert text={tail.problem === '' || tail.isOver ? tail.problem : `${tail.problem} Trying again.`} />
      {rows.count === 0 ? (
        <p class="empty">{tail.isOver ? '' : 'Waiting for events …'}</p>
      ) : (
        <div ref={holder} class={opened ? 'found found-open' : 'found'}>
          <ResultsTable
            rows={rows}
            shown={shown}
            selected={selected}
            onSelect={(row) => open(events[row])}
            onRead={(isReading) => read(isReading || opened !== undefined)}
          />
          {opened && (
            <EventPanel
              key={opened.cursor}
              event={opened.fields}
              times={TIMES}
              canFilter
              onFilter={onFilter}
              onClose={() => open(undefined)}
            />
          )}
        </div>
      )}
    </>
  );
}

const TIMES: ReadonlySet<string> = new Set(['_time', '_sysTime']);

function tableOf(events: readonly TailedEvent[]): TableRows {
  const names = [...new Set(events.flatMap(({ fields }) => fields.map(([name]) => name)))];
  const records = events.map(({ fields }) => new Map(fields));
  const columns = names.map((name) => records.map((record) => record.get(name) ?? null));
  return {
    names,
    columns,
    count: events.length,
    times: TIMES,
    areEvents: true,
    cursors: events.map(({ cursor }) => cursor),
  };
}
