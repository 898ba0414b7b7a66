/**
 * Presets: keys of a source that are written elsewhere, for a program whose logs are known. Keys beside `preset` win; `types` and
 * `path_fields` merge by name.
 */
import { PRESETS } from './presets.ts';
import { moveNode, parseYaml, type YamlEntry, type YamlMap } from '../yaml/document.ts';

export const PRESET_NAMES: readonly string[] = Object.keys(PRESETS);

/** Keys of which one written beside the preset takes the place of all. */
const FORMAT_KEYS: ReadonlySet<string> = new Set(['format', 'formats', 'regex', 'csv']);

/** The source's mapping with the keys of its preset; as it is where it has none that is known. */
export function withPreset(map: YamlMap): YamlMap {
  const written = new Map(map.entries.map((entry) => [entry.key, entry]));
  const preset = written.get('preset');
  const name = preset?.value.kind === 'scalar' ? String(preset.value.value) : '';
  if (!preset || !Object.hasOwn(PRESETS, name)) return map;
  const added = keysOf(name, preset.keyAt).filter(({ key }) => !written.has(key) && !(FORMAT_KEYS.has(key) && hasFormat(written)));
  const own = map.entries.map((entry) => merged(entry, keysOf(name, preset.keyAt)));
  const takesRegex = written.has('regex') && !written.has('format') && !written.has('formats');
  const format = takesRegex ? [entryOf('format', 'regex', preset.keyAt)] : [];
  return { ...map, entries: [...own, ...added, ...format] };
}

function hasFormat(written: ReadonlyMap<string, YamlEntry>): boolean {
  return [...FORMAT_KEYS].some((key) => written.has(key));
}

/** The preset's keys, all at the place where it is named. */
function keysOf(name: string, at: number): readonly YamlEntry[] {
  const root = parseYaml(PRESETS[name]!, (_at, message) => {
    throw new Error(`the preset ${name} is wrong: ${message}`);
  });
  if (root?.kind !== 'map') throw new Error(`the preset ${name} has no keys`);
  return root.entries.map(({ key, value }) => ({ key, keyAt: at, value: moveNode(value, () => at) }));
}

function entryOf(key: string, value: string, at: number): YamlEntry {
  return { key, keyAt: at, value: { kind: 'scalar', at, value, source: value } };
}

/** The entry with what the preset has for it under other names. */
function merged(entry: YamlEntry, preset: readonly YamlEntry[]): YamlEntry {
  const { key, value } = entry;
  const other = preset.find((each) => each.key === key)?.value;
  if (key === 'types' && value.kind === 'map' && other?.kind === 'map') {
    const names = new Set(value.entries.map((each) => each.key));
    return { ...entry, value: { ...value, entries: [...value.entries, ...other.entries.filter((each) => !names.has(each.key))] } };
  }
  if (key === 'path_fields' && other) {
    const items = [value, other].flatMap((each) => (each.kind === 'list' ? each.items : [each]));
    return { ...entry, value: { kind: 'list', at: value.at, items } };
  }
  return entry;
}
