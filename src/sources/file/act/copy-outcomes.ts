/**
 * Acts on decided copy candidates: a stream is read on in its copy, all of a copy was read already, or it is a file of its own.
 */
import { BIRTH_SLACK_MS } from '../limits.ts';
import { countLost, type Losing } from '../../../core/source.ts';
import type { CopyEnd } from '../observe/copy-matcher.ts';
import type { FileStat, FileSystem } from '../scan/file-system.ts';
import type { StreamIdentities } from '../known/stream-identities.ts';
import { LOWER_BOUND, type Notices } from '../scan/notices.ts';
import type { OpenFiles } from '../known/open-files.ts';
import type { KnownFiles } from '../known/known-files.ts';
import { tailBefore } from '../known/nul-runs.ts';
import { isDetached, isGone, type TrackedFile } from '../known/tracked-file.ts';
import type { Generations } from './generations.ts';

export interface CopyOutcomesOptions extends Losing {
  readonly fileSystem: FileSystem;
  readonly notices: Notices;
  readonly knownFiles: KnownFiles;
  readonly descriptors: OpenFiles;
  readonly identities: StreamIdentities;
  readonly generations: Generations;
}

export class CopyOutcomes {
  readonly #options: CopyOutcomesOptions;

  constructor(options: CopyOutcomesOptions) {
    this.#options = options;
  }

  /** The stream is read on in its copy. Seen bytes that the copy lacks are lost, unless they were read. */
  moveInto(generation: TrackedFile, copy: TrackedFile, stat: FileStat, end?: CopyEnd): void {
    const { notices, knownFiles, descriptors, identities } = this.#options;
    const { offset, offeredBytes } = generation.stream;
    const lostBytes = isDetached(generation)
      ? Math.max(0, generation.stream.endIn(generation.size) - Math.max(stat.size, offset + offeredBytes))
      : 0;
    countLost(this.#options, generation.stream, lostBytes, generation.stream.endIn(generation.size), 'truncated');
    const fields = { path: generation.disk.path, copy: copy.disk.path, offset, size: stat.size, lostBytes };
    notices.event(
      lostBytes > 0 ? 'warn' : 'info',
      fields,
      `file was copied and truncated, reading on in its copy${LOWER_BOUND}`,
    );
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
    // What was read beyond the copy's end is in no file any more.
    if (end || isGone(generation)) identities.noteDeleted(generation);
    else identities.noteFound(generation);
    identities.save(generation);
    knownFiles.enqueue(generation);
  }

  /** Nothing of the file is to be read. A stream of its own says so, also after a restart. Throws system errors: it is then undecided as before. */
  noteRead(copy: TrackedFile, { size }: FileStat): void {
    const { fileSystem, notices, identities } = this.#options;
    notices.event('debug', { path: copy.disk.path, size }, 'file is a copy of what was read');
    copy.stream.beginAt(size, tailBefore(fileSystem, copy.disk.fd!, size));
    copy.size = size;
    copy.isNews = false;
    identities.mint(copy);
  }

  /** The file is no copy: it is read from its beginning if it is one of the source's, or left to the next scan. */
  takeUp(file: TrackedFile, generation: TrackedFile, wasFollowed: boolean): void {
    const { knownFiles, descriptors, generations } = this.#options;
    const isBornSince = file.bornMs > generation.stream.createdMs - BIRTH_SLACK_MS;
    // Before a scan came to it, the file that it is a copy of may not be known either.
    const isSeen = file.disk.place === 'matched' && file.disk.seenSize >= 0;
    // No scan comes to one that was deleted.
    const isLast = isGone(file) && file.disk.fd !== undefined && generations.placeOf(file.disk.path) === 'matched';
    const isRotated = isBornSince && generations.isRotatedFrom(file.disk.path, generation.stream);
    file.disk.lastChange = 'new';
    if (wasFollowed || isSeen || isLast || isRotated) return this.#follow(file);
    descriptors.close(file);
    knownFiles.remove(file);
  }

  #follow(file: TrackedFile): void {
    const { knownFiles, descriptors, identities } = this.#options;
    knownFiles.enqueue(file);
    if (file.disk.fd === undefined) return;
    try {
      // It was truncated since.
      if (!identities.mint(file)) file.size = file.sureSize = 0;
    } catch (error) {
      descriptors.fail(file, error);
    }
  }
}
