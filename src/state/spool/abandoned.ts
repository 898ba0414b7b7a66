/** Disk buffers of sinks that were removed from the configuration: their batches are kept and reported. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { MAX_COMPONENTS } from '../../core/limits.ts';
import { listFolder } from '../list-folder.ts';

export interface AbandonedSpool {
  readonly sink: string;
  readonly folder: string;
  readonly files: number;
  readonly bytes: number;
}

/** `root` is the folder of all disk buffers. Empty ones are left out. Throws `E_DATA_DIR`. */
export function findAbandoned(root: string, sinks: ReadonlySet<string>): AbandonedSpool[] {
  return listFolder(root)
    .filter((sink) => !sinks.has(sink) && statSync(join(root, sink), { throwIfNoEntry: false })?.isDirectory() === true)
    .slice(0, MAX_COMPONENTS)
    .flatMap((sink): AbandonedSpool[] => {
      const folder = join(root, sink);
      const batches = listFolder(folder).filter((name) => name.endsWith('.batch'));
      const sizes = batches.map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0);
      return batches.length === 0
        ? []
        : [{ sink, folder, files: batches.length, bytes: sizes.reduce((sum, size) => sum + size, 0) }];
    });
}
