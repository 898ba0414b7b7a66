/**
 * What the file source knows of one file generation, which is one stream: where reading stands, and which file holds its bytes
 * now. A file that is truncated begins a new generation; the old one may live on in a copy.
 */
import type { EventShape, Tail } from '../../../core/block.ts';
import { HOLE_BYTES } from '../limits.ts';
import type { FileIdentity } from '../../../core/stream.ts';
import { NO_TAIL } from '../../../core/tail.ts';
import type { SuspendedLine } from '../../framing/long-line.ts';
import { ContentSum } from './content-sum.ts';
import type { FileStat } from '../scan/file-system.ts';
import { type KnownFile, NO_HEAD } from './identity.ts';

/**
 * - `matched`: under a path that the globs match.
 * - `aside`: under another path, after a rename, a copy or a retargeted link; read on there.
 * - `deleted`: the last link is gone; read on through the open descriptor, if there is one.
 * - `missing`: found neither by path nor by inode; looked for a while, then forgotten.
 */
export type Place = 'matched' | 'aside' | 'deleted' | 'missing';

/** Why a file cannot be read; times are monotonic. */
export interface Failure {
  readonly reason: string;
  readonly sinceMs: number;
  readonly waitMs: number;
  readonly retryAtMs: number;
  /** A network's descriptor that leads nowhere any more: the path may still. */
  readonly isStale: boolean;
}

export interface TrackedFile {
  /** The path under which it was first matched: the events' `file`. */
  readonly firstPath: string;
  readonly shape: EventShape;
  device: number | bigint;
  inode: number | bigint;
  /** When the file was made that has the inode. */
  inodeBornMs: number;
  /** Undefined until there is a first byte to read. */
  stream: string | undefined;
  /** Wall clock, when the file was made, 0 where what is in it now is younger, … */
  bornMs: number;
  /** … and its stream. */
  createdMs: number;
  /** What was made later, and stands beside it, may have had its path after it; undefined while that is not known. */
  nextBornMs: number | undefined;
  identity: FileIdentity;
  /** Where it is now, or was last. */
  path: string;
  /** The same without symbolic links, once it was open. */
  realPath: string | undefined;
  place: Place;
  /** It was renamed or copied: an unfinished last line will get no rest. */
  isRotated: boolean;
  /** Its bytes are not in the file any more that they were read from; a copy of them is looked for. */
  isHomeless: boolean;
  /** It is missing together with the file system that it is on, and may come back with that. */
  isAway: boolean;
  /** It may be a copy of another one: nothing of it is read until that is decided. */
  isUndecided: boolean;
  /** It appeared while the agent runs, which is still to be told: once it has bytes and is known to be no copy. */
  isNews: boolean;
  /** The number of the scan that it appeared in; 0 for one that was found at the start, -1 for one that is known from before. */
  firstScan: number;
  /** The number of the scan that saw its first bytes, where it was empty before. */
  filledScan: number;
  /** Where the stream begins in the file. */
  startAt: number;
  /** So many NULs that it begins with are a hole. */
  leastHole: number;
  /** Nothing but NULs is before it, from 0 on, and no end of them was found yet. */
  holeTo: number;
  /** Everything before it was accepted by the lane; always the beginning of a line, or of the rest of one that was sent unfinished. */
  offset: number;
  /** Beyond `offset` where it lives in a copy that ends there, before what was read: everything before `takenTo` was accepted. */
  takenTo: number;
  /** Of the bytes just before `offset`. */
  tail: Tail;
  /** Of the bytes from `startAt` to `offset`. */
  content: ContentSum;
  /** Bytes up to here were read; from `offset` on they are an unfinished line. */
  readTo: number;
  /** Inside of an unfinished oversize line, so that it is not read again from its beginning. */
  suspended: SuspendedLine | undefined;
  /** The most that a stat saw of it. */
  size: number;
  /** The same, of this generation for sure: its content was looked at. */
  sureSize: number;
  /** As the last stat saw them: a difference means there is something to look at. */
  seenSize: number;
  seenMtimeMs: number;
  /** Monotonic, of the last change that was seen. */
  changedAtMs: number;
  /** Monotonic, since when it is `missing` or `deleted`. */
  leftAtMs: number;
  fd: number | undefined;
  /** A turn is under way. */
  isBusy: boolean;
  /** A read is under way: the descriptor must stay. */
  isReading: boolean;
  /** Bytes from `offset` on that the lane is taking, … */
  inHand: number;
  /** … and the last of these. */
  tailInHand: Tail;
  /** The next turn also sends the unfinished last line, if the file ends here or before. */
  finalAt: number;
  /** Whole lines wait for what may belong to their event, … */
  hasOpenEvent: boolean;
  /** … and are sent by a turn that ends here, or sooner. */
  linesFinalAt: number;
  /** The file that this one goes on with, while its first lines may belong to an event of that, … */
  before: TrackedFile | undefined;
  /** … and the one that goes on with this. */
  after: TrackedFile | undefined;
  /** Under `--once`: no line that begins here or later is read. */
  stopAt: number;
  /** The number of the last scan that saw it. */
  scan: number;
  failure: Failure | undefined;
}

/** A file that is seen for the first time, or a new generation of one, from its beginning. */
export function newTrackedFile(path: string, stat: FileStat, shape: EventShape, nowMs: number): TrackedFile {
  return {
    firstPath: path,
    shape,
    device: stat.device,
    inode: stat.inode,
    inodeBornMs: stat.bornMs,
    stream: undefined,
    bornMs: stat.bornMs,
    createdMs: 0,
    nextBornMs: undefined,
    identity: { device: String(stat.device), inode: String(stat.inode), ...NO_HEAD },
    path,
    realPath: undefined,
    place: 'matched',
    isRotated: false,
    isHomeless: false,
    isAway: false,
    isUndecided: false,
    isNews: false,
    firstScan: 0,
    filledScan: 0,
    startAt: 0,
    leastHole: HOLE_BYTES,
    holeTo: 0,
    offset: 0,
    takenTo: 0,
    tail: NO_TAIL,
    content: new ContentSum(0, 0),
    readTo: 0,
    suspended: undefined,
    size: stat.size,
    sureSize: 0,
    seenSize: -1,
    seenMtimeMs: -1,
    changedAtMs: nowMs,
    leftAtMs: 0,
    fd: undefined,
    isBusy: false,
    isReading: false,
    inHand: 0,
    tailInHand: NO_TAIL,
    finalAt: -1,
    hasOpenEvent: false,
    linesFinalAt: -1,
    before: undefined,
    after: undefined,
    stopAt: Infinity,
    scan: 0,
    failure: undefined,
  };
}

/** Nothing is known of the file but its inode, and that was given to another one since. Of any other its content tells. */
export function isReplaced({ fd, identity, inodeBornMs }: TrackedFile, stat: FileStat): boolean {
  return fd === undefined && identity.headLength === 0 && stat.bornMs !== inodeBornMs;
}

/** A stat saw so many bytes of this very generation. */
export function noteSize(file: TrackedFile, size: number): void {
  if (size > file.size) file.size = size;
  if (size > file.sureSize) file.sureSize = size;
}

/** What was read of it: what the lane is taking, too. */
export function readOf({ identity, startAt, offset, tail, inHand, tailInHand }: TrackedFile): KnownFile {
  return inHand > 0 ? { identity, startAt, offset: offset + inHand, tail: tailInHand } : { identity, startAt, offset, tail };
}

/** How far it was read: also over a hole that has no end yet. */
export function positionOf({ offset, holeTo }: TrackedFile): number {
  return Math.max(offset, holeTo);
}

/** Bytes that are there and not yet accepted. */
export function lagOf(file: TrackedFile): number {
  return Math.max(0, file.size - positionOf(file));
}

/** There are bytes that were never read: more than an unfinished line. */
export function isBehind(file: TrackedFile): boolean {
  return file.readTo < file.size;
}

/** It has no name any more that is known: an open descriptor is the only way to its bytes. */
export function isGone(file: TrackedFile): boolean {
  return file.place === 'deleted' || file.place === 'missing';
}

/** The state that metrics and `explain` tell. */
export function stateOf(file: TrackedFile): 'active' | 'idle' | 'rotated' | 'deleted' | 'failed' {
  if (file.failure) return 'failed';
  if (isGone(file)) return 'deleted';
  if (file.place === 'aside' || file.isRotated) return 'rotated';
  return file.fd !== undefined || isBehind(file) ? 'active' : 'idle';
}
