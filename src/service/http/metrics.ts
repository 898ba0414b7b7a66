/**
 * The metrics of the service. Labels are bounded: a route is its pattern, never the requested path; datasets beyond the first few hundred are
 * counted together. Everything but counters is computed at a scrape.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { version } from '../../core/version.ts';

interface Ingest {
  readonly events: number;
  readonly failed: number;
  readonly bytes: number;
  readonly seconds: number;
}

export type Metrics = ReturnType<typeof createMetrics>;

/** Values that are read at a scrape. */
export interface ServiceReadings {
  readonly openStreams: () => number;
  readonly waitingQueries: () => number;
  /** Of the engine; it must answer soon. */
  readonly memoryBytes: () => Promise<number>;
}

/** Datasets with a label of their own. */
const LABELLED_DATASETS = 500;
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export function createMetrics({ openStreams, waitingQueries, memoryBytes }: ServiceReadings) {
  const registry = new Registry();
  const named = (name: string, help: string) => ({ name: `tailrace_${name}`, help, registers: [registry] });
  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ ...named(name, help), labelNames });
  const histogram = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Histogram({ ...named(name, help), labelNames, buckets: SECONDS });
  const gauge = (name: string, help: string, read: () => number | Promise<number>) =>
    new Gauge({
      ...named(name, help),
      async collect() {
        this.set(await read());
      },
    });
  const requests = counter(
    'service_requests_total',
    'Requests by route and HTTP status; 499: the client went away',
    'route',
    'status',
  );
  const requestSeconds = histogram(
    'service_request_seconds',
    'Time of a request, from its headers to the last byte of the reply',
    'route',
  );
  const ingested = counter('service_ingested_events_total', 'Events stored', 'dataset');
  const failed = counter('service_failed_events_total', 'Events refused within a request', 'dataset');
  const bytes = counter('service_ingested_bytes_total', 'processedBytes of the replies', 'dataset');
  const ingestSeconds = histogram('service_ingest_seconds', 'Time to read and store the events of a request');
  const querySeconds = histogram('service_query_seconds', 'Time to run a query, without waiting for events');
  const queryWaits = histogram('service_query_wait_seconds', 'Time that a query waited for its turn');
  const queryRows = counter('service_query_rows_read_total', 'Rows that the engine read for queries');
  gauge('service_open_streams', 'Queries that wait for events', openStreams);
  gauge('service_waiting_queries', 'Queries that wait for their turn', waitingQueries);
  gauge('service_engine_memory_bytes', 'Memory that the engine says it uses', memoryBytes);
  new Gauge({ ...named('build_info', 'Version'), labelNames: ['version'] }).set({ version }, 1);
  registry.registerMetric(
    new Gauge({
      name: 'process_resident_memory_bytes',
      help: 'Resident memory',
      registers: [],
      collect() {
        this.set(process.memoryUsage.rss());
      },
    }),
  );
  registry.registerMetric(
    new Counter({
      name: 'process_cpu_seconds_total',
      help: 'CPU time',
      registers: [],
      collect() {
        const { user, system } = process.cpuUsage();
        this.reset();
        this.inc((user + system) / 1e6);
      },
    }),
  );
  const labelled = new Set<string>();
  const labelOf = (dataset: string): { dataset: string } => {
    if (labelled.size < LABELLED_DATASETS) labelled.add(dataset);
    return { dataset: labelled.has(dataset) ? dataset : '_other' };
  };
  return {
    /** `pattern`: the route as the server knows it (`/v1/ingest/:dataset`), undefined without one. */
    countRequest(this: void, pattern: string | undefined, status: number, seconds: number): void {
      const route = pattern?.replace(/:([A-Za-z]+)/g, '{$1}') ?? 'none';
      requests.inc({ route, status });
      requestSeconds.observe({ route }, seconds);
    },
    countIngest(this: void, dataset: string, ingest: Ingest): void {
      const label = labelOf(dataset);
      ingested.inc(label, ingest.events);
      failed.inc(label, ingest.failed);
      bytes.inc(label, ingest.bytes);
      ingestSeconds.observe(ingest.seconds);
    },
    countQuery(this: void, seconds: number, rowsRead: number): void {
      querySeconds.observe(seconds);
      queryRows.inc(rowsRead);
    },
    countWait(this: void, seconds: number): void {
      queryWaits.observe(seconds);
    },
    contentType: registry.contentType,
    render: () => registry.metrics(),
  };
}
