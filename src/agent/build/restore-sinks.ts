/** Gives the batches that the last process committed and did not settle back to the sinks, before a file is read on. */
import { restoreBatches } from '../../batcher/keep/restore.ts';
import { DatasetPart, OWN } from '../../batcher/fill/dataset-part.ts';
import type { SinkConfig } from '../../config/model.ts';
import type { SourceConfig } from '../../sources/registry.ts';
import type { Clock } from '../../core/time/clock.ts';
import { codeOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { baseOfOwner, datasetOfOwner, sinkOfOwner } from '../../core/checkpoint-owner.ts';
import type { Shaped, Shaper } from '../../core/shaping.ts';
import type { Kernel } from '../../kernel/kernel.ts';
import type { State } from '../../state/database/store.ts';
import type { Components } from './components.ts';
import type { Shapers } from './shapers.ts';
import type { SinkPipeline } from './sink-pipeline.ts';

/** How long to wait before a disk that refused to take a batch's new key is tried again. */
const RETRY_MS = 1000;

export interface RestoreSinksOptions {
  readonly components: Components;
  readonly state: State;
  readonly kernel: Kernel;
  /** Of the largest batch. */
  readonly scratchBytes: number;
  /** Absent where nothing is shaped. */
  readonly shapers?: Shapers | undefined;
  /** Whose marks the source's events move through the sink, where they go to several datasets (agent/build/owners). */
  baseOf?(source: SourceConfig, sink: SinkConfig): string | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborts when the agent stops; the next one restores the rest. */
  readonly stopping: AbortSignal;
}

export async function restoreSinks(options: RestoreSinksOptions): Promise<void> {
  const { components, state, kernel, scratchBytes, shapers, clock, log, stopping } = options;
  const recovered = new Set([...components.sinks.values()].flatMap(({ buffer }) => [...buffer.recoveredRows]));
  const batches = state.ledger.unsettled().filter(({ id }) => !recovered.has(id));
  const sealRecovered = () => {
    for (const { buffer } of components.sinks.values()) buffer.sealRecovered();
  };
  const shaperOf = ({ config }: SinkPipeline, owner: string) => {
    const shapersBySource = new Map<string, Shaper | undefined>();
    return (id: string): Shaper | undefined => {
      const source = components.sources.get(id)?.config;
      const shaper = source && shapers?.shaperFor(source, config);
      const isRouted = baseOfOwner(owner) !== undefined;
      if (!shapersBySource.has(id))
        shapersBySource.set(
          id,
          shaper && isRouted ? partShaper(shaper, owner, source.dataset ?? config.dataset, state) : shaper,
        );
      return shapersBySource.get(id);
    };
  };
  if (batches.length === 0) return sealRecovered();
  log.info({ batches: batches.length }, 'batches of the last process are sent again under the same keys');
  try {
    await restoreBatches({
      batches,
      log,
      slot: kernel.reserve(scratchBytes),
      target: (owner) => {
        const pipeline = components.sinks.get(sinkOfOwner(owner));
        return pipeline && { ...pipeline, shaperOf: shaperOf(pipeline, owner) };
      },
      isRetired: ({ owner, spans }) =>
        baseOfOwner(owner) !== undefined &&
        spans.every(({ source: id }) => {
          const [source, into] = [components.sources.get(id)?.config, components.sinks.get(sinkOfOwner(owner))?.config];
          return source && into && options.baseOf?.(source, into) !== baseOfOwner(owner);
        }),
      source: (id) => components.sources.get(id),
      clock,
      retryMs: RETRY_MS,
      state,
      stopping,
      reached: ({ owner, id }) => components.sinks.get(sinkOfOwner(owner))?.buffer.sealRecovered(id),
    });
    sealRecovered();
  } catch (error) {
    if (codeOf(error) !== 'E_STOPPED') throw error;
  }
}

/** What of the events goes to the dataset that the owner is of; `own` is the sink's. */
function partShaper(shaper: Shaper, owner: string, own: string, state: Pick<State, 'datasetsOf'>): Shaper {
  const wanted = datasetOfOwner(owner);
  const others = new Set(state.datasetsOf(baseOfOwner(owner)!));
  const isMine = (name: string): boolean => (wanted === undefined ? !others.has(name) : name === wanted);
  const memory = new DatasetPart();
  const part = (shaped: Shaped): Shaped => {
    const mine = shaped.routes?.datasets.flatMap((name = own, n) => (isMine(name) ? [n] : []));
    return memory.of(shaped, wanted === undefined ? OWN : OWN + 1, mine);
  };
  return {
    ...shaper,
    shape: (events) => {
      const shaped = shaper.shape(events);
      return shaped instanceof Promise ? shaped.then(part) : part(shaped);
    },
  };
}
