/**
 * Looks at one known file and gathers, as plain data, what `decide` must know of it. Changes nothing that is known: whoever acts on the
 * answer notes the trouble that was met. What cannot count any more is not looked at, so that a look costs a few system calls at most.
 */
import { compare, isUntouched } from '../known/content.ts';
import type { OpenFiles } from '../known/open-files.ts';
import type { KnownFiles } from '../known/known-files.ts';
import { type FileLocation, type FileOnDisk, isGone, isReplaced, type TrackedFile } from '../known/tracked-file.ts';
import { FORGET_AFTER_MS, KEEP_OPEN_MS } from '../limits.ts';
import { type FileStat, type FileSystem, isSameFile, statIfAt, withOpen } from '../scan/file-system.ts';
import { type FolderInodes, isMountAway, locate } from '../scan/locate.ts';
import type { FoundFile } from '../scan/finder.ts';
import type { FirstPlace } from '../scan/rotated-names.ts';
import type { BesideFile, Observation } from '../decide/decide.ts';
import type { FileFacts } from '../decide/table.ts';

type ContentCheck = Pick<FileFacts, 'content'> & Pick<Observation, 'trouble'>;
type DescriptorLook = Pick<FileFacts, 'descriptor'> & Pick<Observation, 'held' | 'trouble'>;

/** Of a scan: where it looks, and when. */
export interface ObserveOptions {
  readonly fileSystem: FileSystem;
  /** Monotonic. */
  readonly nowMs: number;
  readonly folders: FolderInodes;
  /** Rotation may have made what was found of what was there first, and `ignore_older` does not leave it out. */
  readonly isRotated: (found: FoundFile, of: FirstPlace) => boolean;
}

/** Where a file is that its path leads to, with nothing that tells it from what it was. */
const IN_PLACE: FileFacts = {
  path: 'itself',
  descriptor: 'closed',
  isElsewhere: false,
  content: 'same',
  isMountAway: false,
};

/** The path of the file leads to its inode. Its content is compared later, when it is read: only its time of birth is checked here. */
export function observeAt(file: TrackedFile, found: FoundFile, place: FileLocation): Observation {
  const facts = isReplaced(file, found.stat) ? ({ ...IN_PLACE, content: 'different' } as const) : IN_PLACE;
  return { file, disk: file.disk, facts, found, place };
}

/** `otherName`: where the finder found its inode. */
export function observe(file: TrackedFile, options: ObserveOptions, otherName?: FoundFile): Observation {
  const { fileSystem, nowMs, folders } = options;
  const { disk } = file;
  const own = statAt(fileSystem, disk.path);
  const isMatched = disk.place === 'matched' || disk.path === otherName?.path;
  // A matched path that leads to it again goes before the path of its own.
  if (own !== 'unknown' && own && isSameFile(own, disk) && (isMatched || !otherName))
    return observeAt(file, { path: disk.path, stat: own }, isMatched ? 'matched' : 'aside');
  const nothing = { ...IN_PLACE, content: 'unknown' } as const;
  if (own === 'unknown') return { file, disk, facts: { ...nothing, path: 'unknown' }, place: 'aside' };
  const { descriptor, held, trouble } = lookAtDescriptor(file, fileSystem, nowMs);
  const seen = { file, disk, place: otherName ? 'matched' : 'aside', held, trouble } as const;
  const facts = { ...nothing, path: 'something else', descriptor } as const;
  if (descriptor === 'unknown' || descriptor === 'unlinked') return { ...seen, facts };
  const isSearched = disk.place !== 'missing' || nowMs - disk.goneSinceMs <= KEEP_OPEN_MS;
  const found = otherName ?? (isSearched ? findElsewhere(file, fileSystem, folders) : undefined);
  if (found) {
    const { content, trouble: unread = trouble } = checkElsewhere(file, found, options, otherName !== undefined);
    const isRotated = !otherName && options.isRotated(found, file.stream);
    return { ...seen, trouble: unread, found, isRotated, facts: { ...facts, isElsewhere: true, content } };
  }
  const mayBeAway = !held && disk.place !== 'deleted';
  return {
    ...seen,
    facts: { ...facts, isMountAway: mayBeAway && isMountAway(fileSystem, disk.realPath ?? disk.path, disk.device) },
  };
}

/** What is beside a first path; whether it still is the known file that its inode had. */
export function observeBeside(
  found: FoundFile,
  of: FirstPlace,
  known: KnownFiles,
  options: ObserveOptions,
): BesideFile {
  const file = known.in(found.stat);
  const isRotated = options.isRotated(found, of);
  if (!file) return { found, of, isRotated, holder: undefined };
  return { found, of, isRotated, holder: observeHolder(file, found, options.fileSystem) };
}

/** Whether the found file still is the known one that its inode had. */
export function observeHolder(file: TrackedFile, found: FoundFile, fileSystem: FileSystem): Observation {
  const { content, trouble } = checkHolder(file, found, fileSystem);
  const facts = { ...IN_PLACE, path: 'something else', isElsewhere: true, content } as const;
  return { file, disk: file.disk, facts, place: file.disk.place, trouble };
}

/** What the file's descriptor says; `unknown` while trouble with it may pass. */
export function lookAtDescriptor(file: TrackedFile, fileSystem: FileSystem, nowMs: number): DescriptorLook {
  if (file.disk.fd === undefined) return { descriptor: 'closed' };
  try {
    const held = fileSystem.fstat(file.disk.fd);
    return { descriptor: held.links === 0 ? 'unlinked' : 'open', held };
  } catch (trouble) {
    return { descriptor: mayPass(file.disk, nowMs) ? 'unknown' : 'closed', trouble };
  }
}

/** The content under the descriptor of a file; `unknown`: it is not open, or cannot be looked at. */
export type ContentLook =
  | { readonly kind: 'same'; readonly size: number }
  | { readonly kind: 'changed' }
  | { readonly kind: 'unknown'; readonly trouble?: unknown };

export interface ContentOptions {
  readonly fileSystem: FileSystem;
  readonly descriptors: OpenFiles;
  readonly matcher: { readonly mayHaveCopy: (generation: TrackedFile) => boolean };
}

/** Whether the known content of the file is still there, if it is open. */
export function lookAtContent(file: TrackedFile, { fileSystem, descriptors, matcher }: ContentOptions): ContentLook {
  if (file.disk.fd === undefined || !descriptors.open(file)) return { kind: 'unknown' };
  try {
    const { size } = fileSystem.fstat(file.disk.fd);
    const isSame = isUntouched(fileSystem, file.disk.fd, file.stream.read) && !isBegunAnew(file, size, matcher);
    return isSame ? { kind: 'same', size } : { kind: 'changed' };
  } catch (trouble) {
    return { kind: 'unknown', trouble };
  }
}

/**
 * A file of which nothing was read is shorter than before: its end was cut off, or it was truncated and begins as before. It was the
 * latter if it may have a copy.
 */
export function isBegunAnew(file: TrackedFile, size: number, matcher: ContentOptions['matcher']): boolean {
  const { stream, sureSize } = file;
  if (size < stream.nuls.gapEnd) return true;
  const isUnread = stream.id !== undefined && stream.read.offset === stream.startAt;
  return isUnread && size < stream.endIn(sureSize) && matcher.mayHaveCopy(file);
}

/** Whether what was found is still this file. An open file keeps its inode; without any known content, the birth time tells. */
function checkStill(file: TrackedFile, found: FoundFile, fileSystem: FileSystem): ContentCheck {
  if (file.disk.fd !== undefined) return { content: 'same' };
  if (file.stream.identity.headLength === 0) return { content: isReplaced(file, found.stat) ? 'different' : 'same' };
  return checkContent(file, found, fileSystem);
}

/** Whether another file has the inode, even if the scan under way has not yet noticed that this file is missing. */
export function checkHolder(file: TrackedFile, found: FoundFile, fileSystem: FileSystem): ContentCheck {
  const { disk } = file;
  // Open, or still under its path: what has its inode there was made when it was.
  const isKept =
    disk.fd !== undefined || (!isGone(file) && statIfAt(fileSystem, disk.path, disk)?.bornMs === disk.bornMs);
  return isKept ? { content: 'same' } : checkStill(file, found, fileSystem);
}

/** The content of what was found, compared with what was read of the file. */
export function checkContent(file: TrackedFile, { path, stat }: FoundFile, fileSystem: FileSystem): ContentCheck {
  try {
    return withOpen(fileSystem, path, (fd) => {
      const isSame =
        isSameFile(fileSystem.fstat(fd), stat) && compare(fileSystem, fd, stat.size, file.stream) === 'same';
      return { content: isSame ? 'same' : 'different' };
    });
  } catch (trouble) {
    return { content: 'unknown', trouble };
  }
}

function checkElsewhere(
  file: TrackedFile,
  found: FoundFile,
  { fileSystem, nowMs }: ObserveOptions,
  isMatched: boolean,
): ContentCheck {
  const checked = checkStill(file, found, fileSystem);
  if (checked.content !== 'unknown') return checked;
  // The content cannot be compared now: the reader compares it before it reads.
  if (isMatched) return { ...checked, content: 'same' };
  return mayPass(file.disk, nowMs) ? checked : { ...checked, content: 'different' };
}

/** Trouble with the file is so young that it may pass. */
function mayPass({ failure }: FileOnDisk, nowMs: number): boolean {
  return failure === undefined || nowMs - failure.sinceMs < FORGET_AFTER_MS;
}

function statAt(fileSystem: FileSystem, path: string): FileStat | 'unknown' | undefined {
  try {
    return fileSystem.stat(path);
  } catch {
    // The finder logs what it cannot stat.
    return 'unknown';
  }
}

/** Looks where its descriptor says that it is, where it was, without links, and where its first path led, and leads. */
function findElsewhere(
  { disk, stream }: TrackedFile,
  fileSystem: FileSystem,
  folders: FolderInodes,
): FoundFile | undefined {
  const open = disk.fd === undefined ? undefined : fileSystem.pathOf(disk.fd);
  const paths = [open, disk.realPath, disk.path, stream.realPath, fileSystem.realPath(stream.firstPath)];
  const path = locate(fileSystem, disk, paths, folders);
  const stat = path === undefined ? undefined : statIfAt(fileSystem, path, disk);
  return path !== undefined && stat ? { path, stat } : undefined;
}
