/** The hours of an archive: a folder `<dataset>/<YYYY-MM-DD>/<HH>` each. What else lies in the archive's folder is left alone. */
import { rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { healManifest } from './manifest.ts';
import { entriesOf, foldersIn } from './reading/folders.ts';
import { LEVELS } from './reading/names.ts';

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

/** Removes it at once for whoever looks, and the folders above it that it leaves empty. */
export async function removeHour(root: string, folder: string): Promise<void> {
  const [day, gone] = [dirname(folder), `.${folder.slice(-2)}.gone`];
  await rename(join(root, folder), join(root, day, gone));
  await rm(join(root, day, gone), { recursive: true, force: true });
  for (const above of [day, dirname(day)]) {
    try {
      await rmdir(join(root, above));
    } catch {
      return;
    }
  }
}
