/** What telemetry sees of the agent, counted at the moment it is asked: held events by walking the batches that hold them. */
import { type Accounting, countEvents } from '../../batcher/accounting.ts';
import type { SourceLane } from '../../batcher/fill/lane.ts';
import type { Pause } from '../../batcher/queue.ts';
import type { SourceConfig } from '../../sources/registry.ts';
import { newStats, type Source, type SourceStats } from '../../core/source.ts';
import type { Histograms } from '../../telemetry/delivery-stats.ts';
import type { ObservedSink, ObservedSource, RefusedPaths, SourceWait } from '../../telemetry/observed.ts';
import type { SourcePipeline } from '../build/components.ts';
import type { SinkPipeline } from '../build/sink-pipeline.ts';

/** The parts of a source that have counters. */
type AccountedSource = Pick<SourcePipeline, 'stats' | 'accounting' | 'lane' | 'rescue' | 'replayed'> & {
  readonly source?: Pick<Source, 'overdue' | 'refused'>;
};

/** Every source; also those that only the disk buffer still knows (`former`). */
export function observeSources(
  sources: ReadonlyMap<string, AccountedSource>,
  former: ReadonlyMap<string, Accounting>,
  sinks: ReadonlyMap<string, SinkPipeline>,
): ObservedSource[] {
  const ranges = new Map<Accounting, (readonly [from: number, to: number])[]>();
  const oldest = new Map<Accounting, number>();
  const unsaved = new Map<Accounting, number>();
  for (const { accounting, lane, rescue, replayed } of sources.values()) {
    ranges.set(accounting, [...lane.held()]);
    ranges.set(replayed, []);
    ranges.set(rescue.accounting, [...rescue.lane.held()]);
  }
  for (const accounting of former.values()) ranges.set(accounting, []);
  for (const pipeline of sinks.values()) {
    for (const batch of [...pipeline.batcher.open.list(), ...pipeline.queue.all]) {
      const { readAtMs = Infinity } = batch;
      const isSaved = batch.isDurable || batch.canBeRebuilt;
      for (const { accounting, firstEvent, events, from, to } of batch.spans) {
        if (!isSaved) unsaved.set(accounting, (unsaved.get(accounting) ?? 0) + to - from);
        ranges.get(accounting)?.push([firstEvent, firstEvent + events]);
        if (events > 0) oldest.set(accounting, Math.min(oldest.get(accounting) ?? Infinity, readAtMs));
      }
    }
  }
  const observe = (
    id: string,
    stats: SourceStats,
    accounting: readonly Accounting[],
    { lane, source }: Partial<AccountedSource> = {},
  ): ObservedSource => {
    // Count events as accepted that the source dropped before a batch could hold them.
    const dropped = stats.droppedEvents ?? 0;
    const sum = (count: (each: Accounting) => number): number =>
      accounting.reduce((total, each) => total + count(each), 0);
    const oldestHeldMs = Math.min(...accounting.map((each) => oldest.get(each) ?? Infinity));
    return {
      id,
      stats,
      backpressureSeconds: (lane?.backpressureMs ?? 0) / 1000,
      accepted: sum(({ accepted }) => accepted) + dropped,
      unknownZones: sum((each) => each.unknownZones),
      invalidCharacters: sum((each) => each.invalidCharacters) + (stats.invalidCharacters ?? 0),
      transformErrors: sum((each) => each.transformErrors),
      misrouted: sum((each) => each.misrouted),
      settled: {
        delivered: sum(({ settled }) => settled.delivered),
        dead_lettered: sum(({ settled }) => settled.dead_lettered),
        dropped: sum(({ settled }) => settled.dropped) + dropped,
        filtered: sum(({ settled }) => settled.filtered),
      },
      held: sum((each) => countEvents(ranges.get(each) ?? [])),
      unsavedBytes: sum((each) => unsaved.get(each) ?? 0) + (stats.goneLagBytes ?? 0),
      oldestHeldMs: Number.isFinite(oldestHeldMs) ? oldestHeldMs : undefined,
      waiting: lane && describeWait(lane, sinks),
      overdue: source?.overdue?.(),
      refused: describeRefused(source?.refused),
    };
  };
  return [
    ...[...sources].map(([id, pipeline]) =>
      observe(id, pipeline.stats, [pipeline.accounting, pipeline.rescue.accounting, pipeline.replayed], pipeline),
    ),
    ...[...former].map(([id, accounting]) => observe(id, newStats(), [accounting])),
  ];
}

function describeRefused(refused: Source['refused']): RefusedPaths | undefined {
  const [first] = refused ?? [];
  if (!refused || !first) return undefined;
  const { reason, fix } = first[1];
  return { count: refused.size, path: first[0], reason, fix };
}

/** Why a source's events are not delivered for the moment. */
export interface Delay {
  readonly waiting?: SourceWait;
  /** Datasets that it feeds and that take nothing. */
  readonly paused?: readonly (Pause & { readonly sink: string; readonly dataset: string })[];
}

/** Empty while nothing delays the source. */
export function describeDelay(
  { config, lane }: AccountedSource & { readonly config: SourceConfig },
  sinks: ReadonlyMap<string, SinkPipeline>,
): Delay {
  const waiting = describeWait(lane, sinks);
  const paused = [...sinks.values()].flatMap(({ config: sink, delivery }) => {
    const dataset = config.dataset ?? sink.dataset;
    const pause = sink.inputs.includes(config.id) ? delivery.queue.paused.get(dataset) : undefined;
    return pause ? [{ sink: sink.id, dataset, ...pause }] : [];
  });
  return { ...(waiting ? { waiting } : {}), ...(paused.length > 0 ? { paused } : {}) };
}

/** What a source waits for, from what its sink lacks now. */
function describeWait(lane: SourceLane, sinks: ReadonlyMap<string, SinkPipeline>): SourceWait | undefined {
  const { waiting } = lane;
  const pipeline = waiting && sinks.get(waiting.sink);
  if (!pipeline) return undefined;
  const { sink, dataset, rereadable, forMs } = waiting;
  const needsDisk = !rereadable && pipeline.queue.isFull;
  const isBlocked = pipeline.delivery.parked.blocked?.isFull === true && rereadable;
  const behind = isBlocked ? 'dead_letters_full' : pipeline.budget.hasSlot() ? 'service_behind' : 'memory_full';
  const reason = needsDisk ? 'disk_buffer_full' : behind;
  const failure = pipeline.delivery.dispatch.lastFailure?.text;
  return { sink, dataset, reason, seconds: Math.round(forMs) / 1000, ...(failure === undefined ? {} : { failure }) };
}

export function observeSink(pipeline: SinkPipeline, requestSeconds: Histograms): ObservedSink {
  const { config, sink, queue, delivery, batcher, spool, budget } = pipeline;
  const inMemory = [...batcher.open.list(), ...queue.all].filter(({ payload }) => payload.memory > 0);
  const { sum, count } = requestSeconds.byLabel.get(sink.id) ?? { sum: 0, count: 0 };
  return {
    id: sink.id,
    ...delivery.stats,
    diskBytes: spool.bytes,
    brokenFiles: spool.brokenFiles,
    concurrency: delivery.dispatch.concurrency.limit,
    memoryBytes: budget.usedBytes,
    queuedBytes: inMemory.reduce((sum, { payload }) => sum + payload.bytes, 0),
    maxMemoryBytes: config.buffer.maxMemoryBytes,
    maxDiskBytes: config.buffer.disk.maxBytes,
    lastFailure: delivery.dispatch.lastFailure?.text,
    lastFailureFix: delivery.dispatch.lastFailure?.fix,
    requestSeconds: { sum, count },
    missing: sink.missing?.(),
    pauses: delivery.queue.paused,
    blocked: delivery.parked.blocked,
  };
}
