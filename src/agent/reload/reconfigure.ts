/**
 * Takes a changed configuration into force while the agent runs. Promises: what did not change goes on untouched; a source that changed
 * is closed, and opened again where it stood; a sink that changed keeps what it holds; where it fails, the configuration before is in force.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { persist } from '../../batcher/store.ts';
import type { ConfigChanges } from '../../config/compare.ts';
import type { Config, SinkConfig } from '../../config/model.ts';
import type { Clock } from '../../core/time/clock.ts';
import { messageOf } from '../../core/errors.ts';
import { SOURCE_STOP_GRACE_MS } from '../limits.ts';
import type { Log } from '../../core/log.ts';
import type { State } from '../../state/database/store.ts';
import { sourceTypeOf, type SourceConfig } from '../../sources/registry.ts';
import type { Components, SourcePipeline } from '../build/components.ts';
import type { SinkPipeline } from '../build/sink-pipeline.ts';
import { totalsOf } from '../build/source-pipeline.ts';

/** How often to check whether a source has stopped. */
const STOP_CHECK_MS = 20;
/** How long to wait before a disk that refused is tried again. */
const RETRY_MS = 1000;

export interface ReconfigureOptions {
  readonly before: Config;
  readonly after: Config;
  readonly changes: ConfigChanges;
  readonly components: Components;
  readonly state: State;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborts when the agent is to stop: nothing is waited for then. */
  readonly stopping: AbortSignal;
  readonly createSink: (config: SinkConfig) => SinkPipeline;
  readonly createSource: (config: SourceConfig, former: SourcePipeline | undefined) => Promise<SourcePipeline>;
  /** Puts the configuration into force. */
  readonly use: (config: Config) => void;
  /** Lets an open source read. */
  readonly run: (pipeline: SourcePipeline) => void;
}

/** Throws `TailraceError`, with the configuration before in force, when a source cannot be opened or memory is used up. */
export async function reconfigure(options: ReconfigureOptions): Promise<void> {
  const { before, after, changes, components, state, stopping } = options;
  commitAccepted(components);
  const reopened = [...changes.sources.changed, ...sourcesToReopen(options)];
  const added = addSinks(options);
  const closing = [...changes.sources.removed, ...reopened];
  const hungUp = Promise.allSettled(closing.map(async (id) => components.sources.get(id)!.source.hangUp?.()));
  const closed = await Promise.all(closing.map((id) => closeSource(options, id, hungUp)));
  await commitLater(options);
  if (stopping.aborted) return;
  switchSinks(options, after);
  const opened: SourcePipeline[] = [];
  try {
    for (const config of after.sources)
      if (!components.sources.has(config.id)) await openSource(options, config, opened);
  } catch (error) {
    for (const { config } of opened) await closeSource(options, config.id);
    await commitLater(options);
    prepareSinks(options, before);
    switchSinks(options, before);
    for (const { config } of closed) await openSource(options, config, []);
    throw error;
  }
  for (const pipeline of added) await pipeline.buffer.recover().then(() => pipeline.buffer.sealRecovered());
  state.noteStarted([...components.sources.keys()]);
}

/** File sources that feed a sink again after a pause: the sink may be behind the others. */
function sourcesToReopen({ before, after, changes, state }: ReconfigureOptions): string[] {
  const hadInput = (sink: string, source: string): boolean =>
    before.sinks.find(({ id }) => id === sink)?.inputs.includes(source) ?? false;
  return after.sources
    .filter((source) => sourceTypeOf(source).isRereadable && changes.sources.untouched.includes(source.id))
    .filter(({ id }) =>
      after.sinks.some((sink) => sink.inputs.includes(id) && !hadInput(sink.id, id) && state.knowsSink(id, sink.id)),
    )
    .map(({ id }) => id);
}

/** Reserves the memory of changed sinks, too. A removed sink that still drains is reused. */
function addSinks(options: ReconfigureOptions): SinkPipeline[] {
  const { after, components, createSink } = options;
  const made: SinkPipeline[] = [];
  try {
    prepareSinks(options, after);
    for (const config of after.sinks) if (!components.sinks.has(config.id)) made.push(createSink(config));
  } catch (error) {
    for (const pipeline of components.sinks.values()) pipeline.cancel();
    for (const pipeline of made) pipeline.release();
    throw error;
  }
  for (const pipeline of made) components.sinks.set(pipeline.config.id, pipeline);
  return made;
}

/** Reserves the memory that the sinks have by this configuration. Throws `E_KERNEL_MEMORY`. */
function prepareSinks({ components }: ReconfigureOptions, { sinks }: Config): void {
  for (const sink of sinks) components.sinks.get(sink.id)?.prepare(sink);
}

/** Every sink as the configuration has it; the lanes of all sources lead to them. */
function switchSinks({ components, state, use }: ReconfigureOptions, config: Config): void {
  use(config);
  for (const [id, pipeline] of components.sinks) {
    const next = config.sinks.find((sink) => sink.id === id) ?? { ...pipeline.config, inputs: [] };
    if (!isDeepStrictEqual(next, pipeline.config)) pipeline.reconfigure(next);
  }
  state.streams.addNewSinks();
  for (const { lane, rescue, routes } of components.sources.values()) {
    lane.routes = routes(lane.routes);
    rescue.lane.routes = routes(rescue.lane.routes);
  }
  for (const {
    budget,
    config: { inputs },
  } of components.sinks.values()) {
    if (inputs.length === 0) budget.close('all');
    else budget.reopen();
  }
}

async function openSource(
  { components, createSource, run }: ReconfigureOptions,
  config: SourceConfig,
  opened: SourcePipeline[],
): Promise<void> {
  const pipeline = await createSource(config, components.removed.get(config.id));
  components.removed.delete(config.id);
  components.formerAccounting.delete(config.id);
  components.sources.set(config.id, pipeline);
  opened.push(pipeline);
  await pipeline.source.open();
  run(pipeline);
}

/**
 * Its events go on to their sinks. Events in hand that cannot be read again may wait a moment for memory. `hungUp`: no source that is closed
 * with it has connections; datagrams are read until then.
 */
async function closeSource(
  { components, log, clock, stopping }: ReconfigureOptions,
  id: string,
  hungUp: Promise<unknown> = Promise.resolve(),
): Promise<SourcePipeline> {
  const pipeline = components.sources.get(id)!;
  const { isRereadable } = sourceTypeOf(pipeline.config);
  const ready = isRereadable ? Promise.resolve() : hungUp;
  const stopped = ready
    .then(() => pipeline.source.stop())
    .then(
      () => true,
      (error: unknown) => {
        log.error({ source: id, reason: messageOf(error) }, 'a source did not stop cleanly');
        return true;
      },
    );
  let isStopped = false;
  const startedMs = clock.monotonic();
  const graceMs = isRereadable ? 0 : SOURCE_STOP_GRACE_MS;
  while (!isStopped && clock.monotonic() - startedMs < 2 * SOURCE_STOP_GRACE_MS) {
    if (stopping.aborted || clock.monotonic() - startedMs >= graceMs)
      for (const sink of components.sinks.values())
        for (const accounting of [pipeline.accounting, pipeline.rescue.accounting]) sink.budget.turnAway(accounting);
    isStopped = await Promise.race([stopped, sleep(STOP_CHECK_MS, false)]);
  }
  if (!isStopped) log.error({ source: id }, 'a source did not stop; what it had in hand is left behind');
  components.sources.delete(id);
  components.removed.set(id, { ...pipeline, stats: totalsOf(pipeline.stats) });
  if (isStopped) pipeline.release();
  return pipeline;
}

/** Commits everything accepted, so that reading resumes after it. Throws when the disk refuses. */
function commitAccepted(components: Components): void {
  for (const { batcher, keeper } of components.sinks.values()) {
    batcher.open.flush();
    keeper.commitNow();
  }
}

/** The same, tried until the disk takes it. */
async function commitLater({ components, log, clock, stopping }: ReconfigureOptions): Promise<void> {
  const refused = 'cannot save positions, so the reload waits';
  await persist(() => commitAccepted(components), { log, clock, retryMs: RETRY_MS, signal: stopping }, {}, refused);
}
