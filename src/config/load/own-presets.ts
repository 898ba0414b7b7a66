/** `presets.d/*.yaml` beside the configuration: presets of users, in the form of the built-in ones. */
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf } from '../../core/errors.ts';
import { MAX_INCLUDED_BYTES, MAX_INCLUDED_FILES } from '../limits.ts';
import { asMap, finish, readTable, type FieldDrafts } from '../fields/field.ts';
import { NO_PRESETS, PRESET_NAMES, withPreset, type OwnPresets } from '../presets/preset.ts';
import { quote } from '../quote.ts';
import { presetTable } from '../tables/schema.ts';
import type { Config } from '../model.ts';
import type { YamlEntry, YamlMap } from '../yaml/document.ts';
import { type IncludeOptions, readIncludedFile } from './included-file.ts';

export interface OwnPresetRows {
  readonly keys: OwnPresets;
  readonly rows: readonly {
    readonly name: string;
    readonly path: string;
    readonly draft: FieldDrafts<typeof presetTable>;
  }[];
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** Only for rows without problems. */
export const presetTestsOf = (rows: OwnPresetRows['rows']): Config['presetTests'] =>
  rows.flatMap(({ name, path, draft }) => {
    return finish(presetTable, draft).tests.map((each, index) => ({
      ...each,
      preset: name,
      path: `${path}.tests.${index}`,
    }));
  });

/** Their problems are reported at their own places. */
export function readOwnPresets(options: IncludeOptions): OwnPresetRows {
  const { reading } = options;
  const entries = new Map<string, YamlEntry>();
  let bytes = 0;
  options.texts.lookFor(join(dirname(options.file), 'presets.d', '*.yaml'));
  for (const file of filesBeside(options.file)) {
    const read = readIncludedFile(file, options);
    if (!read) continue;
    bytes += Buffer.byteLength(read.text);
    if (bytes > MAX_INCLUDED_BYTES) {
      reading.report(
        read.base,
        `the files of \`presets.d\` up to here are larger than ${MAX_INCLUDED_BYTES >> 20} MiB`,
        'remove some of them',
      );
      break;
    }
    for (const entry of read.entries) if (isNew(entry, entries, options)) entries.set(entry.key, entry);
  }
  const keys = new Map<string, YamlMap>();
  const rows = [...entries.values()].flatMap(({ key: name, keyAt, value }) => {
    const map = asMap(value, name, reading.report);
    if (!map) return [];
    const path = `presets.${name}`;
    reading.note(path, keyAt, keyAt);
    keys.set(name, { ...map, entries: map.entries.filter(({ key }) => key !== 'tests') });
    return [
      {
        name,
        path,
        draft: readTable(presetTable, { ...withPreset(map, NO_PRESETS, reading.report), at: keyAt }, path, reading),
      },
    ];
  });
  return { keys, rows };
}

function filesBeside(file: string): string[] {
  const folder = join(dirname(file), 'presets.d');
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.yaml') && !name.startsWith('.'))
      .toSorted()
      .slice(0, MAX_INCLUDED_FILES)
      .map((name) => join(folder, name));
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return [];
    throw error;
  }
}

function isNew(
  { key: name, keyAt }: YamlEntry,
  entries: ReadonlyMap<string, YamlEntry>,
  { texts, reading }: IncludeOptions,
): boolean {
  const before = entries.get(name);
  if (!NAME.test(name))
    reading.report(keyAt, `\`${quote(name)}\` cannot be the name of a preset`, 'use letters, digits, `_` and `-`');
  else if (PRESET_NAMES.includes(name))
    reading.report(
      keyAt,
      `the preset \`${name}\` is built in`,
      `give it another name; \`preset: ${name}\` in it builds on the built-in one`,
    );
  else if (before) {
    const { file, line, column } = texts.locate(before.keyAt);
    reading.report(
      keyAt,
      `the preset \`${name}\` is there twice: first at ${file}:${line}:${column}`,
      'give one of them another name, or remove it',
    );
  } else return true;
  return false;
}
