/** `removed.json` in the archive's folder: what `keep` and `max_bytes` removed so far, for `tailrace audit`. */
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Proof } from '../common/proof.ts';
import { readIfThere } from './manifest.ts';
import type { ManifestEntry } from './reading/names.ts';

const FILE = 'removed.json';

/** By the key of the configuration; empty where nothing was removed, or others wrote the file. */
export async function readRemoved(root: string): Promise<Proof['removed']> {
  try {
    const found = JSON.parse(String((await readIfThere(join(root, FILE))) ?? '{}')) as Proof['removed'];
    const isWhole = Object.values(found).every(
      ({ until, hours, batches, events, bytes }) =>
        typeof until === 'string' && [hours, batches, events, bytes].every((count) => Number.isSafeInteger(count)),
    );
    return isWhole ? found : {};
  } catch {
    return {};
  }
}

/** Adds an hour, `YYYY-MM-DD/HH`, with the entries of its manifest. */
export async function noteRemoved(root: string, because: string, hour: string, entries: readonly ManifestEntry[]): Promise<void> {
  const removed = await readRemoved(root);
  const { hours, batches, events, bytes, until } = removed[because] ?? { hours: 0, batches: 0, events: 0, bytes: 0, until: hour };
  const sum = {
    hours: hours + 1,
    batches: batches + entries.length,
    events: entries.reduce((total, entry) => total + entry.events, events),
    bytes: entries.reduce((total, entry) => total + entry.bytes, bytes),
    until: hour > until ? hour : until,
  };
  const temporary = join(root, `.${FILE}.tmp`);
  const file = await open(temporary, 'w', 0o640);
  try {
    await file.writeFile(`${JSON.stringify({ ...removed, [because]: sum })}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, join(root, FILE));
}
