/** `memory: small`: sinks share 8 MiB and send two requests at a time, where their own keys say nothing else. */
import { agentFields } from '../common/agent-fields.ts';
import type { FieldReading } from '../fields/field.ts';
import { LEAST_SINK_MEMORY_KIB, SMALL_CONCURRENCY, SMALL_MEMORY_KIB } from '../limits.ts';
import { sinkTables } from '../tables/schema.ts';
import type { YamlEntry, YamlMap } from '../yaml/document.ts';

/** Adds these keys to each sink, as if they were written where `memory` is. */
export function expandMemory(root: YamlMap, reading: FieldReading): YamlMap {
  const memory = entryOf(root, 'memory');
  const sinks = entryOf(root, 'sinks')?.value;
  if (memory === undefined || sinks?.kind !== 'map') return root;
  if (agentFields.memory.kind.read(memory.value, { path: 'memory', name: 'memory' }, reading) !== 'small') return root;
  const add = (key: string, value: string | number): YamlEntry => ({
    ...{ key, keyAt: memory.keyAt },
    value: { kind: 'scalar', at: memory.value.at, value, source: String(value) },
  });
  const share = Math.max(LEAST_SINK_MEMORY_KIB, Math.floor(SMALL_MEMORY_KIB / sinks.entries.length));
  const [maxMemory, concurrency] = [add('max_memory', `${share}KiB`), add('concurrency', SMALL_CONCURRENCY)];
  const small = { ...sinks, entries: sinks.entries.map((sink) => inSmall(sink, maxMemory, concurrency)) };
  return {
    ...root,
    entries: root.entries.map((entry) => (entry.key === 'sinks' ? { ...entry, value: small } : entry)),
  };
}

function inSmall(sink: YamlEntry, maxMemory: YamlEntry, concurrency: YamlEntry): YamlEntry {
  if (sink.value.kind !== 'map') return sink;
  const type = entryOf(sink.value, 'type')?.value;
  const table = type?.kind === 'scalar' ? sinkTables[String(type.value)] : undefined;
  const buffer = entryOf(sink.value, 'buffer') ?? {
    ...maxMemory,
    key: 'buffer',
    value: { kind: 'map', at: maxMemory.keyAt, entries: [] },
  };
  // Anything else than a mapping is reported as it is.
  const takesMemory = buffer.value.kind === 'map' && !entryOf(buffer.value, 'max_memory');
  const filled = takesMemory
    ? { ...buffer, value: { ...buffer.value, entries: [...buffer.value.entries, maxMemory] } }
    : buffer;
  const others = sink.value.entries.filter(({ key }) => key !== 'buffer');
  const more = table && 'concurrency' in table && !entryOf(sink.value, 'concurrency') ? [concurrency] : [];
  return { ...sink, value: { ...sink.value, entries: [...others, filled, ...more] } };
}

function entryOf(map: YamlMap, key: string): YamlEntry | undefined {
  return map.entries.find((entry) => entry.key === key);
}
