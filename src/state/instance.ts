/**
 * `data_dir/instance`: the sources that ever started on the folder. It is a file beside the database, so that a lost database
 * does not make a known source look new: `start_at: end` would then skip what was never sent.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, TailraceError } from '../core/errors.ts';

/** Empty where there is none, or a broken one. */
export function readInstance(folder: string): ReadonlySet<string> {
  const file = join(folder, 'instance');
  if (!existsSync(file)) return new Set();
  try {
    const parsed: unknown = JSON.parse(readFileSync(file, 'utf8'));
    const sources = (parsed as { sources?: unknown }).sources;
    return new Set(Array.isArray(sources) ? sources.map(String) : []);
  } catch {
    return new Set();
  }
}

/** Durable once it returns. Throws `E_STATE` when the disk refuses; what was noted stays. */
export function writeInstance(folder: string, sources: Iterable<string>): void {
  const file = join(folder, 'instance');
  try {
    writeFileSync(`${file}.new`, `${JSON.stringify({ sources: [...sources].sort() })}\n`, { flush: true });
    renameSync(`${file}.new`, file);
  } catch (error) {
    throw new TailraceError('E_STATE', `cannot write "${file}": ${messageOf(error)}`, {
      fix: 'check the free space and the permissions of data_dir',
      cause: error,
    });
  }
}
