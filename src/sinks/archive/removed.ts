/** `removed.json` in the archive's folder: what `keep` and `max_bytes` removed so far, for `tailrace audit`. */
import { join } from 'node:path';
import type { Proof, RemovedBatches } from '../common/proof.ts';
import { readIfThere } from './manifest.ts';
import { type ManifestEntry, hourTime } from './reading/names.ts';
import { writeWhole } from './store-file.ts';

const FILE = 'removed.json';

/** By the key of the configuration; empty where nothing was removed, or others wrote the file. */
export async function readRemoved(root: string): Promise<Proof['removed']> {
  const text = (await readIfThere(join(root, FILE))) ?? '{}';
  try {
    const found = JSON.parse(String(text)) as Proof['removed'];
    const isSum = ({ until, hours, batches, events, bytes }: RemovedBatches): boolean =>
      typeof until === 'string' && [hours, batches, events, bytes].every((count) => Number.isSafeInteger(count));
    return Object.values(found).every(isSum) ? found : {};
  } catch {
    return {};
  }
}

export interface RemovedHour {
  /** The key of the configuration. */
  readonly because: string;
  /** `<dataset>/<YYYY-MM-DD>/<HH>`. */
  readonly folder: string;
  readonly entries: readonly ManifestEntry[];
}

export async function noteRemoved(root: string, hours: readonly RemovedHour[]): Promise<void> {
  const removed: Record<string, RemovedBatches> = { ...(await readRemoved(root)) };
  for (const { because, folder, entries } of hours) {
    const sum = removed[because] ?? { hours: 0, batches: 0, events: 0, bytes: 0, until: '' };
    removed[because] = {
      hours: sum.hours + 1,
      batches: sum.batches + entries.length,
      events: entries.reduce((total, { events }) => total + events, sum.events),
      bytes: entries.reduce((total, { bytes }) => total + bytes, sum.bytes),
      until: hourTime(folder) > sum.until ? hourTime(folder) : sum.until,
    };
  }
  await writeWhole(join(root, FILE), `${JSON.stringify(removed)}\n`);
}
