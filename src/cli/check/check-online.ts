/** What `tailrace check --online` finds: whether what each sink sends to would take its events. */
import type { Finding } from '../../config/findings.ts';
import type { Config, SinkConfig } from '../../config/model.ts';
import { sinkTypeOf } from '../../sinks/registry.ts';

export async function checkOnline(config: Config): Promise<Finding[]> {
  const asked = config.sinks.flatMap((sink) => sinkTypeOf(sink).checkOnline?.(sink, datasetsOf(config, sink)) ?? []);
  const found = await Promise.all(asked);
  return found.flat();
}

/** Each dataset that the sink gets events for, with the place where it is named. */
function datasetsOf(config: Config, sink: SinkConfig): Map<string, string> {
  const datasets = new Map<string, string>();
  for (const { id, dataset } of config.sources.filter(({ id }) => sink.inputs.includes(id))) {
    const name = dataset ?? sink.dataset;
    if (!datasets.has(name))
      datasets.set(name, dataset === undefined ? `sinks.${sink.id}.dataset` : `sources.${id}.dataset`);
  }
  return datasets;
}
