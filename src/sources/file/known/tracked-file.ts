/** A file that is followed: a stream, and the file on disk that holds it now. */
import type { EventShape } from '../../../core/block.ts';
import type { FileStat } from '../scan/file-system.ts';
import { type FileOnDisk, newFileOnDisk } from './file-on-disk.ts';
import { NO_FINGERPRINT } from './content.ts';
import { Stream } from './stream.ts';

export interface TrackedFile {
  readonly stream: Stream;
  disk: FileOnDisk;
  /** Wall clock, when the generation began: when the file was created, or 0 where its content is younger than the file. */
  bornMs: number;
  /** A file created later than this may have used its path next; undefined while that is not known. */
  nextBornMs: number | undefined;
  /** It may be a copy of another file: nothing of it is read until that is decided. */
  isUndecided: boolean;
  /** It appeared while the agent runs, and is logged as new once it has bytes and is known to be no copy. */
  isNews: boolean;
  /** The number of the scan that it appeared in; 0 for one found at the start, -1 for one known from before. */
  readonly firstScan: number;
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
  /** The file that goes on with this one. */
  after: TrackedFile | undefined;
}

/** A file that is seen for the first time, or a new generation of one, from its beginning. */
export function newTrackedFile(
  path: string,
  stat: FileStat,
  shape: EventShape,
  nowMs: number,
  firstScan: number,
): TrackedFile {
  return {
    stream: new Stream(path, shape, { device: String(stat.device), inode: String(stat.inode), ...NO_FINGERPRINT }),
    disk: newFileOnDisk(path, stat, nowMs),
    bornMs: stat.bornMs,
    nextBornMs: undefined,
    isUndecided: false,
    isNews: false,
    firstScan,
    size: stat.size,
    sureSize: 0,
    isBusy: false,
    flushLineAt: -1,
    passNulsAt: -1,
    flushEventAt: -1,
    readLimit: Infinity,
    before: undefined,
    after: undefined,
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
