/**
 * The file generations that are known, by path, inode and stream, and the queue of those that have something to read.
 * Promises: at most one generation for a path and for an inode; one without a file is found by its stream alone.
 */
import { type FileStat, inodeKey, parentOf } from '../scan/file-system.ts';
import type { FileIdentity } from '../../../core/stream.ts';
import { MAX_ENDED_IN_LINE } from '../limits.ts';
import type { CopyCandidate } from './copy-candidate.ts';
import { familyOf } from '../scan/rotated-names.ts';
import { type FileLocation, isDetached, isGone, lagOf, type TrackedFile } from './tracked-file.ts';

const NONE: ReadonlySet<TrackedFile> = new Set();

export class KnownFiles {
  readonly files = new Set<TrackedFile>();
  /** Files that may have something to read, in the order of their turns. */
  readonly queue = new Set<TrackedFile>();
  /** Deleted files, where these have a reader of their own. */
  readonly deleted = new Set<TrackedFile>();
  /** Those under a matching path. */
  readonly #byPath = new Map<string, TrackedFile>();
  /** By paths without symbolic links, where these are others: the same, and those whose link was removed. */
  readonly #byRealPath = new Map<string, TrackedFile>();
  readonly #byInode = new Map<string, TrackedFile>();
  /** By folder: those that are, or were last, in it. */
  readonly #byFolder = new Map<string, Set<TrackedFile>>();
  /** By what their names have in common; made when it is first asked for. */
  #byFamily: Map<string, Set<TrackedFile>> | undefined;
  /** Families of which a file ended inside of a line and is not known any more. */
  readonly #endedInLine = new Set<string>();
  /** Those that have no name any more. */
  readonly gone = new Set<TrackedFile>();
  /** Streams whose content is in no file any more. */
  readonly detached = new Set<TrackedFile>();
  /** Streams that no pattern leads to any more: kept so that their batches can be sent again. */
  readonly unmatched = new Set<TrackedFile>();
  /** Files that may be copies of others: nothing of them is read until that is decided. */
  readonly candidates = new Map<TrackedFile, CopyCandidate>();
  /** Generations that began, or were detached, since `Copies` looked last. */
  readonly changed = new Set<TrackedFile>();
  /** By inode: the positions of streams that a start detaches; the inode's next file may begin with a NUL gap of that length. */
  readonly readBefore = new Map<string, number>();
  /** The number of the present scan. */
  scan = 0;

  readonly #hasRescue: boolean;

  /** `hasRescue`: deleted files have a reader of their own. */
  constructor(hasRescue: boolean) {
    this.#hasRescue = hasRescue;
  }

  add(file: TrackedFile): void {
    this.files.add(file);
    this.#joinFamily(file);
    this.#index(file);
  }

  remove(file: TrackedFile): void {
    this.files.delete(file);
    this.candidates.delete(file);
    this.#leaveFamily(file);
    this.dequeue(file);
    this.#unindex(file);
  }

  /** True while something waits to be read. */
  get hasWork(): boolean {
    return this.queue.size + this.deleted.size > 0;
  }

  isUndecided(file: TrackedFile): boolean {
    return this.candidates.has(file);
  }

  /** The file may have something to read. */
  enqueue(file: TrackedFile): void {
    (this.#hasRescue && file.disk.place === 'deleted' ? this.deleted : this.queue).add(file);
  }

  /** True when it was waiting for its turn. */
  dequeue(file: TrackedFile): boolean {
    const wasDeleted = this.deleted.delete(file);
    return this.queue.delete(file) || wasDeleted;
  }

  /** The generation that is under this matching path. */
  at(path: string): TrackedFile | undefined {
    return this.#byPath.get(path);
  }

  /** The same; the path may also be the one that the matching path leads to, or led to. */
  leadingTo(path: string): TrackedFile | undefined {
    return this.#byPath.get(path) ?? this.#byRealPath.get(path);
  }

  /** Those that are, or were last, in this folder. */
  inFolder(folder: string): ReadonlySet<TrackedFile> {
    return this.#byFolder.get(folder) ?? NONE;
  }

  /** The files of this folder; without one, all files. */
  filesIn(folder: string | undefined): Iterable<TrackedFile> {
    return folder === undefined ? this.files : [...this.inFolder(folder)];
  }

  /** Those that may go on with each other. */
  inFamily(family: string): ReadonlySet<TrackedFile> {
    if (!this.#byFamily) {
      this.#byFamily = new Map();
      for (const file of this.files) this.#joinFamily(file);
    }
    return this.#byFamily.get(family) ?? NONE;
  }

  /** True where a file of the family ended inside of a line and is not known any more; once, for the file that goes on with it. */
  takeEndedInLine(family: string): boolean {
    return this.#endedInLine.delete(family);
  }

  #leaveFamily(file: TrackedFile): void {
    const { stream } = file;
    const family = familyOf(stream.firstPath);
    this.#byFamily?.get(family)?.delete(file);
    if (
      stream.id === undefined ||
      !(stream.identity.endsInLine === true || stream.readTo > stream.offset || lagOf(file) > 0)
    )
      return;
    this.#endedInLine.add(family);
    for (const oldest of this.#endedInLine)
      if (this.#endedInLine.size > MAX_ENDED_IN_LINE) this.#endedInLine.delete(oldest);
  }

  #joinFamily(file: TrackedFile): void {
    if (!this.#byFamily) return;
    const family = familyOf(file.stream.firstPath);
    const files = this.#byFamily.get(family);
    if (files) files.add(file);
    else this.#byFamily.set(family, new Set([file]));
  }

  /** The generation that this file, under whatever name, holds. */
  in(file: Pick<FileStat | FileIdentity, 'device' | 'inode'>): TrackedFile | undefined {
    return this.#byInode.get(inodeKey(file));
  }

  /** The file whose turn it is. */
  next(order: 'fair' | 'oldest_first'): TrackedFile | undefined {
    let [first] = this.queue;
    if (order === 'oldest_first')
      for (const file of this.queue) if (file.disk.seenMtimeMs < first!.disk.seenMtimeMs) first = file;
    return first;
  }

  /** Bytes that are there and not yet accepted. */
  get lagBytes(): number {
    let sum = 0;
    for (const file of this.files) if (!this.isUndecided(file)) sum += lagOf(file);
    return sum;
  }

  /** The same of those that have no name any more, or no file. */
  get goneLagBytes(): number {
    let sum = 0;
    for (const file of this.files) if (isGone(file)) sum += lagOf(file);
    return sum;
  }

  /** The generation that is, or was last, under this path, whatever led to it. */
  byPath(path: string): TrackedFile | undefined {
    return (
      this.leadingTo(path) ?? [...this.files].find((file) => file.disk.path === path || file.disk.realPath === path)
    );
  }

  byStream(stream: string): TrackedFile | undefined {
    for (const files of [this.files, this.unmatched])
      for (const file of files) if (file.stream.id === stream) return file;
    return undefined;
  }

  /** The file is somewhere else now; without a path where that is not known. */
  place(file: TrackedFile, place: FileLocation, path = file.disk.path): void {
    this.#unindex(file);
    if (path !== file.disk.path) file.disk.realPath = undefined;
    file.disk.path = path;
    file.disk.place = place;
    this.#index(file);
    if (this.dequeue(file)) this.enqueue(file);
  }

  /** The path without symbolic links that the file was just opened at. */
  noteRealPath(file: TrackedFile, realPath: string | undefined): void {
    if (realPath === undefined || realPath === file.disk.realPath) return;
    this.#unindexRealPath(file);
    file.disk.realPath = realPath;
    // A file that was renamed keeps the real path of its first one: rotation began there.
    if (file.disk.path === file.stream.firstPath) file.stream.realPath = realPath;
    if (this.files.has(file)) this.#indexRealPath(file);
  }

  /** The stream's content is in no file any more. */
  detach(file: TrackedFile): void {
    this.#unindex(file);
    file.disk.place = 'detached';
    this.#index(file);
    this.dequeue(file);
  }

  /** The file's inode was given to another one. */
  replace(file: TrackedFile, nowMs: number): void {
    this.detach(file);
    file.disk.lastChange = 'replaced';
    file.disk.goneSinceMs = nowMs;
    this.changed.add(file);
  }

  /** The same file has another inode now. */
  replaceInode(file: TrackedFile, { device, inode, bornMs }: FileStat): void {
    this.#unindex(file);
    Object.assign(file.disk, { device, inode, bornMs });
    this.#index(file);
  }

  /** `to` gets the file of `from`, which is detached. The caller moves the descriptor. */
  takeOver(to: TrackedFile, from: TrackedFile): void {
    this.#unindex(to);
    this.#unindex(from);
    to.disk = from.disk;
    from.disk = { ...from.disk, fd: undefined, isReading: false };
    this.detach(from);
    if (this.dequeue(to)) this.enqueue(to);
    if (this.files.has(to)) this.#index(to);
    else this.add(to);
  }

  #index(file: TrackedFile): void {
    if (isDetached(file)) return void this.detached.add(file);
    if (isGone(file)) this.gone.add(file);
    const folder = parentOf(file.disk.path);
    const files = this.#byFolder.get(folder);
    if (files) files.add(file);
    else this.#byFolder.set(folder, new Set([file]));
    this.#byInode.set(inodeKey(file.disk), file);
    if (file.disk.place === 'matched') this.#byPath.set(file.disk.path, file);
    this.#indexRealPath(file);
  }

  #unindex(file: TrackedFile): void {
    this.gone.delete(file);
    this.detached.delete(file);
    const folder = parentOf(file.disk.path);
    const files = this.#byFolder.get(folder);
    if (files?.delete(file) === true && files.size === 0) this.#byFolder.delete(folder);
    if (this.#byInode.get(inodeKey(file.disk)) === file) this.#byInode.delete(inodeKey(file.disk));
    if (this.#byPath.get(file.disk.path) === file) this.#byPath.delete(file.disk.path);
    this.#unindexRealPath(file);
  }

  #indexRealPath(file: TrackedFile): void {
    const realPath = realPathOf(file);
    if (realPath !== undefined) this.#byRealPath.set(realPath, file);
  }

  #unindexRealPath(file: TrackedFile): void {
    const realPath = realPathOf(file);
    if (realPath !== undefined && this.#byRealPath.get(realPath) === file) this.#byRealPath.delete(realPath);
  }
}

/** Where the matching path of the file leads, or led until its link was removed; undefined where that is the path itself, or the file was renamed. */
function realPathOf({ disk: { place, path, realPath }, stream }: TrackedFile): string | undefined {
  if (place === 'matched') return realPath === path ? undefined : realPath;
  return place === 'aside' && path === stream.realPath ? path : undefined;
}
