/** The transforms of a running agent: each is compiled once, and every way from a source to a sink gets a shaper of those on it. */
import type { Config, SinkConfig, SourceConfig, TransformConfig } from '../../config/model.ts';
import type { Log } from '../../core/log.ts';
import type { Shaper } from '../../core/shaping.ts';
import { createShaper } from '../../shaping/shaper.ts';
import { type CompiledTransform, compileTransform } from '../../shaping/transforms.ts';

export class Shapers {
  readonly #config: Config;
  readonly #log: Log;
  readonly #compiled = new Map<TransformConfig, CompiledTransform>();

  constructor(config: Config, log: Log) {
    this.#config = config;
    this.#log = log;
  }

  /** Throws `TransformProblems`. */
  async compile(): Promise<void> {
    for (const transform of transformsOf(this.#config)) {
      const compiled = await compileTransform(transform, (why) =>
        this.#log.warn(
          { transform: transform.path, reason: why },
          'the process of a transform script was replaced; what the script had remembered is gone',
        ),
      );
      this.#compiled.set(transform, compiled);
      this.#log.info({ transform: transform.path, ...compiled.facts }, 'transform is in force');
    }
  }

  /** The scripts in force, each once. */
  get scripts(): readonly { readonly file: string; readonly sha256: string }[] {
    const scripts = [...this.#compiled.values()].flatMap(({ script }) => script ?? []);
    return [...new Map(scripts.map((script) => [script.file, script])).values()];
  }

  /** A new shaper of the source's events on their way to the sink; undefined where nothing shapes them. */
  shaperFor(source: SourceConfig, sink: SinkConfig): Shaper | undefined {
    const transforms = [source.transform, this.#config.transform, sink.transform].filter((each) => each !== undefined);
    if (transforms.length === 0) return undefined;
    return createShaper(transforms.map((each) => this.#compiled.get(each)!.createStage({ failed: this.#noteFailures(source.id, each) })));
  }

  async close(): Promise<void> {
    for (const compiled of this.#compiled.values()) await compiled.close();
  }

  /** Ever less often: a transform may fail on every event. */
  #noteFailures(source: string, { path }: TransformConfig): (reason: string) => void {
    let failures = 0;
    return (reason) => {
      failures += 1;
      if ((failures & (failures - 1)) === 0)
        this.#log.warn({ source, transform: path, reason, failures }, 'a transform failed on an event');
    };
  }
}

/** All transforms that the configuration has. */
export function transformsOf({ sources, sinks, transform }: Config): TransformConfig[] {
  return [...sources.map((source) => source.transform), transform, ...sinks.map((sink) => sink.transform)].filter(
    (each) => each !== undefined,
  );
}
