/** What a query found: its cost, a chart over time, the rows, and the one that is looked at. */
import { useMemo, useState } from 'preact/hooks';
import { Chart, type ChartMark } from '../../parts/chart.tsx';
import { formatCount, formatMs, formatShort } from '../../parts/format.ts';
import type { Annotation, Api } from '../data/api.ts';
import { Bars } from './bars.tsx';
import { Context } from './context.tsx';
import { EventPanel } from './event-panel.tsx';
import { chooseColumns, eventAt, linesOf, rowsOf, toCsv, toJson } from '../data/results.ts';
import { ResultsTable } from './results-table.tsx';
import type { Outcome } from '../data/use-query.ts';

export interface ResultsProps {
  readonly outcome: Outcome;
  readonly api: Api | undefined;
  readonly onFilter: (condition: string) => void;
  /** Told a range as the link has it. */
  readonly onRange: (range: string) => void;
}

export function Results({ outcome, api, onFilter, onRange }: ResultsProps) {
  if (outcome.kind === 'failed')
    return (
      <p class="alert" role="alert">
        {outcome.message}
      </p>
    );
  if (outcome.kind === 'found') return <Found key={outcome.number} {...outcome} {...{ api, onFilter, onRange }} />;
  if (outcome.kind === 'running')
    return (
      <p class="empty" role="status">
        Running …
      </p>
    );
  return (
    <p class="empty" role="status">
      {api
        ? 'Choose a dataset, or write a query.'
        : 'Sign in with a token of this service. It stays in this tab until you sign out or close it.'}
    </p>
  );
}

const BAR_CHARTS = new Set(['barchart', 'columnchart', 'piechart']);

type FoundProps = Pick<ResultsProps, 'api' | 'onFilter' | 'onRange'> & Extract<Outcome, { kind: 'found' }>;

function Found({ result, histogram, dataset, annotations, api, onFilter, onRange }: FoundProps) {
  const rows = useMemo(() => rowsOf(result), [result]);
  const chart = result.render?.chart;
  const lines = useMemo(() => (chart === 'table' ? undefined : linesOf(histogram ?? result)), [chart, histogram, result]);
  const [shown, setShown] = useState(() => chooseColumns(rows));
  const [selected, setSelected] = useState<number | undefined>();
  const [copied, setCopied] = useState('');
  const marks = useMemo(() => annotations.map(markOf), [annotations]);
  const copy = (name: string, text: () => string) => {
    copyText(text()).then(
      () => setCopied(`Copied ${formatCount(rows.count)} rows as ${name}`),
      () => setCopied('The browser did not allow it'),
    );
  };
  const { elapsedTime, rowsExamined, rowsMatched, isPartial, messages } = result.status;
  const warnings = messages.filter(({ priority }) => priority === 'warn');
  return (
    <>
      {lines && lines.times.length > 0 && (
        <Chart
          title={histogram ? 'Events over time' : 'Over time'}
          times={lines.times}
          series={lines.series}
          format={formatShort}
          height={histogram ? 110 : 220}
          bars={chart === undefined ? lines.series.length === 1 : BAR_CHARTS.has(chart)}
          empty="One step in time: nothing to draw."
          marks={marks}
          onSelect={(from, to) => onRange(`${Math.floor(from * 1000)}/${Math.ceil(to * 1000)}`)}
        />
      )}
      {lines === undefined && chart !== undefined && BAR_CHARTS.has(chart) && <Bars rows={rows} />}
      {lines !== undefined && lines.left > 0 && <p class="soft">{formatCount(lines.left)} smaller groups are in the table only.</p>}
      <div class="results-bar">
        <p role="status">
          <b>{formatCount(rows.count)}</b> {rows.count === 1 ? 'row' : 'rows'}
          <span class="soft">
            {' '}
            · {formatCount(rowsMatched)} matched of {formatCount(rowsExamined)} read · {formatMs(elapsedTime / 1000)}
            {isPartial ? ' · partial' : ''}
          </span>
          {copied !== '' && <span class="soft"> · {copied}</span>}
        </p>
        <span class="buttons">
          <ColumnPicker names={rows.names} shown={shown} onChange={setShown} />
          <button type="button" onClick={() => copy('JSON', () => toJson(rows))}>
            Copy JSON
          </button>
          <button type="button" onClick={() => copy('CSV', () => toCsv(rows))}>
            Copy CSV
          </button>
        </span>
      </div>
      {warnings.map(({ msg }) => (
        <p key={msg} class="note">
          {msg}
        </p>
      ))}
      {rows.count === 0 ? (
        <p class="empty">Nothing in this range matches.</p>
      ) : (
        <div class={selected === undefined ? 'found' : 'found found-open'}>
          <ResultsTable rows={rows} shown={shown} selected={selected} onSelect={setSelected} />
          {selected !== undefined && (
            <EventPanel
              key={selected}
              event={eventAt(rows, selected)}
              canFilter={rows.areEvents}
              onFilter={onFilter}
              onClose={() => setSelected(undefined)}
            >
              {api && dataset !== undefined && rows.cursors && (
                <Context api={api} place={{ dataset, cursor: rows.cursors[selected]! }} event={eventAt(rows, selected)} />
              )}
            </EventPanel>
          )}
        </div>
      )}
    </>
  );
}

function markOf({ time, type, title }: Annotation): ChartMark {
  return { at: Date.parse(time) / 1000, label: title === undefined ? type : `${type}: ${title}` };
}

/** More boxes than this would freeze the page. */
const MOST_BOXES = 300;

interface ColumnPickerProps {
  readonly names: readonly string[];
  readonly shown: readonly string[];
  readonly onChange: (shown: string[]) => void;
}

function ColumnPicker({ names, shown, onChange }: ColumnPickerProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="picker" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        Columns <small>{shown.length}</small>
      </summary>
      {isOpen && (
        <div class="boxes">
          {names.slice(0, MOST_BOXES).map((name) => (
            <label key={name}>
              <input
                type="checkbox"
                checked={shown.includes(name)}
                onChange={(event) => onChange(event.currentTarget.checked ? [...shown, name] : shown.filter((other) => other !== name))}
              />
              <bdi>{name.slice(0, 100)}</bdi>
            </label>
          ))}
        </div>
      )}
    </details>
  );
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
