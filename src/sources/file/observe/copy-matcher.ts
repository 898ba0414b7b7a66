/** Observes by content whether a file may be a copy of another one; compares at most COPY_CHECK_BYTES in a scan. Acts on nothing. */
import type { Tail } from '../../../core/block.ts';
import { HEAD_BYTES, TAIL_BYTES } from '../../../core/limits.ts';
import type { FileIdentity } from '../../../core/stream.ts';
import { compare, CopyComparison, fingerprintOfText, hasFingerprint, type Verdict } from '../known/content.ts';
import type { KnownFiles } from '../known/known-files.ts';
import type { OpenFiles } from '../known/open-files.ts';
import { isDetached, isGone, isUnread, type TrackedFile } from '../known/tracked-file.ts';
import { COPY_CHECK_BYTES, DECIDE_COPY_MS } from '../limits.ts';
import type { FileStat, FileSystem } from '../scan/file-system.ts';
import { readHead, withOpenIfReadable } from '../scan/peek.ts';
import { FolderNames } from '../scan/rotated-names.ts';
import type { CopyFacts } from '../decide/table.ts';
import { tailBefore } from '../known/nul-runs.ts';
import { checkHolder } from './observe-file.ts';

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

/** A copy candidate: the streams to compare it with, the present one first. */
export interface CopyCandidate {
  /** Followed on its own account, not only as a copy candidate. */
  wasFollowed: boolean;
  readonly originals: TrackedFile[];
  /** These, and those that it turned out to be no copy of. */
  readonly compared: Set<TrackedFile>;
  check: CopyComparison | undefined;
  /** It is a copy of the first of them, made before the last of it was read. */
  isShort: boolean;
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

  /** Compares the file with the first of its originals. Throws system errors. */
  observe(file: TrackedFile, { size }: FileStat, entry: CopyCandidate, ageMs: number): CopyFacts {
    const original = entry.originals[0]!;
    const { stream } = original;
    const isSettled = ageMs >= DECIDE_COPY_MS;
    const gone = { original: 'gone', content: 'unknown', isSettled, holds: 'all' } as const;
    // Its stream is read on in a longer copy.
    if (entry.isShort && !isDetached(original)) return { ...gone, original: 'elsewhere', content: 'same' };
    if (!isGone(original)) {
      if (this.isCutOff(original, file)) return { ...gone, original: 'truncated', content: 'same' };
      return {
        ...gone,
        original: 'there',
        content: isSettled || this.isAlikeSoFar(file, original) ? 'same' : 'different',
      };
    }
    // The lane is taking all that was read, which has no checksum yet: everything that begins alike would be a copy.
    if (stream.offeredBytes > 0 && stream.offset === stream.startAt) return { ...gone, original: 'busy' };
    if (this.isSpent || (!isSettled && isUnread(original) && this.#isUnknownAlike(file, original))) return gone;
    entry.check ??= new CopyComparison(this.#options.fileSystem, stream, original.disk.fd);
    const verdict = entry.check.step(file.disk.fd!, size, COPY_CHECK_BYTES);
    this.isSpent = verdict === 'more';
    if (verdict !== 'same') return { ...gone, content: verdict === 'more' ? 'unknown' : verdict };
    if (original.disk.fd !== undefined && original.isBusy) return { ...gone, original: 'busy' };
    return { ...gone, content: 'same', holds: this.#holds(size, original) };
  }

  #holds(size: number, { stream, disk }: TrackedFile): CopyFacts['holds'] {
    if (disk.place === 'detached') return size < stream.offset + stream.offeredBytes ? 'less' : 'all';
    // Of a deleted original that is still open, more may be there than the copy has.
    const needed = disk.fd === undefined ? stream.offset : this.#options.fileSystem.fstat(disk.fd).size;
    return size < needed ? 'no more' : 'all';
  }

  /** The longest of these copies, and how it ends. Throws system errors. */
  longestOf(candidates: readonly [TrackedFile, CopyCandidate][]): {
    readonly file: TrackedFile;
    readonly stat: FileStat;
    readonly end: CopyEnd;
  } {
    const { fileSystem } = this.#options;
    const sized = candidates.map(([file, { check }]) => ({
      file,
      check: check!,
      stat: fileSystem.fstat(file.disk.fd!),
    }));
    const { file, check, stat } = sized.reduce((longest, each) =>
      each.stat.size > longest.stat.size ? each : longest,
    );
    const fd = file.disk.fd!;
    const fingerprint = fingerprintOfText(readHead(fileSystem, fd, HEAD_BYTES));
    const tail = tailBefore(fileSystem, fd, stat.size);
    return { file, stat, end: { fingerprint, sum: check.sumUp(fd, stat.size), tail } };
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
    const holds = (fd: number, size: number): Verdict =>
      compare(fileSystem, fd, size, stream) === 'same'
        ? new CopyComparison(fileSystem, stream, undefined).step(fd, size, COPY_CHECK_BYTES)
        : 'different';
    try {
      const isIn = ({ disk: { fd } }: TrackedFile): Verdict => holds(fd!, fileSystem.fstat(fd!).size);
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

/** The candidate of this size may be a copy of this one, too. */
export function addOriginal(entry: CopyCandidate, original: TrackedFile, size: number): void {
  const { originals, compared } = entry;
  if (compared.has(original)) return;
  compared.add(original);
  const before = originals.findIndex((each) => comesBefore(original, each, size));
  originals.splice(before === -1 ? originals.length : before, 0, original);
  if (before === 0) Object.assign(entry, { check: undefined, isShort: false });
}

/** An unread original is like everything that begins as it did: compared last. Of two, a copy has the more that was seen of its own. */
function comesBefore(one: TrackedFile, other: TrackedFile, size: number): boolean {
  if (!isUnread(other)) return false;
  const seen = ({ sureSize }: TrackedFile): number => (sureSize <= size ? sureSize : -1);
  return !isUnread(one) || seen(one) > seen(other);
}

/** What the name of a copy extends: the path that the file had first, as matched and without links, or has now, if rotation did not give it. */
export function basesOf({ stream: { firstPath, realPath }, disk: { path } }: TrackedFile): string[] {
  const first = realPath === firstPath ? [firstPath] : [firstPath, realPath];
  return first.some((base) => path.startsWith(base)) ? first : [...first, path];
}

/** The path may be a copy's of this one. */
export function isNamedAfter(path: string, original: TrackedFile): boolean {
  return basesOf(original).some((base) => extendsName(path, base));
}

export function extendsName(path: string, base: string): boolean {
  return path.length > base.length && path.startsWith(base);
}
