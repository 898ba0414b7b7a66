/**
 * Tells whether what has a file's inode is still that file: for every rename, and where an inode was reused. An open file keeps its inode; of a closed one the content tells, or while none of that is known, the birth time.
 */
import { type FileSystem, isSameFile } from '../scan/file-system.ts';
import type { FoundFile } from '../scan/finder.ts';
import { compare } from '../known/content.ts';
import type { OpenFiles } from '../known/open-files.ts';
import { withOpen } from '../scan/peek.ts';
import { isGone, isReplaced, type TrackedFile } from '../known/tracked-file.ts';
import { statIfAt } from '../scan/locate.ts';

export class InodeReuse {
  readonly #fileSystem: FileSystem;
  readonly #descriptors: OpenFiles;

  constructor(fileSystem: FileSystem, descriptors: OpenFiles) {
    this.#fileSystem = fileSystem;
    this.#descriptors = descriptors;
  }

  /** True if what was found is still this file, false if it is a new file with its inode, undefined while its content cannot be read. */
  isStill(file: TrackedFile, found: FoundFile): boolean | undefined {
    if (file.disk.fd !== undefined) return true;
    if (file.stream.identity.headLength === 0) return !isReplaced(file, found.stat);
    return this.hasContent(file, found);
  }

  /** True if another file has the inode, even if the scan under way has not yet noticed that this file is missing. */
  hasLost(file: TrackedFile, found: FoundFile): boolean {
    return !this.#isKept(file) && this.isStill(file, found) === false;
  }

  /** True while its content cannot be read; false where nothing is there any more. */
  mayHaveLost(file: TrackedFile, found: FoundFile): boolean {
    if (this.#isKept(file) || this.isStill(file, found) !== undefined) return false;
    return statIfAt(this.#fileSystem, found.path, found.stat) !== undefined;
  }

  /** The file is open, or still under its path: what has its inode there was made when it was. */
  #isKept(file: TrackedFile): boolean {
    const { disk } = file;
    return disk.fd !== undefined || (!isGone(file) && statIfAt(this.#fileSystem, disk.path, disk)?.bornMs === disk.bornMs);
  }

  /** True if the found file has the content of the known one; undefined while that cannot be read. */
  hasContent(file: TrackedFile, { path, stat }: FoundFile): boolean | undefined {
    try {
      return withOpen(this.#fileSystem, path, (fd) => {
        if (!isSameFile(this.#fileSystem.fstat(fd), stat)) return false;
        return compare(this.#fileSystem, fd, stat.size, file.stream) === 'same';
      });
    } catch (error) {
      this.#descriptors.fail(file, error);
      return undefined;
    }
  }
}
