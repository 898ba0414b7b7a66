/** Puts one batch into its hour: temporary file, fsync, rename, fsync of the folders, then its line in the manifest. */
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf } from '../../core/errors.ts';
import { addEntry, entryOf, readIfThere, readManifest } from './manifest.ts';

export interface ArchivedFile {
  readonly name: string;
  readonly key: string;
  readonly events: number;
  readonly body: Uint8Array;
}

/**
 * Resolves with the bytes that were added: none where an earlier attempt, or process, had finished. `unsynced`: folders that may
 * have got a new one.
 */
export async function storeFile(
  root: string,
  folder: string,
  { name, key, events, body }: ArchivedFile,
  unsynced: Set<string>,
): Promise<number> {
  const hour = join(root, folder);
  const made = await mkdir(hour, { recursive: true });
  if (made !== undefined)
    for (let above = hour; above.length >= made.length && above !== '/';) unsynced.add((above = dirname(above)));
  for (const above of unsynced) {
    await syncFolder(above).catch((error: unknown) => {
      // It was removed meanwhile, with its hours.
      if (codeOf(error) !== 'ENOENT') throw error;
    });
    unsynced.delete(above);
  }
  const path = join(hour, name);
  const earlier = await readIfThere(path);
  const isListed = earlier !== undefined && (await readManifest(hour)).entries.some(({ file }) => file === name);
  if (!earlier) await writeWhole(path, body);
  const entry = entryOf(name, key, events, earlier ?? body);
  if (!isListed) {
    await syncFolder(hour);
    await addEntry(hour, entry);
  }
  // The manifest may be new.
  await syncFolder(hour);
  return isListed ? 0 : entry.bytes;
}

/** Nobody sees it half written. */
export async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.tmp`);
  try {
    const file = await open(temporary, 'w', 0o640);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
