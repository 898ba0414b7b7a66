/**
 * Three ways to look at files: `scan` at all that the finder found, `lookAt` at those that a watch names, `look` at those that are open or
 * gone. Each lets `match.ts` decide how the files changed, and `Apply` act on that. Only the reader's turns move positions.
 */
import type { FileSystem } from '../scan/file-system.ts';
import { type FoundFile, parentOf } from '../scan/finder.ts';
import { type FolderInodes, statIfAt } from '../scan/locate.ts';
import { type FirstPlace, FolderNames } from '../scan/rotated-names.ts';
import { Apply, type ApplyOptions } from './apply.ts';
import type { Generations } from './generations.ts';
import { LeftPaths, mayHaveHadPath } from './left-paths.ts';
import { matchAt, matchHeld, matchScan, type Scan } from './match.ts';
import { sightOf } from './sighting.ts';

export interface TrackerOptions extends Omit<ApplyOptions, 'left'> {
  readonly fileSystem: FileSystem;
  /** False where a file may have another inode at every look. */
  readonly stableInodes: boolean;
}

export class Tracker {
  readonly #options: TrackerOptions;
  readonly #left: LeftPaths;
  readonly apply: Apply;

  constructor(options: TrackerOptions) {
    this.#options = options;
    const left = (this.#left = new LeftPaths(options));
    this.apply = new Apply({ ...options, left });
  }

  /** Matches what a scan found to what is known: everywhere, or in one folder alone. Other work gets its turn now and then. */
  async scan(found: ReadonlyMap<string, FoundFile>, pause: () => Promise<void> = () => Promise.resolve(), folder?: string): Promise<void> {
    const { holdings, inodes, copies, maintenance, order } = this.#generations;
    this.#generations.scan += 1;
    copies.beginScan();
    const folders: FolderInodes = new Map();
    const scan: Scan = {
      number: this.#generations.scan,
      found: found.values(),
      folder,
      stableInodes: this.#options.stableInodes,
      look: (file, otherName) => sightOf(file, this.#generations, folders, otherName),
      hasContent: (file, each) => inodes.hasContent(file, each),
      isIgnored: (stat) => this.apply.isIgnored(stat),
    };
    for (const change of matchScan(scan, holdings)) {
      if (change) this.apply.apply(change);
      else await pause();
    }
    this.#findBornBetween(folder);
    copies.decide();
    order.link();
    for (const file of holdings.filesIn(folder)) maintenance.keep(file);
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
      else if (!stat || matchAt(file, stat) !== 'continued') isKnown = false;
      else {
        this.apply.apply({ kind: 'continued', file, path, stat, place: file.disk.place });
        maintenance.keep(file);
      }
    }
    copies.decide();
    order.link();
    this.#options.streams.persist?.();
    return isKnown;
  }

  /** An earlier process knew a file at this path: looks for what had the path since, as when a file leaves it. */
  expectAt(place: FirstPlace, nextBornMs: number, names: FolderNames): void {
    this.takeBeside(place, names, (found, of) => mayBeLeft(found, of, nextBornMs));
    this.#left.expect(place, nextBornMs);
  }

  #findBornBetween(folder: string | undefined): void {
    const names = new FolderNames(this.#options.fileSystem);
    this.#left.logMissed(names);
    const search = (place: FirstPlace, nextBornMs: number): boolean =>
      (folder === undefined || parentOf(place.firstPath) === folder) &&
      this.takeBeside(place, names, (found, of) => mayBeLeft(found, of, nextBornMs));
    this.#left.search(search, (path) => this.#generations.holdings.at(path) !== undefined);
  }

  /** Takes up files that rotation made of what was first at a place, and that no glob matches. False when a folder cannot be read now. */
  takeBeside(place: FirstPlace, names: FolderNames, isTaken: (found: FoundFile, of: FirstPlace) => boolean): boolean {
    try {
      for (const { found, of } of names.beside(place)) if (isTaken(found, of)) this.apply.takeRotated(found, of);
      return true;
    } catch {
      return false;
    }
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
      const change = matchHeld(file, held);
      if (change) this.apply.apply(change);
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
}

/** The file may have had the path since, or is where that led, and was written to since: then what is in it may be younger than the file. */
function mayBeLeft({ path, stat }: FoundFile, { realPath }: FirstPlace, sinceMs: number): boolean {
  return mayHaveHadPath(stat, sinceMs) || (path === realPath && stat.mtimeMs > sinceMs);
}
