/**
 * The built-in presets, from the files of `presets/`: the rows that the program carries (config/presets/rows.ts, without their tests), and the
 * table in docs/formats.md. A file's first line says what it reads; the fields are those that its tests expect.
 */
import { basename } from 'node:path';
import { parseYaml, type YamlNode } from '../src/config/yaml/document.ts';
import { listFiles, readText } from './files.ts';
import { replaceParts } from './marked-parts.ts';

export const PRESET_ROWS = 'src/config/presets/rows.ts';

interface Row {
  readonly name: string;
  readonly reads: string;
  readonly fields: readonly string[];
  /** YAML. */
  readonly keys: string;
}

/** Throws where a file is no preset. By topic and name. */
function presetRows(root: string): readonly Row[] {
  const files = listFiles(root, ['.yaml']).filter((file) => file.startsWith('presets/'));
  return files.toSorted().map((file) => readRow(file, readText(root, file)));
}

function readRow(file: string, text: string): Row {
  const name = basename(file, '.yaml');
  const [, reads, keys, tests] =
    new RegExp(`^# (.+)\\n${name}:\\n((?:  .*\\n|\\n)+?)  tests:\\n((?:    .*\\n|\\n)+)$`).exec(text) ?? [];
  if (reads === undefined || keys === undefined || tests === undefined)
    throw new Error(`${file} is no preset: wanted a line of comment, \`${name}:\`, its keys, and \`tests:\``);
  const tree = parseYaml(tests, (_at, message) => {
    throw new Error(`${file}: ${message}`);
  });
  return { name, reads, fields: [...new Set(expectedFields(tree))], keys: keys.replaceAll(/^ {2}/gm, '') };
}

/** Beside the time and the message, which every event has. */
function expectedFields(tests: YamlNode | undefined): string[] {
  const itemsOf = (node: YamlNode | undefined): readonly YamlNode[] => (node?.kind === 'list' ? node.items : []);
  const entriesOf = (node: YamlNode) => (node.kind === 'map' ? node.entries : []);
  const expected = itemsOf(tests).flatMap((test) =>
    itemsOf(entriesOf(test).find(({ key }) => key === 'expect')?.value),
  );
  return expected
    .flatMap((event) => entriesOf(event).map(({ key }) => key))
    .filter((key) => key !== '_time' && key !== 'message');
}

export function renderPresetRows(root: string): string {
  const row = ({ name, ...others }: Row): string => `  ${JSON.stringify(name)}: ${JSON.stringify(others)},`;
  return [
    '/** The built-in presets: what each reads, its fields, and the keys of a source that it sets, as YAML. Written by scripts/generate.ts from presets/. */',
    'export interface PresetRow {',
    '  readonly reads: string;',
    '  readonly fields: readonly string[];',
    '  readonly keys: string;',
    '}',
    '',
    'export const PRESETS: Readonly<Record<string, PresetRow>> = {',
    ...presetRows(root).map(row),
    '}; // prettier-ignore',
    '',
  ].join('\n');
}

/** Presets that read the same logs share a line. */
export function replacePresets(page: string, root: string): string {
  const render = (): string => {
    const lines = presetRows(root).map(
      ({ name, reads, fields }) => `| \`${name}\` | ${reads} | ${fields.map((field) => `\`${field}\``).join(', ')} |`,
    );
    return `| preset | reads | fields |\n|---|---|---|\n${lines.join('\n')}`;
  };
  return replaceParts(page, { presets: render }, 'docs/formats.md');
}
