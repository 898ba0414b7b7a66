/** The hours of an archive: a folder `<dataset>/<YYYY-MM-DD>/<HH>` each. What else lies in the archive's folder is left alone. */
import { rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from '../../core/errors.ts';
import { healManifest, readManifest } from './manifest.ts';
import { entriesOf, foldersIn } from './reading/folders.ts';
import { LEVELS, type ManifestEntry } from './reading/names.ts';

/** An hour that is being removed: its manifest is not complete any more. */
const GONE = /^\.\d\d\.gone$/;

/** The bytes of all that are there, by folder; makes their manifests complete, and ends what a crash has left half done. */
export async function findHours(root: string): Promise<Map<string, number>> {
  const hours = new Map<string, number>();
  for (const day of await foldersIn(root, LEVELS.slice(0, 2))) {
    for (const { name } of await entriesOf(join(root, day)))
      if (GONE.test(name)) await rm(join(root, day, name), { recursive: true, force: true });
    for (const hour of await foldersIn(join(root, day), LEVELS.slice(2))) {
      const folder = `${day}/${hour}`;
      hours.set(folder, await healManifest(join(root, folder)));
    }
  }
  return hours;
}

const goneOf = (root: string, folder: string): string => join(root, dirname(folder), `.${folder.slice(-2)}.gone`);

/** Removes an hour at once for whoever looks; its entries, or undefined where others have removed it. */
export async function hideHour(root: string, folder: string): Promise<readonly ManifestEntry[] | undefined> {
  const { entries } = await readManifest(join(root, folder));
  await rm(goneOf(root, folder), { recursive: true, force: true });
  try {
    await rename(join(root, folder), goneOf(root, folder));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  return entries;
}

/** Frees the space of a hidden hour, and removes the folders above it that it leaves empty. */
export async function deleteHidden(root: string, folder: string): Promise<void> {
  await rm(goneOf(root, folder), { recursive: true, force: true });
  const day = dirname(folder);
  for (const above of [day, dirname(day)]) {
    try {
      await rmdir(join(root, above));
    } catch {
      return;
    }
  }
}
