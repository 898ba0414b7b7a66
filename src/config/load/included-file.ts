/** One file of several that make up a configuration: read, refused where other users may change it, and parsed. */
import type { ConfigProblem } from '../config-error.ts';
import type { FieldReading } from '../fields/field.ts';
import { printable } from '../quote.ts';
import { moveNode, parseYaml, type ReportProblem, type YamlEntry } from '../yaml/document.ts';
import type { ConfigTexts } from './config-texts.ts';
import { readTextFile } from './read-text.ts';

export interface IncludeOptions {
  /** The configuration's own file, as it was named. */
  readonly file: string;
  readonly texts: ConfigTexts;
  readonly reading: FieldReading;
  readonly warn: ReportProblem;
  /** A file that cannot be read. */
  readonly refuse: (problem: ConfigProblem) => void;
}

/** The fault of permission bits that let others than the owner change a file. */
export function writableProblem(
  file: string,
  mode: number,
): { readonly message: string; readonly fix: string } | undefined {
  return (mode & 0o022) === 0
    ? undefined
    : { message: 'can be changed by other users', fix: `run \`chmod go-w ${file}\`` };
}

/** The keys of its mapping, at places among all texts; undefined for a file that was refused. */
export function readIncludedFile(
  file: string,
  { texts, reading, refuse }: IncludeOptions,
): { readonly text: string; readonly base: number; readonly entries: readonly YamlEntry[] } | undefined {
  const read = readTextFile(file);
  const isRead = 'text' in read;
  const base = texts.add(file, isRead ? read.text : '', isRead ? read.mode : 0);
  const wrong = isRead ? writableProblem(file, read.mode) : read;
  if (!isRead || wrong) {
    refuse({ line: 1, column: 1, ...wrong!, file: printable(file) });
    return undefined;
  }
  return { text: read.text, base, entries: entriesIn(read.text, base, reading.report) };
}

function entriesIn(text: string, base: number, report: ReportProblem): readonly YamlEntry[] {
  let isBroken = false;
  const parsed = parseYaml(text, (at, message, fix) => {
    isBroken = true;
    report(base + at, message, fix);
  });
  if (parsed === undefined || isBroken || (parsed.kind === 'scalar' && parsed.value === null)) return [];
  const root = moveNode(parsed, (at) => base + at);
  if (root.kind === 'map') return root.entries;
  report(root.at, 'an included file must be a mapping of keys', 'write `key: value` lines');
  return [];
}
