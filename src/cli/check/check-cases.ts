/** What `tailrace check` finds in the inputs of `tests:`: names in another case than the transforms hide. */
import { Readable } from 'node:stream';
import { CaseNames } from '../../agent/preview/case-names.ts';
import { Previewer } from '../../agent/preview/previewer.ts';
import type { ConfigProblem } from '../../config/config-error.ts';
import type { ReadConfig } from '../../config/load/load.ts';
import type { Config, SinkConfig } from '../../config/model.ts';
import type { TransformConfig } from '../../config/values.ts';
import type { SourceConfig } from '../../sources/registry.ts';
import type { JsonValue } from '../../core/block.ts';
import { silentLog } from '../../core/log.ts';

type EventObject = Readonly<Record<string, JsonValue>>;

/** Finds names in events; each warning comes once, however many sources share a transform. */
export class CaseChecks {
  readonly #warnings = new Map<string, ConfigProblem>();

  add(
    config: Config,
    source: SourceConfig,
    sink: SinkConfig,
    events: readonly EventObject[],
    read: Pick<ReadConfig, 'locateIn'>,
  ): void {
    const names = new CaseNames(transformsOf(config, source, sink));
    for (const event of events) names.look(event);
    for (const { path, index, message, fix } of names.warnings)
      this.#warnings.set(`${path} ${index} ${message}`, { ...read.locateIn(path, index), message, fix });
  }

  /** Reads the inputs of all tests. */
  async addTests(config: Config, read: Pick<ReadConfig, 'locateIn'>): Promise<void> {
    for (const { source: id, sink: named, file, input } of config.tests) {
      const source = config.sources.find((each) => each.id === id);
      for (const sink of config.sinks.filter((each) =>
        named === undefined ? each.inputs.includes(id) : each.id === named,
      )) {
        if (!source || transformsOf(config, source, sink).length === 0) continue;
        const events: EventObject[] = [];
        const record = ({ before }: { readonly before: string | undefined }): void => {
          if (before !== undefined) events.push(JSON.parse(before) as EventObject);
        };
        const previewer = await Previewer.create({ config, source, sink, log: silentLog, record });
        try {
          await previewer.read(file, Readable.from([Buffer.from(input.map((line) => `${line}\n`).join(''))]));
        } finally {
          await previewer.close();
        }
        this.add(config, source, sink, events, read);
      }
    }
  }

  get warnings(): ConfigProblem[] {
    return [...this.#warnings.values()];
  }
}

const transformsOf = (config: Config, source: SourceConfig, sink: SinkConfig): TransformConfig[] =>
  [source.transform, config.transform, sink.transform].flatMap((each) => each ?? []);
