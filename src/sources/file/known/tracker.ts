/**
 * Which file is which stream. A scan observes: it follows renames by device and inode, notices deletes and truncations, finds
 * the copies and the rotated files that no glob matches, and keeps open what could vanish before it is read. Positions are
 * moved by the reader's turns alone.
 */
import type { Clock } from '../../../core/time/clock.ts';
import { BIRTH_SLACK_MS, FORGET_AFTER_MS, KEEP_OPEN_MS, SCAN_SLICE_FILES } from '../limits.ts';
import type { SourceStats } from '../../../core/source.ts';
import type { StreamStore } from '../../../core/stream.ts';
import { type FileStat, type FileSystem, isSameFile } from '../scan/file-system.ts';
import { type FoundFile, parentOf } from '../scan/finder.ts';
import type { Generations } from './generations.ts';
import { MissedRotations } from './missed-rotations.ts';
import { LOWER_BOUND, type Notices } from '../scan/notices.ts';
import { FolderNames } from '../scan/rotated-names.ts';
import { isDetached, isBehind, isGone, isReplaced, isRotated, lagOf, type TrackedFile } from './tracked-file.ts';
import type { Place } from './file-on-disk.ts';
import { findWhereabouts, type FolderInodes, isMountAway, statIfAt } from './locate.ts';

export interface TrackerOptions {
  readonly fileSystem: FileSystem;
  readonly streams: StreamStore;
  readonly clock: Clock;
  readonly notices: Notices;
  readonly stats: SourceStats;
  readonly generations: Generations;
  /** Files that are not known and were not changed for so long are left out; Infinity for never. */
  readonly ignoreOlderMs: number;
  /** False where a file may have another inode at every look. */
  readonly stableInodes: boolean;
  /** True for a path that the globs match, and none of those to leave out. */
  isMatched(path: string): boolean;
}

const AWAY = 'file is gone with the file system that it is on, which is waited for';

export class Tracker {
  readonly #options: TrackerOptions;
  /** Paths that their file left: what had them since, and was rotated away between two looks, is looked for until another file is seen there. */
  readonly #left = new Map<string, { readonly nextBornMs: number; readonly untilMs: number }>();
  readonly #missed: MissedRotations;
  #scan = 0;
  #changed = new Set<TrackedFile>();
  #grownBytes = 0;

  constructor(options: TrackerOptions) {
    this.#options = options;
    this.#missed = new MissedRotations(options);
  }

  /** The files with a name that looks found changed since this was asked last, and by how many bytes they grew. */
  takeChanged(): { readonly files: ReadonlySet<TrackedFile>; readonly grownBytes: number } {
    const changed = { files: this.#changed, grownBytes: this.#grownBytes };
    this.#changed = new Set();
    this.#grownBytes = 0;
    return changed;
  }

  /**
   * Matches what a scan found to what is known: everywhere, or in one folder alone. Other work gets its turn now and then.
   */
  async scan(found: ReadonlyMap<string, FoundFile>, pause: () => Promise<void> = () => Promise.resolve(), folder?: string): Promise<void> {
    const { registry, copies, house, successors } = this.#generations;
    const files = (): Iterable<TrackedFile> => (folder === undefined ? registry.files : [...registry.inFolder(folder)]);
    this.#generations.scan = this.#scan += 1;
    const strange: FoundFile[] = [];
    for (const each of found.values()) {
      const file = registry.at(each.path);
      if (file && file.disk.path === each.path && this.#isSame(file, each)) this.#see(file, each.stat, 'matched');
      else strange.push(each);
    }
    const away = new Map([...registry.gone].filter(({ disk }) => disk.place === 'away').map((file) => [file.disk.path, file]));
    // Renames before deletes before new files: a rotated file is known by its inode, wherever its name is now.
    const unknown = strange.filter((each) => !this.#seeRenamed(each) && !this.#seeBack(each, away.get(each.path)));
    const folders: FolderInodes = new Map();
    for (const file of files()) {
      if (file.disk.scan === this.#scan || isDetached(file)) continue;
      // No name leads to a deleted file; `look` and full scans see what is still written to it.
      if (folder !== undefined && file.disk.place === 'deleted' && file.disk.fd !== undefined && !file.disk.failure) continue;
      this.#lookElsewhere(file, folders);
    }
    let looked = 0;
    const ignored: string[] = [];
    for (const each of unknown.sort((a, b) => (a.path < b.path ? -1 : 1))) {
      if (!registry.in(each.stat)) {
        if (this.isIgnored(each.stat)) ignored.push(each.path);
        else this.#seeNew(each, folders);
      }
      if ((looked += 1) % SCAN_SLICE_FILES === 0) await pause();
    }
    const [path] = ignored;
    if (path !== undefined) {
      const text = 'files that did not change for longer than `ignore_older` are left out until they do';
      this.#options.notices.trouble('info', 'ignore_older', { path, files: ignored.length }, text);
    }
    this.#findBornBetween(folder);
    copies.decide();
    successors.link();
    for (const file of files()) house.keep(file);
    house.keepBudget();
    house.forgetSettled();
    this.#options.streams.persist?.();
  }

  /** Looks at files that are said to have changed. False where a path leads to another file than is known there: its folder is to be scanned. */
  lookAt(paths: Iterable<string>): boolean {
    const { registry, copies, house, successors } = this.#generations;
    this.#generations.scan = this.#scan += 1;
    let isKnown = true;
    for (const path of paths) {
      const file =
        registry.at(path) ?? [...registry.inFolder(parentOf(path))].find((each) => each.disk.path === path && each.disk.place === 'aside');
      const stat = file && statIfAt(this.#options.fileSystem, path, file.disk);
      if (!file) isKnown &&= !this.#options.isMatched(path);
      else if (!stat || isReplaced(file, stat)) isKnown = false;
      else {
        this.#see(file, stat, file.disk.place);
        house.keep(file);
      }
    }
    copies.decide();
    successors.link();
    this.#options.streams.persist?.();
    return isKnown;
  }

  /** A generation that is known from before was at this path: what had it since is looked for, as where a file leaves its path. */
  expectAt(path: string, nextBornMs: number, names: FolderNames): void {
    this.findBorn(path, nextBornMs, names);
    this.#left.set(path, { nextBornMs, untilMs: this.#now + FORGET_AFTER_MS });
  }

  #findBornBetween(folder: string | undefined): void {
    const names = new FolderNames(this.#options.fileSystem);
    this.#missed.tell(names);
    for (const [path, { nextBornMs, untilMs }] of this.#left) {
      if (folder !== undefined && parentOf(path) !== folder) continue;
      const isRead = this.findBorn(path, nextBornMs, names);
      if (isRead && (this.#generations.registry.at(path) || this.#now >= untilMs)) this.#left.delete(path);
    }
  }

  /**
   * Takes up the rotated files beside a path that no glob matches and that were made after `sinceMs`: they had that path and
   * lost it before any scan saw them. So may those that are empty, whenever they were made. False when the folder cannot be read now.
   */
  findBorn(path: string, sinceMs: number, names = new FolderNames(this.#options.fileSystem)): boolean {
    return this.#takeBeside(path, names, ({ size, bornMs }) => size === 0 || bornMs > sinceMs - BIRTH_SLACK_MS);
  }

  /** The same for those that were written to since, whenever they were made. */
  findWritten(path: string, sinceMs: number, names: FolderNames): boolean {
    return this.#takeBeside(path, names, ({ mtimeMs }) => mtimeMs >= sinceMs);
  }

  #takeBeside(path: string, names: FolderNames, isTaken: (stat: FileStat) => boolean): boolean {
    try {
      for (const each of names.extending(path)) if (isTaken(each.stat)) this.takeRotated(each, path);
      return true;
    } catch {
      return false;
    }
  }

  /** Takes up a file that is not known, if no glob matches it and rotation may have made its name of the path. */
  takeRotated({ path, stat }: FoundFile, of: string): void {
    const generations = this.#generations;
    if (generations.holderOf({ path, stat }) || this.isIgnored(stat) || !generations.isRotatedFrom(path, of)) return;
    this.#options.notices.event('info', { path, file: of, size: stat.size }, 'file was made and rotated unseen, reading it');
    this.#see(generations.trackAside(path, stat, of), stat, 'aside');
  }

  get #generations(): Generations {
    return this.#options.generations;
  }

  get #now(): number {
    return this.#options.clock.monotonic();
  }

  /**
   * What cannot wait for the next scan where scans are far apart: open files that were deleted, unfinished lines whose time is
   * up, descriptors that are not needed any more.
   */
  look(): void {
    const { registry, house, copies, successors, descriptors } = this.#generations;
    for (const file of new Set([...descriptors.files, ...registry.gone])) {
      const held = this.#held(file);
      if (!held || held === 'unknown') continue;
      if (held.links === 0 && file.disk.place !== 'deleted') this.#leave(file, held, 'deleted');
      else if (isGone(file) || (lagOf(file) > 0 && !isBehind(file))) this.#see(file, held, file.disk.place);
      house.keep(file);
    }
    copies.decide();
    successors.link();
    house.keepBudget();
    house.forgetSettled();
    this.#options.streams.persist?.();
  }

  /** True while something must be looked at between two scans. */
  get needsLooks(): boolean {
    const { descriptors, registry, copies } = this.#generations;
    return descriptors.files.size + registry.gone.size > 0 || copies.isBusy;
  }

  /** True for a file that was not changed for longer than `ignore_older`. */
  isIgnored(stat: FileStat): boolean {
    return this.#options.clock.now() - stat.mtimeMs > this.#options.ignoreOlderMs;
  }

  /** True when the found file is the one that is known under its path: by inode, or where inodes change, by content. */
  #isSame(file: TrackedFile, found: FoundFile): boolean {
    if (isSameFile(file.disk, found.stat)) {
      if (!isReplaced(file, found.stat)) return true;
      this.#generations.forsake(file);
      return false;
    }
    return !this.#options.stableInodes && !this.#generations.registry.in(found.stat) && this.#generations.followInode(file, found);
  }

  /** One that is gone or renamed before it could be opened is looked for now: a copy can still be told from what was cut off in this scan. */
  #seeNew(found: FoundFile, folders: FolderInodes): void {
    const file = this.#trackNew(found);
    this.#see(file, found.stat, 'matched');
    if (file.disk.fd === undefined && file.stream.id === undefined && !file.disk.failure) this.#lookElsewhere(file, folders);
  }

  #trackNew(found: FoundFile): TrackedFile {
    // The first scan tells its number in one line.
    const isExpected = this.#scan === 1 || this.#left.has(found.path);
    if (isExpected) this.#options.notices.event('debug', { path: found.path, size: found.stat.size }, 'new file');
    const file = this.#generations.track(found);
    file.isNews = !isExpected;
    return file;
  }

  #see(file: TrackedFile, stat: FileStat, place: Place): void {
    file.disk.scan = this.#scan;
    if (file.disk.place !== place) this.#generations.place(file, place);
    const isChanged = stat.size !== file.disk.seenSize || stat.mtimeMs !== file.disk.seenMtimeMs;
    if (isChanged) {
      if (file.disk.seenSize === 0) file.filledScan = this.#scan;
      if (!isGone(file)) this.#changed.add(file);
      this.#grownBytes += Math.max(0, stat.size - Math.max(0, file.disk.seenSize));
      file.disk.seenSize = stat.size;
      file.disk.seenMtimeMs = stat.mtimeMs;
      file.disk.changedAtMs = this.#now;
      this.#generations.descriptors.touch(file);
    } else if (!isBehind(file) && !file.disk.failure) return;
    // Open now: the reader may be waiting for the sinks while the file is rotated away.
    if (!this.#generations.descriptors.isFull) this.#generations.descriptors.open(file);
    if (file.isUndecided) return;
    const current = this.#generations.current(file);
    // It cannot be told whose bytes they are while it is closed: the reader's turn does.
    if (current.disk.fd === undefined && stat.size > current.size) current.size = stat.size;
    this.#generations.registry.enqueue(current);
    if (stat.size > 0 && (current.stream.id === undefined || current.stream.gapTo > 0)) this.#nameAndLetGo(current);
  }

  #nameAndLetGo(file: TrackedFile): void {
    const wasOpen = file.disk.fd !== undefined;
    this.#generations.name(file);
    // The reader may be waiting for the sinks while the next generation takes its place.
    this.#generations.passHole(file);
    if (!wasOpen && this.#generations.descriptors.isFull) this.#generations.descriptors.close(file);
  }

  /** True when the file is known under another name. */
  #seeRenamed(found: FoundFile): boolean {
    const file = this.#generations.registry.in(found.stat);
    if (!file) return false;
    if (file.disk.path === found.path) this.#see(file, found.stat, 'matched');
    // Else a second name (hard link, symbolic link) of a file that is still under its own.
    else if (file.disk.scan !== this.#scan && !statIfAt(this.#options.fileSystem, file.disk.path, file.disk)) {
      if (this.#generations.inodes.isStill(file, found) === false) {
        this.#generations.forsake(file);
        return false;
      }
      this.#move(file, found.path, found.stat, 'matched');
    }
    return true;
  }

  /** True when the file is the one that was away: what is mounted again may have another number. */
  #seeBack(found: FoundFile, file: TrackedFile | undefined): boolean {
    if (file?.disk.inode !== found.stat.inode || !this.#generations.followInode(file, found)) return false;
    this.#see(file, found.stat, 'matched');
    return true;
  }

  #move(file: TrackedFile, path: string, stat: FileStat, place: Place): void {
    const unreadBytes = unreadOf(file, stat);
    const fields = { from: file.disk.path, to: path, file: file.stream.firstPath, unreadBytes };
    this.#options.notices.event(levelOf(file, unreadBytes), fields, 'file was renamed, reading on');
    this.#noteRotation(file, path);
    this.#generations.place(file, place, path);
    this.#generations.naming.identify(file);
    // Closed meanwhile, it may be another file under the same inode: a look at its content decides.
    if (file.disk.fd === undefined) file.disk.seenSize = -1;
    this.#see(file, stat, place);
  }

  #noteRotation(file: TrackedFile, to?: string): void {
    const {
      nextBornMs,
      disk: { path },
    } = file;
    if (file.isUndecided) return;
    if (this.#scan > 1) this.#missed.note(file, to);
    if (file.disk.place !== 'matched' || nextBornMs === undefined) return;
    this.#left.set(path, { nextBornMs, untilMs: this.#now + FORGET_AFTER_MS });
  }

  #lookElsewhere(file: TrackedFile, folders: FolderInodes): void {
    let there: FileStat | undefined;
    try {
      there = this.#options.fileSystem.stat(file.disk.path);
    } catch {
      // It cannot be told whether the file is there: nothing is given up. The finder names what it cannot look at.
      file.disk.scan = this.#scan;
      return;
    }
    if (there && isSameFile(there, file.disk)) {
      if (!isReplaced(file, there)) return this.#see(file, there, file.disk.place === 'matched' ? 'matched' : 'aside');
      return this.#generations.forsake(file, () => this.takeRotated({ path: file.disk.path, stat: there }, file.stream.firstPath));
    }
    const held = this.#held(file);
    if (held === 'unknown') {
      file.disk.scan = this.#scan;
      return;
    }
    if (held?.links === 0) return this.#leave(file, held, 'deleted');
    const isSearched = file.disk.place !== 'missing' || this.#now - file.disk.leftAtMs <= KEEP_OPEN_MS;
    const path = isSearched ? findWhereabouts(this.#options.fileSystem, file, folders) : undefined;
    const stat = path === undefined ? undefined : statIfAt(this.#options.fileSystem, path, file.disk);
    if (path !== undefined && stat) {
      const isStill = this.#generations.inodes.isStill(file, { path, stat });
      if (isStill) return this.#move(file, path, stat, 'aside');
      if (isStill === undefined && this.#mayPass(file)) {
        file.disk.scan = this.#scan;
        return;
      }
      return this.#generations.forsake(file, () => this.takeRotated({ path, stat }, file.stream.firstPath));
    }
    this.#leave(file, held, file.disk.place === 'deleted' ? 'deleted' : 'missing');
  }

  #leave(file: TrackedFile, held: FileStat | undefined, place: 'deleted' | 'missing'): void {
    if (file.isUndecided && !held) {
      this.#generations.copies.forget(file);
      this.#generations.registry.remove(file);
      return;
    }
    const isAway =
      place === 'missing' && !held && isMountAway(this.#options.fileSystem, file.disk.realPath ?? file.disk.path, file.disk.device);
    const isBackWithout = file.disk.place === 'away' && !isAway;
    if (file.disk.place === 'matched' || file.disk.place === 'aside' || isBackWithout) {
      this.#noteRotation(file);
      file.disk.leftAtMs = this.#now;
      const lostBytes = held || isAway ? 0 : Math.max(0, lagOf(file) - this.#generations.copies.seenInOriginal(file));
      this.#options.stats.lostBytes += lostBytes;
      this.#logLeft(file, lostBytes, held, isAway);
      if (!held && !isAway) {
        file.size = file.sureSize = file.stream.readTo = file.stream.offset;
        // The next start must not count it again.
        if (file.stream.id !== undefined) this.#options.streams.see(file.stream.id, file.stream.offset);
      }
    }
    this.#generations.place(file, isAway ? 'away' : place);
    if (held) this.#see(file, held, place);
    else file.disk.scan = this.#scan;
  }

  #logLeft(file: TrackedFile, lostBytes: number, held: FileStat | undefined, isAway: boolean): void {
    const { notices } = this.#options;
    const unreadBytes = unreadOf(file, held);
    const fields = { path: file.disk.path, offset: file.stream.offset, unreadBytes, lostBytes };
    if (held) notices.event(levelOf(file, unreadBytes), fields, 'file was deleted, reading it to its end');
    else if (isAway) notices.event('info', fields, AWAY);
    else if (lostBytes > 0) notices.event('warn', fields, `file was deleted before it was read to its end${LOWER_BOUND}`);
    else notices.event('info', fields, `file is gone${LOWER_BOUND}`);
  }

  /** What the open descriptor says; `unknown` when it does not, for the time in which that may pass. */
  #held(file: TrackedFile): FileStat | 'unknown' | undefined {
    if (file.disk.fd === undefined) return undefined;
    try {
      return this.#options.fileSystem.fstat(file.disk.fd);
    } catch (error) {
      this.#generations.descriptors.fail(file, error);
      return this.#mayPass(file) ? 'unknown' : undefined;
    }
  }

  #mayPass({ disk: { failure } }: TrackedFile): boolean {
    return failure !== undefined && this.#now - failure.sinceMs < FORGET_AFTER_MS;
  }
}

function unreadOf(file: TrackedFile, { size }: { readonly size: number } = file): number {
  return Math.max(0, Math.max(size, file.size) - file.stream.position);
}

/** One line at most tells of a rotated file, and none of one that was read to its end. */
function levelOf(file: TrackedFile, unreadBytes: number): 'info' | 'debug' {
  // Without a stream it may be a copy; a file of its own is told as new.
  return unreadBytes > 0 && file.disk.place === 'matched' && !isRotated(file) && file.stream.id !== undefined ? 'info' : 'debug';
}
