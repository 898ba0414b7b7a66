/** Makes the sinks and sources of a running agent from what they share: kernel memory, transforms, state and clock. */
import { AddressEncodings } from '../../core/requests.ts';
import type { LetterStore } from '../../batcher/store.ts';
import type { Config, SinkConfig } from '../../config/model.ts';
import type { SourceConfig } from '../../sources/registry.ts';
import type { Region } from '../../core/block.ts';
import { messageOf } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { PrivateFiles } from '../../core/source.ts';
import type { Clock } from '../../core/time/clock.ts';
import { prepareContentSum } from '../../kernel/content-sum.ts';
import type { Kernel } from '../../kernel/kernel.ts';
import { ListedPrivateFiles } from '../../sources/file/scan/private-files.ts';
import type { State } from '../../state/database/store.ts';
import type { SinkHistograms } from '../../telemetry/metrics.ts';
import type { Components, SourcePipeline } from './components.ts';
import {
  createExpandableKernel,
  hasTransforms,
  kernelBytesOf,
  scratchBytesOf,
  SHAPING_SCRATCH_BYTES,
} from './kernel-memory.ts';
import { routedBaseOf } from './owners.ts';
import { restoreSinks } from './restore-sinks.ts';
import { createRoutedDatasets } from './routed-datasets.ts';
import type { Shapers } from './shapers.ts';
import { createSinkPipeline, type SinkPipeline } from './sink-pipeline.ts';
import { createSourcePipeline } from './source-pipeline.ts';

export interface BuilderOptions {
  readonly inForce: { readonly config: Config };
  readonly once: boolean;
  /** Nothing is shaped where dead letters alone are sent. */
  readonly sinksOnly: boolean;
  readonly components: Components;
  readonly state: State;
  readonly clock: Clock;
  readonly log: Log;
  readonly histograms: SinkHistograms;
  readonly letters: LetterStore;
}

export class Builder {
  readonly #options: BuilderOptions;
  readonly #kernel: Kernel;
  /** Where events are made before they are shaped. */
  readonly #shapingScratch: Region | undefined;
  readonly #privateFiles: PrivateFiles;
  readonly #encodings = new AddressEncodings();
  /** Those in force; absent where nothing is shaped. */
  #shapers: Shapers | undefined;

  private constructor(options: BuilderOptions) {
    const { inForce, clock, sinksOnly } = options;
    this.#options = options;
    this.#kernel = createExpandableKernel(kernelBytesOf(inForce.config));
    this.#privateFiles = new ListedPrivateFiles(() => inForce.config, clock, inForce.config.dataDir);
    this.#shapingScratch = sinksOnly ? undefined : this.#kernel.reserve(SHAPING_SCRATCH_BYTES);
  }

  /** Takes memory and compiles transforms. Throws `TailraceError` where the address space does not hold all of it, not later on. */
  static async create(options: BuilderOptions): Promise<Builder> {
    const { config } = options.inForce;
    const builder = new Builder(options);
    if (!options.sinksOnly) builder.#shapers = await builder.#compileTransforms(config);
    try {
      prepareContentSum();
      return builder;
    } catch (error) {
      await builder.#shapers?.close();
      throw error;
    }
  }

  get shapers(): Shapers | undefined {
    return this.#shapers;
  }

  /** The transforms of another configuration, for a change to it and back. Throws `TailraceError`. */
  async changeTransforms(next: Config): Promise<{ use(config: Config): void; closeUnused(): void }> {
    const former = this.#shapers;
    const shapers = await this.#compileTransforms(next);
    return {
      use: (config) => (this.#shapers = config === next ? shapers : former),
      closeUnused: () => this.#closeUnused(former, shapers),
    };
  }

  /** Undefined where nothing is shaped. Throws `TransformProblems`. */
  async #compileTransforms(config: Config): Promise<Shapers | undefined> {
    if (!hasTransforms(config)) return undefined;
    const { Shapers } = await import('./shapers.ts');
    const shapers = new Shapers(config, this.#options.log);
    await shapers.compile(this.#shapers);
    return shapers;
  }

  /** Closes replaced transforms, once the blocks that use them are shaped. */
  #closeUnused(...all: readonly (Shapers | undefined)[]): void {
    const { components, log } = this.#options;
    const inForce = this.#shapers;
    const close = async (): Promise<void> => {
      const lanes = [...components.sources.values()].flatMap(({ lane, rescue }) => [lane, rescue.lane]);
      await Promise.all(lanes.map((lane) => lane.idle()));
      for (const each of all) if (each !== inForce) await each?.close(inForce);
    };
    close().catch((error: unknown) =>
      log.error({ reason: messageOf(error) }, 'a transform that is not in force any more did not close'),
    );
  }

  createSink(config: SinkConfig): SinkPipeline {
    const { inForce, components, state, clock, log, histograms, letters } = this.#options;
    return createSinkPipeline({
      config,
      state,
      clock,
      log,
      histograms,
      letters,
      watcher: components.watcher,
      kernel: this.#kernel,
      encodings: this.#encodings,
      shapingScratch: this.#shapingScratch,
      folder: inForce.config.dataDir,
      accounts: components,
    });
  }

  /** `former`: of the same id, stopped; its counters carry over. */
  createSource(config: SourceConfig, former?: SourcePipeline): Promise<SourcePipeline> {
    const { components, state, clock, log, once } = this.#options;
    const datasets = createRoutedDatasets(state, log, (sink) => this.#basesOf(sink));
    return createSourcePipeline({
      config,
      former,
      components,
      state,
      clock,
      log,
      once,
      kernel: this.#kernel,
      shapers: () => this.shapers,
      privateFiles: this.#privateFiles,
      routed: { datasets, baseOf: this.#baseOf },
    });
  }

  /** Sends what the last process left again. */
  restore(stopping: AbortSignal): Promise<void> {
    const { inForce, components, state, clock, log } = this.#options;
    return restoreSinks({
      components,
      state,
      clock,
      log,
      kernel: this.#kernel,
      scratchBytes: scratchBytesOf(inForce.config),
      shapers: this.shapers,
      baseOf: this.#baseOf,
      stopping,
    });
  }

  readonly #baseOf = (source: SourceConfig, sink: SinkConfig): string | undefined =>
    routedBaseOf(this.#options.inForce.config, source, sink);

  #basesOf(id: string): string[] {
    const { config } = this.#options.inForce;
    const sink = config.sinks.find((each) => each.id === id);
    return sink ? config.sources.flatMap((source) => this.#baseOf(source, sink) ?? []) : [];
  }
}
