/**
 * Whose an inode is: the file's that is known to have it, or another one's that was given it since. What is open keeps its inode; of any
 * other its content tells, or where nothing of that is known, the time of its birth.
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

  /** False where the file's inode is found under another path, but was given to another file since; undefined while that cannot be told. */
  isStill(file: TrackedFile, found: FoundFile): boolean | undefined {
    if (file.disk.fd !== undefined) return true;
    if (file.stream.identity.headLength === 0) return !isReplaced(file, found.stat);
    return this.hasContent(file, found);
  }

  /** The file's inode is that of what was found by now. The scan under way may not have missed the file yet. */
  hasLost(file: TrackedFile, found: FoundFile): boolean {
    return !this.#isKept(file) && this.isStill(file, found) === false;
  }

  /** The same, but it cannot be told now; also false where nothing is there any more. */
  mayHaveLost(file: TrackedFile, found: FoundFile): boolean {
    if (this.#isKept(file) || this.isStill(file, found) !== undefined) return false;
    return statIfAt(this.#fileSystem, found.path, found.stat) !== undefined;
  }

  /** The file is open, or still under its path. */
  #isKept(file: TrackedFile): boolean {
    return file.disk.fd !== undefined || (!isGone(file) && statIfAt(this.#fileSystem, file.disk.path, file.disk) !== undefined);
  }

  /** What was found has the content that is known of the file. Undefined while that cannot be told. */
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
