/** The name of a Docker container, from the file beside its log. */
import { dirname, join } from 'node:path';
import { readSmallFile } from '../../config/connect/small-file.ts';

const MAX_BYTES = 1024 * 1024;

/** Undefined where the file cannot be read, or names none. */
export function containerNameOf(logPath: string): string | undefined {
  try {
    const path = join(dirname(logPath), 'config.v2.json');
    const bytes = readSmallFile({ path, what: 'container description', maxBytes: MAX_BYTES, code: 'E_CONTAINER' });
    const { Name } = JSON.parse(bytes.toString('utf8')) as { Name?: unknown };
    return typeof Name === 'string' && Name !== '' ? Name.replace(/^\//, '').slice(0, 256) : undefined;
  } catch {
    return undefined;
  }
}
