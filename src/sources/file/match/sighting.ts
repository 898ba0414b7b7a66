/** The facts about one known file that a scan did not find unchanged. Each is looked up once, when `match` asks for it. */
import { isReplaced, type TrackedFile } from '../known/tracked-file.ts';
import { KEEP_OPEN_MS } from '../limits.ts';
import { type FileSystem, isSameFile } from '../scan/file-system.ts';
import { type FolderInodes, isMountAway, locate, statIfAt } from '../scan/locate.ts';
import type { FoundFile } from '../scan/finder.ts';
import type { Generations } from './generations.ts';
import type { Sighting } from './match.ts';

/** `otherName`: where the finder found its inode. */
export function sightOf(file: TrackedFile, generations: Generations, folders: FolderInodes, otherName?: FoundFile): Sighting {
  const { fileSystem, descriptors, inodes } = generations;
  const { disk } = file;
  return {
    found: undefined,
    held: undefined,
    get path() {
      try {
        const stat = fileSystem.stat(disk.path);
        if (!stat || !isSameFile(stat, disk)) return 'something else';
        this.found = { path: disk.path, stat };
        return 'itself';
      } catch {
        // The finder logs what it cannot stat.
        return 'unknown';
      }
    },
    get descriptor() {
      if (disk.fd === undefined) return 'closed';
      const held = descriptors.statOf(file);
      if (held === 'unknown') return held;
      this.held = held;
      if (!held) return 'closed';
      return held.links === 0 ? 'unlinked' : 'open';
    },
    get isElsewhere() {
      this.found = otherName;
      if (otherName) return true;
      const isSearched = disk.place !== 'missing' || generations.now - disk.leftAtMs <= KEEP_OPEN_MS;
      const path = isSearched ? locate(fileSystem, disk, pathsOf(file, fileSystem), folders) : undefined;
      const stat = path === undefined ? undefined : statIfAt(fileSystem, path, disk);
      this.found = path !== undefined && stat ? { path, stat } : undefined;
      return this.found !== undefined;
    },
    get content() {
      const found = this.found!;
      // A file at its own path is compared later, when it is read. Only its time of birth is checked here.
      if (found.path === disk.path) return isReplaced(file, found.stat) ? 'different' : 'same';
      const isStill = inodes.isStill(file, found);
      // The content cannot be compared now: the reader compares it before it reads.
      if (isStill === undefined && otherName) return 'same';
      if (isStill === undefined) return descriptors.mayRecover(file) ? 'unknown' : 'different';
      return isStill ? 'same' : 'different';
    },
    get isMountAway() {
      if (this.held || disk.place === 'deleted') return false;
      return isMountAway(fileSystem, disk.realPath ?? disk.path, disk.device);
    },
  };
}

/** Where the file may be: where its descriptor says, where it was, without links, and where its first path led, and leads. */
function pathsOf({ disk, stream }: TrackedFile, fileSystem: FileSystem): (string | undefined)[] {
  const open = disk.fd === undefined ? undefined : fileSystem.pathOf(disk.fd);
  return [open, disk.realPath, disk.path, stream.realPath, fileSystem.realPath(stream.firstPath)];
}
