/** What a query found: its cost, a chart over time, the rows, and the one that is looked at. */
import { Alert } from '../../parts/alert.tsx';
import { useMemo, useState } from 'preact/hooks';
import type { ChartMark } from '../../parts/chart-series.ts';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatMany,
  formatMs,
  formatTime,
  nameMany,
} from '../../parts/format.ts';
import type { Annotation } from '../../../client/api-types.ts';
import type { Api } from '../data/api.ts';
import type { FieldFilter } from '../data/filters.ts';
import { boundsOf, type LinkState, rangeUpTo } from '../data/link-state.ts';
import { ColumnPicker } from './column-picker.tsx';
import { Context } from './context.tsx';
import { DrawingView } from './drawing-view.tsx';
import { EventPanel } from './event-panel.tsx';
import { chooseColumns, eventAt, pickColumns, type TableRows, rowsOf, toCsv, toJson } from '../data/results.ts';
import { focusRow, ResultsTable } from './results-table.tsx';
import type { FoundResult, QueryOutcome } from '../data/use-query.ts';

export interface ResultsProps {
  readonly outcome: QueryOutcome;
  readonly api: Api | undefined;
  /** The editor's text. */
  readonly query: string;
  /** When the newest event of the dataset was; undefined where that is not known. */
  readonly newestMs: number | undefined;
  /** The visible part of the result, and a callback for its changes. */
  readonly link: LinkState;
  readonly onLink: (part: Partial<LinkState>) => void;
  readonly onFilter: (filter: FieldFilter) => void;
  /** Called with a range as the link has it. */
  readonly onRange: (range: string) => void;
}

export function Results({ outcome, api, query, ...rest }: ResultsProps) {
  // A mistake of another text does not concern this one.
  if (outcome.kind === 'failed' && outcome.query === query) return <Alert text={outcome.message} />;
  if (outcome.kind === 'found') return <FoundView key={outcome.number} {...outcome} {...rest} api={api} />;
  if (outcome.kind === 'running' && outcome.last)
    return (
      <div class="stale" inert>
        <FoundView key={outcome.last.number} {...outcome.last} {...rest} api={api} />
      </div>
    );
  return (
    <p class="empty" role="status">
      {whyEmpty(outcome, query, api !== undefined)}
    </p>
  );
}

/** What stands in the place of results. */
function whyEmpty({ kind }: QueryOutcome, query: string, isSignedIn: boolean): string {
  if (kind === 'running') return 'Running …';
  if (kind === 'ended') return 'The query was ended. Run it again to see what it finds.';
  if (isSignedIn) return query.trim() === '' ? 'Choose a dataset, or write a query.' : 'Ctrl+Enter runs the query.';
  return 'Sign in with a token of this service: tailrace serve prints them at its first start. It stays in this tab until you sign out or close it.';
}

type FoundViewProps = Omit<ResultsProps, 'outcome' | 'query'> & FoundResult;

function FoundView({
  result,
  drawing,
  isHistogram,
  dataset,
  annotations,
  api,
  newestMs,
  link,
  onLink,
  onFilter,
  onRange,
}: FoundViewProps) {
  const rows = useMemo(() => rowsOf(result), [result]);
  // Columns that were chosen for other rows say nothing of these.
  const isChosen = link.columns.length > 0 && link.columns.every((name) => rows.names.includes(name));
  const shown = useMemo(() => (isChosen ? link.columns : chooseColumns(rows)), [isChosen, link.columns, rows]);
  const [selected, setSelected] = useState(() => rowWith(rows.cursors, link.event));
  const select = (row: number | undefined) => {
    setSelected(row);
    onLink({ event: (row === undefined ? undefined : rows.cursors?.[row]) ?? '' });
  };
  const [copied, setCopied] = useState('');
  const marks = useMemo(() => annotations.map(markOf), [annotations]);
  const copy = (name: string, taken: TableRows, toText: (rows: TableRows) => string) => {
    copyText(toText(taken)).then(
      () =>
        setCopied(`Copied ${formatMany(taken.count, 'row')} as ${name}, ${formatMany(taken.names.length, 'column')}`),
      () => setCopied('The browser did not allow it'),
    );
  };
  const { elapsedTime, rowsExamined, rowsMatched, isPartial, messages } = result.status;
  const warnings = (messages ?? []).filter(({ priority }) => priority === 'warn');
  return (
    <>
      <DrawingView
        drawing={drawing}
        isSmall={isHistogram}
        marks={marks}
        onSelect={(from, to) => onRange(`${Math.floor(from * 1000)}/${Math.ceil(to * 1000)}`)}
      />
      <div class="results-bar">
        <p role="status">
          <b>{formatCount(rows.count)}</b> {nameMany(rows.count, 'row')}
          <span class="soft">
            {' '}
            · {formatCount(rowsMatched)} matched of {formatCount(rowsExamined)} read
            {result.bytesRead === undefined ? '' : ` (${formatBytes(result.bytesRead)})`} ·{' '}
            {formatMs(elapsedTime / 1000)}
            {isPartial ? ' · partial' : ''}
          </span>
          {copied !== '' && <span class="soft"> · {copied}</span>}
        </p>
        {rows.count > 0 && (
          <span class="buttons">
            <ColumnPicker names={rows.names} shown={shown} onChange={(columns) => onLink({ columns })} />
            {/* Whole events, until columns are chosen. */}
            <button type="button" onClick={() => copy('JSON', isChosen ? pickColumns(rows, shown) : rows, toJson)}>
              Copy JSON
            </button>
            <button type="button" onClick={() => copy('CSV', pickColumns(rows, shown), toCsv)}>
              Copy CSV
            </button>
          </span>
        )}
      </div>
      {warnings.map(({ msg }) => (
        <p key={msg} class="note">
          {msg}
        </p>
      ))}
      {rowsMatched === 0 && newestMs !== undefined && <Elsewhere {...{ newestMs, onRange }} range={link.range} />}
      {rows.count === 0 ? (
        <p class="empty">Nothing in this range matches.</p>
      ) : (
        <div class={selected === undefined ? 'found' : 'found found-open'}>
          <ResultsTable rows={rows} shown={shown} selected={selected} onSelect={select} />
          {selected !== undefined && (
            <EventPanel
              key={selected}
              event={eventAt(rows, selected)}
              times={rows.times}
              canFilter={rows.areEvents}
              onFilter={onFilter}
              onClose={() => {
                focusRow(document, selected);
                select(undefined);
              }}
            >
              {api && dataset !== undefined && rows.cursors && (
                <Context
                  api={api}
                  place={{ dataset, cursor: rows.cursors[selected]! }}
                  event={eventAt(rows, selected)}
                />
              )}
            </EventPanel>
          )}
        </div>
      )}
    </>
  );
}

/** Where the newest event is beyond the range, which holds nothing. */
function Elsewhere({
  range,
  newestMs,
  onRange,
}: { readonly range: string; readonly newestMs: number } & Pick<ResultsProps, 'onRange'>) {
  const nowMs = Date.now();
  const [from, to] = boundsOf(range, nowMs);
  if (newestMs >= from && newestMs <= to) return null;
  const age = newestMs > nowMs ? '' : `, ${formatDuration(nowMs - newestMs)} ago`;
  return (
    <p class="note">
      The newest event of this dataset is outside of the range: {formatTime(newestMs)}
      {age}.{' '}
      <button type="button" onClick={() => onRange(rangeUpTo(range, newestMs))}>
        Show it
      </button>
    </p>
  );
}

function rowWith(cursors: readonly string[] | undefined, cursor: string): number | undefined {
  const row = cursor === '' ? -1 : (cursors?.indexOf(cursor) ?? -1);
  return row < 0 ? undefined : row;
}

function markOf({ time, endTime, type, title }: Annotation): ChartMark {
  const to = endTime === undefined ? {} : { to: Date.parse(endTime) / 1000 };
  return { at: Date.parse(time) / 1000, ...to, label: title === undefined ? type : `${type}: ${title}` };
}

/** Pages that did not come over TLS or from loopback have no clipboard of their own. */
async function copyText(text: string): Promise<void> {
  const { clipboard } = navigator as { clipboard?: Clipboard };
  if (clipboard) return clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  const isDone = document.execCommand('copy');
  area.remove();
  if (!isDone) throw new Error('refused');
}
