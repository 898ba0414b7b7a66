/**
 * Two ways to look at files: `scan` checks every file that the finder found, `look` only those that are open or gone. Gathers what was seen of each known file, has `match` say
 * what became of it, and `Apply` act on that. Positions are moved by the reader's turns alone.
 */
import { SCAN_SLICE_FILES } from '../limits.ts';
import { isBehind, isDetached, isGone, isReplaced, lagOf, type TrackedFile } from '../known/tracked-file.ts';
import { type FileStat, type FileSystem, isSameFile } from '../scan/file-system.ts';
import { type FoundFile, parentOf } from '../scan/finder.ts';
import { type FolderInodes, statIfAt } from '../scan/locate.ts';
import { FolderNames } from '../scan/rotated-names.ts';
import { Apply, type ApplyOptions } from './apply.ts';
import type { Generations } from './generations.ts';
import { LeftPaths, mayHaveHadPath } from './left-paths.ts';
import { match } from './match.ts';
import { Sighting } from './sighting.ts';

export interface TrackerOptions extends Omit<ApplyOptions, 'left'> {
  readonly fileSystem: FileSystem;
  /** False where a file may have another inode at every look. */
  readonly stableInodes: boolean;
}

export class Tracker {
  readonly #options: TrackerOptions;
  readonly #left: LeftPaths;
  readonly #apply: Apply;

  constructor(options: TrackerOptions) {
    this.#options = options;
    const left = (this.#left = new LeftPaths(options));
    this.#apply = new Apply({ ...options, left });
  }

  /** Files with a name that changed since the last call, and by how many bytes they grew. */
  takeChanged(): ReturnType<Apply['takeChanged']> {
    return this.#apply.takeChanged();
  }

  /**
   * Matches what a scan found to what is known: everywhere, or in one folder alone. Other work gets its turn now and then.
   */
  async scan(found: ReadonlyMap<string, FoundFile>, pause: () => Promise<void> = () => Promise.resolve(), folder?: string): Promise<void> {
    const { holdings, copies, maintenance, order } = this.#generations;
    const files = (): Iterable<TrackedFile> => (folder === undefined ? holdings.files : [...holdings.inFolder(folder)]);
    this.#generations.scan += 1;
    const strange: FoundFile[] = [];
    for (const each of found.values()) {
      const file = holdings.at(each.path);
      if (file && this.#isSame(file, each)) this.#apply.see(file, each.stat, 'matched');
      else strange.push(each);
    }
    const away = new Map([...holdings.gone].filter(({ disk }) => disk.place === 'away').map((file) => [file.disk.path, file]));
    // Renames before deletes before new files: a rotated file is known by its inode, wherever its name is now.
    const folders: FolderInodes = new Map();
    const unknown = strange.filter((each) => !this.#seeKnown(each, folders) && !this.#seeBack(each, away.get(each.path)));
    for (const file of files()) {
      if (file.disk.scan === this.#generations.scan || isDetached(file)) continue;
      // No name leads to a deleted file; `look` and full scans see what is still written to it.
      if (folder !== undefined && file.disk.place === 'deleted' && file.disk.fd !== undefined && !file.disk.failure) continue;
      this.#matchUnseen(file, folders);
    }
    let looked = 0;
    const ignored: string[] = [];
    for (const each of unknown.sort((a, b) => (a.path < b.path ? -1 : 1))) {
      if (!holdings.in(each.stat)) {
        if (this.#apply.isIgnored(each.stat)) ignored.push(each.path);
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
    order.link();
    for (const file of files()) maintenance.keep(file);
    maintenance.keepBudget();
    maintenance.forgetSettled();
    this.#options.streams.persist?.();
  }

  /** Looks at files that are said to have changed. False where a path leads to another file than is known there: its folder is to be scanned. */
  lookAt(paths: Iterable<string>): boolean {
    const { holdings, copies, maintenance, order } = this.#generations;
    this.#generations.scan += 1;
    let isKnown = true;
    for (const path of paths) {
      const file =
        holdings.at(path) ?? [...holdings.inFolder(parentOf(path))].find((each) => each.disk.path === path && each.disk.place === 'aside');
      const stat = file && statIfAt(this.#options.fileSystem, path, file.disk);
      if (!file) isKnown &&= this.#generations.placeOf(path) !== 'matched';
      else if (!stat || isReplaced(file, stat)) isKnown = false;
      else {
        this.#apply.see(file, stat, file.disk.place);
        maintenance.keep(file);
      }
    }
    copies.decide();
    order.link();
    this.#options.streams.persist?.();
    return isKnown;
  }

  /** An earlier process knew a file at this path: looks for what had the path since, as when a file leaves it. */
  expectAt(path: string, nextBornMs: number, names: FolderNames): void {
    this.findBorn(path, nextBornMs, names);
    this.#left.expect(path, nextBornMs);
  }

  #findBornBetween(folder: string | undefined): void {
    const names = new FolderNames(this.#options.fileSystem);
    this.#left.logMissed(names);
    this.#left.search(
      (path, nextBornMs) => (folder === undefined || parentOf(path) === folder) && this.findBorn(path, nextBornMs, names),
      (path) => this.#generations.holdings.at(path) !== undefined,
    );
  }

  /**
   * Takes up the rotated files beside a path that no glob matches and that may have had the path since. False when the folder
   * cannot be read now.
   */
  findBorn(path: string, sinceMs: number, names = new FolderNames(this.#options.fileSystem)): boolean {
    return this.#takeBeside(path, names, (stat) => mayHaveHadPath(stat, sinceMs));
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

  /** Takes up a file that rotation may have made of the one at the path, unless it is known. */
  takeRotated(found: FoundFile, of: string): void {
    this.#apply.takeRotated(found, of);
  }

  get #generations(): Generations {
    return this.#options.generations;
  }

  /**
   * What cannot wait for the next scan where scans are far apart: open files that were deleted, unfinished lines whose time is
   * up, descriptors that are not needed any more.
   */
  look(): void {
    const { holdings, maintenance, copies, order, descriptors } = this.#generations;
    for (const file of new Set([...descriptors.files, ...holdings.gone])) {
      const held = descriptors.statOf(file);
      if (!held || held === 'unknown') continue;
      if (held.links === 0 && file.disk.place !== 'deleted') this.#apply.apply(file, 'deleted', { stat: held }, 'aside');
      else if (isGone(file) || (lagOf(file) > 0 && !isBehind(file))) this.#apply.see(file, held, file.disk.place);
      maintenance.keep(file);
    }
    copies.decide();
    order.link();
    maintenance.keepBudget();
    maintenance.forgetSettled();
    this.#options.streams.persist?.();
  }

  /** True while something must be looked at between two scans. */
  get needsLooks(): boolean {
    const { descriptors, holdings, copies } = this.#generations;
    return descriptors.files.size + holdings.gone.size > 0 || copies.isBusy;
  }

  /** True when the found file is the one that is known under its path: by inode, or where inodes change, by content. */
  #isSame(file: TrackedFile, found: FoundFile): boolean {
    if (isSameFile(file.disk, found.stat)) {
      if (!isReplaced(file, found.stat)) return true;
      this.#generations.detach(file);
      return false;
    }
    return !this.#options.stableInodes && !this.#generations.holdings.in(found.stat) && this.#generations.followInode(file, found);
  }

  /** One that is gone or renamed before it could be opened is looked for now: a copy can still be told from what was cut off in this scan. */
  #seeNew(found: FoundFile, folders: FolderInodes): void {
    const file = this.#trackNew(found);
    this.#apply.see(file, found.stat, 'matched');
    const isUnseen = file.disk.fd === undefined && file.stream.id === undefined && !file.disk.failure;
    if (isUnseen && !isDetached(file)) this.#matchUnseen(file, folders);
  }

  #trackNew(found: FoundFile): TrackedFile {
    // The first scan logs how many there are.
    const isExpected = this.#generations.scan === 1 || this.#left.has(found.path);
    if (isExpected) this.#options.notices.event('debug', { path: found.path, size: found.stat.size }, 'new file');
    const file = this.#generations.track(found);
    file.isNews = !isExpected;
    return file;
  }

  /** True when the file is known, under whatever name. */
  #seeKnown(found: FoundFile, folders: FolderInodes): boolean {
    const file = this.#generations.holdings.in(found.stat);
    if (!file) return false;
    // Else a second name (hard link, symbolic link) of a file that was seen.
    return file.disk.scan === this.#generations.scan || this.#matchUnseen(file, folders, found);
  }

  /** True when the file is the one that was away: what is mounted again may have another number. */
  #seeBack(found: FoundFile, file: TrackedFile | undefined): boolean {
    if (file?.disk.inode !== found.stat.inode || !this.#generations.followInode(file, found)) return false;
    this.#apply.see(file, found.stat, 'matched');
    return true;
  }

  /**
   * Judges a file that is not at its path any more, or that changed. `otherName`: a path that was found with its inode. False where a new file
   * has that inode.
   */
  #matchUnseen(file: TrackedFile, folders: FolderInodes, otherName?: FoundFile): boolean {
    const sighting = new Sighting(file, this.#generations, folders, otherName);
    const change = match(sighting);
    if (otherName && change === 'replaced') {
      this.#generations.detach(file);
      return false;
    }
    const { found, held } = sighting;
    const isInPlace = found?.path === file.disk.path && file.disk.place === 'matched';
    this.#apply.apply(file, change, found ?? { stat: held }, isInPlace || (found && found.path === otherName?.path) ? 'matched' : 'aside');
    return true;
  }
}
