/** What a scan sees of one known file that was not found as it was: each fact is looked up when `match` asks for it, and once. */
import { isReplaced, type TrackedFile } from '../known/tracked-file.ts';
import { KEEP_OPEN_MS } from '../limits.ts';
import { type FileStat, isSameFile } from '../scan/file-system.ts';
import { type FolderInodes, isMountAway, locate, statIfAt } from '../scan/locate.ts';
import type { FoundFile } from '../scan/finder.ts';
import type { Generations } from './generations.ts';
import type { Sight } from './match.ts';

export class Sighting implements Sight {
  readonly #file: TrackedFile;
  readonly #generations: Generations;
  readonly #folders: FolderInodes;
  readonly #otherName: FoundFile | undefined;
  /** Where its inode was found. */
  found: FoundFile | undefined;
  /** What its descriptor says. */
  held: FileStat | undefined;

  /** `otherName`: where the finder found its inode. */
  constructor(file: TrackedFile, generations: Generations, folders: FolderInodes, otherName?: FoundFile) {
    this.#file = file;
    this.#generations = generations;
    this.#folders = folders;
    this.#otherName = otherName;
  }

  get path(): Sight['path'] {
    const { disk } = this.#file;
    try {
      const stat = this.#generations.fileSystem.stat(disk.path);
      if (!stat || !isSameFile(stat, disk)) return 'something else';
      this.found = { path: disk.path, stat };
      return 'itself';
    } catch {
      // The finder names what it cannot look at.
      return 'unknown';
    }
  }

  get descriptor(): Sight['descriptor'] {
    if (this.#file.disk.fd === undefined) return 'closed';
    const held = this.#generations.descriptors.statOf(this.#file);
    if (held === 'unknown') return held;
    this.held = held;
    if (!held) return 'closed';
    return held.links === 0 ? 'unlinked' : 'open';
  }

  get isElsewhere(): boolean {
    this.found = this.#otherName;
    if (this.found) return true;
    const { fileSystem } = this.#generations;
    const { disk } = this.#file;
    const isSearched = disk.place !== 'missing' || this.#generations.now - disk.leftAtMs <= KEEP_OPEN_MS;
    const path = isSearched ? locate(fileSystem, disk, this.#folders) : undefined;
    const stat = path === undefined ? undefined : statIfAt(fileSystem, path, disk);
    this.found = path !== undefined && stat ? { path, stat } : undefined;
    return this.found !== undefined;
  }

  get content(): Sight['content'] {
    const found = this.found!;
    // A file at its own path is compared later, when it is read. Only its time of birth is checked here.
    if (found.path === this.#file.disk.path) return isReplaced(this.#file, found.stat) ? 'different' : 'same';
    const isStill = this.#generations.inodes.isStill(this.#file, found);
    // The content cannot be compared now: the reader compares it before it reads.
    if (isStill === undefined && this.#otherName) return 'same';
    if (isStill === undefined) return this.#generations.descriptors.mayRecover(this.#file) ? 'unknown' : 'different';
    return isStill ? 'same' : 'different';
  }

  get isMountAway(): boolean {
    const { disk } = this.#file;
    if (this.held || disk.place === 'deleted') return false;
    return isMountAway(this.#generations.fileSystem, disk.realPath ?? disk.path, disk.device);
  }
}
