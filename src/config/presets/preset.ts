/**
 * Presets: keys of a source that are written elsewhere, for a program whose logs are known. Keys beside `preset` win; `types` and
 * `path_fields` merge by name. A preset may build on another one by a `preset` of its own.
 */
import type { JsonValue } from '../../core/block.ts';
import { PRESETS, type PresetRow } from './rows.ts';
import { moveNode, parseYaml, plainValue, type ReportProblem, type YamlEntry, type YamlMap } from '../yaml/document.ts';
import { suggestKey } from '../nearest.ts';
import { quote } from '../quote.ts';

export const PRESET_NAMES: readonly string[] = Object.keys(PRESETS);

/** The keys of presets that users wrote, by name. */
export type OwnPresets = ReadonlyMap<string, YamlMap>;

export const NO_PRESETS: OwnPresets = new Map();

/** Keys of which one written beside the preset takes the place of all. */
const FORMAT_KEYS: ReadonlySet<string> = new Set(['format', 'formats', 'regex', 'csv']);

/** The same, for how lines are joined. */
const JOIN_KEYS: ReadonlySet<string> = new Set(['multiline', 'group']);

/** The root with the keys of their presets in its sources. A name that no preset has is reported. */
export function expandPresets(root: YamlMap, own: OwnPresets, report: ReportProblem): YamlMap {
  const expand = (source: YamlEntry): YamlEntry =>
    source.value.kind === 'map' ? { ...source, value: withPreset(source.value, own, report) } : source;
  const entries = root.entries.map((entry) =>
    entry.key === 'sources' && entry.value.kind === 'map'
      ? { ...entry, value: { ...entry.value, entries: entry.value.entries.map(expand) } }
      : entry,
  );
  return { ...root, entries };
}

/** The mapping with the keys of its preset; as it is where it has none that is known. */
export function withPreset(map: YamlMap, own: OwnPresets, report: ReportProblem): YamlMap {
  const written = new Map(map.entries.map((entry) => [entry.key, entry]));
  const preset = written.get('preset');
  if (preset?.value.kind !== 'scalar') return map;
  const name = String(preset.value.value);
  const keys = keysOf(name, own, preset.keyAt, report);
  if (keys === undefined) {
    const known = [...own.keys(), ...PRESET_NAMES];
    report(preset.value.at, `\`preset: ${quote(name)}\` is not known`, suggestKey(name, known));
    return map;
  }
  const added = keys.filter(
    ({ key }) =>
      !written.has(key) && ![FORMAT_KEYS, JOIN_KEYS].some((alike) => alike.has(key) && hasAny(written, alike)),
  );
  const merged = map.entries.map((entry) => mergedEntry(entry, keys));
  const takesRegex = written.has('regex') && !written.has('format') && !written.has('formats');
  const format = takesRegex ? [entryOf('format', 'regex', preset.keyAt)] : [];
  return { ...map, entries: [...merged, ...added, ...format] };
}

function hasAny(written: ReadonlyMap<string, YamlEntry>, keys: ReadonlySet<string>): boolean {
  return [...keys].some((key) => written.has(key));
}

/** Undefined where no preset has the name. Those of a built-in one are at the place where it is named. */
function keysOf(name: string, own: OwnPresets, at: number, report: ReportProblem): readonly YamlEntry[] | undefined {
  const row = own.get(name) ?? builtInKeys(name, at);
  // One that users wrote builds on a built-in one, so that this ends.
  return row && withPreset(row, NO_PRESETS, report).entries.filter(({ key }) => key !== 'preset');
}

function builtInKeys(name: string, at: number): YamlMap | undefined {
  if (!Object.hasOwn(PRESETS, name)) return undefined;
  const root = parseYaml(PRESETS[name]!.keys, (_at, message) => {
    throw new Error(`the preset ${name} is wrong: ${message}`);
  });
  if (root?.kind !== 'map') throw new Error(`the preset ${name} has no keys`);
  return {
    ...root,
    entries: root.entries.map(({ key, value }) => ({ key, keyAt: at, value: moveNode(value, () => at) })),
  };
}

/** Describes a preset. The fields of a user's preset are those that its tests expect. */
export function presetOf(
  name: string,
  own: OwnPresets,
): ({ readonly name: string; readonly keys: JsonValue } & Omit<PresetRow, 'keys'>) | undefined {
  const keys = keysOf(name, own, 0, () => {});
  if (!keys) return undefined;
  const { reads, fields } = Object.hasOwn(PRESETS, name) ? PRESETS[name]! : { reads: 'of presets.d', fields: [] };
  return { name, reads, fields, keys: plainValue({ kind: 'map', at: 0, entries: keys }) };
}

function entryOf(key: string, value: string, at: number): YamlEntry {
  return { key, keyAt: at, value: { kind: 'scalar', at, value, source: value } };
}

/** The entry with what the preset has for it under other names. */
function mergedEntry(entry: YamlEntry, preset: readonly YamlEntry[]): YamlEntry {
  const { key, value } = entry;
  const other = preset.find((each) => each.key === key)?.value;
  if (key === 'types' && value.kind === 'map' && other?.kind === 'map') {
    const names = new Set(value.entries.map((each) => each.key));
    return {
      ...entry,
      value: { ...value, entries: [...value.entries, ...other.entries.filter((each) => !names.has(each.key))] },
    };
  }
  if (key === 'path_fields' && other) {
    const items = [value, other].flatMap((each) => (each.kind === 'list' ? each.items : [each]));
    return { ...entry, value: { kind: 'list', at: value.at, items } };
  }
  return entry;
}
