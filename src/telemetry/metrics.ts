/**
 * The metrics, made from plain numbers at a scrape. Loaded at the first scrape, with prom-client: an agent
 * that nobody scrapes does not pay for it.
 */
import { Registry } from 'prom-client';
import { version } from '../core/version.ts';
import type { Histograms } from './histogram.ts';
import type { Observed, ObservedSink, ObservedSource } from './observed.ts';
import { addProcessMetrics } from './process-metrics.ts';

export interface SinkHistograms {
  readonly requestSeconds: Histograms;
  readonly batchEvents: Histograms;
  readonly batchBytes: Histograms;
}

type Labels = Record<string, string>;
type Sample = readonly [labels: Labels, value: number];

/** A registry that reads `observe()` anew at each scrape. */
export function createRegistry(observe: () => Observed, histograms: SinkHistograms): { contentType: string; render(): Promise<string> } {
  const registry = new Registry();
  let seen = observe();
  const add = (type: 'counter' | 'gauge', name: string, help: string, samples: () => Sample[]) => {
    const metric = {
      name: `tailrace_${name}`,
      help,
      type,
      aggregator: 'sum',
      get: () => ({
        name: `tailrace_${name}`,
        help,
        type,
        aggregator: 'sum',
        values: samples().map(([labels, value]) => ({ labels, value })),
      }),
    };
    registry.registerMetric(metric as never);
  };
  const eachSource = (value: (source: ObservedSource) => number) => () =>
    seen.sources.map((source): Sample => [{ source: source.id }, value(source)]);
  const eachSink = (value: (sink: ObservedSink) => number) => () => seen.sinks.map((sink): Sample => [{ sink: sink.id }, value(sink)]);
  const eachOf = (label: string, map: (sink: ObservedSink) => ReadonlyMap<string, number>) => () =>
    seen.sinks.flatMap((sink) => [...map(sink)].map(([name, value]): Sample => [{ sink: sink.id, [label]: name }, value]));

  add(
    'counter',
    'source_read_bytes_total',
    'Bytes read from the source',
    eachSource(({ stats }) => stats.readBytes),
  );
  add(
    'counter',
    'source_events_total',
    'Events read from the source',
    eachSource(({ accepted }) => accepted),
  );
  add(
    'gauge',
    'source_lag_bytes',
    'Bytes that exist and are not read yet',
    eachSource(({ stats }) => stats.lagBytes),
  );
  add(
    'gauge',
    'source_unsaved_bytes',
    'Bytes that a kill would lose: of deleted files, pipes and connections, neither delivered nor in the disk buffer',
    eachSource(({ unsavedBytes }) => unsavedBytes),
  );
  add('gauge', 'source_files', 'Files or connections by state', () =>
    seen.sources.flatMap(({ id, stats }) => Object.entries(stats.files).map(([state, count]): Sample => [{ source: id, state }, count])),
  );
  add(
    'counter',
    'source_truncated_events_total',
    'Events cut at max_event_bytes',
    eachSource(({ stats }) => stats.truncatedEvents),
  );
  add(
    'counter',
    'source_oversize_lines_total',
    'Lines over max_event_bytes, whatever became of them',
    eachSource(({ stats }) => stats.oversizeLines ?? 0),
  );
  add(
    'counter',
    'source_invalid_characters_total',
    'Characters that were invalid in the source’s charset and became U+FFFD',
    eachSource(({ invalidCharacters }) => invalidCharacters),
  );
  add(
    'counter',
    'source_time_errors_total',
    'Times named by the configuration that could not be read',
    eachSource(({ stats }) => stats.timeErrors ?? 0),
  );
  add(
    'counter',
    'source_type_errors_total',
    'Values that were not of the type named for them and stayed text',
    eachSource(({ stats }) => stats.typeErrors ?? 0),
  );
  add(
    'counter',
    'transform_errors_total',
    'Times that a transform failed on an event, whatever became of it',
    eachSource(({ transformErrors }) => transformErrors),
  );
  add(
    'counter',
    'source_misrouted_events_total',
    'Events whose to_dataset named a dataset that they could not go to, once for each sink',
    eachSource(({ misrouted }) => misrouted),
  );
  add(
    'counter',
    'source_lost_bytes_total',
    'Bytes destroyed by others before they could be read',
    eachSource(({ stats }) => stats.lostBytes),
  );
  add(
    'counter',
    'source_missed_rotations_total',
    'Rotations that happened between two looks at a file; files that were deleted in between were never seen',
    eachSource(({ stats }) => stats.missedRotations ?? 0),
  );
  add(
    'counter',
    'source_missed_changes_total',
    'Changes of files that a full scan found and no watch had told of',
    eachSource(({ stats }) => stats.missedChanges ?? 0),
  );
  add(
    'gauge',
    'source_overdue',
    '1 while a step of the source’s own work, such as a scan, is past its deadline',
    eachSource(({ overdue }) => (overdue === undefined ? 0 : 1)),
  );
  add('counter', 'source_dropped_datagrams_total', 'Datagrams that the system dropped before they were received', () =>
    seen.sources.flatMap(({ id, stats }): Sample[] =>
      stats.droppedDatagrams === undefined ? [] : [[{ source: id }, stats.droppedDatagrams]],
    ),
  );
  add(
    'counter',
    'slow_path_events_total',
    'Events that cost an object or a string each',
    eachSource(({ stats }) => stats.slowPathEvents),
  );
  add(
    'counter',
    'backpressure_seconds_total',
    'Time that reading waited for room',
    eachSource(({ backpressureSeconds }) => backpressureSeconds),
  );
  add('counter', 'events_total', 'Events by outcome; accepted = delivered + dead_lettered + dropped + filtered + events_held', () =>
    seen.sources.flatMap(({ id, accepted, settled }) =>
      Object.entries({ accepted, ...settled }).map(([outcome, count]): Sample => [{ source: id, outcome }, count]),
    ),
  );
  add(
    'gauge',
    'events_held',
    'Events accepted and not settled',
    eachSource(({ held }) => held),
  );

  add(
    'counter',
    'sink_requests_total',
    'Requests by HTTP status; none: no answer',
    eachOf('status', ({ requests }) => requests),
  );
  add(
    'counter',
    'sink_retries_total',
    'Batches to be sent again, by reason',
    eachOf('reason', ({ retries }) => retries),
  );
  add(
    'counter',
    'sink_sent_bytes_total',
    'Bytes of request bodies',
    eachSink(({ sentBytes }) => sentBytes),
  );
  add('counter', 'ingest_events_total', 'Events as the service counted them', () =>
    seen.sinks.flatMap((sink) => [
      ...[...sink.ingested].map(([dataset, count]): Sample => [{ sink: sink.id, dataset, result: 'ingested' }, count]),
      ...[...sink.failed].map(([dataset, count]): Sample => [{ sink: sink.id, dataset, result: 'failed' }, count]),
    ]),
  );
  add(
    'counter',
    'ingest_processed_bytes_total',
    'processedBytes of the service’s replies',
    eachSink(({ processedBytes }) => processedBytes),
  );
  add(
    'counter',
    'ingest_blocks_created_total',
    'blocksCreated of the service’s replies',
    eachSink(({ blocksCreated }) => blocksCreated),
  );
  add(
    'gauge',
    'ingest_wal_length',
    'walLength of the service’s last reply',
    eachSink(({ walLength }) => walLength),
  );
  add(
    'gauge',
    'buffer_bytes',
    'Bytes that batches hold, in memory and on disk; abandoned: of sinks that are not configured any more',
    () => [
      ...seen.sinks.flatMap(({ id, memoryBytes, diskBytes }): Sample[] => [
        [{ sink: id, kind: 'memory' }, memoryBytes],
        [{ sink: id, kind: 'disk' }, diskBytes],
      ]),
      ...seen.abandoned.map(({ sink, bytes }): Sample => [{ sink, kind: 'abandoned' }, bytes]),
    ],
  );
  add('gauge', 'buffer_max_bytes', 'The most that buffer_bytes may be', () =>
    seen.sinks.flatMap(({ id, maxMemoryBytes, maxDiskBytes }): Sample[] => [
      [{ sink: id, kind: 'memory' }, maxMemoryBytes],
      [{ sink: id, kind: 'disk' }, maxDiskBytes],
    ]),
  );
  add(
    'gauge',
    'sink_paused',
    '1 while a dataset of the sink takes nothing (401, 403, 404, no token); /readyz and `tailrace status` say why',
    eachSink(({ pauses, missing }) => (pauses.size > 0 || missing ? 1 : 0)),
  );
  add(
    'counter',
    'buffer_broken_files_total',
    'Files of the disk buffer that were torn or damaged and set aside',
    eachSink(({ brokenFiles }) => brokenFiles),
  );
  add(
    'gauge',
    'sink_concurrency',
    'Requests that may be under way at once, adapted to the service',
    eachSink(({ concurrency }) => concurrency),
  );
  add(
    'counter',
    'dead_letter_events_total',
    'Events kept as dead letters; one that a replay brings back is not counted again',
    eachOf('reason', ({ deadLetters }) => deadLetters),
  );
  add(
    'counter',
    'dead_letter_replayed_events_total',
    'Dead letters that were sent again, by what became of them',
    eachOf('result', ({ replayed }) => replayed),
  );
  add('gauge', 'dead_letter_bytes', 'Bytes of dead letters on disk', () => [[{}, seen.deadLetterBytes]]);
  add('counter', 'config_reloads_total', 'Times that a changed configuration was asked for, by what became of it', () => [
    [{ result: 'success' }, seen.configReloads.success],
    [{ result: 'failure' }, seen.configReloads.failure],
  ]);
  add('counter', 'checkpoint_saves_total', 'Times that positions were written', () => [[{}, seen.checkpointSaves]]);
  add('counter', 'checkpoint_refusals_total', 'Times that the disk did not take positions', () => [[{}, seen.checkpointRefusals]]);
  add('gauge', 'sink_last_success_timestamp_seconds', 'Time of the last answer that stored events', () =>
    seen.sinks.flatMap(({ id, lastStoredMs }): Sample[] => (lastStoredMs === undefined ? [] : [[{ sink: id }, lastStoredMs / 1000]])),
  );
  add('gauge', 'build_info', 'Version of the agent and the configuration in force; always 1', () => [
    [{ version, config_hash: seen.config.hash }, 1],
  ]);
  addProcessMetrics(registry);
  addHistogram(registry, 'sink_request_seconds', 'Time of a request, first byte sent to last byte of the reply', histograms.requestSeconds);
  addHistogram(registry, 'sink_batch_events', 'Events of a delivered batch', histograms.batchEvents);
  addHistogram(registry, 'sink_batch_bytes', 'Bytes of a delivered batch before compression', histograms.batchBytes);
  return {
    contentType: registry.contentType,
    render: () => {
      seen = observe();
      return registry.metrics();
    },
  };
}

function addHistogram(registry: Registry, shortName: string, help: string, histograms: Histograms): void {
  const name = `tailrace_${shortName}`;
  const values = () =>
    [...histograms.byLabel].flatMap(([sink, histogram]) => {
      let cumulative = 0;
      const buckets = histogram.bounds.map((bound, index) => {
        cumulative += histogram.counts[index]!;
        return { labels: { sink, le: bound }, value: cumulative, metricName: `${name}_bucket` };
      });
      return [
        ...buckets,
        { labels: { sink, le: '+Inf' }, value: histogram.count, metricName: `${name}_bucket` },
        { labels: { sink }, value: histogram.sum, metricName: `${name}_sum` },
        { labels: { sink }, value: histogram.count, metricName: `${name}_count` },
      ];
    });
  const metric = {
    name,
    help,
    type: 'histogram',
    aggregator: 'sum',
    get: () => ({ name, help, type: 'histogram', aggregator: 'sum', values: values() }),
  };
  registry.registerMetric(metric as never);
}
