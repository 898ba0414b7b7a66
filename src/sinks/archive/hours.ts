/** The hours of an archive: a folder `<dataset>/<YYYY-MM-DD>/<HH>` each. What else lies in the archive's folder is left alone. */
import { rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from '../../core/errors.ts';
import { healManifest, readManifest } from './manifest.ts';
import { entriesOf, foldersIn } from './reading/folders.ts';
import { LEVELS, timeOf } from './reading/names.ts';
import { noteRemoved } from './removed.ts';

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

/** Removes it at once for whoever looks, and the folders above it that it leaves empty. False where others have removed it. */
export async function removeHour(root: string, folder: string, because: string): Promise<boolean> {
  const day = dirname(folder);
  const gone = join(root, day, `.${folder.slice(-2)}.gone`);
  const { entries } = await readManifest(join(root, folder));
  await rm(gone, { recursive: true, force: true });
  try {
    await rename(join(root, folder), gone);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
  await rm(gone, { recursive: true, force: true });
  // Behind that: the disk may be full.
  await noteRemoved(root, because, timeOf(folder), entries);
  for (const above of [day, dirname(day)]) {
    try {
      await rmdir(join(root, above));
    } catch {
      break;
    }
  }
  return true;
}
