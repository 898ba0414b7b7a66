/** A file system that opens for a source only what that may read, whatever was put in a file's place since a scan saw it. */
import type { PrivateFiles, RefusedPath } from '../../../core/source.ts';
import { closeQuietly, type FileSystem } from './file-system.ts';
import { type Links, refusedError } from './links.ts';

/** `open` throws `E_REFUSED` beside the system's errors. */
export function guard(fileSystem: FileSystem, links: Links, privateFiles: PrivateFiles | undefined): FileSystem {
  const verify = (path: string, fd: number): void => {
    privateFiles?.refresh(true);
    const opened = fileSystem.pathOf(fd);
    const what = privateFiles?.whatIs(fileSystem.fstat(fd), opened ?? path);
    if (what !== undefined) throw refusedError(privateRefusal(path, what));
    // Then there is no link in the path.
    if (opened !== path && opened !== `${path} (deleted)`) links.verify(path, fileSystem.fstat(fd));
  };
  return {
    ...fileSystem,
    open(path) {
      const fd = fileSystem.open(path);
      try {
        verify(path, fd);
        return fd;
      } catch (error) {
        closeQuietly(fileSystem, fd);
        throw error;
      }
    },
  };
}

export function privateRefusal(path: string, what: string): RefusedPath {
  return { path, reason: `it is ${what}, which is never read as a log`, fix: 'exclude it', isLink: false };
}
