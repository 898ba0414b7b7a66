/** A file on disk: one inode, where it is, its descriptor, and what the last stat saw. Knows nothing of what was read. */
import type { CopyChange, KnownChange } from './change.ts';
import type { FileStat } from '../scan/file-system.ts';

/**
 * - `matched`: under a path that the globs match.
 * - `aside`: under another path, after a rename, a copy or a retargeted link; read on there.
 * - `deleted`: the last link is gone; read on through the open descriptor, if there is one.
 * - `missing`: found neither by path nor by inode; searched for a while, then forgotten.
 * - `away`: missing together with its file system, and expected back with it.
 * - `detached`: another stream has the file now; a copy of what was in it is looked for.
 */
export type FileLocation = 'matched' | 'aside' | 'deleted' | 'missing' | 'away' | 'detached';

/** Why a file cannot be read; times are monotonic. */
export interface ReadFailure {
  readonly reason: string;
  readonly sinceMs: number;
  readonly waitMs: number;
  readonly retryAtMs: number;
  /** A stale descriptor of a network file system: the path may still work. */
  readonly isStale: boolean;
}

export interface FileOnDisk {
  device: number | bigint;
  inode: number | bigint;
  /** When the inode was created. */
  bornMs: number;
  /** The present path, or the last one. */
  path: string;
  /** The path without symbolic links, once the file was open. */
  realPath: string | undefined;
  place: FileLocation;
  fd: number | undefined;
  /** A read is under way: the descriptor must stay. */
  isReading: boolean;
  failure: ReadFailure | undefined;
  /** What the last stat saw: a difference means new data. */
  seenSize: number;
  seenMtimeMs: number;
  /** Monotonic, when a stat last saw a change. */
  changedAtMs: number;
  /** Monotonic, since when it has no name. */
  goneSinceMs: number;
  /** The number of the last scan that saw it. */
  scan: number;
  /** The last change that `decide` returned: `explain` prints it. */
  lastChange: KnownChange | CopyChange;
}

export function newFileOnDisk(path: string, { device, inode, bornMs }: FileStat, nowMs: number): FileOnDisk {
  return {
    device,
    inode,
    bornMs,
    path,
    realPath: undefined,
    place: 'matched',
    fd: undefined,
    isReading: false,
    failure: undefined,
    seenSize: -1,
    seenMtimeMs: -1,
    changedAtMs: nowMs,
    goneSinceMs: 0,
    scan: 0,
    lastChange: 'new',
  };
}
