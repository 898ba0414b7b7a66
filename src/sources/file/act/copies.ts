/**
 * Finds the copies of truncated files (`copytruncate`): a detached stream is read on in its copy, and a copy candidate waits until it is
 * decided. A copy has a longer name than its original and holds what was read of it; two files that are merely alike are two files.
 */
import type { Clock } from '../../../core/time/clock.ts';
import { decideCopy } from '../decide/decide.ts';
import type { Maintenance } from '../known/maintenance.ts';
import type { StreamIdentities } from '../known/stream-identities.ts';
import { FORGET_AFTER_MS, MAX_ROUNDS } from '../limits.ts';
import { addOriginal, basesOf, type CopyEnd, type CopyCandidate } from '../observe/copy-matcher.ts';
import { Candidates, type CandidatesOptions } from './candidates.ts';
import type { CopyOutcomes } from './copy-outcomes.ts';
import { LostSizes } from './lost-sizes.ts';
import { type FileStat, inodeKey } from '../scan/file-system.ts';
import type { FoundFile } from '../scan/finder.ts';
import { FolderNames, rotatedFrom } from '../scan/rotated-names.ts';
import { isDetached, isUnread, type TrackedFile } from '../known/tracked-file.ts';

export interface CopiesOptions extends CandidatesOptions {
  readonly clock: Clock;
  readonly identities: StreamIdentities;
  readonly outcomes: CopyOutcomes;
  readonly maintenance: Maintenance;
}

export class Copies {
  readonly #options: CopiesOptions;
  /**
   * By detached stream: names and inodes as listed last. A rotation under way may hide a copy, so a list counts once it is the same twice.
   */
  readonly #searches = new Map<TrackedFile, { readonly listed: string; readonly isComplete: boolean }>();
  readonly #lost = new LostSizes();
  /** Copy candidates whose inode may still be a known file's, by path: retried with each scan. */
  readonly #unsure = new Map<string, TrackedFile>();
  readonly #candidates: Candidates;
  /** A scan is under way, and may come to files yet that others are copies of. */
  #isScanning = false;

  constructor(options: CopiesOptions) {
    this.#options = options;
    this.#candidates = new Candidates(options);
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

  /**
   * Names the generations that began, and looks for copies of those that were detached. Also of what changes meanwhile: looking at a copy
   * may show that another file was truncated.
   */
  settle(): void {
    const { knownFiles, identities, generations } = this.#options;
    for (let round = 1; generations.changed.size > 0 && round <= MAX_ROUNDS; round += 1) {
      const changed = [...generations.changed];
      generations.changed.clear();
      const begun = changed.filter((each) => each.stream.id === undefined && knownFiles.in(each.disk) === each);
      // Truncated again, it may have a copy already, which needs a stream to be compared with.
      for (const each of begun) if (each.size > 0 && rotatedFrom(each.disk.path) === undefined) this.#name(each);
      for (const each of changed) if (each.stream.id === undefined && isDetached(each)) this.remove(each);
      const detached = changed.filter((each) => knownFiles.detached.has(each));
      this.seek(detached);
      // What was read of it, and not delivered, is in no file that was found yet.
      for (const each of detached) if (isDetached(each)) identities.noteDeleted(each);
      // Behind what the copies have of the streams before.
      for (const each of begun) if (knownFiles.in(each.disk) === each) knownFiles.enqueue(each);
    }
  }

  /** Looks for copies of detached streams. `decide` goes on: a copy may have the inode of a file that this scan has not missed yet. */
  seek(streams: readonly TrackedFile[], names = new FolderNames(this.#options.fileSystem)): void {
    // Before any is decided: what is no copy of one may be a copy of another.
    for (const each of streams) this.#searches.delete(each);
    for (const each of streams) this.#findCandidates(each, names);
    for (const each of streams) this.#compareWith(each);
  }

  /** True while a copy is looked for, or something is not decided. */
  get isBusy(): boolean {
    return this.#candidates.all.size + this.#unsure.size + this.#options.knownFiles.detached.size > 0;
  }

  /** Until `decide`, nothing is taken for a file of its own because its original is not known. */
  beginScan(): void {
    this.#isScanning = true;
  }

  /** Goes on with everything that is undecided, for each scan. True when it stopped at COPY_CHECK_BYTES and could go on at once. */
  decide(): boolean {
    const isScanned = this.#isScanning;
    const { matcher, knownFiles } = this.#options;
    matcher.isSpent = this.#isScanning = false;
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
    for (const generation of [...knownFiles.detached]) {
      this.#search(generation, names);
      this.settle();
    }
    return matcher.isSpent;
  }

  /** Of a file that vanished unopened: the bytes, read or counted as lost, of the truncated stream that it was a copy of by its name. */
  seenInOriginal(file: TrackedFile): number {
    if (file.stream.id !== undefined || file.isUndecided) return 0;
    return this.#lost.of(file.disk.path, this.#options.knownFiles.detached);
  }

  /** Stops following a file without a stream that is not there any more. */
  remove(file: TrackedFile): void {
    this.#candidates.forget(file);
    this.#options.knownFiles.remove(file);
  }

  #search(generation: TrackedFile, names: FolderNames): void {
    const { clock, maintenance } = this.#options;
    if (!isDetached(generation)) return;
    if (!this.#isComplete(generation)) this.#findCandidates(generation, names);
    this.#compareWith(generation);
    if (!isDetached(generation) || this.#candidates.of(generation).length > 0) return;
    if (!this.#isComplete(generation) && clock.monotonic() - generation.disk.goneSinceMs < FORGET_AFTER_MS) return;
    this.#searches.delete(generation);
    this.#lost.add(generation, clock.monotonic());
    maintenance.giveUpLost(generation);
  }

  #isComplete(generation: TrackedFile): boolean {
    return this.#searches.get(generation)?.isComplete === true;
  }

  #compareWith(generation: TrackedFile): void {
    const candidates = this.#candidates.of(generation);
    // Nothing that was read tells them apart: prefer one that has all that was seen, or the rest counts as lost.
    const isWhole = ([file]: [TrackedFile, CopyCandidate]): number => Number(file.size >= generation.size);
    if (isUnread(generation)) candidates.sort((a, b) => isWhole(b) - isWhole(a));
    for (const [file, entry] of candidates) if (this.#candidates.all.get(file) === entry) this.#decide(file, entry);
    this.#settleShort(generation);
  }

  #findCandidates(generation: TrackedFile, names: FolderNames): void {
    const before = this.#searches.get(generation)?.listed;
    try {
      const files = basesOf(generation).flatMap((base) => names.extending(base));
      const listed = String(files.map(({ path, stat }) => `${path} ${inodeKey(stat)}`).sort());
      this.#searches.set(generation, { listed, isComplete: listed === before });
      for (const found of files) this.#consider(found, generation);
    } catch {
      this.#searches.delete(generation);
    }
  }

  /** Makes a found file a copy candidate of the stream and of all others, unless it is known. Throws system errors. */
  #consider(found: FoundFile, generation: TrackedFile): void {
    const { generations, outcomes } = this.#options;
    const known = generations.holderOf(found);
    if (known === 'unsure') return void this.#unsure.set(found.path, generation);
    if (known?.stream.id !== undefined) return;
    const file = known ?? generations.trackAside(found.path, found.stat, generation.stream);
    const entry = this.#candidates.all.get(file);
    if (entry) return addOriginal(entry, generation, file.size);
    this.#candidates.gather(file, known !== undefined, this.#isScanning);
    // The stream may have another copy by now.
    if (!file.isUndecided) outcomes.takeUp(file, generation, known !== undefined);
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

  #decide(file: TrackedFile, entry: CopyCandidate): void {
    const { fileSystem, clock, descriptors, matcher, generations } = this.#options;
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
        if (generations.changed.has(original)) return;
        const facts = matcher.observe(file, stat, entry, age);
        const change = decideCopy(facts);
        if (change === 'new' && facts.original === 'there' && !this.#candidates.isThere(original)) return;
        // A failed check changes neither the file nor what `explain` says of it.
        if (change === 'read copy') this.#options.outcomes.noteRead(file, stat);
        file.disk.lastChange = change;
        if (change === 'short copy') entry.isShort = true;
        if (change === 'undecided' || change === 'short copy') return;
        if (change === 'original truncated') return void generations.renew(original, true);
        if (change === 'read copy') return this.#candidates.forget(file);
        if (change === 'copied') return this.#move(original, file, stat);
        entry.originals.shift();
        Object.assign(entry, { check: undefined, isShort: false });
        if (entry.originals.length === 0) this.#release(file, original);
      }
      descriptors.recover(file);
    } catch (error) {
      descriptors.fail(file, error);
    }
  }

  /** Without a better candidate, the stream is read on in the longest copy that was made before its last read. */
  #settleShort(generation: TrackedFile): void {
    // Short copies of other streams wait for those: two streams would wait for each other's copies.
    const candidates = this.#candidates
      .of(generation)
      .filter(([, { originals, isShort }]) => !isShort || originals[0] === generation);
    if (!isDetached(generation) || generation.isBusy || candidates.length === 0) return;
    if (!candidates.every(([, { isShort }]) => isShort)) return;
    try {
      const { file, stat, end } = this.#options.matcher.longestOf(candidates);
      this.#move(generation, file, stat, end);
    } catch (error) {
      for (const [file] of candidates) this.#options.descriptors.fail(file, error);
    }
  }

  #move(generation: TrackedFile, file: TrackedFile, stat: FileStat, end?: CopyEnd): void {
    this.#candidates.forget(file);
    this.#searches.delete(generation);
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

  #takeUp(file: TrackedFile, { wasFollowed }: CopyCandidate, generation: TrackedFile): void {
    this.#candidates.forget(file);
    this.#options.outcomes.takeUp(file, generation, wasFollowed);
  }
}
