/** Each metric of the agent: its type, name, help and how its samples are read. */
import { version } from '../core/version.ts';
import type { Observed, ObservedSink, ObservedSource } from './observed.ts';

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [labels: Labels, value: number];
type Samples = (seen: Observed) => readonly Sample[];
/** A counter where its name ends in `_total`, else a gauge. */
export type Metric = readonly [name: string, help: string, samples: Samples];

export const sourceMetrics: readonly Metric[] = [
  ['source_read_bytes_total', 'Bytes read from the source', eachSource(({ stats }) => stats.readBytes)],
  ['source_events_total', 'Events read from the source', eachSource(({ accepted }) => accepted)],
  ['source_lag_bytes', 'Bytes that exist and are not read yet', eachSource(({ stats }) => stats.lagBytes)],
  [
    'source_unsaved_bytes',
    'Bytes that a kill would lose: of deleted files, pipes and connections, neither delivered nor in the disk buffer',
    eachSource(({ unsavedBytes }) => unsavedBytes),
  ],
  [
    'source_files',
    'Files or connections by state',
    (seen) =>
      seen.sources.flatMap(({ id, stats }) => Object.entries(stats.files).map(([state, count]): Sample => [{ source: id, state }, count])),
  ],
  ['source_truncated_events_total', 'Events cut at max_event_bytes', eachSource(({ stats }) => stats.truncatedEvents)],
  [
    'source_oversize_lines_total',
    'Lines over max_event_bytes, whatever became of them',
    eachSource(({ stats }) => stats.oversizeLines ?? 0),
  ],
  [
    'source_invalid_characters_total',
    'Characters that were invalid in the source’s charset and became U+FFFD',
    eachSource(({ invalidCharacters }) => invalidCharacters),
  ],
  [
    'source_time_errors_total',
    'Times named by the configuration that could not be read, and times of syslog messages that cannot be',
    eachSource(({ stats }) => stats.timeErrors ?? 0),
  ],
  [
    'time_zone_unknown_total',
    'Times that were not taken because an abbreviation or name behind them names no one zone',
    eachSource(({ unknownZones }) => unknownZones),
  ],
  [
    'source_type_errors_total',
    'Values that were not of the type named for them and stayed text',
    eachSource(({ stats }) => stats.typeErrors ?? 0),
  ],
  [
    'transform_errors_total',
    'Times that a transform failed on an event, whatever became of it',
    eachSource(({ transformErrors }) => transformErrors),
  ],
  [
    'source_misrouted_events_total',
    'Events whose to_dataset named a dataset that they could not go to, once for each sink',
    eachSource(({ misrouted }) => misrouted),
  ],
  ['source_lost_bytes_total', 'Bytes destroyed by others before they could be read', eachSource(({ stats }) => stats.lostBytes)],
  [
    'source_nul_bytes_total',
    'NUL bytes that were passed over: gaps, and the ends of files that were made larger than their text',
    eachSource(({ stats }) => stats.nulBytes ?? 0),
  ],
  [
    'source_missed_rotations_total',
    'Rotations that happened between two scans of a file; files that were deleted in between were never seen',
    eachSource(({ stats }) => stats.missedRotations ?? 0),
  ],
  [
    'source_missed_changes_total',
    'Changes of files that a full scan found and no watch had reported',
    eachSource(({ stats }) => stats.missedChanges ?? 0),
  ],
  [
    'links_refused_total',
    'Symbolic links that a wildcard matched and that were not followed; `tailrace explain` says why',
    eachSource(({ stats }) => stats.refused?.links ?? 0),
  ],
  [
    'source_overdue',
    '1 while a step of the source’s own work, such as a scan, is past its deadline',
    eachSource(({ overdue }) => (overdue === undefined ? 0 : 1)),
  ],
  [
    'source_dropped_datagrams_total',
    'Datagrams that the system dropped before they were received',
    (seen) =>
      seen.sources.flatMap(({ id, stats }): Sample[] =>
        stats.droppedDatagrams === undefined ? [] : [[{ source: id }, stats.droppedDatagrams]],
      ),
  ],
  [
    'source_closed_connections_total',
    'Connections closed because max_connections were open: idle ones for new ones, or new ones',
    (seen) =>
      seen.sources.flatMap(({ id, stats }) =>
        stats.connections === undefined
          ? []
          : [
              [{ source: id, which: 'idle' }, stats.connections.closedIdle] satisfies Sample,
              [{ source: id, which: 'new' }, stats.connections.closedNew] satisfies Sample,
            ],
      ),
  ],
  [
    'source_late_messages_total',
    'Syslog messages given before their end because it did not come in time',
    eachSource(({ stats }) => stats.connections?.lateMessages ?? 0),
  ],
  ['slow_path_events_total', 'Events that cost an object or a string each', eachSource(({ stats }) => stats.slowPathEvents)],
  [
    'backpressure_seconds_total',
    'Time that reading waited for memory or disk',
    eachSource(({ backpressureSeconds }) => backpressureSeconds),
  ],
  [
    'events_total',
    'Events by outcome; accepted = delivered + dead_lettered + dropped + filtered + events_held',
    (seen) =>
      seen.sources.flatMap(({ id, accepted, settled }) =>
        Object.entries({ accepted, ...settled }).map(([outcome, count]): Sample => [{ source: id, outcome }, count]),
      ),
  ],
  ['events_held', 'Events accepted and not settled', eachSource(({ held }) => held)],
];

export const sinkMetrics: readonly Metric[] = [
  ['sink_requests_total', 'Requests by HTTP status; none: no answer', eachOf('status', ({ requests }) => requests)],
  ['sink_retries_total', 'Batches to be sent again, by reason', eachOf('reason', ({ retries }) => retries)],
  ['sink_sent_bytes_total', 'Bytes of request bodies', eachSink(({ sentBytes }) => sentBytes)],
  [
    'ingest_events_total',
    'Events as the service counted them',
    (seen) =>
      seen.sinks.flatMap((sink) => [
        ...[...sink.stored].map(([dataset, count]): Sample => [{ sink: sink.id, dataset, result: 'ingested' }, count]),
        ...[...sink.failed].map(([dataset, count]): Sample => [{ sink: sink.id, dataset, result: 'failed' }, count]),
      ]),
  ],
  [
    'buffer_bytes',
    'Bytes that batches hold, in memory and on disk; abandoned: of sinks that are not configured any more',
    (seen) => [
      ...seen.sinks.flatMap(({ id, memoryBytes, diskBytes }): Sample[] => [
        [{ sink: id, kind: 'memory' }, memoryBytes],
        [{ sink: id, kind: 'disk' }, diskBytes],
      ]),
      ...seen.abandoned.map(({ sink, bytes }): Sample => [{ sink, kind: 'abandoned' }, bytes]),
    ],
  ],
  [
    'buffer_max_bytes',
    'The most that buffer_bytes may be',
    (seen) =>
      seen.sinks.flatMap(({ id, maxMemoryBytes, maxDiskBytes }): Sample[] => [
        [{ sink: id, kind: 'memory' }, maxMemoryBytes],
        [{ sink: id, kind: 'disk' }, maxDiskBytes],
      ]),
  ],
  [
    'sink_paused',
    '1 while a dataset of the sink takes nothing (401, 403, 404, no token); /readyz and `tailrace status` say why',
    eachSink(({ pauses, missing }) => (pauses.size > 0 || missing ? 1 : 0)),
  ],
  [
    'dead_letters_full',
    '1 while batches wait because their refused events find no room in dead_letter.max_bytes',
    eachSink(({ blocked }) => (blocked?.isFull === true ? 1 : 0)),
  ],
  [
    'buffer_broken_files_total',
    'Files of the disk buffer that were torn or damaged and set aside',
    eachSink(({ brokenFiles }) => brokenFiles),
  ],
  ['sink_concurrency', 'Requests that may be under way at once, adapted to the service', eachSink(({ concurrency }) => concurrency)],
  [
    'dead_letter_events_total',
    'Events kept as dead letters; one that a replay brings back is not counted again',
    eachOf('reason', ({ deadLetters }) => deadLetters),
  ],
  [
    'dead_letter_replayed_events_total',
    'Dead letters that were sent again, by what became of them',
    eachOf('result', ({ replayed }) => replayed),
  ],
  ['dead_letter_bytes', 'Bytes of dead letters on disk', (seen) => [[{}, seen.deadLetterBytes]]],
  [
    'config_reloads_total',
    'Times that a changed configuration was asked for, by what became of it',
    (seen) => [
      [{ result: 'success' }, seen.configReloads.success],
      [{ result: 'failure' }, seen.configReloads.failure],
    ],
  ],
  ['checkpoint_saves_total', 'Times that positions were written', (seen) => [[{}, seen.checkpointSaves]]],
  ['checkpoint_refusals_total', 'Times that the disk did not take positions', (seen) => [[{}, seen.checkpointRefusals]]],
  [
    'sink_last_success_timestamp_seconds',
    'Time of the last answer that stored events',
    (seen) =>
      seen.sinks.flatMap(({ id, lastStoredMs }): Sample[] => (lastStoredMs === undefined ? [] : [[{ sink: id }, lastStoredMs / 1000]])),
  ],
  [
    'build_info',
    'Version of the agent and the configuration in force; always 1',
    (seen) => [[{ version, config_hash: seen.config.hash }, 1]],
  ],
];

/** The metrics that types of sinks declare, by their help. */
export function factMetrics(facts: Readonly<Record<string, string>>): Metric[] {
  return Object.entries(facts).map(([name, help]) => [
    name,
    help,
    ({ sinks }) => sinks.flatMap((sink): Sample[] => (sink.facts.has(name) ? [[{ sink: sink.id }, sink.facts.get(name)!]] : [])),
  ]);
}

function eachSource(value: (source: ObservedSource) => number): Samples {
  return ({ sources }) => sources.map((source) => [{ source: source.id }, value(source)]);
}

function eachSink(value: (sink: ObservedSink) => number): Samples {
  return ({ sinks }) => sinks.map((sink) => [{ sink: sink.id }, value(sink)]);
}

function eachOf(label: string, map: (sink: ObservedSink) => ReadonlyMap<string, number>): Samples {
  return ({ sinks }) => sinks.flatMap((sink) => [...map(sink)].map(([name, value]): Sample => [{ sink: sink.id, [label]: name }, value]));
}
