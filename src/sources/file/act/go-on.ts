/** Begins a stream in the middle of a file, behind what another stream read of it. */
import type { Tail } from '../../../core/block.ts';
import type { FileStat } from '../scan/file-system.ts';
import type { KnownFiles } from '../known/known-files.ts';
import type { KeptStretch } from '../known/kept-content.ts';
import type { Maintenance } from '../known/maintenance.ts';
import type { OpenFiles } from '../known/open-files.ts';
import type { StreamIdentities } from '../known/stream-identities.ts';
import { newTrackedFile, type TrackedFile } from '../known/tracked-file.ts';

export interface GoOnOptions {
  readonly knownFiles: KnownFiles;
  readonly descriptors: OpenFiles;
  readonly identities: StreamIdentities;
  readonly maintenance: Maintenance;
  readonly now: number;
  /** The number of the scan under way. */
  readonly scan: number;
}

export interface Beginning {
  readonly kept: KeptStretch;
  /** Of the bytes before its end. */
  readonly tail: Tail;
}

/**
 * The open file is read on behind `kept`, as a stream of its own. The stream before is expired: what was read of it is in no file any more as
 * it was, and goes to the disk buffer. Throws system errors.
 */
export function goOn(options: GoOnOptions, file: TrackedFile, stat: FileStat, { kept, tail }: Beginning): TrackedFile {
  const { knownFiles, descriptors, identities, maintenance, now, scan } = options;
  const next = newTrackedFile(file.stream.firstPath, stat, file.stream.shape, now, scan);
  const { beginsInLine: _, endsInLine: __, headers: ___, ...identity } = file.stream.identity;
  Object.assign(next.stream, { identity, realPath: file.stream.realPath });
  next.stream.goOn(kept, tail);
  next.stream.readFromMs = file.stream.readFromMs;
  identities.noteDeleted(file);
  identities.noteRead(file);
  knownFiles.takeOver(next, file);
  descriptors.handOver(file, next);
  knownFiles.remove(file);
  maintenance.expire(file.stream.id!);
  identities.mint(next, kept);
  return next;
}
