/**
 * Finds the copies of truncated files (`copytruncate`): a detached stream is read on in its copy, and a copy candidate waits until it is
 * decided. A copy has a longer name than its original and holds what was read of it; two files that are merely alike are two files.
 */
import type { Clock } from '../../../core/time/clock.ts';
import { decideCopy } from '../decide/decide.ts';
import type { StreamIdentities } from '../known/stream-identities.ts';
import { FORGET_AFTER_MS, MAX_ROUNDS } from '../limits.ts';
import { addOriginal, basesOf, type CopyEnd, CopyMatcher, type Search, type Undecided } from '../observe/copy-matcher.ts';
import { Candidates, type CandidatesOptions } from './candidates.ts';
import type { CopyOutcomes } from './copy-outcomes.ts';
import { LostSizes } from './lost-sizes.ts';
import { type FileStat, inodeKey } from '../scan/file-system.ts';
import type { FoundFile } from '../scan/finder.ts';
import { FolderNames, rotatedFrom } from '../scan/rotated-names.ts';
import { isDetached, isGone, isUnread, type TrackedFile } from '../known/tracked-file.ts';

export interface CopiesOptions extends CandidatesOptions {
  readonly clock: Clock;
  readonly identities: StreamIdentities;
  readonly outcomes: CopyOutcomes;
  /** Starts to follow a copy candidate of the stream. */
  track(path: string, stat: FileStat, generation: TrackedFile): TrackedFile;
  /** The known file that was found here, unless its inode was given to another one; `unsure` while its content cannot be compared. */
  holderOf(found: FoundFile): TrackedFile | 'unsure' | undefined;
  /** No copy of the detached stream was found. */
  isLost(generation: TrackedFile): void;
}

export class Copies {
  readonly #options: CopiesOptions;
  /** Detached streams, and how far their copies were looked for. */
  readonly #detached = new Map<TrackedFile, Search>();
  readonly #lost = new LostSizes();
  /** What `note` was told since. */
  readonly #noted = new Set<TrackedFile>();
  /** Copy candidates whose inode may still be a known file's, by path: retried with each scan. */
  readonly #unsure = new Map<string, TrackedFile>();
  readonly matcher: CopyMatcher;
  readonly #candidates: Candidates;
  /** A scan is under way, and may come to files yet that others are copies of. */
  #isScanning = false;

  constructor(options: CopiesOptions) {
    this.#options = options;
    this.matcher = new CopyMatcher(options);
    this.#candidates = new Candidates(options, this.matcher, this.#detached);
  }

  /**
   * Gives a file with bytes its stream, when it is first seen, not when it is first read: after a crash it is then known under
   * whatever name it was rotated to meanwhile. False while that cannot be: it cannot be opened, or may be a copy.
   */
  name(file: TrackedFile): boolean {
    if (file.stream.id !== undefined) return !isDetached(file);
    this.#name(file);
    this.settle();
    return file.stream.id !== undefined && this.#options.knownFiles.in(file.disk) === file;
  }

  #name(file: TrackedFile): void {
    const { descriptors, identities } = this.#options;
    if (file.isUndecided || !descriptors.open(file)) return;
    try {
      const isEarly = this.#isScanning && (file.disk.place === 'aside' || rotatedFrom(file.disk.path) !== undefined);
      this.#candidates.gather(file, true, isEarly);
      if (!file.isUndecided) identities.mint(file);
    } catch (error) {
      descriptors.fail(file, error);
    }
  }

  /** The stream was detached, or began where another one was detached: the next `settle` looks for its copy, or names it. */
  note(file: TrackedFile): void {
    if (isDetached(file)) this.#detached.set(file, { isComplete: false });
    this.#noted.add(file);
  }

  /** Acts on what was noted, and on what is noted meanwhile: looking at a copy may show that another file was truncated. */
  settle(): void {
    const { knownFiles, identities } = this.#options;
    for (let round = 1; this.#noted.size > 0 && round <= MAX_ROUNDS; round += 1) {
      const noted = [...this.#noted];
      this.#noted.clear();
      const begun = noted.filter((each) => each.stream.id === undefined && knownFiles.in(each.disk) === each);
      // Truncated again, it may have a copy already, which needs a stream to be compared with.
      for (const each of begun) if (each.size > 0 && rotatedFrom(each.disk.path) === undefined) this.#name(each);
      const detached = noted.filter((each) => this.#detached.has(each));
      this.seek(detached);
      // What was read of it, and not delivered, is in no file that was found yet.
      for (const each of detached) if (isDetached(each)) identities.noteDeleted(each);
      // Behind what the copies have of the streams before.
      for (const each of begun) if (knownFiles.in(each.disk) === each) knownFiles.enqueue(each);
    }
  }

  /** Looks for copies of detached streams. `decide` goes on: a copy may have the inode of a file that this scan has not missed yet. */
  seek(generations: readonly TrackedFile[], names = new FolderNames(this.#options.fileSystem)): void {
    // Before any is decided: what is no copy of one may be a copy of another.
    for (const each of generations) this.#detached.set(each, { isComplete: false });
    for (const each of generations) this.#findCandidates(each, names);
    for (const each of generations) this.#compareWith(each);
  }

  /** True while a copy is looked for, or something is not decided. */
  get isBusy(): boolean {
    return this.#candidates.all.size + this.#unsure.size + this.#detached.size > 0;
  }

  /** Until `decide`, nothing is taken for a file of its own because its original is not known. */
  beginScan(): void {
    this.#isScanning = true;
  }

  /** Goes on with everything that is undecided, for each scan. True when it stopped at COPY_CHECK_BYTES and could go on at once. */
  decide(): boolean {
    const isScanned = this.#isScanning;
    this.matcher.isSpent = this.#isScanning = false;
    this.#lost.forgetOld(this.#options.clock.monotonic());
    this.settle();
    for (const [file, entry] of this.#candidates.all) {
      entry.wasFollowed ||= isScanned && file.disk.place === 'matched';
      if (entry.originals.length === 0) this.#release(file, entry.compared.values().next().value ?? file);
      if (entry.originals.length > 0) this.#decide(file, entry);
      this.settle();
    }
    for (const [path, generation] of [...this.#unsure]) this.#lookAgain(path, generation);
    this.settle();
    const names = new FolderNames(this.#options.fileSystem);
    for (const generation of this.#detached.keys()) {
      this.#search(generation, names);
      this.settle();
    }
    return this.matcher.isSpent;
  }

  /** Of a file that vanished unopened: the bytes, read or counted as lost, of the truncated stream that it was a copy of by its name. */
  seenInOriginal(file: TrackedFile): number {
    if (file.stream.id !== undefined || file.isUndecided) return 0;
    return this.#lost.of(file.disk.path, this.#detached.keys());
  }

  /** Stops following a file without a stream that is not there any more. */
  remove(file: TrackedFile): void {
    this.#candidates.forget(file);
    this.#options.knownFiles.remove(file);
  }

  #search(generation: TrackedFile, names: FolderNames): void {
    if (this.#detached.get(generation)?.isComplete === false) this.#findCandidates(generation, names);
    this.#compareWith(generation);
    const search = this.#detached.get(generation);
    if (search === undefined || this.#candidates.of(generation).length > 0) return;
    if (!search.isComplete && this.#options.clock.monotonic() - generation.disk.leftAtMs < FORGET_AFTER_MS) return;
    this.#detached.delete(generation);
    this.#lost.add(generation, this.#options.clock.monotonic());
    this.#options.isLost(generation);
  }

  #compareWith(generation: TrackedFile): void {
    const candidates = this.#candidates.of(generation);
    // Nothing that was read tells them apart: prefer one that has all that was seen, or the rest counts as lost.
    const isWhole = ([file]: [TrackedFile, Undecided]): number => Number(file.size >= generation.size);
    if (isUnread(generation)) candidates.sort((a, b) => isWhole(b) - isWhole(a));
    for (const [file, entry] of candidates) if (this.#candidates.all.get(file) === entry) this.#decide(file, entry);
    this.#settleShort(generation);
  }

  #findCandidates(generation: TrackedFile, names: FolderNames): void {
    const before = this.#detached.get(generation)?.listed;
    try {
      const files = basesOf(generation).flatMap((base) => names.extending(base));
      const listed = String(files.map(({ path, stat }) => `${path} ${inodeKey(stat)}`).sort());
      this.#detached.set(generation, { listed, isComplete: listed === before });
      for (const found of files) this.#consider(found, generation);
    } catch {
      this.#detached.set(generation, { isComplete: false });
    }
  }

  /** Makes a found file a copy candidate of the stream and of all others, unless it is known. Throws system errors. */
  #consider(found: FoundFile, generation: TrackedFile): void {
    const known = this.#options.holderOf(found);
    if (known === 'unsure') return void this.#unsure.set(found.path, generation);
    if (known?.stream.id !== undefined) return;
    const file = known ?? this.#options.track(found.path, found.stat, generation);
    const entry = this.#candidates.all.get(file);
    if (entry) return addOriginal(entry, generation, file.size);
    this.#candidates.gather(file, known !== undefined, this.#isScanning);
    // The stream may have another copy by now.
    if (!file.isUndecided) this.#options.outcomes.takeUp(file, generation, known !== undefined);
  }

  #lookAgain(path: string, generation: TrackedFile): void {
    try {
      const stat = this.#options.fileSystem.stat(path);
      this.#unsure.delete(path);
      if (stat?.kind === 'file') this.#consider({ path, stat }, generation);
    } catch {
      // Retried with the next scan.
      this.#unsure.set(path, generation);
    }
  }

  #decide(file: TrackedFile, entry: Undecided): void {
    const { fileSystem, clock, descriptors } = this.#options;
    const age = clock.monotonic() - file.disk.changedAtMs;
    if (!descriptors.open(file)) {
      // Nothing can be compared: the reader goes on trying.
      if (file.disk.failure && !descriptors.mayRecover(file)) this.#takeUp(file, entry, entry.originals[0]!);
      return;
    }
    try {
      const stat = fileSystem.fstat(file.disk.fd!);
      if (entry.originals.some(isUnread)) this.#candidates.collect(entry, file);
      for (let original = entry.originals[0]; original; original = entry.originals[0]) {
        // All copies of it are looked for first.
        if (this.#noted.has(original)) return;
        // Its stream is read on in a longer copy.
        if (entry.isShort && !isDetached(original)) return this.#noteRead(file, stat);
        // The lane is taking all that was read, which has no checksum yet: everything that begins alike would be a copy.
        if (original.stream.inHand > 0 && original.stream.offset === original.stream.startAt && isGone(original)) return;
        const sight = this.matcher.observe(file, stat, original, entry, age);
        if (sight.original === 'truncated') return this.#options.renew(original);
        const change = decideCopy(sight);
        if (change === 'undecided' || (change === 'new' && sight.original === 'there' && !this.#candidates.isThere(original))) return;
        if (change === 'copied') return this.#readOnIn(file, entry, original, stat);
        entry.originals.shift();
        entry.check = undefined;
        if (entry.originals.length === 0) this.#release(file, original);
      }
      descriptors.recover(file);
    } catch (error) {
      descriptors.fail(file, error);
    }
  }

  #readOnIn(file: TrackedFile, entry: Undecided, generation: TrackedFile, stat: FileStat): void {
    const { fileSystem } = this.#options;
    // A read of it may be under way.
    if (generation.disk.fd !== undefined && generation.isBusy) return;
    entry.isShort = isDetached(generation) && stat.size < generation.stream.offset + generation.stream.inHand;
    if (entry.isShort) return;
    // Of a deleted original that is still open, more may be there than the copy has.
    const needed = generation.disk.fd === undefined ? generation.stream.offset : fileSystem.fstat(generation.disk.fd).size;
    if (stat.size < needed) return this.#noteRead(file, stat);
    this.#candidates.forget(file);
    this.#move(generation, file, stat);
  }

  /** Throws system errors; the file is then undecided as before. */
  #noteRead(file: TrackedFile, stat: FileStat): void {
    this.#options.outcomes.noteRead(file, stat);
    this.#candidates.forget(file);
  }

  /** Without a better candidate, the stream is read on in the longest copy that was made before its last read. */
  #settleShort(generation: TrackedFile): void {
    // Short copies of other streams wait for those: two streams would wait for each other's copies.
    const candidates = this.#candidates.of(generation).filter(([, { originals, isShort }]) => !isShort || originals[0] === generation);
    if (!this.#detached.has(generation) || generation.isBusy || candidates.length === 0) return;
    if (!candidates.every(([, { isShort }]) => isShort)) return;
    try {
      const { file, stat, end } = this.matcher.longestOf(candidates);
      this.#candidates.forget(file);
      this.#move(generation, file, stat, end);
    } catch (error) {
      for (const [file] of candidates) this.#options.descriptors.fail(file, error);
    }
  }

  #move(generation: TrackedFile, file: TrackedFile, stat: FileStat, end?: CopyEnd): void {
    this.#detached.delete(generation);
    this.#options.outcomes.moveInto(generation, file, stat, end);
    for (const [other, entry] of this.#candidates.of(generation)) {
      const { originals } = entry;
      const index = originals.indexOf(generation);
      // `#decide` finds that all that it has was read.
      if (entry.isShort && index === 0) continue;
      originals.splice(index, 1);
      if (index === 0) entry.check = undefined;
      if (originals.length === 0) this.#release(other, generation);
    }
  }

  #release(file: TrackedFile, generation: TrackedFile): void {
    const entry = this.#candidates.all.get(file);
    if (!entry || this.#isScanning) return;
    // Its original's path may have another generation since it was gathered.
    if (file.size > 0) this.#candidates.collect(entry, file);
    if (entry.originals.length === 0) this.#takeUp(file, entry, generation);
  }

  #takeUp(file: TrackedFile, { wasFollowed }: Undecided, generation: TrackedFile): void {
    this.#candidates.forget(file);
    this.#options.outcomes.takeUp(file, generation, wasFollowed);
  }
}
