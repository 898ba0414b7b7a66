/**
 * The generations of files, each one stream: begins one when a file is new, truncated or changed in place, and notes that one ended, so that its
 * copy is looked for (`KnownFiles.changed`).
 */
import type { EventShape, Tail } from '../../../core/block.ts';
import { countLost } from '../../../core/source.ts';
import { isUntouched } from '../known/content.ts';
import { InPlaceChanges, type InPlaceOptions, READ_AGAIN } from '../known/in-place.ts';
import type { KeptStretch } from '../known/kept-content.ts';
import type { KnownFiles } from '../known/known-files.ts';
import type { Maintenance } from '../known/maintenance.ts';
import type { NulGaps } from '../known/nul-gap.ts';
import type { OpenFiles } from '../known/open-files.ts';
import type { RotationChain } from '../known/rotation-chain.ts';
import type { StreamIdentities } from '../known/stream-identities.ts';
import { newTrackedFile, type TrackedFile } from '../known/tracked-file.ts';
import type { CopyMatcher } from '../observe/copy-matcher.ts';
import { type ContentLook, lookAtContent } from '../observe/observe-file.ts';
import { type FileStat, inodeKey } from '../scan/file-system.ts';
import type { Finder, FoundFile } from '../scan/finder.ts';
import { LOWER_BOUND } from '../scan/notices.ts';
import type { FirstPlace } from '../scan/rotated-names.ts';

export interface GenerationsOptions extends InPlaceOptions {
  readonly knownFiles: KnownFiles;
  readonly descriptors: OpenFiles;
  readonly identities: StreamIdentities;
  readonly gaps: NulGaps;
  readonly chain: RotationChain;
  readonly maintenance: Maintenance;
  readonly matcher: CopyMatcher;
  readonly finder: Finder;
  readonly shapeOf: (path: string) => EventShape;
}

export class Generations {
  readonly #options: GenerationsOptions;
  readonly #inPlace: InPlaceChanges;

  constructor(options: GenerationsOptions) {
    this.#options = options;
    this.#inPlace = new InPlaceChanges(options);
  }

  /** Follows the file from now on. */
  add(file: TrackedFile): void {
    this.#options.knownFiles.add(file);
    this.#options.chain.add(file);
  }

  /** Starts to follow a file that was not known. */
  track({ path, stat }: FoundFile): TrackedFile {
    const { knownFiles } = this.#options;
    const file = this.#newFile(path, stat);
    const readBefore = knownFiles.readBefore.get(inodeKey(stat));
    if (readBefore !== undefined) {
      file.stream.nuls.minGap = Math.min(file.stream.nuls.minGap, readBefore);
      file.stream.nuls.isAfterTruncation = true;
    }
    // What lies beside a file from before the first scan may have been left out on purpose.
    if (knownFiles.scan > 1) file.nextBornMs = stat.bornMs;
    this.add(file);
    return file;
  }

  /** A file that is beside a matching one, or was until a moment ago. */
  trackAside(path: string, stat: FileStat, of: FirstPlace): TrackedFile {
    const { finder, knownFiles } = this.#options;
    const place = finder.placeOf(path);
    const file = place === 'matched' ? this.#newFile(path, stat) : this.#newFile(of.firstPath, stat, of.realPath);
    Object.assign(file.disk, { path, place, scan: knownFiles.scan });
    this.add(file);
    return file;
  }

  /**
   * The file was truncated, or replaced under its inode: it begins a new stream, read from 0. `copies.settle` looks for the unread rest
   * of the old one, which is else counted as lost.
   */
  renew(file: TrackedFile, isTruncated = false): TrackedFile {
    // An earlier stat may be of the old content.
    const { fileSystem, knownFiles, descriptors, gaps, chain, matcher } = this.#options;
    const stat = fileSystem.fstat(file.disk.fd!);
    const isCopied = isTruncated || (file.stream.id !== undefined && matcher.mayHaveCopy(file));
    const change = isCopied ? READ_AGAIN : this.#inPlace.judge(file, stat.size);
    if (change.kind === 'later') return file;
    if (change.kind === 'go on') return this.goOn(file, stat, change.kept, change.tail);
    file.disk.lastChange = 'truncated';
    const endsInText = gaps.endsInText(file.disk.fd!, stat.size);
    const isFilled = gaps.wasFilled(file, stat.size, file.stream.endIn(file.sureSize));
    // Under a matching path it is a file of its own, else what is left of the rotated one.
    const { firstPath, realPath, shape } = file.stream;
    // The file is older than what is in it now.
    const now = { ...stat, bornMs: 0 };
    const isFirst = file.disk.place !== 'matched' || file.disk.path === firstPath;
    const next = isFirst ? this.#newFile(firstPath, now, realPath, shape) : this.#newFile(file.disk.path, now);
    // What the first scan found in it may be younger than the file, too: the chain then goes by the stream.
    if (file.appearedInScan <= 1) file.bornMs = 0;
    // Bytes seen by a stat alone may be the next stream's.
    file.size = Math.max(file.stream.offset, Math.min(file.size, file.sureSize));
    // A program that does not append writes on behind that.
    if (file.size > 0) next.stream.nuls.minGap = Math.min(next.stream.nuls.minGap, file.size);
    next.stream.nuls.isAfterTruncation = file.size > 0 && !isFilled;
    if (isFilled || change.isThere) file.size = file.stream.position;
    next.stream.readFromMs = change.readFromMs;
    knownFiles.takeOver(next, file);
    chain.add(next);
    descriptors.handOver(file, next);
    next.disk.seenSize = stat.size;
    next.sureSize = endsInText ? stat.size : 0;
    next.disk.seenMtimeMs = stat.mtimeMs;
    next.disk.changedAtMs = file.disk.goneSinceMs = this.#now;
    knownFiles.changed.add(next);
    if (file.stream.id === undefined) knownFiles.remove(file);
    else knownFiles.changed.add(file);
    return next;
  }

  /**
   * The open file is read on behind `kept`, as a stream of its own. The stream before is expired: what was read of it is in no file any more
   * as it was, and goes to the disk buffer. Throws system errors. `tail`: of the bytes before the end of `kept`.
   */
  goOn(file: TrackedFile, stat: FileStat, kept: KeptStretch, tail: Tail): TrackedFile {
    const { identities, knownFiles, descriptors, maintenance } = this.#options;
    const next = this.#newFile(file.stream.firstPath, stat, file.stream.realPath, file.stream.shape);
    const { beginsInLine: _, endsInLine: __, headers: ___, ...identity } = file.stream.identity;
    next.stream.identity = identity;
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

  /** The file's present generation: another one where the known content is gone. */
  current(file: TrackedFile): TrackedFile {
    return this.noteLook(file, lookAtContent(file, this.#options));
  }

  /** The same, as seen a moment ago. `isTruncated`: a copy has the bytes read of it. */
  noteLook(file: TrackedFile, look: ContentLook, isTruncated = false): TrackedFile {
    const { descriptors, gaps } = this.#options;
    if (look.kind === 'unknown' && look.trouble !== undefined) descriptors.fail(file, look.trouble);
    try {
      if (look.kind === 'changed') return this.renew(file, isTruncated);
      if (look.kind === 'same') gaps.noteSize(file, look.size);
    } catch (error) {
      descriptors.fail(file, error);
    }
    return file;
  }

  /**
   * The file ends at `end`, before its size as seen: unless it is growing right now, a part of its unfinished line was cut off.
   * Where all of it was, the next turn begins a new generation, and looks for the rest of this one in copies.
   */
  noteCut(file: TrackedFile, end: number, nulsBefore = file.stream.nuls.last): void {
    const { fileSystem, notices } = this.#options;
    if (
      file.disk.fd === undefined ||
      fileSystem.fstat(file.disk.fd).size > end ||
      !isUntouched(fileSystem, file.disk.fd, file.stream)
    )
      return;
    const lostBytes = Math.max(0, file.stream.endIn(file.sureSize, nulsBefore) - end);
    countLost(this.#options, file.stream, lostBytes, end + lostBytes, 'cut_off');
    if (lostBytes > 0)
      notices.event(
        'warn',
        { path: file.disk.path, size: end, lostBytes },
        `the end of a file was cut off before it was read${LOWER_BOUND}`,
      );
    file.size = file.sureSize = end;
  }

  #newFile(path: string, stat: FileStat, realPath = path, shape = this.#options.shapeOf(path)): TrackedFile {
    const file = newTrackedFile(path, stat, shape, this.#now, this.#options.knownFiles.scan);
    file.stream.realPath = realPath;
    return file;
  }

  get #now(): number {
    return this.#options.clock.monotonic();
  }
}
