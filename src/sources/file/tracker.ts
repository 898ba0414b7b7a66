/**
 * Which file is which stream. Owns the tracked files and the queue of those that have something to
 * read. A scan only observes: it follows renames by device and inode, notices deletes, keeps open what could vanish before
 * it is read. Positions are moved, and new generations made, by the reader's turns alone.
 */
import type { EventShape } from '../../core/block.ts';
import type { Clock } from '../../core/clock.ts';
import { FORGET_AFTER_MS, HEAD_BYTES, KEEP_OPEN_MS } from '../../core/limits.ts';
import type { SourceStats } from '../../core/source.ts';
import type { StreamRecord, StreamStore } from '../../core/stream.ts';
import { type FileStat, type FileSystem, inodeKey, isSameFile } from './file-system.ts';
import type { FoundFile } from './finder.ts';
import { hashHead } from './identity.ts';
import type { Notices } from './notices.ts';
import { OpenFiles } from './open-files.ts';
import { isUntouched } from './sample.ts';
import { isBehind, isGone, lagOf, newTrackedFile, type Place, type TrackedFile } from './tracked-file.ts';
import { findWhereabouts, type FolderInodes, statIfAt } from './whereabouts.ts';

export interface TrackerOptions {
  /** The source's id. */
  readonly source: string;
  readonly fileSystem: FileSystem;
  readonly streams: StreamStore;
  readonly clock: Clock;
  readonly notices: Notices;
  readonly stats: SourceStats;
  shapeOf(path: string): EventShape;
}

export class Tracker {
  readonly files = new Set<TrackedFile>();
  /** Files that may have something to read, in the order of their turns. */
  readonly queue = new Set<TrackedFile>();
  /** The open descriptors of the files. */
  readonly descriptors: OpenFiles;
  readonly #options: TrackerOptions;
  readonly #byPath = new Map<string, TrackedFile>();
  readonly #byInode = new Map<string, TrackedFile>();
  /** Streams whose file generation is gone, by the time they were left (monotonic). */
  readonly #retired = new Map<string, number>();
  #scans = 0;

  constructor(options: TrackerOptions) {
    this.#options = options;
    this.descriptors = new OpenFiles(options);
  }

  /** Takes up a file that is known from before. Its content has been compared. */
  adopt(record: StreamRecord, path: string, stat: FileStat, isMatched: boolean): TrackedFile {
    const file = newTrackedFile(record.path, stat, this.#options.shapeOf(record.path), this.#now);
    file.stream = record.id;
    if (record.identity) file.identity = record.identity;
    file.path = path;
    file.place = isMatched ? 'matched' : 'aside';
    file.isRotated = path !== record.path;
    file.offset = file.readTo = record.resumeAt;
    file.tail = record.tail;
    this.#add(file);
    return file;
  }

  /** Starts to follow a file that was not known. */
  track({ path, stat }: FoundFile): TrackedFile {
    const file = newTrackedFile(path, stat, this.#options.shapeOf(path), this.#now);
    this.#add(file);
    return file;
  }

  /** True when this file, under whatever name, is followed. */
  has(stat: FileStat): boolean {
    return this.#byInode.has(inodeKey(stat));
  }

  byStream(stream: string): TrackedFile | undefined {
    for (const file of this.files) if (file.stream === stream) return file;
    return undefined;
  }

  byPath(path: string): TrackedFile | undefined {
    return this.#byPath.get(path) ?? [...this.files].find((file) => file.path === path || file.realPath === path);
  }

  /** Matches what a scan found to what is known. Returns how many files are new. */
  scan(found: ReadonlyMap<string, FoundFile>): number {
    this.#scans += 1;
    const strange: FoundFile[] = [];
    for (const each of found.values()) {
      const file = this.#byPath.get(each.path);
      if (file && file.path === each.path && isSameFile(file, each.stat)) this.#see(file, each.stat, 'matched');
      else strange.push(each);
    }
    // Renames before deletes before new files: a rotated file is known by its inode, wherever its name is now.
    const unknown = strange.filter((each) => !this.#seeRenamed(each));
    const folders: FolderInodes = new Map();
    for (const file of this.files) if (file.scan !== this.#scans) this.#lookElsewhere(file, folders);
    for (const each of unknown.sort((a, b) => (a.path < b.path ? -1 : 1)))
      if (!this.has(each.stat)) this.#see(this.#trackNew(each), each.stat, 'matched');
    for (const file of this.files) this.#keepHouse(file);
    this.#forgetSettled();
    this.#options.streams.persist?.();
    return unknown.length;
  }

  /**
   * The content that was known is gone (cut off, or replaced under the same inode): the same file begins a new generation
   * that is read from 0. What a stat saw of the old one and was not read is lost, and counted.
   */
  renew(file: TrackedFile, stat: FileStat): TrackedFile {
    const lostBytes = lagOf(file);
    this.#options.stats.lostBytes += lostBytes;
    const fields = { path: file.path, offset: file.offset, size: stat.size, lostBytes };
    this.#options.notices.event(lostBytes > 0 ? 'warn' : 'info', fields, 'file was truncated or replaced, reading it from its beginning');
    this.#remove(file);
    // Under a matching path it is a file of its own, else what is left of the rotated one.
    const firstPath = file.place === 'matched' ? file.path : file.firstPath;
    const next = newTrackedFile(firstPath, stat, firstPath === file.firstPath ? file.shape : this.#options.shapeOf(firstPath), this.#now);
    next.path = file.path;
    next.seenSize = stat.size;
    next.seenMtimeMs = stat.mtimeMs;
    next.place = file.place;
    next.isRotated = file.path !== firstPath;
    next.leftAtMs = file.leftAtMs;
    next.realPath = file.realPath;
    next.scan = file.scan;
    this.descriptors.handOver(file, next);
    this.#add(next);
    return next;
  }

  /** The file ends at `end`, before its size as seen: unless it is growing right now, a part of its unfinished line was cut off. */
  noteCut(file: TrackedFile, end: number): void {
    if (file.fd === undefined || this.#options.fileSystem.fstat(file.fd).size > end) return;
    const lostBytes = file.size - end;
    this.#options.stats.lostBytes += lostBytes;
    this.#options.notices.event('warn', { path: file.path, size: end, lostBytes }, 'the end of a file was cut off before it was read');
    file.size = end;
  }

  /** Lets go of a stream that has no file any more. */
  retire(stream: string): void {
    this.#retired.set(stream, this.#now);
  }

  closeAll(): void {
    for (const file of this.files) this.descriptors.close(file);
  }

  get #now(): number {
    return this.#options.clock.monotonic();
  }

  #add(file: TrackedFile): void {
    this.files.add(file);
    this.#byInode.set(inodeKey(file), file);
    if (file.place === 'matched') this.#byPath.set(file.path, file);
  }

  /** Forgets the file, not its descriptor; its stream is forgotten once it is settled. */
  #remove(file: TrackedFile): void {
    this.files.delete(file);
    this.queue.delete(file);
    if (this.#byInode.get(inodeKey(file)) === file) this.#byInode.delete(inodeKey(file));
    if (this.#byPath.get(file.path) === file) this.#byPath.delete(file.path);
    if (file.stream !== undefined) this.retire(file.stream);
  }

  #trackNew(found: FoundFile): TrackedFile {
    // The first scan tells its number in one line.
    this.#options.notices.event(this.#scans === 1 ? 'debug' : 'info', { path: found.path, size: found.stat.size }, 'new file');
    return this.track(found);
  }

  #see(file: TrackedFile, stat: FileStat, place: Place): void {
    file.scan = this.#scans;
    if (file.place !== place) {
      file.place = place;
      if (place === 'matched') this.#byPath.set(file.path, file);
    }
    const isChanged = stat.size !== file.seenSize || stat.mtimeMs !== file.seenMtimeMs;
    if (isChanged) {
      file.seenSize = stat.size;
      file.seenMtimeMs = stat.mtimeMs;
      file.changedAtMs = this.#now;
      this.descriptors.touch(file);
    } else if (!isBehind(file)) return;
    this.queue.add(file);
    // Open now: the reader may be waiting for the sinks while the file is rotated away.
    if (!this.descriptors.isFull) this.descriptors.open(file);
    if (file.stream === undefined && stat.size > 0) this.#name(file);
    // Bytes of a new generation are not the old one's: what is lost with it is counted by its size.
    if (stat.size > file.size && this.#isUntouched(file)) file.size = stat.size;
  }

  /**
   * Gives a file its stream when it is first seen, not when it is first read: after a crash it is then known under
   * whatever name it was rotated to meanwhile.
   */
  #name(file: TrackedFile): void {
    const { fileSystem, streams, source } = this.#options;
    const wasOpen = file.fd !== undefined;
    if (!this.descriptors.open(file)) return;
    try {
      const head = Buffer.alloc(HEAD_BYTES);
      file.identity = { ...file.identity, ...hashHead(head.subarray(0, fileSystem.peek(file.fd!, head, 0))) };
      file.stream = streams.mint(source, file.firstPath, file.identity, file.offset).id;
    } catch (error) {
      this.descriptors.fail(file, error);
    }
    if (!wasOpen && this.descriptors.isFull) this.descriptors.close(file);
  }

  /** True also when it cannot be told. */
  #isUntouched(file: TrackedFile): boolean {
    try {
      return file.fd === undefined || isUntouched(this.#options.fileSystem, file.fd, file);
    } catch {
      return true;
    }
  }

  /** True when the file is known under another name. */
  #seeRenamed(found: FoundFile): boolean {
    const file = this.#byInode.get(inodeKey(found.stat));
    if (!file) return false;
    if (file.path === found.path) {
      this.#byPath.set(found.path, file);
      this.#see(file, found.stat, 'matched');
      return true;
    }
    // Else a second name (hard link, symbolic link) of a file that is still under its own.
    if (file.scan !== this.#scans && !statIfAt(this.#options.fileSystem, file.path, file))
      this.#move(file, found.path, found.stat, 'matched');
    return true;
  }

  #move(file: TrackedFile, path: string, stat: FileStat, place: Place): void {
    this.#options.notices.event(
      'info',
      { from: file.path, to: path, file: file.firstPath, unreadBytes: lagOf(file) },
      'file was renamed, reading on',
    );
    if (this.#byPath.get(file.path) === file) this.#byPath.delete(file.path);
    file.path = path;
    file.realPath = undefined;
    file.isRotated = path !== file.firstPath;
    if (place === 'matched') this.#byPath.set(path, file);
    // Closed meanwhile, it may be another file under the same inode: a look at its content decides.
    if (file.fd === undefined) file.seenSize = -1;
    this.#see(file, stat, place);
  }

  #lookElsewhere(file: TrackedFile, folders: FolderInodes): void {
    let there: FileStat | undefined;
    try {
      there = this.#options.fileSystem.stat(file.path);
    } catch {
      // It cannot be told whether the file is there: nothing is given up. The finder names what it cannot look at.
      file.scan = this.#scans;
      return;
    }
    if (there && isSameFile(there, file)) return this.#see(file, there, file.place === 'matched' ? 'matched' : 'aside');
    const held = this.#held(file);
    if (held?.links === 0) return this.#leave(file, held, 'deleted');
    const isSearched = file.place !== 'missing' || this.#now - file.leftAtMs <= KEEP_OPEN_MS;
    const path = isSearched ? findWhereabouts(this.#options.fileSystem, file, folders) : undefined;
    const stat = path === undefined ? undefined : statIfAt(this.#options.fileSystem, path, file);
    if (path !== undefined && stat) return this.#move(file, path, stat, 'aside');
    this.#leave(file, held, file.place === 'deleted' ? 'deleted' : 'missing');
  }

  #leave(file: TrackedFile, held: FileStat | undefined, place: 'deleted' | 'missing'): void {
    if (file.place === 'matched' || file.place === 'aside') {
      file.leftAtMs = this.#now;
      const lostBytes = held ? 0 : lagOf(file);
      this.#options.stats.lostBytes += lostBytes;
      const fields = { path: file.path, offset: file.offset, unreadBytes: lagOf(file), lostBytes };
      if (lostBytes > 0) this.#options.notices.event('warn', fields, 'file was deleted before it was read to its end');
      else this.#options.notices.event('info', fields, held ? 'file was deleted, reading it to its end' : 'file is gone');
      if (this.#byPath.get(file.path) === file) this.#byPath.delete(file.path);
      if (!held) file.size = file.readTo = file.offset;
    }
    file.place = place;
    if (held) this.#see(file, held, place);
    else file.scan = this.#scans;
  }

  #held(file: TrackedFile): FileStat | undefined {
    try {
      return file.fd === undefined ? undefined : this.#options.fileSystem.fstat(file.fd);
    } catch {
      return undefined;
    }
  }

  /** Closes what is idle, has the last line of what is over sent, drops what is gone. */
  #keepHouse(file: TrackedFile): void {
    if (isGone(file) && file.failure && !file.isBusy && this.#now - file.leftAtMs >= FORGET_AFTER_MS) return this.#giveUp(file);
    if (file.isBusy || isBehind(file) || this.#now - file.changedAtMs < KEEP_OPEN_MS) return;
    if (lagOf(file) > 0 && !file.failure) {
      // An unfinished line. A file that may still be written to stays open for its rest: a delete would take it along.
      if (file.place === 'matched' && !file.isRotated) return;
      file.isFinal = true;
      this.queue.add(file);
      return;
    }
    this.descriptors.close(file);
    if (isGone(file) && (file.place === 'deleted' || this.#now - file.leftAtMs >= FORGET_AFTER_MS)) this.#remove(file);
  }

  #giveUp(file: TrackedFile): void {
    const lostBytes = lagOf(file);
    this.#options.stats.lostBytes += lostBytes;
    this.#options.notices.event(
      'warn',
      { path: file.path, reason: file.failure?.reason, lostBytes },
      'deleted file cannot be read, giving it up',
    );
    this.descriptors.close(file);
    this.#remove(file);
  }

  #forgetSettled(): void {
    const { streams } = this.#options;
    for (const [stream, sinceMs] of this.#retired) {
      if (this.#now - sinceMs < FORGET_AFTER_MS || !streams.isSettled(stream)) continue;
      this.#retired.delete(stream);
      streams.forget(stream);
    }
  }
}
