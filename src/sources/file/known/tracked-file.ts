/** A followed file: its stream with what was read of it, and the file on disk that holds it now. */
import type { EventShape } from '../../../core/block.ts';
import type { FileStat } from '../scan/file-system.ts';
import type { CopyChange, KnownChange } from './change.ts';
import { NO_FINGERPRINT } from './content.ts';
import { Stream } from './stream.ts';

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

/** One inode, where it is, its descriptor, and what the last stat saw. */
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

export interface TrackedFile {
  readonly stream: Stream;
  disk: FileOnDisk;
  /** Wall clock, when the generation began: when the file was created, or 0 where its content is younger than the file. */
  bornMs: number;
  /** A file created later than this may have used its path next; undefined while that is not known. */
  nextBornMs: number | undefined;
  /** It appeared while the agent runs, and is logged as new once it has bytes and is known to be no copy. */
  isNews: boolean;
  /** The number of the scan that it appeared in; 0 for one found at the start, -1 for one known from before. */
  readonly appearedInScan: number;
  /** The most that a stat saw of it. */
  size: number;
  /** The most that was seen of this generation for sure: its content was compared then. */
  sureSize: number;
  /** A turn is running. */
  isBusy: boolean;
  /** The next turn also sends the unfinished last line, if the text ends here or before. */
  flushLineAt: number;
  /** The next turn also passes over the NULs at the end, if the file ends here or before. */
  passNulsAt: number;
  /** The next turn also sends the open event, if the file ends here or before. */
  flushEventAt: number;
  /** Under `--once`: no line that begins here or later is read. */
  readLimit: number;
  /** The file that this one goes on with, while its first lines may belong to an event of that. */
  before: TrackedFile | undefined;
}

/** A file that is seen for the first time, or a new generation of one, from its beginning. */
export function newTrackedFile(
  path: string,
  { device, inode, bornMs, size }: FileStat,
  shape: EventShape,
  nowMs: number,
  appearedInScan: number,
): TrackedFile {
  return {
    stream: new Stream(path, shape, { device: String(device), inode: String(inode), ...NO_FINGERPRINT }),
    disk: {
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
    },
    bornMs,
    nextBornMs: undefined,
    isNews: false,
    appearedInScan,
    size,
    sureSize: 0,
    isBusy: false,
    flushLineAt: -1,
    passNulsAt: -1,
    flushEventAt: -1,
    readLimit: Infinity,
    before: undefined,
  };
}

/** Its inode was given to another file, and no content is known by which to tell. */
export function isReplaced({ stream: { identity }, disk }: TrackedFile, stat: FileStat): boolean {
  return disk.fd === undefined && identity.headLength === 0 && stat.bornMs !== disk.bornMs;
}

/** A stat saw so many bytes of this very generation. */
export function noteSize(file: TrackedFile, size: number): void {
  if (size > file.size) file.size = size;
  if (size > file.sureSize) file.sureSize = size;
}

/** True where nothing but the NULs that it ended in was cut off behind `end`: its writer made it as long as its text. */
export function endedInNuls(file: TrackedFile, end: number, { to }: { readonly to: number }): boolean {
  if (file.size > to) return false;
  file.size = file.sureSize = end;
  return true;
}

/** Bytes that are there and not yet accepted; NULs at the end are not there yet. */
export function lagOf({ size, stream }: TrackedFile): number {
  const { position } = stream;
  const { last } = stream.nuls;
  const nulBytes = Math.max(0, Math.min(size, last.to) - Math.max(last.from, position));
  return Math.max(0, size - position - nulBytes);
}

/** It ends in NULs that may become text. */
export function endsInNuls({ stream: { nuls, offset } }: TrackedFile): boolean {
  return nuls.last.to > Math.max(nuls.last.from, offset);
}

/** It is changed in place, was read from its beginning a moment ago, and waits to be read so again. */
export function isBraked(file: TrackedFile, nowMs: number): boolean {
  const { stream, disk, flushLineAt } = file;
  if (nowMs >= stream.readFromMs || stream.offset > stream.startAt || flushLineAt === Infinity) return false;
  return disk.place === 'matched' && !isRotated(file);
}

/** There are bytes that were never read: more than an unfinished line. */
export function isBehind({ size, stream }: TrackedFile): boolean {
  return stream.readTo < size;
}

/** It was renamed or copied: nobody finishes its last line. */
export function isRotated({ disk, stream }: TrackedFile): boolean {
  return disk.path !== stream.firstPath;
}

/** It was opened under another path without symbolic links than its stream is saved with. */
export function hasNewRealPath({ stream: { firstPath, realPath, identity } }: TrackedFile): boolean {
  return identity.realPath !== (realPath === firstPath ? undefined : realPath);
}

/** Its last name is gone: an open descriptor is the only way to its bytes. */
export function isGone({ disk: { place } }: TrackedFile): boolean {
  return place !== 'matched' && place !== 'aside';
}

/** Its bytes are not in the file any more that they were read from. */
export function isDetached({ disk: { place } }: TrackedFile): boolean {
  return place === 'detached';
}

/** Nothing but its first bytes is known of it. */
export function isUnread(file: TrackedFile): boolean {
  return isGone(file) && file.disk.fd === undefined && file.stream.read.offset === file.stream.startAt;
}

/** The state that metrics and `explain` show. */
export function stateOf(file: TrackedFile): 'active' | 'idle' | 'rotated' | 'deleted' | 'failed' {
  if (file.disk.failure) return 'failed';
  if (isGone(file)) return 'deleted';
  if (file.disk.place === 'aside' || isRotated(file)) return 'rotated';
  return file.disk.fd !== undefined || isBehind(file) ? 'active' : 'idle';
}
