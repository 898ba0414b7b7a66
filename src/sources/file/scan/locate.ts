/**
 * Where a file is that is not under its path any more: by its descriptor, by its real path, by inode in the folders of both; and
 * whether the file system that it is on is there at all.
 */
import { type FileStat, type FileSystem, inodeKey, parentOf, pathIn, statIfAny, statIfAt } from './file-system.ts';
import { isCompressedName } from './rotated-names.ts';

/** The regular files of folders by inode, read once: for one scan. */
export type FolderInodes = Map<string, ReadonlyMap<string, string>>;

/** A path under which the file is now: one of `paths`, where it was or may be, or another one in their folders. Never throws. */
export function locate(
  fileSystem: FileSystem,
  file: Pick<FileStat, 'device' | 'inode'>,
  paths: readonly (string | undefined)[],
  folders: FolderInodes,
): string | undefined {
  const known = new Set(paths.filter((path) => path !== undefined));
  for (const path of known) if (statIfAt(fileSystem, path, file)) return path;
  for (const folder of new Set([...known].map(parentOf))) {
    const path = inodesIn(fileSystem, folder, folders).get(inodeKey(file));
    if (path !== undefined) return path;
  }
  return undefined;
}

/** The regular, plain files of a folder by inode; `folders` keeps them. Never throws. */
function inodesIn(fileSystem: FileSystem, folder: string, folders: FolderInodes): ReadonlyMap<string, string> {
  const known = folders.get(folder);
  if (known) return known;
  const inodes = new Map<string, string>();
  folders.set(folder, inodes);
  try {
    for (const entry of fileSystem.readdir(folder)) {
      // A compressed file that got a deleted file's inode is not that file.
      if (!entry.isFile() || isCompressedName(entry.name)) continue;
      const path = pathIn(folder, entry.name);
      // A failed stat must not hide the other entries.
      const stat = statIfAny(fileSystem, path);
      if (stat) inodes.set(inodeKey(stat), path);
    }
  } catch {
    // The finder names folders that cannot be read; here they hold nothing that can be found.
  }
  return inodes;
}

/**
 * True where the file system of the file that was at `path` is not mounted, or cannot be asked: it comes back with its files. Where only
 * the file, or its folder, was removed, the folder above is on the same device. Never throws.
 */
export function isMountAway(fileSystem: FileSystem, path: string, device: number | bigint | string): boolean {
  try {
    for (let at = path; ; at = parentOf(at)) {
      const stat = fileSystem.stat(at);
      if (stat) return String(stat.device) !== String(device);
      if (at === '/') return false;
    }
  } catch {
    return true;
  }
}
