/** Where events go: each sink's state with its reason, its requests and its queue. */
import { statColumns, type NumberColumn, SINK_STATS } from '../../telemetry/stats.ts';
import type { SinkStatus } from '../../telemetry/status.ts';
import { formatBytes, formatCount, formatDuration, formatMs, formatShort } from '../parts/format.ts';
import type { SectionProps } from './numbers.tsx';
import { headsOf, NumberCells, Table } from './table.tsx';

const LEVELS = { delivering: 'good', retrying: 'warn', paused: 'bad', missing: 'bad', blocked: 'bad' } as const;
const STATES = {
  delivering: 'delivering',
  retrying: 'retrying',
  paused: 'paused',
  missing: 'cannot send',
  blocked: 'blocked',
} as const;

const COLUMNS = {
  sink: '',
  state: '',
  stored: 'number',
  'last success': 'number',
  'request time': 'number',
  answers: '',
} as const;

const TITLES: Readonly<Record<string, (sink: SinkStatus) => string>> = {
  retries: ({ retryReasons }) =>
    Object.entries(retryReasons)
      .map(([name, count]) => `${name}: ${count}`)
      .join(', '),
  'in memory': ({ memoryBytes }) => `events in ${formatBytes(memoryBytes)} of memory`,
};

export function Sinks({ status, rates }: SectionProps) {
  const numbers = statColumns(SINK_STATS, status.sinks, 'column');
  return (
    <section aria-labelledby="sinks-heading">
      <h2 id="sinks-heading">Sinks</h2>
      <Table label="Table of sinks" columns={{ ...COLUMNS, ...headsOf(numbers) }}>
        {status.sinks.map((sink) => (
          <Row
            key={sink.id}
            {...{ sink, numbers, nowMs: status.nowMs }}
            rate={rates.sinks.get(sink.id)}
            requestMs={rates.requestMs.get(sink.id)}
          />
        ))}
      </Table>
    </section>
  );
}

interface RowProps {
  readonly sink: SinkStatus;
  readonly numbers: readonly NumberColumn[];
  readonly nowMs: number;
  readonly rate: number | undefined;
  readonly requestMs: number | undefined;
}

function Row({ sink, numbers, nowMs, rate, requestMs }: RowProps) {
  const { id, state, reason, fix, lastSuccess, ingested, answers } = sink;
  const level = LEVELS[state];
  return (
    <tr data-sink={id}>
      <th scope="row">{id}</th>
      <td class="state">
        <span class={`state-name text-${level}`}>
          <span class={`dot dot-${level}`} aria-hidden="true" />
          {state === 'blocked' ? `blocked: ${reason?.split(':', 1)[0] ?? ''}` : STATES[state]}
        </span>
        {reason !== undefined && <p class="reason">{reason}</p>}
        {fix !== undefined && <p class="fix">{fix}</p>}
      </td>
      <td class="number">
        {rate === undefined ? '–' : `${formatShort(rate)}/s`}
        <small>{formatCount(ingested)}</small>
      </td>
      <td class="number">
        {lastSuccess === undefined ? 'never' : `${formatDuration(nowMs - Date.parse(lastSuccess))} ago`}
      </td>
      <td class="number">{requestMs === undefined ? '–' : formatMs(requestMs)}</td>
      <td>
        <Answers answers={answers} />
      </td>
      <NumberCells columns={numbers} row={sink} titles={TITLES} />
    </tr>
  );
}

/** Requests by HTTP status. */
function Answers({ answers }: { readonly answers: SinkStatus['answers'] }) {
  const all = Object.entries(answers).sort(([a], [b]) => (a < b ? -1 : 1));
  if (all.length === 0) return <>–</>;
  return (
    <ul class="answers">
      {all.map(([status, count]) => (
        <li key={status} class={status.startsWith('2') ? '' : 'text-warn'}>
          {status === 'none' ? 'no answer' : status} <b>{formatCount(count)}</b>
        </li>
      ))}
    </ul>
  );
}
