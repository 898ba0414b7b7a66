/** Observes by content whether a file may be a copy of another one; compares at most COPY_CHECK_BYTES in a scan. Acts on nothing. */
import type { Tail } from '../../../core/block.ts';
import { HEAD_BYTES, TAIL_BYTES } from '../../../core/limits.ts';
import type { FileIdentity } from '../../../core/stream.ts';
import { compare, CopyComparison, fingerprintOfText, hasFingerprint, type ContentVerdict } from '../known/content.ts';
import { basesOf, type CopyCandidate, extendsName } from '../known/copy-candidate.ts';
import type { KnownFiles } from '../known/known-files.ts';
import type { OpenFiles } from '../known/open-files.ts';
import { isDetached, isGone, isUnread, type TrackedFile } from '../known/tracked-file.ts';
import { COPY_CHECK_BYTES, DECIDE_COPY_MS } from '../limits.ts';
import { type FileStat, type FileSystem, readHead, withOpenIfReadable } from '../scan/file-system.ts';
import { FolderNames } from '../scan/rotated-names.ts';
import type { CopyFacts } from '../decide/table.ts';
import { tailBefore } from '../known/nul-runs.ts';
import { checkHolder, type ContentLook, lookAtContent } from './observe-file.ts';

export interface CopyMatcherOptions {
  readonly fileSystem: FileSystem;
  readonly descriptors: OpenFiles;
  readonly knownFiles: KnownFiles;
}

/** Fingerprint, checksum and last bytes of a copy that has less than was read. */
export interface CopyEnd {
  readonly fingerprint: Pick<FileIdentity, 'headLength' | 'headHash'>;
  readonly sum: number;
  readonly tail: Tail;
}

/** A candidate beside the present one of its originals. */
export interface CopyObservation {
  readonly facts: CopyFacts;
  /** The content under the descriptor of an original that is still there. */
  readonly look?: ContentLook;
}

export class CopyMatcher {
  readonly #options: CopyMatcherOptions;
  /** This scan has compared as many bytes as one may. */
  isSpent = false;

  constructor(options: CopyMatcherOptions) {
    this.#options = options;
  }

  /** True where a file beside it begins like the generation, which is still in its file, and has as much as was seen of that. */
  mayHaveCopy(generation: TrackedFile): boolean {
    const { fileSystem, knownFiles } = this.#options;
    const names = new FolderNames(fileSystem);
    const beside = basesOf(generation).flatMap((base) => names.extending(base));
    return beside.some((found) => {
      const known = knownFiles.in(found.stat);
      const isNamed = known?.stream.id !== undefined && checkHolder(known, found, fileSystem).content !== 'different';
      if (found.stat.size < generation.stream.endIn(generation.sureSize) || isNamed) return false;
      const { identity } = generation.stream;
      const head = withOpenIfReadable(fileSystem, found.path, (fd) => readHead(fileSystem, fd, identity.headLength));
      return head !== undefined && identity.headLength > 0 && hasFingerprint(identity, head);
    });
  }

  #look(file: TrackedFile): ContentLook {
    return lookAtContent(file, { ...this.#options, matcher: this });
  }

  /** An original that has a name, beside the candidate. `isLater`: a change of it is known, and waits for the end of its turn. */
  observeOriginal(file: TrackedFile, original: TrackedFile, isSettled: boolean, isLater = false): CopyObservation {
    const { descriptors } = this.#options;
    const there = { original: 'there', content: 'same', isSettled, holds: 'all' } as const;
    // Closed, it may have been truncated since it was looked at last.
    descriptors.open(original);
    const look = this.#look(original);
    if (look.kind === 'changed' && !isLater) return { facts: { ...there, original: 'changed' }, look };
    if (this.isCutOff(original, file)) return { facts: { ...there, original: 'truncated' } };
    const isAlike = this.isAlikeSoFar(file, original);
    if (isAlike && !isSettled) return { facts: there, look };
    // Truncated between the two, it is not alike any more, though the file is its copy.
    const again = this.#look(original);
    if (again.kind === 'changed' && !isLater) return { facts: { ...there, original: 'changed' }, look: again };
    const seen = look.kind === 'unknown' ? look : again;
    const isUnreadable = (seen.kind === 'unknown' && seen.trouble !== undefined) || descriptors.mayRecover(original);
    if (isUnreadable) return { facts: { ...there, original: 'unreadable' }, look: seen };
    return { facts: { ...there, content: isAlike ? 'same' : 'different' }, look: seen };
  }

  /** The file beside the first of its originals. Throws system errors. */
  observe(file: TrackedFile, { size }: FileStat, entry: CopyCandidate, ageMs: number): CopyObservation {
    const original = entry.originals[0]!;
    const isSettled = ageMs >= DECIDE_COPY_MS;
    // Its stream is read on in a longer copy, or another one where it was.
    const isElsewhere = entry.isShort && !(isDetached(original) && this.#options.knownFiles.files.has(original));
    if (!isElsewhere && !isGone(original)) return this.observeOriginal(file, original, isSettled);
    const gone = { original: 'gone', content: 'unknown', isSettled, holds: 'all' } as const;
    const facts = isElsewhere
      ? ({ ...gone, original: 'elsewhere' } as const)
      : { ...gone, ...this.#compare(file, size, entry, isSettled) };
    return { facts };
  }

  /** Compares the file with the first of its originals, whose content is in no file any more. Throws system errors. */
  #compare(file: TrackedFile, size: number, entry: CopyCandidate, isSettled: boolean): Partial<CopyFacts> {
    const original = entry.originals[0]!;
    const { stream } = original;
    // The lane is taking all that was read, which has no checksum yet: everything that begins alike would be a copy.
    if (stream.offeredBytes > 0 && stream.offset === stream.startAt) return { original: 'busy' };
    if (this.isSpent || (!isSettled && isUnread(original) && this.#isUnknownAlike(file, original))) return {};
    entry.check ??= new CopyComparison(this.#options.fileSystem, stream, original.disk.fd);
    const verdict = entry.check.step(file.disk.fd!, size, COPY_CHECK_BYTES);
    this.isSpent = verdict === 'more';
    if (verdict !== 'same') return { content: verdict === 'more' ? 'unknown' : verdict };
    if (original.disk.fd !== undefined && original.isBusy) return { original: 'busy' };
    return { content: 'same', holds: this.#holds(size, original) };
  }

  #holds(size: number, { stream, disk }: TrackedFile): CopyFacts['holds'] {
    if (disk.place === 'detached') return size < stream.offset + stream.offeredBytes ? 'less' : 'all';
    // Of a deleted original that is still open, more may be there than the copy has.
    const needed = disk.fd === undefined ? stream.offset : this.#options.fileSystem.fstat(disk.fd).size;
    return size < needed ? 'no more' : 'all';
  }

  /** How a copy of this size ends, that has less than was read. Throws system errors. */
  endOf({ disk }: TrackedFile, size: number, check: CopyComparison): CopyEnd {
    const { fileSystem } = this.#options;
    const fingerprint = fingerprintOfText(readHead(fileSystem, disk.fd!, HEAD_BYTES));
    const tail = tailBefore(fileSystem, disk.fd!, size);
    return { fingerprint, sum: check.sumUp(disk.fd!, size), tail };
  }

  /**
   * True where the original was truncated, though it begins and ends as before at its position: the file holds all that was read of it, and it
   * does not any more.
   */
  isCutOff(original: TrackedFile, file: TrackedFile): boolean {
    const { fileSystem, descriptors } = this.#options;
    const { stream } = original;
    if (
      isDetached(original) ||
      stream.offset === stream.startAt ||
      !descriptors.open(original) ||
      !descriptors.open(file)
    )
      return false;
    const holds = (fd: number, size: number): ContentVerdict =>
      compare(fileSystem, fd, size, stream) === 'same'
        ? new CopyComparison(fileSystem, stream, undefined).step(fd, size, COPY_CHECK_BYTES)
        : 'different';
    try {
      const isIn = ({ disk: { fd } }: TrackedFile): ContentVerdict => holds(fd!, fileSystem.fstat(fd!).size);
      return isIn(file) === 'same' && isIn(original) === 'different';
    } catch {
      // The next scan compares them again.
      return false;
    }
  }

  /** True where a file of which nothing is known is where the generation was first, and begins as the candidate does. Throws system errors. */
  #isUnknownAlike(file: TrackedFile, generation: TrackedFile): boolean {
    const { fileSystem, knownFiles } = this.#options;
    return basesOf(generation).some((base) => {
      if (!extendsName(file.disk.path, base)) return false;
      const stat = fileSystem.stat(base);
      if (stat?.kind !== 'file' || stat.size === 0 || knownFiles.in(stat)?.stream.id !== undefined) return false;
      const length = Math.min(stat.size, HEAD_BYTES);
      const head = withOpenIfReadable(fileSystem, base, (fd) => readHead(fileSystem, fd, length));
      return head?.equals(readHead(fileSystem, file.disk.fd!, length)) === true;
    });
  }

  /** True while the original is still there and begins and ends as the file does. True also while one cannot be read. */
  isAlikeSoFar(file: TrackedFile, original: TrackedFile): boolean {
    const { fileSystem, descriptors } = this.#options;
    if (!descriptors.open(original) || !descriptors.open(file)) return true;
    try {
      const { size } = fileSystem.fstat(file.disk.fd!);
      const isSame = (at: number, length: number): boolean => {
        const [theirs, own] = [Buffer.alloc(length), Buffer.alloc(length)];
        return (
          fileSystem.peek(original.disk.fd!, theirs, at) === fileSystem.peek(file.disk.fd!, own, at) &&
          theirs.equals(own)
        );
      };
      return (
        isSame(0, Math.min(size, HEAD_BYTES)) && isSame(Math.max(0, size - TAIL_BYTES), Math.min(size, TAIL_BYTES))
      );
    } catch {
      return true;
    }
  }
}
