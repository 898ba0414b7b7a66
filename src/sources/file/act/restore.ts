/**
 * Takes up the streams of earlier processes before a start reads anything: observes all their files, lets `decideSaved` decide how each
 * changed, and `ChangeHandler` act on that. A file that is not recognised is read from 0: rather twice than never.
 */
import { setImmediate } from 'node:timers/promises';
import type { StreamRecord } from '../../../core/stream.ts';
import { isDetached, isRotated } from '../known/tracked-file.ts';
import { BIRTH_SLACK_MS } from '../limits.ts';
import { FolderNames } from '../scan/rotated-names.ts';
import type { KnownFiles } from '../known/known-files.ts';
import type { ChangeHandler } from './change-handler.ts';
import type { Copies } from './copies.ts';
import { decideSaved } from '../decide/decide.ts';
import { firstPlaceOf, SavedFiles, type SavedFilesOptions } from '../observe/saved-files.ts';
import type { Tracker } from './tracker.ts';

export interface RestoreFilesOptions extends SavedFilesOptions {
  readonly tracker: Tracker;
  readonly handler: ChangeHandler;
  readonly copies: Copies;
  readonly knownFiles: KnownFiles;
  /** True for a path that a scan comes to, if something is there. */
  readonly isReached: (path: string) => boolean;
}

/** Takes up every record, and every file that rotation made of a record's file since. Counts files; no pattern leads to those left out. */
export async function restore(
  stored: readonly StreamRecord[],
  options: RestoreFilesOptions,
): Promise<Record<'recognized' | 'away' | 'unmatched', number>> {
  const { tracker, handler, copies, knownFiles, fileSystem, isReached } = options;
  const saved = new SavedFiles(options);
  const names = new FolderNames(fileSystem);
  const records = stored.map((record) => saved.shorten(withRealPath(record, names)));
  const changes = decideSaved(records.toReversed().map((record) => saved.observe(record, isReached)));
  for (const change of changes) handler.resume(change);
  const detached = [...knownFiles.detached];
  const [away, unmatched] = [knownFiles.gone.size, knownFiles.unmatched.size];
  const recognized = knownFiles.files.size - detached.length - away;
  copies.seek(detached, names);
  while (copies.decide()) await setImmediate();
  // Truncated, or created under a free inode, and rotated away: it is read unless a stream has it by now.
  tracker.take(
    changes.flatMap(({ kind, record, found }) =>
      kind === 'replaced' ? [{ found: found!, of: firstPlaceOf(record) }] : [],
    ),
  );
  // Streams are made later than their files, and others may have been made in between.
  const lastBorn = new Map<string, number>();
  for (const file of knownFiles.files) {
    const { firstPath } = file.stream;
    if (isRotated(file) && !isDetached(file) && file.bornMs > 0)
      lastBorn.set(firstPath, Math.max(file.bornMs, lastBorn.get(firstPath) ?? 0));
  }
  const made = new Map(records.filter(({ path }) => isReached(path)).map((record) => [record.path, record]));
  for (const [path, record] of made)
    tracker.expectAt(firstPlaceOf(record), Math.min(record.createdMs, lastBorn.get(path) ?? Infinity), names);
  // A file that is younger than its stream is a copy: what was written to its original since may have been rotated away.
  for (const file of [...knownFiles.files]) {
    if (isRotated(file) && file.bornMs > file.stream.createdMs - BIRTH_SLACK_MS)
      tracker.takeBeside(file.stream, names, ({ stat }) => stat.mtimeMs >= file.bornMs);
  }
  return { recognized, away, unmatched };
}

/** A database of an earlier version has no real paths: then where the path leads now. */
function withRealPath(record: StreamRecord, names: FolderNames): StreamRecord {
  const { path, identity } = record;
  if (!identity || identity.realPath !== undefined) return record;
  try {
    const realPath = names.realPath(path) ?? path;
    return realPath === path ? record : { ...record, identity: { ...identity, realPath } };
  } catch {
    // The finder names folders that cannot be read.
    return record;
  }
}
