/** How a folder is watched: through inotify where it can be called, else through Node, which tells of everything or nothing. */
import { statfsSync, watch } from 'node:fs';
import { watchInotify } from '../../native/inotify.ts';
import type { NativeLibrary } from '../../native/library.ts';

/** `isEntry`: the name came, went or was renamed; else its content changed. Without a name where the system gives none. */
export type FolderChanged = (name: string | undefined, isEntry: boolean) => void;

export interface FolderWatch {
  close(): void;
  /** Whether it reports appended bytes, too (as at first), or names alone. Absent where the system gives no choice. */
  setAppends?(isTold: boolean): void;
}

/** By what statfs(2) calls them: NFS, SMB, CIFS, SMB2, FUSE, 9P, Ceph, AFS, Coda, GFS2, OCFS2, Lustre, VirtualBox. */
const REMOTE_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x65735546, 0x01021997, 0x00c36400, 0x5346414f, 0x73757245, 0x01161970,
  0x7461636f, 0x0bd00bd0, 0x786f4256,
]);

export function watchFolder(
  library: NativeLibrary | undefined,
  folder: string,
  changed: FolderChanged,
  failed: (error: unknown) => void,
): FolderWatch {
  if (REMOTE_FILE_SYSTEMS.has(statfsSync(folder).type)) {
    throw Object.assign(
      new Error('the system does not report changes that other machines make on a network file system'),
      {
        code: 'ENOTSUP',
      },
    );
  }
  if (library) return watchInotify(library, folder, changed);
  const watcher = watch(folder, { persistent: false }, (event, name) => changed(name ?? undefined, event === 'rename'));
  return watcher.on('error', failed);
}
