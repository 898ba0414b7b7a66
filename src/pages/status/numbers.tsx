/** The agent in six numbers and three charts. */
import type { HistoryView, SeriesView } from '../../telemetry/history.ts';
import type { Rates } from '../../telemetry/rates.ts';
import type { Status } from '../../telemetry/status.ts';
import { Chart } from '../parts/chart.tsx';
import type { ChartSeries } from '../parts/chart-series.ts';
import { formatBytes, formatCount, formatMs, formatShort, nameMany } from '../parts/format.ts';

export interface SectionProps {
  readonly status: Status;
  readonly rates: Rates;
  readonly history: HistoryView | undefined;
}

const EMPTY = 'The first points come after 20 seconds; the chart holds an hour.';

export function Numbers({ status, rates, history }: SectionProps) {
  const { sources, accounting } = status;
  const sum = (value: (source: (typeof sources)[number]) => number) =>
    sources.reduce((total, source) => total + value(source), 0);
  // Before two answers the last sample tells the rate.
  const rateOf = (map: ReadonlyMap<string, number>, kind: SeriesView['kind']) => {
    const rate =
      map.size > 0 ? [...map.values()].reduce((a, b) => a + b, 0) : total(history, kind, 'eventsPerSecond').at(-1);
    return rate === undefined || rate === null ? '–' : formatShort(rate);
  };
  const [held, deadLettered] = [sum((source) => source.held), sum((source) => source.deadLettered)];
  const dropped = sum((source) => source.dropped);
  const lost = sum(({ lostBytes }) => lostBytes);
  const times = timesOf(history);
  return (
    <section aria-label="Overview">
      <dl class="surface numbers">
        <Figure
          name="read"
          value={rateOf(rates.sources, 'source')}
          unit="events/s"
          note={`${formatCount(sum(({ accepted }) => accepted))} in all`}
        />
        <Figure
          name="stored"
          value={rateOf(rates.sinks, 'sink')}
          unit="events/s"
          note={`${formatCount(sum(({ delivered }) => delivered))} in all`}
        />
        <Figure name="unread" value={formatBytes(sum(({ lagBytes }) => lagBytes))} note="in the sources" />
        <Figure name="in hand" value={formatCount(held)} unit={nameMany(held, 'event')} note="read, not settled" />
        <Figure
          name="dead letters"
          value={formatCount(deadLettered)}
          unit={nameMany(deadLettered, 'event')}
          note={noteOf(deadLettered, dropped, lost)}
          isBad={dropped + lost > 0}
        />
        <Figure
          name="accounting"
          value={accounting.balanced ? 'balanced' : 'off'}
          note={accounting.balanced ? 'no event is missing' : 'events are missing'}
          isBad={!accounting.balanced}
        />
      </dl>
      <div class="charts">
        <Chart
          title="Events per second"
          xs={times}
          series={[
            { label: 'read', color: 1, values: total(history, 'source', 'eventsPerSecond') },
            { label: 'stored', color: 2, values: total(history, 'sink', 'eventsPerSecond') },
          ]}
          format={formatShort}
          empty={EMPTY}
        />
        <Chart
          title="Waiting"
          xs={times}
          series={[
            { label: 'unread', color: 3, values: total(history, 'source', 'lagBytes') },
            { label: 'queued', color: 4, values: total(history, 'sink', 'queueBytes') },
          ]}
          format={formatBytes}
          empty={EMPTY}
        />
        <Chart title="Request time" xs={times} series={latencies(history)} format={formatMs} empty={EMPTY} />
      </div>
    </section>
  );
}

/** Below the number of dead letters: these are kept, the others are gone. */
function noteOf(deadLettered: number, dropped: number, lost: number): string {
  const gone = [
    ...(dropped > 0 ? [`${formatCount(dropped)} dropped`] : []),
    ...(lost > 0 ? [`${formatBytes(lost)} lost`] : []),
  ];
  if (gone.length > 0) return gone.join(', ');
  return deadLettered > 0 ? 'refused, kept on disk' : 'nothing dropped or lost';
}

interface FigureProps {
  readonly name: string;
  readonly value: string;
  readonly unit?: string;
  readonly note: string;
  readonly isBad?: boolean;
}

function Figure({ name, value, unit, note, isBad = false }: FigureProps) {
  return (
    <div class={isBad ? 'figure figure-bad' : 'figure'}>
      <dt>{name}</dt>
      <dd>
        <b>{value}</b> {unit}
        <small>{note}</small>
      </dd>
    </div>
  );
}

function timesOf(history: HistoryView | undefined): number[] {
  const length = history?.series[0]?.values.length ?? 0;
  return Array.from({ length }, (_, index) => (history!.endMs - (length - 1 - index) * history!.everyMs) / 1000);
}

function pick(
  history: HistoryView | undefined,
  kind: SeriesView['kind'],
  name: SeriesView['name'],
): readonly SeriesView[] {
  return history?.series.filter((series) => series.kind === kind && series.name === name) ?? [];
}

/** The sum over all sources or sinks. */
function total(
  history: HistoryView | undefined,
  kind: SeriesView['kind'],
  name: SeriesView['name'],
): (number | null)[] {
  const all = pick(history, kind, name);
  return (all[0]?.values ?? []).map((_, index) => {
    const known = all.map(({ values }) => values[index] ?? null).filter((value) => value !== null);
    return known.length === 0 ? null : known.reduce((a, b) => a + b, 0);
  });
}

/** A line for each of the first four sinks. */
function latencies(history: HistoryView | undefined): ChartSeries[] {
  return pick(history, 'sink', 'requestMs')
    .slice(0, 4)
    .map(({ id, values }, index) => ({ label: id, color: index + 2, values }));
}
