/** The events before and after one of the same file or host, in the order of their time, as an expanded event shows them. */
import { Alert } from '../../parts/alert.tsx';
import { useEffect, useRef, useState } from 'preact/hooks';
import { eventLineOf } from '../../../core/text/event-line.ts';
import { formatTime } from '../../parts/format.ts';
import { formatCell } from '../../parts/show-text.ts';
import { type Api, isGivenUp, type CellValue } from '../data/api.ts';
import { conditionText } from '../data/filters.ts';
import { quoteName } from '../data/query-text.ts';
import { rowsOf } from '../data/results.ts';

/** Fields that say where an event comes from, the narrowest first. */
const ORIGINS = ['file', 'host'];
const EACH_WAY = 5;

export interface EventLocation {
  readonly dataset: string;
  /** Of the event. */
  readonly cursor: string;
}

export interface ContextProps {
  readonly api: Api;
  readonly place: EventLocation;
  readonly event: readonly (readonly [name: string, value: CellValue])[];
}

interface ContextLine {
  readonly time: string;
  readonly text: string;
  readonly isIt: boolean;
}

export function Context({ api, place, event }: ContextProps) {
  const [shown, setShown] = useState<{ readonly origin: string; readonly lines: readonly ContextLine[] } | undefined>();
  const [problem, setProblem] = useState('');
  const asked = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => asked.current?.abort(), []);
  const fields = new Map(event);
  const origins = ORIGINS.filter((name) => typeof fields.get(name) === 'string');
  if (origins.length === 0) return null;
  const load = async (origin: string) => {
    asked.current?.abort();
    const { signal } = (asked.current = new AbortController());
    const events = `${quoteName(place.dataset)} | where ${conditionText(origin, fields.get(origin)!)} | sort by _time`;
    const side = async (order: 'asc' | 'desc') => {
      const range = { startTime: '1970-01-01T00:00:00Z', endTime: 'now+1d' };
      return linesOf(
        await api.query(`${events} ${order} | take ${EACH_WAY}`, { ...range, cursor: place.cursor }, signal),
      );
    };
    const [before, after] = await Promise.all([side('desc'), side('asc')]);
    setShown({ origin, lines: [...before.toReversed(), { ...lineOf(fields), isIt: true }, ...after] });
    setProblem('');
  };
  return (
    <div class="context">
      {origins.map((origin) => (
        <button
          key={origin}
          type="button"
          onClick={() => void load(origin).catch((error: unknown) => isGivenUp(error) || setProblem(String(error)))}
        >
          Before and after, same {origin}
        </button>
      ))}
      <Alert text={problem} isNote />
      {shown && (
        <ol aria-label={`Events before and after, same ${shown.origin}`}>
          {shown.lines.map(({ time, text, isIt }, index) => (
            <li key={index} {...(isIt ? { 'aria-current': 'true' } : {})}>
              <time>{formatTime(Date.parse(time))}</time> <bdi>{text}</bdi>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

function linesOf(result: Parameters<typeof rowsOf>[0]): ContextLine[] {
  const { names, columns, count } = rowsOf(result);
  return Array.from({ length: count }, (_, row) =>
    lineOf(new Map(names.map((name, index) => [name, columns[index]?.[row] ?? null] as const))),
  );
}

function lineOf(fields: ReadonlyMap<string, CellValue>): ContextLine {
  const { time, severity, message, rest } = eventLineOf(fields, (value) => formatCell(value));
  const text = message === '' ? rest.map(([name, value]) => `${name}=${formatCell(value, 100)}`).join(' ') : message;
  return { time, text: formatCell([severity, text].join(' ').trim(), 200), isIt: false };
}
