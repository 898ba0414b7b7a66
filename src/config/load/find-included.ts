/** Which files the patterns of `include_config` name: `*` and `?` in the file's name, so that each costs one listing. */
import { readdirSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { codeOf, messageOf } from '../../core/errors.ts';
import { MAX_INCLUDED_FILES } from '../limits.ts';
import type { ReportProblem } from '../yaml/document.ts';
import { quote } from '../quote.ts';
import { fitsWildcards } from '../../core/text/wildcards.ts';

export interface IncludePattern {
  readonly text: string;
  /** Its index. */
  readonly at: number;
}

export interface FindOptions {
  /** The configuration's own file, as it was named; patterns are relative to its folder. */
  readonly file: string;
  readonly report: ReportProblem;
  readonly warn: ReportProblem;
}

/** Each file once, named as `file` is: those of one pattern in the order of their names. */
export function findIncluded(patterns: readonly IncludePattern[], options: FindOptions): string[] {
  const found = new Map<string, string>();
  for (const pattern of patterns) {
    for (const path of filesOf(pattern, options)) {
      const absolute = resolve(path);
      if (found.has(absolute) || absolute === resolve(options.file)) continue;
      if (found.size === MAX_INCLUDED_FILES) {
        options.report(
          pattern.at,
          `\`include_config\` names more than ${MAX_INCLUDED_FILES} files`,
          'join some of them',
        );
        return [...found.values()];
      }
      found.set(absolute, path);
    }
  }
  return [...found.values()];
}

function filesOf({ text, at }: IncludePattern, { file, report, warn }: FindOptions): string[] {
  const path = isAbsolute(text) ? text : join(dirname(file), text);
  const [folder, name] = [dirname(path), basename(path)];
  if (/[*?]/.test(dirname(text))) {
    report(
      at,
      `\`${quote(text)}\` has a wildcard in a folder's name`,
      'use `*` and `?` in the name of the file, and name each folder',
    );
    return [];
  }
  // A file named without wildcards must exist: reading it reports the problem.
  if (!/[*?]/.test(name)) return [path];
  const matches = nameMatcher(name);
  try {
    const names = readdirSync(folder, { withFileTypes: true }).filter(
      (entry) => matches(entry.name) && !entry.isDirectory(),
    );
    if (names.length > 0) return names.map((entry) => join(folder, entry.name)).toSorted();
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'ENOENT') {
      const fix = code === 'EACCES' ? 'let the user that runs tailrace read the folder' : 'name files in a folder';
      report(at, `cannot look for \`${quote(text)}\`: ${messageOf(error)}`, fix);
      return [];
    }
  }
  warn(at, `no file matches \`${quote(text)}\``, `it is looked for in ${quote(folder)}`);
  return [];
}

/** As in a shell: a name that begins with a dot is only matched by a pattern that does. */
const nameMatcher =
  (pattern: string) =>
  (name: string): boolean =>
    name.startsWith('.') === pattern.startsWith('.') && fitsWildcards(name, pattern, '*?');
