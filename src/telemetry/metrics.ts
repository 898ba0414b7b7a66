/**
 * The metrics, made from plain numbers at a scrape. Loaded at the first scrape, with prom-client: an agent
 * that nobody scrapes does not pay for it.
 */
import { Registry } from 'prom-client';
import type { Histograms } from './delivery-stats.ts';
import { metricsOf } from './metric-table.ts';
import type { Observed } from './observed.ts';
import { readdirSync, readFileSync } from 'node:fs';

export interface SinkHistograms {
  readonly requestSeconds: Histograms;
  readonly batchEvents: Histograms;
  readonly batchBytes: Histograms;
}

interface MetricValue {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName?: string;
}

/** A registry that calls `observe()` at each scrape. */
export function createRegistry(
  observe: () => Observed,
  histograms: SinkHistograms,
): { contentType: string; render(): Promise<string> } {
  const registry = new Registry();
  let seen = observe();
  const add = (name: string, help: string, values: () => MetricValue[], type?: 'histogram'): void => {
    const metric = { name, help, type: type ?? (name.endsWith('_total') ? 'counter' : 'gauge'), aggregator: 'sum' };
    // prom-client asks for no more of a metric than this.
    registry.registerMetric({ ...metric, get: () => ({ ...metric, values: values() }) } as never);
  };
  for (const [name, help, samples] of metricsOf(seen.facts))
    add(`tailrace_${name}`, help, () => samples(seen).map(([labels, value]) => ({ labels, value })));
  for (const [name, help, read] of PROCESS_METRICS)
    add(name, help, () => {
      const value = read();
      return value === undefined ? [] : [{ labels: {}, value }];
    });
  const { requestSeconds, batchEvents, batchBytes } = histograms;
  const addHistogram = (name: string, help: string, values: Histograms): void =>
    add(name, help, valuesOf(name, values), 'histogram');
  addHistogram(
    'tailrace_sink_request_seconds',
    'Time of a request, first byte sent to last byte of the reply',
    requestSeconds,
  );
  addHistogram('tailrace_sink_batch_events', 'Events of a delivered batch', batchEvents);
  addHistogram('tailrace_sink_batch_bytes', 'Bytes of a delivered batch before compression', batchBytes);
  return {
    contentType: registry.contentType,
    render: () => {
      seen = observe();
      return registry.metrics();
    },
  };
}

function valuesOf(name: string, { byLabel }: Histograms): () => MetricValue[] {
  return () =>
    [...byLabel].flatMap(([sink, histogram]) => {
      let cumulative = 0;
      const bucket = (le: string | number, value: number) => ({
        labels: { sink, le },
        value,
        metricName: `${name}_bucket`,
      });
      return [
        ...histogram.bounds.map((bound, index) => bucket(bound, (cumulative += histogram.counts[index]!))),
        bucket('+Inf', histogram.count),
        { labels: { sink }, value: histogram.sum, metricName: `${name}_sum` },
        { labels: { sink }, value: histogram.count, metricName: `${name}_count` },
      ];
    });
}

const STARTED_AT_SECONDS = Math.round(performance.timeOrigin / 1000);

const PROCESS_METRICS: readonly (readonly [name: string, help: string, read: () => number | undefined])[] = [
  ['process_cpu_user_seconds_total', 'User CPU time', () => process.cpuUsage().user / 1e6],
  ['process_cpu_system_seconds_total', 'System CPU time', () => process.cpuUsage().system / 1e6],
  [
    'process_cpu_seconds_total',
    'User and system CPU time',
    () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    },
  ],
  ['process_resident_memory_bytes', 'Resident memory', () => process.memoryUsage.rss()],
  ['process_start_time_seconds', 'Start of the process since the epoch', () => STARTED_AT_SECONDS],
  ['process_open_fds', 'Open file descriptors', () => ask(() => readdirSync('/proc/self/fd').length - 1)],
  [
    'process_max_fds',
    'Limit of open file descriptors',
    () => ask(() => Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1])),
  ],
];

/** Undefined where the system does not report it, such as outside of Linux. */
function ask(read: () => number): number | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
