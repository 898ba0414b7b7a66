/** `include_config`: files with sources, sinks and tests of their own become parts of the configuration that names them. */
import { dirname, isAbsolute, join } from 'node:path';
import { MAX_INCLUDED_BYTES } from '../limits.ts';
import type { ReportProblem, YamlEntry, YamlMap, YamlNode } from '../yaml/document.ts';
import type { FieldReading } from '../fields/field.ts';
import { findIncluded, type IncludePattern } from './find-included.ts';
import { globOrList } from '../fields/kinds-special.ts';
import { quote } from '../quote.ts';
import { type IncludeOptions, readIncludedFile } from './included-file.ts';

const KEY = 'include_config';
/** Sections that an included file may hold. */
const SECTIONS: readonly string[] = ['sources', 'sinks', 'tests'];

/** The root with what the included files add. Their problems are reported at their own places. */
export function includeFiles(root: YamlMap, options: IncludeOptions): YamlMap {
  const written = root.entries.find(({ key }) => key === KEY)?.value;
  if (written === undefined) return root;
  const { report } = options.reading;
  const sections = new Map(
    root.entries.flatMap((entry) => (SECTIONS.includes(entry.key) ? [[entry.key, [entry]]] : [])),
  );
  let bytes = 0;
  const patterns = patternsOf(written, options.reading);
  for (const { text } of patterns) options.texts.lookFor(isAbsolute(text) ? text : join(dirname(options.file), text));
  for (const file of findIncluded(patterns, { ...options, report })) {
    const read = readIncludedFile(file, options);
    if (!read) continue;
    bytes += Buffer.byteLength(read.text);
    if (bytes > MAX_INCLUDED_BYTES) {
      report(
        read.base,
        `the files of \`${KEY}\` up to here are larger than ${MAX_INCLUDED_BYTES >> 20} MiB`,
        'name fewer files',
      );
      break;
    }
    for (const entry of read.entries)
      if (isKnown(entry, report)) sections.set(entry.key, [...(sections.get(entry.key) ?? []), entry]);
  }
  const others = root.entries.filter(({ key }) => !SECTIONS.includes(key));
  return { ...root, entries: [...others, ...[...sections.values()].map((entries) => joinSections(entries, options))] };
}

/** Problems of the patterns themselves are reported where the key is read. */
function patternsOf(node: YamlNode, reading: FieldReading): IncludePattern[] {
  const quiet: FieldReading = { ...reading, report: () => {}, note: () => {} };
  const nodes = node.kind === 'list' ? node.items : [node];
  return nodes.flatMap((each) =>
    (globOrList.read(each, { path: KEY, name: KEY }, quiet) ?? []).map((text): IncludePattern => ({
      text,
      at: each.at,
    })),
  );
}

function isKnown({ key, keyAt }: YamlEntry, report: ReportProblem): boolean {
  if (SECTIONS.includes(key)) return true;
  report(
    keyAt,
    `\`${quote(key)}\` cannot stand in an included file`,
    `write it in the main file; known here: ${SECTIONS.join(', ')}`,
  );
  return false;
}

/** Sections of one name as one. */
function joinSections(entries: readonly YamlEntry[], options: IncludeOptions): YamlEntry {
  const filled = entries.filter(({ value }) => value.kind !== 'scalar' || value.value !== null);
  const [first] = filled;
  if (first === undefined || filled.length === 1) return first ?? entries[0]!;
  if (first.key === 'tests') return { ...first, value: joinLists(filled, options) };
  return { ...first, value: joinMaps(filled, options) };
}

function joinLists(entries: readonly YamlEntry[], { reading }: IncludeOptions): YamlNode {
  const items = entries.flatMap(({ key, value }) => {
    if (value.kind === 'list') return value.items;
    reading.report(value.at, `\`${key}\` must be a list`, 'begin each entry with `- `');
    return [];
  });
  return { kind: 'list', at: entries[0]!.value.at, items };
}

/** An id in two files is an error at the later one. */
function joinMaps(sections: readonly YamlEntry[], { texts, reading }: IncludeOptions): YamlNode {
  const entries = new Map<string, YamlEntry>();
  for (const { key, value } of sections) {
    if (value.kind !== 'map') {
      reading.report(
        value.at,
        `\`${key}\` must be a mapping`,
        'write its keys below it, indented, one `key: value` a line',
      );
      continue;
    }
    for (const entry of value.entries) {
      const same = entries.get(entry.key);
      if (same === undefined) {
        entries.set(entry.key, entry);
        continue;
      }
      const { file, line, column } = texts.locate(same.keyAt);
      const message = `the ${key.slice(0, -1)} \`${quote(entry.key)}\` is there twice: first at ${file}:${line}:${column}`;
      reading.report(entry.keyAt, message, 'give one of them another id, or remove it');
    }
  }
  return { kind: 'map', at: sections[0]!.value.at, entries: [...entries.values()] };
}
