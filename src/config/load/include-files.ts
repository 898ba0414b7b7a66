/** `include_config`: files with sources, sinks and tests of their own become parts of the configuration that names them. */
import { MAX_INCLUDED_BYTES } from '../limits.ts';
import type { Problem } from '../config-error.ts';
import type { ConfigTexts } from './config-texts.ts';
import { moveNode, parseYaml, type Report, type YamlEntry, type YamlMap, type YamlNode } from '../yaml/document.ts';
import type { Reading } from '../fields/field.ts';
import { findIncluded, type Pattern } from './find-included.ts';
import { globOrList } from '../fields/kinds-special.ts';
import { printable, quote } from '../quote.ts';
import { readTextFile } from './read-text.ts';

const KEY = 'include_config';
/** What an included file may hold. */
const SECTIONS: readonly string[] = ['sources', 'sinks', 'tests'];

export interface IncludeOptions {
  /** The configuration's own file, as it was named. */
  readonly file: string;
  readonly texts: ConfigTexts;
  readonly reading: Reading;
  readonly warn: Report;
  /** A file that cannot be read. */
  readonly refuse: (problem: Problem) => void;
}

/** The root with what the included files add. Their problems are reported at their own places. */
export function includeFiles(root: YamlMap, options: IncludeOptions): YamlMap {
  const written = root.entries.find(({ key }) => key === KEY)?.value;
  if (written === undefined) return root;
  const { report } = options.reading;
  const sections = new Map(root.entries.flatMap((entry) => (SECTIONS.includes(entry.key) ? [[entry.key, [entry]]] : [])));
  let bytes = 0;
  for (const file of findIncluded(patternsOf(written, options.reading), { ...options, report })) {
    const read = readTextFile(file);
    const base = options.texts.add(file, 'text' in read ? read.text : '', 'text' in read ? read.mode : 0);
    if (!('text' in read)) {
      options.refuse({ ...read, file: printable(file) });
      continue;
    }
    bytes += Buffer.byteLength(read.text);
    if (bytes > MAX_INCLUDED_BYTES) {
      report(base, `the files of \`${KEY}\` up to here are larger than ${MAX_INCLUDED_BYTES >> 20} MiB`, 'name fewer files');
      break;
    }
    for (const entry of readIncluded(read.text, base, report)) sections.set(entry.key, [...(sections.get(entry.key) ?? []), entry]);
  }
  const others = root.entries.filter(({ key }) => !SECTIONS.includes(key));
  return { ...root, entries: [...others, ...[...sections.values()].map((entries) => join(entries, options))] };
}

/** Problems of the patterns themselves are reported where the key is read. */
function patternsOf(node: YamlNode, reading: Reading): Pattern[] {
  const quiet: Reading = { ...reading, report: () => {}, note: () => {} };
  const nodes = node.kind === 'list' ? node.items : [node];
  return nodes.flatMap((each) =>
    (globOrList.read(each, { path: KEY, name: KEY }, quiet) ?? []).map((text): Pattern => ({ text, at: each.at })),
  );
}

/** Its sections. */
function readIncluded(text: string, base: number, report: Report): readonly YamlEntry[] {
  let isBroken = false;
  const parsed = parseYaml(text, (at, message, fix) => {
    isBroken = true;
    report(base + at, message, fix);
  });
  if (parsed === undefined || isBroken || (parsed.kind === 'scalar' && parsed.value === null)) return [];
  const root = moveNode(parsed, (at) => base + at);
  if (root.kind !== 'map') {
    report(root.at, 'an included file must be a mapping of keys', 'write `sources:` or `sinks:`');
    return [];
  }
  return root.entries.filter(({ key, keyAt }) => {
    const isKnown = SECTIONS.includes(key);
    if (!isKnown)
      report(keyAt, `\`${quote(key)}\` cannot stand in an included file`, `write it in the main file; known here: ${SECTIONS.join(', ')}`);
    return isKnown;
  });
}

/** Sections of one name as one. */
function join(entries: readonly YamlEntry[], options: IncludeOptions): YamlEntry {
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

/** An id that stands in two files is an error at the later one. */
function joinMaps(sections: readonly YamlEntry[], { texts, reading }: IncludeOptions): YamlNode {
  const entries = new Map<string, YamlEntry>();
  for (const { key, value } of sections) {
    if (value.kind !== 'map') {
      reading.report(value.at, `\`${key}\` must be a mapping`, 'write its keys below it, indented, one `key: value` a line');
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
