/** What one source consists of: its accounting, its lane to the sinks that it feeds, and the source itself, wired together. */
import { Accounting } from '../../batcher/accounting.ts';
import { SourceLane } from '../../batcher/fill/lane.ts';
import type { Batcher } from '../../batcher/fill/batcher.ts';
import { type DatasetRegistry, type Route, Router } from '../../batcher/fill/router.ts';
import { streamStoreFor } from '../../batcher/keep/deleted-files.ts';
import type { SinkConfig } from '../../config/model.ts';
import type { Region } from '../../core/block.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Shaper } from '../../core/shaping.ts';
import { newStats, type PrivateFiles, type Source, type SourceContext, type SourceStats } from '../../core/source.ts';
import type { Kernel } from '../../kernel/kernel.ts';
import type { State } from '../../state/database/store.ts';
import { sourceTypeOf, type SourceConfig } from '../../sources/registry.ts';
import type { Components, SourcePipeline } from './components.ts';
import type { Shapers } from './shapers.ts';

export interface SourcePipelineOptions {
  readonly config: SourceConfig;
  /** Its sinks are there already. */
  readonly components: Components;
  readonly kernel: Kernel;
  readonly state: State;
  readonly clock: Clock;
  readonly log: Log;
  readonly once: boolean;
  /** The stopped pipeline of the same id, whose counters carry over. */
  readonly former?: SourcePipeline | undefined;
  /** Those in force; they give undefined where nothing is shaped. */
  readonly shapers?: (() => Shapers | undefined) | undefined;
  /** The datasets of routed events, and whose marks those of a source move through a sink (agent/build/owners). */
  readonly routed?:
    | { readonly datasets: DatasetRegistry; baseOf(source: SourceConfig, sink: SinkConfig): string | undefined }
    | undefined;
  readonly privateFiles?: PrivateFiles;
  /** Makes the source itself; a test may put another file system under it. */
  readonly create?: (config: SourceConfig, context: SourceContext, kernel: Kernel) => Promise<Source>;
}

/** Makes the source; nothing is open yet. Throws `TailraceError` when it cannot be made. */
export async function createSourcePipeline({
  config,
  components,
  kernel,
  state,
  clock,
  log,
  once,
  former,
  shapers,
  routed,
  privateFiles,
  create = (...made) => sourceTypeOf(config).create(...made),
}: SourcePipelineOptions): Promise<SourcePipeline> {
  // Events are numbered in the order of acceptance, so rescued and replayed events have accounting of their own.
  const accounting = former?.accounting ?? components.formerAccounting.get(config.id) ?? new Accounting(config.id);
  const rescueAccounting = former?.rescue.accounting ?? new Accounting(config.id);
  const replayed = former?.replayed ?? new Accounting(config.id);
  const routeTo = (sink: SinkConfig, dataset: string, batcher: Batcher, shaper: Shaper | undefined): Route => {
    const base = routed?.baseOf(config, sink);
    const route = { sink: sink.id, dataset, batcher, shaper };
    if (!shaper || !routed || base === undefined) return route;
    return {
      ...route,
      owner: base,
      router: new Router({ ...route, shaper, base, accounting, datasets: routed.datasets }),
    };
  };
  // Each lane has shapers of its own: they take one block at a time.
  const routes = (kept: readonly Route[] = []): readonly Route[] =>
    [...components.sinks.values()]
      .filter((sink) => sink.config.inputs.includes(config.id))
      .map(({ config: sink, batcher }) => {
        const dataset = config.dataset ?? sink.dataset;
        const shaper = shapers?.()?.shaperFor(config, sink);
        const same = kept.find(
          (route) => route.batcher === batcher && route.dataset === dataset && route.shaper?.digest === shaper?.digest,
        );
        return same ?? routeTo(sink, dataset, batcher, shaper);
      });
  const { streams } = state;
  const { deletedFiles } = components;
  const canReread = sourceTypeOf(config).isRereadable;
  const lane = new SourceLane({
    accounting,
    routes: routes(),
    isTracked: canReread,
    deleted: canReread ? deletedFiles.streams : undefined,
    streams,
    waitedMs: former?.lane.backpressureMs ?? 0,
  });
  const rescue = new SourceLane({ accounting: rescueAccounting, routes: routes(), isTracked: true, streams });
  const regions: Region[] = [];
  const reserve = (bytes: number): Region => {
    const region = kernel.reserve(bytes);
    regions.push(region);
    return region;
  };
  const release = (): void => {
    for (const region of regions.splice(0)) kernel.release(region);
  };
  const context = {
    lane,
    streams: streamStoreFor(state, components.sinks, deletedFiles.streams),
    rescue: deletedFiles.rescueBy(rescue, state),
    clock,
    log,
    hostname: config.hostName,
    reserve,
    privateFiles,
    once,
  };
  try {
    const source = await create(config, context, kernel);
    if (former) addTotals(source.stats, former.stats);
    return {
      config,
      source,
      stats: source.stats,
      accounting,
      lane,
      rescue: { accounting: rescueAccounting, lane: rescue },
      replayed,
      routes,
      release,
    };
  } catch (error) {
    release();
    throw error;
  }
}

/** Numbers of `SourceStats` that are no totals. */
const GAUGES: ReadonlySet<string> = new Set(['lagBytes', 'goneLagBytes', 'lagSeconds', 'files']);

/** The totals of a source that is gone. */
export function totalsOf(stats: SourceStats): SourceStats {
  const totals = newStats();
  addTotals(totals, stats);
  return totals;
}

/** Adds every total of the source that was stopped: counters do not go back. */
export function addTotals(stats: object, former: object): void {
  const now = stats as Record<string, unknown>;
  for (const [name, before] of Object.entries(former)) {
    if (GAUGES.has(name)) continue;
    if (typeof before === 'number') now[name] = Number(now[name] ?? 0) + before;
    else if (before) addTotals((now[name] ??= {}), before);
  }
}
