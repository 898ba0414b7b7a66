/** Lists the hours of an archive. What else lies in its folder is left alone, and no symbolic link is followed. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, messageOf } from '../../../core/errors.ts';
import { hourTime, LEVELS } from './names.ts';

/** Called for each path that is left out, with the reason. */
export type LeftOut = (path: string, why: string) => void;

export const LINK = 'it is a symbolic link, which is not followed';

/** All hours, the oldest first. */
export async function listHours(root: string, leftOut: LeftOut): Promise<string[]> {
  const hours = await foldersIn(root, LEVELS, leftOut);
  return hours.sort((a, b) => (hourTime(a) < hourTime(b) || (hourTime(a) === hourTime(b) && a < b) ? -1 : 1));
}

/** The folders so many levels below, as paths from `root`. Without `leftOut` throws where one cannot be listed. */
export async function foldersIn(
  root: string,
  [level, ...deeper]: readonly RegExp[],
  leftOut?: LeftOut,
): Promise<string[]> {
  if (!level) return [''];
  const found: string[] = [];
  for (const entry of await entriesOf(root, leftOut)) {
    if (!level.test(entry.name)) continue;
    const path = join(root, entry.name);
    if (entry.isSymbolicLink()) leftOut?.(path, LINK);
    if (!entry.isDirectory()) continue;
    for (const below of await foldersIn(path, deeper, leftOut))
      found.push(below === '' ? entry.name : `${entry.name}/${below}`);
  }
  return found;
}

export async function entriesOf(folder: string, leftOut?: LeftOut) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && !leftOut) throw error;
    if (codeOf(error) !== 'ENOENT') leftOut?.(folder, `it cannot be listed: ${messageOf(error)}`);
    return [];
  }
}
