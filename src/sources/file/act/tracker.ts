/**
 * Three ways to look at files: `scan` at all that the finder found, `lookAt` at those that a watch names, `look` at those that are open or
 * gone. Each observes, lets `decide` say how the files changed, and has `ChangeHandler` act on that. Only the reader's turns move positions.
 */
import type { StreamStore } from '../../../core/stream.ts';
import { type BesideFile, decide, decideBeside, decideHeld, type Decision } from '../decide/decide.ts';
import { isReplaced, type TrackedFile } from '../known/tracked-file.ts';
import { MAX_ROUNDS, SCAN_SLICE_FILES } from '../limits.ts';
import { lookAtDescriptor, observe, observeAt, observeBeside, type ObserveOptions } from '../observe/observe-file.ts';
import { observePaths, observeRest, type ScanOptions } from '../observe/observe-scan.ts';
import { type FileStat, parentOf, statIfAt } from '../scan/file-system.ts';
import type { FoundFile } from '../scan/finder.ts';
import { type FirstPlace, FolderNames, isRotatedFrom } from '../scan/rotated-names.ts';
import type { ChangeHandler, ChangeHandlerOptions } from './change-handler.ts';
import { mayHaveHadPath } from './missed-rotations.ts';

export interface TrackerOptions extends Pick<
  ChangeHandlerOptions,
  'fileSystem' | 'clock' | 'finder' | 'knownFiles' | 'descriptors' | 'chain' | 'maintenance' | 'copies' | 'missed'
> {
  readonly streams: StreamStore;
  readonly handler: ChangeHandler;
  /** False where a file may have another inode at every look. */
  readonly stableInodes: boolean;
  /** Files that are not known and were not changed for so long are left out; Infinity for never. */
  readonly ignoreOlderMs: number;
}

export class Tracker {
  readonly #options: TrackerOptions;

  constructor(options: TrackerOptions) {
    this.#options = options;
  }

  /** Matches what a scan found to what is known: everywhere, or in one folder alone. Other work gets its turn now and then. */
  async scan(
    found: ReadonlyMap<string, FoundFile>,
    pause: () => Promise<void> = () => Promise.resolve(),
    folder?: string,
  ): Promise<void> {
    const { knownFiles, copies, stableInodes } = this.#options;
    const number = (knownFiles.scan += 1);
    copies.beginScan();
    const scan = { ...this.#observeOptions(), number, folder, stableInodes };
    const { known, rest } = observePaths(found.values(), knownFiles, scan);
    this.#actOn(decide({ known, unknown: [] }));
    const left = new Set(rest);
    // What a round decided may tell the next one more: a file that lost its inode leaves that to another one.
    for (let round = 1; round <= MAX_ROUNDS; round += 1) {
      const observations = observeRest(left, knownFiles, scan);
      const decisions = decide(observations);
      for (const [n, decision] of decisions.entries()) {
        if (n > 0 && n % SCAN_SLICE_FILES === 0 && decision.kind === 'new') await pause();
        this.#options.handler.handle(decision);
      }
      if (observations.known.length === 0) {
        this.#lookAfter(decisions, scan);
        break;
      }
      for (const each of decisions) if (each.kind === 'continued') left.delete(each.observation.found!);
    }
    this.#findBornBetween(folder);
    this.#finish(() => knownFiles.filesIn(folder));
  }

  /** What is decided and kept after every look, of these files. */
  #finish(files: () => Iterable<TrackedFile>): void {
    const { copies, chain, maintenance, knownFiles, streams } = this.#options;
    copies.decide();
    chain.link();
    // A stream that was given up just now is saved no more.
    for (const file of files()) if (knownFiles.files.has(file)) maintenance.keep(file);
    maintenance.keepBudget();
    maintenance.forgetSettled();
    streams.persist?.();
  }

  /** Of new files: those that were gone or renamed before they could be opened. A copy can still be told from what was cut off in this scan. */
  #lookAfter(decisions: readonly Decision[], options: ObserveOptions): void {
    const files = decisions.flatMap((each) =>
      each.kind === 'new' ? (this.#options.knownFiles.at(each.found.path) ?? []) : [],
    );
    const lost = files.filter(({ disk, stream }) => disk.fd === undefined && stream.id === undefined && !disk.failure);
    this.#actOn(decide({ known: lost.map((file) => observe(file, options)), unknown: [] }));
  }

  #actOn(decisions: readonly Decision[]): void {
    for (const decision of decisions) this.#options.handler.handle(decision);
  }

  #observeOptions(): ObserveOptions & Pick<ScanOptions, 'isIgnored'> {
    const { fileSystem, clock, finder, ignoreOlderMs } = this.#options;
    const isIgnored = ({ mtimeMs }: FileStat): boolean => clock.now() - mtimeMs > ignoreOlderMs;
    const isRotated = ({ path, stat }: FoundFile, of: FirstPlace): boolean =>
      !isIgnored(stat) && isRotatedFrom(path, of, finder);
    return { fileSystem, nowMs: clock.monotonic(), folders: new Map(), isIgnored, isRotated };
  }

  /** Looks at files that are said to have changed. False where a path leads to another file than is known there: its folder is to be scanned. */
  lookAt(paths: Iterable<string>): boolean {
    const { knownFiles, finder, fileSystem } = this.#options;
    knownFiles.scan += 1;
    const files: TrackedFile[] = [];
    let isKnown = true;
    for (const path of paths) {
      const file =
        knownFiles.at(path) ??
        [...knownFiles.inFolder(parentOf(path))].find((each) => each.disk.path === path && each.disk.place === 'aside');
      const stat = file && statIfAt(fileSystem, path, file.disk);
      if (!file) isKnown &&= finder.placeOf(path) !== 'matched';
      else if (!stat || isReplaced(file, stat)) isKnown = false;
      else {
        this.#actOn(decide({ known: [observeAt(file, { path, stat }, file.disk.place)], unknown: [] }));
        files.push(file);
      }
    }
    this.#finish(() => files);
    return isKnown;
  }

  /** An earlier process knew a file at this path: looks for what had the path since, as when a file leaves it. */
  expectAt(place: FirstPlace, nextBornMs: number, names: FolderNames): void {
    this.takeBeside(place, names, (found, of) => mayHaveHadPathSince(found, of, nextBornMs));
    this.#options.missed.expect(place, nextBornMs);
  }

  #findBornBetween(folder: string | undefined): void {
    const { fileSystem, knownFiles } = this.#options;
    const names = new FolderNames(fileSystem);
    this.#options.missed.logMissed(names);
    const search = (place: FirstPlace, nextBornMs: number): boolean =>
      (folder === undefined || parentOf(place.firstPath) === folder) &&
      this.takeBeside(place, names, (found, of) => mayHaveHadPathSince(found, of, nextBornMs));
    this.#options.missed.search(search, (path) => knownFiles.at(path) !== undefined);
  }

  /** Follows rotated files of a watched path that no glob matches. False when a folder cannot be read now. */
  takeBeside(place: FirstPlace, names: FolderNames, isTaken: (found: FoundFile, of: FirstPlace) => boolean): boolean {
    try {
      this.take(names.beside(place).filter(({ found, of }) => isTaken(found, of)));
      return true;
    } catch {
      return false;
    }
  }

  /** Follows those of these files that rotation made. */
  take(beside: readonly Pick<BesideFile, 'found' | 'of'>[]): void {
    const options = this.#observeOptions();
    this.#actOn(
      decideBeside(beside.map(({ found, of }) => observeBeside(found, of, this.#options.knownFiles, options))),
    );
  }

  /**
   * What cannot wait for the next scan where scans are far apart: open files that were deleted, unfinished lines whose time is
   * up, descriptors that are not needed any more.
   */
  look(): void {
    const { knownFiles, descriptors, fileSystem, clock } = this.#options;
    const files: TrackedFile[] = [];
    for (const file of new Set([...descriptors.files, ...knownFiles.gone])) {
      const { held, trouble } = lookAtDescriptor(file, fileSystem, clock.monotonic());
      if (trouble !== undefined) descriptors.fail(file, trouble);
      if (!held) continue;
      const kind = decideHeld(file, held);
      if (kind)
        this.#options.handler.handle({ kind, observation: { file, disk: file.disk, place: file.disk.place, held } });
      files.push(file);
    }
    this.#finish(() => files);
  }

  /** True while something must be looked at between two scans. */
  get needsLooks(): boolean {
    const { descriptors, knownFiles, copies } = this.#options;
    return descriptors.files.size + knownFiles.gone.size > 0 || copies.isBusy;
  }
}

/** The file may have had the path since, or is where that led, and was written to since: then what is in it may be younger than the file. */
function mayHaveHadPathSince({ path, stat }: FoundFile, { realPath }: FirstPlace, sinceMs: number): boolean {
  return mayHaveHadPath(stat, sinceMs) || (path === realPath && stat.mtimeMs > sinceMs);
}
