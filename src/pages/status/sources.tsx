/** Where events come from: each source's rate, lag and files, and what it waits for. */
import type { SourceWait } from '../../telemetry/observed.ts';
import { statColumns, type NumberColumn, SOURCE_STATS } from '../../telemetry/stats.ts';
import type { SourceStatus } from '../../telemetry/status.ts';
import { formatBytes, formatCount, formatDuration, formatShort } from '../parts/format.ts';
import type { SectionProps } from './numbers.tsx';
import { headsOf, NumberCells, Table } from './table.tsx';

const WAITS = {
  memory_full: 'memory is full',
  disk_buffer_full: 'the disk buffer is full',
  dead_letters_full: 'the dead letters are full',
  service_behind: 'the service takes less than is written',
} as const;

const [LAG, ...COUNTS] = statColumns(SOURCE_STATS, [], 'column') as [NumberColumn, ...NumberColumn[]];
const HEADS = { ...headsOf([LAG]), 'oldest unsent': 'number', ...headsOf(COUNTS) } as const;
const COLUMNS = { source: '', 'files or connections': '', rate: 'number', ...HEADS } as const;

export function Sources({ status, rates }: SectionProps) {
  return (
    <section aria-labelledby="sources-heading">
      <h2 id="sources-heading">Sources</h2>
      <Table label="Table of sources" columns={COLUMNS}>
        {status.sources.map((source) => (
          <Row key={source.id} source={source} nowMs={status.nowMs} rate={rates.sources.get(source.id)} />
        ))}
      </Table>
    </section>
  );
}

/** A service that takes nothing is not slow. */
function describeWait({ reason, failure }: SourceWait): string {
  if (failure === undefined) return WAITS[reason];
  return reason === 'service_behind' ? `the service takes nothing now: ${failure}` : `${WAITS[reason]}; ${failure}`;
}

interface RowProps {
  readonly source: SourceStatus;
  readonly nowMs: number;
  readonly rate: number | undefined;
}

function Row({ source, nowMs, rate }: RowProps) {
  const { id, files, waiting, lostBytes, readBytes, oldestUnsent } = source;
  const states = Object.entries(files).filter(([, count]) => count > 0);
  return (
    <tr data-source={id}>
      <th scope="row">{id}</th>
      <td>
        {states.length === 0
          ? 'none'
          : states.map(([state, count]) => (
              <span key={state} class={state === 'failed' ? 'count text-bad' : 'count'}>
                <b>{formatCount(count)}</b> {state}
              </span>
            ))}
        {waiting && waiting.seconds >= 1 && (
          <p class="reason">
            Has waited for sink {waiting.sink} for {formatDuration(waiting.seconds * 1000)}: {describeWait(waiting)}
          </p>
        )}
        {lostBytes > 0 && <p class="reason">{formatBytes(lostBytes)} were destroyed before they could be read</p>}
      </td>
      <td class="number">
        {rate === undefined ? '–' : `${formatShort(rate)}/s`}
        <small>{formatBytes(readBytes)}</small>
      </td>
      <NumberCells columns={[LAG]} row={source} />
      <td class="number">{oldestUnsent === undefined ? '–' : formatDuration(nowMs - Date.parse(oldestUnsent))}</td>
      <NumberCells columns={COUNTS} row={source} />
    </tr>
  );
}
