/** Lists the repository's own files for the checks: no packages, no build output, no data. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const NOT_OURS = new Set([
  'node_modules',
  'dist',
  'coverage',
  'tailrace-data',
  'tailrace-service',
  'service-data',
  '.git',
  '.tmp',
]);

/** A star matches no name that begins with a dot. */
const OURS = ['**/*', '.*', '.ci/*', '.github/**/*'];

/** Paths relative to `root`, sorted, of all files whose name ends in one of `endings`. */
export function listFiles(root: string, endings: readonly string[]): string[] {
  const found = globSync(OURS, { cwd: root, exclude: (entry) => NOT_OURS.has(entry.name), withFileTypes: true });
  return found
    .filter((entry) => entry.isFile() && endings.some((ending) => entry.name.endsWith(ending)))
    .map((entry) => join(entry.parentPath, entry.name).slice(join(root, '/').length))
    .toSorted();
}

export function readText(root: string, path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** The 1-based line of a position in a text. */
export function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
