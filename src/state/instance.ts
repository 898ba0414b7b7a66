/**
 * `data_dir/instance`: the sources that ever started on the folder. It is a file beside the database, so that a lost database
 * does not make a known source look new: `start_at: end` would then skip unsent events.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, messageOf, TailraceError } from '../core/errors.ts';
import { writeDurably } from './descriptors.ts';

const NAME = 'instance';

/** Empty if the file is missing or broken. Throws `E_STATE` when it cannot be read now: that must not make sources look new. */
export function readInstance(folder: string): ReadonlySet<string> {
  const file = join(folder, NAME);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return new Set();
    throw refused('read', file, error);
  }
  try {
    const { sources } = JSON.parse(text) as { sources?: unknown };
    return new Set(Array.isArray(sources) ? sources.map(String) : []);
  } catch {
    return new Set();
  }
}

/** Durable once it returns. Throws `E_STATE` when the disk refuses; earlier notes stay. */
export function writeInstance(folder: string, sources: Iterable<string>): void {
  try {
    writeDurably(folder, NAME, Buffer.from(`${JSON.stringify({ sources: [...sources].sort() })}\n`));
  } catch (error) {
    throw refused('write', join(folder, NAME), error);
  }
}

function refused(what: string, file: string, error: unknown): TailraceError {
  return new TailraceError('E_STATE', `cannot ${what} "${file}": ${messageOf(error)}`, {
    fix: 'check the free space and the permissions of data_dir',
    cause: error,
  });
}
