/**
 * The metrics, made from plain numbers at a scrape. Loaded at the first scrape, with prom-client: an agent
 * that nobody scrapes does not pay for it.
 */
import { Registry } from 'prom-client';
import type { Histograms } from './histogram.ts';
import { factMetrics, sinkMetrics, sourceMetrics } from './metric-table.ts';
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
export function createRegistry(observe: () => Observed, histograms: SinkHistograms): { contentType: string; render(): Promise<string> } {
  const registry = new Registry();
  let seen = observe();
  for (const [name, help, samples] of [...sourceMetrics, ...sinkMetrics, ...factMetrics(seen.facts)])
    add(registry, name.endsWith('_total') ? 'counter' : 'gauge', name, help, () =>
      samples(seen).map(([labels, value]) => ({ labels, value })),
    );
  addProcessMetrics(registry);
  const { requestSeconds, batchEvents, batchBytes } = histograms;
  add(
    registry,
    'histogram',
    'sink_request_seconds',
    'Time of a request, first byte sent to last byte of the reply',
    valuesOf('sink_request_seconds', requestSeconds),
  );
  add(registry, 'histogram', 'sink_batch_events', 'Events of a delivered batch', valuesOf('sink_batch_events', batchEvents));
  add(registry, 'histogram', 'sink_batch_bytes', 'Bytes of a delivered batch before compression', valuesOf('sink_batch_bytes', batchBytes));
  return {
    contentType: registry.contentType,
    render: () => {
      seen = observe();
      return registry.metrics();
    },
  };
}

function add(
  registry: Registry,
  type: 'counter' | 'gauge' | 'histogram',
  shortName: string,
  help: string,
  values: () => MetricValue[],
): void {
  const metric = { name: `tailrace_${shortName}`, help, type, aggregator: 'sum' };
  // prom-client asks for no more of a metric than this.
  registry.registerMetric({ ...metric, get: () => ({ ...metric, values: values() }) } as never);
}

function valuesOf(shortName: string, { byLabel }: Histograms): () => MetricValue[] {
  const name = `tailrace_${shortName}`;
  return () =>
    [...byLabel].flatMap(([sink, histogram]) => {
      let cumulative = 0;
      const bucket = (le: string | number, value: number) => ({ labels: { sink, le }, value, metricName: `${name}_bucket` });
      return [
        ...histogram.bounds.map((bound, index) => bucket(bound, (cumulative += histogram.counts[index]!))),
        bucket('+Inf', histogram.count),
        { labels: { sink }, value: histogram.sum, metricName: `${name}_sum` },
        { labels: { sink }, value: histogram.count, metricName: `${name}_count` },
      ];
    });
}

const STARTED_AT_SECONDS = Math.round(performance.timeOrigin / 1000);

function addProcessMetrics(registry: Registry): void {
  const add = (type: 'counter' | 'gauge', name: string, help: string, read: () => number | undefined): void => {
    const get = () => {
      const value = read();
      return { name, help, type, aggregator: 'sum', values: value === undefined ? [] : [{ labels: {}, value }] };
    };
    registry.registerMetric({ name, help, type, aggregator: 'sum', get } as never);
  };
  add('counter', 'process_cpu_user_seconds_total', 'User CPU time', () => process.cpuUsage().user / 1e6);
  add('counter', 'process_cpu_system_seconds_total', 'System CPU time', () => process.cpuUsage().system / 1e6);
  add('counter', 'process_cpu_seconds_total', 'User and system CPU time', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  add('gauge', 'process_resident_memory_bytes', 'Resident memory', () => process.memoryUsage.rss());
  add('gauge', 'process_start_time_seconds', 'Start of the process since the epoch', () => STARTED_AT_SECONDS);
  add('gauge', 'process_open_fds', 'Open file descriptors', () => ask(() => readdirSync('/proc/self/fd').length - 1));
  add('gauge', 'process_max_fds', 'Limit of open file descriptors', () =>
    ask(() => Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1])),
  );
}

/** Undefined where the system does not report it, such as outside of Linux. */
function ask(read: () => number): number | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
