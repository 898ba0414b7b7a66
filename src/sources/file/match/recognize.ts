/**
 * At a start, before anything is read: matches the records of earlier processes with the files that are there, and looks for copies of
 * those that are gone. A file that is not recognised is read from 0: rather twice than never.
 */
import { setImmediate } from 'node:timers/promises';
import type { StreamRecord } from '../../../core/stream.ts';
import { isDetached, isRotated } from '../known/tracked-file.ts';
import { BIRTH_SLACK_MS } from '../limits.ts';
import type { FoundFile } from '../scan/finder.ts';
import { FolderNames } from '../scan/rotated-names.ts';
import type { Restored } from './restored.ts';
import { SavedFiles, type SavedFilesOptions } from './saved-files.ts';
import type { Generations } from './generations.ts';
import type { Tracker } from './tracker.ts';

export interface RecognizeOptions extends SavedFilesOptions {
  readonly records: readonly StreamRecord[];
  readonly tracker: Tracker;
  readonly generations: Generations;
  readonly restored: Restored;
  /** True for a path that a scan comes to, if something is there. */
  readonly isReached: (path: string) => boolean;
}

/** Has `restored` take up every record, and the tracker every file that rotation made of one since. */
export async function recognizeFiles(options: RecognizeOptions): Promise<void> {
  const { records, tracker, generations, restored, fileSystem, isReached } = options;
  const saved = new SavedFiles(options);
  const names = new FolderNames(fileSystem);
  const replaced: [StreamRecord, FoundFile][] = [];
  // The newest first: an older generation of the same inode can only be what is left of it.
  for (const record of [...records].reverse()) {
    const there = saved.locate(record);
    const change = saved.match(record, there, (file) => generations.holdings.in(file) !== undefined);
    restored.apply(record, change, there);
    if (there && change === 'replaced') replaced.push([record, there]);
  }
  generations.copies.seek(restored.detached, names);
  while (generations.copies.decide()) await setImmediate();
  // Truncated, or created under a free inode, and rotated away: it is read unless a stream has it by now.
  for (const [record, file] of replaced) tracker.takeRotated(file, record.path);
  // Streams are made later than their files, and others may have been made in between.
  const lastBorn = new Map<string, number>();
  for (const file of generations.holdings.files) {
    const { firstPath } = file.stream;
    if (isRotated(file) && !isDetached(file) && file.bornMs > 0)
      lastBorn.set(firstPath, Math.max(file.bornMs, lastBorn.get(firstPath) ?? 0));
  }
  const made = new Map(records.filter(({ path }) => isReached(path)).map((record) => [record.path, record.createdMs]));
  for (const [path, createdMs] of made) tracker.expectAt(path, Math.min(createdMs, lastBorn.get(path) ?? createdMs), names);
  // What is younger than its stream is a copy: its original was there before, and what was written to that since may have been rotated away.
  for (const file of [...generations.holdings.files]) {
    const { firstPath, createdMs } = file.stream;
    if (isRotated(file) && file.bornMs > createdMs - BIRTH_SLACK_MS) tracker.findWritten(firstPath, file.bornMs, names);
  }
}
