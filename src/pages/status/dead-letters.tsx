/** Events that the service refused: how many for which reason, and the newest with their places. */
import { useEffect, useState } from 'preact/hooks';
import type { Status } from '../../telemetry/status.ts';
import { formatBytes, formatCount, formatTime } from '../parts/format.ts';
import { Table } from './table.tsx';
import { getJson } from './use-agent.ts';

interface ListedLetter {
  readonly sink: string;
  readonly dataset: string;
  readonly source: string;
  readonly file: string;
  readonly offset: number;
  readonly status: number;
  readonly time: string;
  readonly reason: string;
}

export function DeadLetters({ status: { sinks, deadLetterBytes } }: { readonly status: Status }) {
  const [letters, setLetters] = useState<readonly ListedLetter[]>([]);
  useEffect(() => {
    if (deadLetterBytes === 0) setLetters([]);
    else getJson<ListedLetter[]>('dead-letters.json').then(setLetters, () => {});
  }, [deadLetterBytes]);
  const byReason = sinks.flatMap(({ id, deadLetters }) =>
    Object.entries(deadLetters).map(([reason, count]) => ({ id, reason, count })),
  );
  return (
    <section aria-labelledby="letters-heading">
      <h2 id="letters-heading">Dead letters</h2>
      {deadLetterBytes === 0 && byReason.length === 0 ? (
        <p class="none">No event was refused.</p>
      ) : (
        <>
          <p class="lead">
            {formatBytes(deadLetterBytes)} kept on disk.{' '}
            {byReason.map(({ id, reason, count }) => (
              <span key={`${id} ${reason}`} class="count">
                <b>{formatCount(count)}</b> {reason} by {id}
              </span>
            ))}
            <code>tailrace dead-letters list</code> shows them with their events; <code>replay</code> sends them again.
          </p>
          {letters.length > 0 && <Letters letters={letters} />}
        </>
      )}
    </section>
  );
}

function Letters({ letters }: { readonly letters: readonly ListedLetter[] }) {
  return (
    <Table label="The newest dead letters" columns={{ refused: '', reason: '', dataset: '', from: '' }} isTall>
      {letters.map(({ time, reason, status, sink, dataset, source, file, offset }, index) => (
        <tr key={index}>
          <td>{formatTime(Date.parse(time))}</td>
          <td class="long">
            {status > 0 && <b>HTTP {status} </b>}
            {reason}
          </td>
          <td>
            {dataset} <small>{sink}</small>
          </td>
          <td class="long mono">
            {file === '' ? source : file} <small>at {formatCount(offset)}</small>
          </td>
        </tr>
      ))}
    </Table>
  );
}
