/** The transforms of a running agent: each is compiled once, and every way from a source to a sink gets a shaper of those on it. */
import { isDeepStrictEqual } from 'node:util';
import type { Config, SinkConfig } from '../../config/model.ts';
import type { TransformConfig } from '../../config/values.ts';
import type { SourceConfig } from '../../sources/registry.ts';
import { isTimeToLog, type Log } from '../../core/log.ts';
import type { Shaper } from '../../core/shaping.ts';
import { readScript } from '../../shaping/script/script-file.ts';
import { createShaper } from '../../shaping/shaper.ts';
import { type CompiledTransform, compileTransform } from '../../shaping/transforms.ts';

export class Shapers {
  readonly #config: Config;
  readonly #log: Log;
  /** By their place in the configuration, which is the same after a reload. */
  readonly #compiled = new Map<string, { readonly transform: TransformConfig; readonly compiled: CompiledTransform }>();

  constructor(config: Config, log: Log) {
    this.#config = config;
    this.#log = log;
  }

  /** A script that did not change is taken over from `former`, with what it remembers. Throws `TransformProblems`, with nothing new left open. */
  async compile(former?: Shapers): Promise<void> {
    try {
      for (const transform of transformsOf(this.#config)) {
        const before = former && former.#compiled.get(transform.path);
        const same = before && isDeepStrictEqual(before.transform, transform) ? before.compiled : undefined;
        const kept = same?.script && checksumOf(same.script.file) === same.script.sha256 ? same : undefined;
        const compiled = kept ?? (await compileTransform(transform, (why) => this.#noteReplaced(transform, why)));
        this.#compiled.set(transform.path, { transform, compiled });
        if (!same || (same.script && !kept))
          this.#log.info({ transform: transform.path, ...compiled.facts }, 'transform is in force');
      }
    } catch (error) {
      await this.close(former);
      throw error;
    }
  }

  /** The scripts in force, each once. */
  get scripts(): readonly { readonly file: string; readonly sha256: string }[] {
    const scripts = [...this.#compiled.values()].flatMap(({ compiled }) => compiled.script ?? []);
    return [...new Map(scripts.map((script) => [script.file, script])).values()];
  }

  /** A new shaper of the source's events on their way to the sink; undefined where nothing shapes them. */
  shaperFor(source: SourceConfig, sink: SinkConfig): Shaper | undefined {
    const transforms = [source.transform, this.#config.transform, sink.transform].filter((each) => each !== undefined);
    if (transforms.length === 0) return undefined;
    return createShaper(
      transforms.map((each) =>
        this.#compiled.get(each.path)!.compiled.createStage({ failed: this.#noteFailures(source.id, each) }),
      ),
    );
  }

  /** Closes them, but for those that `except` has, too. */
  async close(except?: Shapers): Promise<void> {
    const kept = new Set(except ? [...except.#compiled.values()].map(({ compiled }) => compiled) : []);
    for (const { compiled } of this.#compiled.values()) if (!kept.has(compiled)) await compiled.close();
  }

  #noteReplaced({ path }: TransformConfig, reason: string): void {
    this.#log.warn(
      { transform: path, reason },
      'the process of a transform script was replaced; what the script had remembered is gone',
    );
  }

  /** Ever less often: a transform may fail on every event. */
  #noteFailures(source: string, { path }: TransformConfig): (reason: string) => void {
    let failures = 0;
    return (reason) => {
      failures += 1;
      if (isTimeToLog(failures))
        this.#log.warn({ source, transform: path, reason, failures }, 'a transform failed on an event');
    };
  }
}

/** Undefined for a script that cannot be read; its compilation says why. */
function checksumOf(file: string): string | undefined {
  try {
    return readScript(file).sha256;
  } catch {
    return undefined;
  }
}

/** All transforms that the configuration has. */
function transformsOf({ sources, sinks, transform }: Config): TransformConfig[] {
  return [...sources.map((source) => source.transform), transform, ...sinks.map((sink) => sink.transform)].filter(
    (each) => each !== undefined,
  );
}
