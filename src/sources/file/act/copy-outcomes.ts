/** Acts on decided copy candidates: a stream is read on in its copy, all of a copy was read already, or it is a file of its own. */
import { countLost, type Losing } from '../../../core/source.ts';
import { decideNoCopy } from '../decide/copies.ts';
import type { KnownFiles } from '../known/known-files.ts';
import { tailBefore } from '../known/nul-runs.ts';
import type { OpenFiles } from '../known/open-files.ts';
import type { StreamIdentities } from '../known/stream-identities.ts';
import { isDetached, isGone, type TrackedFile } from '../known/tracked-file.ts';
import { BIRTH_SLACK_MS } from '../limits.ts';
import type { CopyEnd } from '../observe/copy-matcher.ts';
import type { FileStat, FileSystem } from '../scan/file-system.ts';
import { LOWER_BOUND, type Notices } from '../scan/notices.ts';
import { isRotatedFrom } from '../scan/rotated-names.ts';
import type { Finder } from '../scan/finder.ts';

export interface CopyOutcomeOptions extends Losing {
  readonly fileSystem: FileSystem;
  readonly notices: Notices;
  readonly knownFiles: KnownFiles;
  readonly descriptors: OpenFiles;
  readonly identities: StreamIdentities;
  readonly finder: Finder;
}

/** The stream is read on in its copy. Seen bytes that the copy lacks are lost, unless they were read. */
export function moveInto(
  options: CopyOutcomeOptions,
  generation: TrackedFile,
  copy: TrackedFile,
  stat: FileStat,
  end?: CopyEnd,
): void {
  const { notices, knownFiles, descriptors, identities } = options;
  const { offset, offeredBytes } = generation.stream;
  const lostBytes = isDetached(generation)
    ? Math.max(0, generation.stream.endIn(generation.size) - Math.max(stat.size, offset + offeredBytes))
    : 0;
  countLost(options, generation.stream, lostBytes, generation.stream.endIn(generation.size), 'truncated');
  const fields = { path: generation.disk.path, copy: copy.disk.path, offset, size: stat.size, lostBytes };
  const text = `file was copied and truncated, reading on in its copy${LOWER_BOUND}`;
  notices.event(lostBytes > 0 ? 'warn' : 'info', fields, text);
  descriptors.close(generation);
  knownFiles.takeOver(generation, copy);
  knownFiles.remove(copy);
  descriptors.handOver(copy, generation);
  generation.disk.lastChange = 'copied';
  generation.size = generation.sureSize = stat.size;
  if (end) generation.stream.endAt(stat.size, end.sum, end.tail);
  // Its text may begin before the end of the NULs that were seen.
  else if (stat.size < generation.stream.nuls.gapEnd) generation.stream.beginAt(0, generation.stream.tail);
  // The copy may be shorter than the fingerprint.
  if (end) generation.stream.identity = { ...generation.stream.identity, ...end.fingerprint };
  // No file holds the bytes that were read beyond the copy's end.
  if (end || isGone(generation)) identities.spoolUnlinked(generation);
  else identities.stopSpooling(generation);
  identities.save(generation);
  knownFiles.enqueue(generation);
}

/** Marks all of the copy as read, in a stream of its own so that a restart knows it, too. Throws system errors: it is then undecided as before. */
export function noteRead(
  { fileSystem, notices, identities }: CopyOutcomeOptions,
  copy: TrackedFile,
  { size }: FileStat,
): void {
  notices.event('debug', { path: copy.disk.path, size }, 'file is a copy of what was read');
  copy.stream.beginAt(size, tailBefore(fileSystem, copy.disk.fd!, size));
  copy.size = size;
  copy.isNews = false;
  identities.mint(copy);
}

/** The file is no copy, of this stream as the last one: it is read from its beginning if it is one of the source's, or left to the next scan. */
export function takeUp(
  options: CopyOutcomeOptions,
  file: TrackedFile,
  { stream }: TrackedFile,
  wasFollowed: boolean,
): void {
  const { knownFiles, descriptors, finder } = options;
  const { disk } = file;
  disk.lastChange = 'new';
  const what = decideNoCopy({
    wasFollowed,
    isSeen: disk.place === 'matched' && disk.seenSize >= 0,
    isLast: isGone(file) && disk.fd !== undefined && finder.placeOf(disk.path) === 'matched',
    isRotatedSince: file.bornMs > stream.createdMs - BIRTH_SLACK_MS && isRotatedFrom(disk.path, stream, finder),
  });
  if (what === 'new') return follow(options, file);
  descriptors.close(file);
  knownFiles.remove(file);
}

function follow({ knownFiles, descriptors, identities }: CopyOutcomeOptions, file: TrackedFile): void {
  knownFiles.enqueue(file);
  if (file.disk.fd === undefined) return;
  try {
    // It was truncated since.
    if (!identities.mint(file)) file.size = file.sureSize = 0;
  } catch (error) {
    descriptors.fail(file, error);
  }
}
