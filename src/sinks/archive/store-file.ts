/** Puts one batch into its hour: temporary file, fsync, rename, fsync of the folders, then its line in the manifest. */
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { addEntry, entryOf, readIfThere, readManifest } from './manifest.ts';

export interface ArchivedFile {
  readonly name: string;
  readonly key: string;
  readonly events: number;
  readonly body: Uint8Array;
}

/** Resolves with the bytes that were added: none where an earlier attempt, or process, had finished. */
export async function storeFile(root: string, folder: string, { name, key, events, body }: ArchivedFile): Promise<number> {
  const hour = join(root, folder);
  const made = await mkdir(hour, { recursive: true });
  const path = join(hour, name);
  const earlier = await readIfThere(path);
  if (!earlier) {
    const temporary = join(hour, `.${name}.tmp`);
    try {
      const file = await open(temporary, 'w', 0o640);
      try {
        await file.writeFile(body);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  } else if ((await readManifest(hour)).entries.some(({ file }) => file === name)) return 0;
  await syncFolder(hour);
  const entry = entryOf(name, key, events, earlier ?? body);
  await addEntry(hour, entry);
  // The manifest may be new.
  await syncFolder(hour);
  if (made !== undefined) for (let above = hour; above.length >= made.length && above !== '/';) await syncFolder((above = dirname(above)));
  return entry.bytes;
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
