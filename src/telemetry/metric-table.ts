/** Each metric of the agent: its name, its help and how its samples are read. It is a counter where its name ends in `_total`, else a gauge. */
import { version } from '../core/version.ts';
import type { Observed, ObservedSink, ObservedSource } from './observed.ts';
import { SINK_STATS, SOURCE_STATS, type Stats } from './stats.ts';

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [labels: Labels, value: number];
/** One number, or one for each set of further labels; undefined for none. */
type SampleValue = number | undefined | readonly Sample[];
type MetricRow<Of> = readonly [name: string, help: string, value: (of: Of) => SampleValue];

const rowsOf = <Of>(stats: Stats<Of>): MetricRow<Of>[] =>
  Object.values(stats).flatMap(({ metric, value }) => (metric ? [[...metric, value] as const] : []));

const SOURCES: readonly MetricRow<ObservedSource>[] = [
  ...rowsOf(SOURCE_STATS),
  ['source_lag_seconds', 'How old the last event was when it was taken', ({ stats }) => stats.past?.lagSeconds],
  [
    'source_unsaved_bytes',
    'Bytes that a kill would lose: of deleted files, pipes and connections, neither delivered nor in the disk buffer',
    ({ unsavedBytes }) => unsavedBytes,
  ],
  ['source_files', 'Files or connections by state', ({ stats }) => each('state', Object.entries(stats.files))],
  ['source_truncated_events_total', 'Events cut at max_event_bytes', ({ stats }) => stats.truncatedEvents],
  [
    'source_oversize_lines_total',
    'Lines over max_event_bytes, whatever became of them',
    ({ stats }) => stats.oversizeLines ?? 0,
  ],
  [
    'source_invalid_characters_total',
    'Characters that were invalid in the source’s charset and became U+FFFD',
    ({ invalidCharacters }) => invalidCharacters,
  ],
  [
    'source_time_errors_total',
    'Times named by the configuration that could not be read, and times of syslog messages that cannot be',
    ({ stats }) => stats.timeErrors ?? 0,
  ],
  [
    'time_zone_unknown_total',
    'Times that were not taken because an abbreviation or name behind them names no one zone',
    ({ unknownZones }) => unknownZones,
  ],
  [
    'source_type_errors_total',
    'Values that were not of the type named for them and stayed text',
    ({ stats }) => stats.typeErrors ?? 0,
  ],
  [
    'transform_errors_total',
    'Times that a transform failed on an event, whatever became of it',
    ({ transformErrors }) => transformErrors,
  ],
  [
    'source_misrouted_events_total',
    'Events whose to_dataset named a dataset that they could not go to, once for each sink',
    ({ misrouted }) => misrouted,
  ],
  [
    'source_lost_ranges_total',
    'Gaps of unknown size: entries of a journal that were deleted before they were read',
    ({ stats }) => stats.past?.lostRanges ?? 0,
  ],
  [
    'source_nul_bytes_total',
    'NUL bytes that were passed over: gaps, and the ends of files that were made larger than their text',
    ({ stats }) => stats.nulBytes ?? 0,
  ],
  [
    'source_missed_rotations_total',
    'Rotations that happened between two scans of a file; files that were deleted in between were never seen',
    ({ stats }) => stats.missedRotations ?? 0,
  ],
  [
    'source_missed_changes_total',
    'Changes of files that a full scan found and no watch had reported',
    ({ stats }) => stats.missedChanges ?? 0,
  ],
  [
    'links_refused_total',
    'Symbolic links that a wildcard matched and that were not followed; `tailrace explain` says why',
    ({ stats }) => stats.refused?.links ?? 0,
  ],
  [
    'source_overdue',
    '1 while a step of the source’s own work, such as a scan, is past its deadline',
    ({ overdue }) => (overdue === undefined ? 0 : 1),
  ],
  [
    'source_dropped_datagrams_total',
    'Datagrams that the system dropped before they were received',
    ({ stats }) => stats.droppedDatagrams,
  ],
  [
    'source_closed_connections_total',
    'Connections closed because max_connections were open: idle ones for new ones, or new ones',
    ({ stats: { connections } }) =>
      connections && each('which', Object.entries({ idle: connections.closedIdle, new: connections.closedNew })),
  ],
  [
    'source_late_messages_total',
    'Syslog messages given before their end because it did not come in time',
    ({ stats }) => stats.connections?.lateMessages ?? 0,
  ],
  ['slow_path_events_total', 'Events that cost an object or a string each', ({ stats }) => stats.slowPathEvents],
  [
    'backpressure_seconds_total',
    'Time that reading waited for memory or disk',
    ({ backpressureSeconds }) => backpressureSeconds,
  ],
  [
    'events_total',
    'Events by outcome; accepted = delivered + dead_lettered + dropped + filtered + events_held',
    ({ accepted, settled }) => each('outcome', Object.entries({ accepted, ...settled })),
  ],
];

const SINKS: readonly MetricRow<ObservedSink>[] = [
  ...rowsOf(SINK_STATS),
  [
    'sink_requests_total',
    'Requests by HTTP status, or stored where a sink speaks no HTTP; none: no answer',
    ({ requests }) => each('status', requests),
  ],
  ['sink_retries_total', 'Batches to be sent again, by reason', ({ retries }) => each('reason', retries)],
  ['sink_sent_bytes_total', 'Bytes of request bodies', ({ sentBytes }) => sentBytes],
  [
    'ingest_events_total',
    'Events as the service counted them',
    ({ stored, failed }) => [
      ...each('dataset', stored, { result: 'ingested' }),
      ...each('dataset', failed, { result: 'failed' }),
    ],
  ],
  [
    'buffer_max_bytes',
    'The most that buffer_bytes may be',
    ({ maxMemoryBytes, maxDiskBytes }) => each('kind', Object.entries({ memory: maxMemoryBytes, disk: maxDiskBytes })),
  ],
  [
    'sink_paused',
    '1 while a dataset of the sink takes nothing (401, 403, 404, no token); /readyz and `tailrace status` say why',
    ({ pauses, missing }) => (pauses.size > 0 || missing ? 1 : 0),
  ],
  [
    'dead_letters_full',
    '1 while batches wait because their refused events find no room in dead_letter.max_bytes',
    ({ blocked }) => (blocked?.isFull === true ? 1 : 0),
  ],
  [
    'buffer_broken_files_total',
    'Files of the disk buffer that were torn or damaged and set aside',
    ({ brokenFiles }) => brokenFiles,
  ],
  [
    'sink_concurrency',
    'Requests that may be under way at once, adapted to the service',
    ({ concurrency }) => concurrency,
  ],
  [
    'dead_letter_events_total',
    'Events kept as dead letters; one that a replay brings back is not counted again',
    ({ deadLetters }) => each('reason', deadLetters),
  ],
  [
    'dead_letter_replayed_events_total',
    'Dead letters that were sent again, by what became of them',
    ({ replayed }) => each('result', replayed),
  ],
  [
    'sink_last_success_timestamp_seconds',
    'Time of the last answer that stored events',
    ({ lastStoredMs }) => lastStoredMs && lastStoredMs / 1000,
  ],
];

const AGENT: readonly MetricRow<Observed>[] = [
  [
    'buffer_bytes',
    'Bytes that batches hold, in memory and on disk; abandoned: of sinks that are not configured any more',
    ({ sinks, abandoned }) => [
      ...sinks.flatMap(({ id, memoryBytes: memory, diskBytes: disk }) =>
        each('kind', Object.entries({ memory, disk }), { sink: id }),
      ),
      ...abandoned.map(({ sink, bytes }): Sample => [{ sink, kind: 'abandoned' }, bytes]),
    ],
  ],
  ['dead_letter_bytes', 'Bytes of dead letters on disk', ({ deadLetterBytes }) => deadLetterBytes],
  [
    'config_reloads_total',
    'Times that a changed configuration was asked for, by what became of it',
    ({ configReloads }) => each('result', Object.entries(configReloads)),
  ],
  ['checkpoint_saves_total', 'Times that positions were written', ({ checkpointSaves }) => checkpointSaves],
  [
    'checkpoint_refusals_total',
    'Times that the disk did not take positions',
    ({ checkpointRefusals }) => checkpointRefusals,
  ],
  [
    'build_info',
    'Version of the agent and the configuration in force; always 1',
    ({ config }) => [[{ version, config_hash: config.hash }, 1]],
  ],
];

/** A sample for each name, under this label beside the others. */
function each(label: string, counts: Iterable<readonly [name: string, count: number]>, labels: Labels = {}): Sample[] {
  return Array.from(counts, ([name, count]) => [{ ...labels, [label]: name }, count]);
}

function samplesOf(value: SampleValue, labels: Labels): Sample[] {
  if (typeof value !== 'object') return value === undefined ? [] : [[labels, value]];
  return value.map(([own, count]) => [{ ...labels, ...own }, count]);
}

export type Metric = readonly [name: string, help: string, samples: (seen: Observed) => readonly Sample[]];

/** `facts`: the metrics that types of sinks declare, by their help. */
export function metricsOf(facts: Observed['facts']): readonly Metric[] {
  const declared = Object.entries(facts).map(([name, [help]]): MetricRow<ObservedSink> => [
    name,
    help,
    (sink) => sink.facts.get(name),
  ]);
  return [
    ...SOURCES.map(([name, help, value]): Metric => [
      name,
      help,
      ({ sources }) => sources.flatMap((source) => samplesOf(value(source), { source: source.id })),
    ]),
    ...[...SINKS, ...declared].map(([name, help, value]): Metric => [
      name,
      help,
      ({ sinks }) => sinks.flatMap((sink) => samplesOf(value(sink), { sink: sink.id })),
    ]),
    ...AGENT.map(([name, help, value]): Metric => [name, help, (seen) => samplesOf(value(seen), {})]),
  ];
}
