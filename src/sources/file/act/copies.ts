/**
 * Finds the copies of truncated files (`copytruncate`): a detached stream is read on in its copy, and a copy candidate waits until it is
 * decided. A copy has a longer name than its original and holds the bytes read of it; two files that are merely alike are two files.
 */
import { chooseShort, decideCopy, orderCopies } from '../decide/copies.ts';
import { decideFile } from '../decide/decide.ts';
import { addOriginal, basesOf, type CopyCandidate, isNamedAfter } from '../known/copy-candidate.ts';
import type { CopyChange } from '../known/change.ts';
import type { Maintenance } from '../known/maintenance.ts';
import { isDetached, isUnread, type TrackedFile } from '../known/tracked-file.ts';
import { FORGET_AFTER_MS, MAX_ORIGINALS, MAX_ROUNDS } from '../limits.ts';
import type { CopyEnd, CopyMatcher, CopyObservation } from '../observe/copy-matcher.ts';
import { observeHolder } from '../observe/observe-file.ts';
import { type FileStat, inodeKey, parentOf, statIfAt } from '../scan/file-system.ts';
import type { FoundFile } from '../scan/finder.ts';
import { FolderNames, rotatedFrom } from '../scan/rotated-names.ts';
import { type CopyOutcomeOptions, moveInto, noteRead, takeUp } from './copy-outcomes.ts';
import { followAside, type FollowFileOptions } from './follow.ts';
import type { Renewal } from './renewal.ts';

export interface CopiesOptions extends CopyOutcomeOptions, FollowFileOptions {
  /** `--once`: nothing is waited for. */
  readonly once: boolean;
  readonly matcher: CopyMatcher;
  readonly maintenance: Maintenance;
  readonly renewal: Renewal;
}

export class Copies {
  readonly #options: CopiesOptions;
  /**
   * By detached stream: names and inodes as listed last. A rotation under way may hide a copy, so a list counts once it is the same twice.
   */
  readonly #searches = new Map<TrackedFile, { readonly listed: string; readonly isComplete: boolean }>();
  /** Copy candidates whose inode may still be a known file's, by path: retried with each scan. */
  readonly #unsure = new Map<string, TrackedFile>();
  /** A scan is under way, and may come to files yet that others are copies of. */
  #isScanning = false;

  constructor(options: CopiesOptions) {
    this.#options = options;
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
    const { descriptors, identities, knownFiles } = this.#options;
    if (knownFiles.isUndecided(file) || !descriptors.open(file)) return;
    try {
      const isEarly = this.#isScanning && (file.disk.place === 'aside' || rotatedFrom(file.disk.path) !== undefined);
      if (!this.#gather(file, true, isEarly)) identities.mint(file);
    } catch (error) {
      descriptors.fail(file, error);
    }
  }

  /**
   * Names the generations that began, and looks for copies of those that were detached. Also of what changes meanwhile: looking at a copy
   * may show that another file was truncated.
   */
  settle(): void {
    const { knownFiles, identities } = this.#options;
    for (let round = 1; knownFiles.changed.size > 0 && round <= MAX_ROUNDS; round += 1) {
      const changed = [...knownFiles.changed];
      knownFiles.changed.clear();
      const begun = changed.filter((each) => each.stream.id === undefined && knownFiles.in(each.disk) === each);
      // Truncated again, it may have a copy already, which needs a stream to be compared with.
      for (const each of begun) if (each.size > 0 && rotatedFrom(each.disk.path) === undefined) this.#name(each);
      for (const each of changed) if (each.stream.id === undefined && isDetached(each)) knownFiles.remove(each);
      const detached = changed.filter((each) => knownFiles.detached.has(each));
      this.seek(detached);
      // What was read of it, and not delivered, is in no file that was found yet.
      for (const each of detached) if (isDetached(each)) identities.spoolUnlinked(each);
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
    const { candidates, detached } = this.#options.knownFiles;
    return candidates.size + this.#unsure.size + detached.size > 0;
  }

  /** Until `decide`, nothing is taken for a file of its own because its original is not known. */
  beginScan(): void {
    this.#isScanning = true;
  }

  /** Goes on with everything that is undecided, for each scan. True when it stopped at a limit of one scan and could go on at once. */
  decide(): boolean {
    const isScanned = this.#isScanning;
    const { matcher, knownFiles, fileSystem } = this.#options;
    matcher.isSpent = this.#isScanning = false;
    this.settle();
    for (const [file, entry] of knownFiles.candidates) {
      entry.wasFollowed ||= isScanned && file.disk.place === 'matched';
      if (entry.originals.length === 0) this.#release(file, entry.compared.values().next().value ?? file);
      if (entry.originals.length > 0) this.#decide(file, entry);
      this.settle();
    }
    for (const [path, generation] of [...this.#unsure]) this.#lookAgain(path, generation);
    this.settle();
    if (knownFiles.detached.size === 0) return matcher.isSpent;
    const names = new FolderNames(fileSystem);
    for (const generation of [...knownFiles.detached]) {
      this.#search(generation, names);
      this.settle();
    }
    return matcher.isSpent;
  }

  /** True where there is a file that this one may be a copy of: it is undecided from now on. `isEarly`: one may be found yet. */
  #gather(file: TrackedFile, wasFollowed: boolean, isEarly: boolean): boolean {
    const { candidates } = this.#options.knownFiles;
    const entry: CopyCandidate = {
      wasFollowed,
      originals: [],
      compared: new Set(),
      check: undefined,
      isShort: false,
    };
    candidates.set(file, entry);
    this.#collect(file, entry);
    return entry.originals.length > 0 || isEarly || !candidates.delete(file);
  }

  /** Collects all that the file may be a copy of, before anything is decided. Of those that are still there, the truncated ones are renewed. */
  #collect(file: TrackedFile, entry: CopyCandidate): void {
    const { knownFiles, matcher, once } = this.#options;
    const { path } = file.disk;
    const nameStart = parentOf(path).length + 2;
    for (let end = path.length - 1; end >= nameStart; end -= 1) {
      const original = knownFiles.leadingTo(path.slice(0, end));
      if (original?.stream.id === undefined || entry.compared.has(original) || !isNamedAfter(path, original)) continue;
      const change = this.#decideBy(matcher.observeOriginal(file, original, false), file, original);
      if (change !== 'new' && !isDetached(original) && !once) addOriginal(entry, original, file.size);
    }
    for (const each of [...knownFiles.detached, ...knownFiles.gone])
      if (each.stream.id !== undefined && isNamedAfter(path, each)) addOriginal(entry, each, file.size);
  }

  /** Decides about the candidate beside this original, which is renewed where it was truncated. */
  #decideBy({ facts, look }: CopyObservation, file: TrackedFile, original: TrackedFile): CopyChange {
    const { renewal, matcher } = this.#options;
    const change = decideCopy(facts);
    if (change === 'original truncated') renewal.noteLook(original, { kind: 'changed' }, true);
    else if (look) renewal.noteLook(original, look);
    if (change !== 'original changed' || isDetached(original) || original.disk.failure) return change;
    // The end of its turn is not waited for.
    const { facts: now } = matcher.observeOriginal(file, original, facts.isSettled, true);
    return this.#decideBy({ facts: now }, file, original);
  }

  #candidatesOf(
    generation: TrackedFile,
  ): { readonly file: TrackedFile; readonly entry: CopyCandidate; readonly size: number }[] {
    return [...this.#options.knownFiles.candidates].flatMap(([file, entry]) =>
      entry.originals.includes(generation) ? [{ file, entry, size: file.size }] : [],
    );
  }

  #search(generation: TrackedFile, names: FolderNames): void {
    const { clock, maintenance } = this.#options;
    if (!isDetached(generation)) return;
    if (!this.#isComplete(generation)) this.#findCandidates(generation, names);
    this.#compareWith(generation);
    if (!isDetached(generation) || this.#candidatesOf(generation).length > 0) return;
    if (!this.#isComplete(generation) && clock.monotonic() - generation.disk.goneSinceMs < FORGET_AFTER_MS) return;
    this.#searches.delete(generation);
    maintenance.giveUpLost(generation);
  }

  #isComplete(generation: TrackedFile): boolean {
    return this.#searches.get(generation)?.isComplete === true;
  }

  #compareWith(generation: TrackedFile): void {
    const { candidates } = this.#options.knownFiles;
    for (const { file, entry } of orderCopies(generation, this.#candidatesOf(generation)))
      if (candidates.get(file) === entry) this.#decide(file, entry);
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
    const { knownFiles, fileSystem, descriptors, clock } = this.#options;
    let known = knownFiles.in(found.stat);
    if (known) {
      const { facts, trouble } = observeHolder(known, found, fileSystem);
      if (trouble !== undefined) descriptors.fail(known, trouble);
      const change = decideFile(facts);
      if (change === 'undecided' && statIfAt(fileSystem, found.path, found.stat))
        return void this.#unsure.set(found.path, generation);
      if (change === 'replaced') {
        knownFiles.replace(known, clock.monotonic());
        known = undefined;
      }
    }
    if (known?.stream.id !== undefined) return;
    const file = known ?? followAside(this.#options, found, generation.stream);
    const entry = knownFiles.candidates.get(file);
    if (entry) return addOriginal(entry, generation, file.size);
    // The stream may have another copy by now.
    const isUndecided = this.#gather(file, known !== undefined, this.#isScanning);
    if (!isUndecided) takeUp(this.#options, file, generation, known !== undefined);
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

  /** Compares the candidate with one original after the other, until it is decided or must wait; at most MAX_ORIGINALS at a time. */
  #decide(file: TrackedFile, entry: CopyCandidate): void {
    const { fileSystem, clock, descriptors, matcher } = this.#options;
    const ageMs = clock.monotonic() - file.disk.changedAtMs;
    if (!descriptors.open(file)) {
      // Nothing can be compared: the reader goes on trying.
      if (file.disk.failure && !descriptors.mayRecover(file)) this.#takeUp(file, entry, entry.originals[0]!);
      return;
    }
    try {
      const stat = fileSystem.fstat(file.disk.fd!);
      if (entry.originals.some(isUnread)) this.#collect(file, entry);
      for (let round = 1; entry.originals.length > 0; round += 1) {
        if (round > MAX_ORIGINALS) return void (matcher.isSpent = true);
        if (!this.#decideFirst(file, stat, entry, ageMs)) return;
      }
      descriptors.recover(file);
    } catch (error) {
      descriptors.fail(file, error);
    }
  }

  /** True where the file is no copy of the first of its originals. Throws system errors. */
  #decideFirst(file: TrackedFile, stat: FileStat, entry: CopyCandidate, ageMs: number): boolean {
    const { matcher, knownFiles } = this.#options;
    const original = entry.originals[0]!;
    // All copies of it are looked for first.
    if (knownFiles.changed.has(original)) return false;
    const change = this.#decideBy(matcher.observe(file, stat, entry, ageMs), file, original);
    // A failed check changes neither the file nor what `explain` says of it.
    if (change === 'read copy') noteRead(this.#options, file, stat);
    file.disk.lastChange = change;
    if (change === 'short copy') entry.isShort = true;
    if (change === 'read copy') knownFiles.candidates.delete(file);
    if (change === 'copied') this.#move(original, file, stat);
    if (change !== 'new') return false;
    entry.originals.shift();
    Object.assign(entry, { check: undefined, isShort: false });
    if (entry.originals.length === 0) this.#release(file, original);
    return true;
  }

  /** Without a better candidate, the stream is read on in the longest copy that was made before its last read. */
  #settleShort(generation: TrackedFile): void {
    const { matcher, fileSystem, descriptors } = this.#options;
    const candidates = isDetached(generation) ? this.#candidatesOf(generation) : [];
    try {
      const copies = candidates.map(({ file, entry }) => {
        const { isShort, originals, check } = entry;
        const isFirst = originals[0] === generation;
        const stat = isShort && isFirst ? fileSystem.fstat(file.disk.fd!) : undefined;
        return { file, check, stat, size: stat?.size ?? file.size, isShort, isFirst };
      });
      const chosen = chooseShort(generation, copies);
      if (!chosen) return;
      const { file, check, size, stat } = chosen;
      this.#move(generation, file, stat!, matcher.endOf(file, size, check!));
    } catch (error) {
      for (const { file } of candidates) descriptors.fail(file, error);
    }
  }

  #move(generation: TrackedFile, file: TrackedFile, stat: FileStat, end?: CopyEnd): void {
    this.#options.knownFiles.candidates.delete(file);
    this.#searches.delete(generation);
    moveInto(this.#options, generation, file, stat, end);
    for (const { file: other, entry } of this.#candidatesOf(generation)) {
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
    const entry = this.#options.knownFiles.candidates.get(file);
    if (!entry || this.#isScanning) return;
    // Its original's path may have another generation since it was gathered.
    if (file.size > 0) this.#collect(file, entry);
    if (entry.originals.length === 0) this.#takeUp(file, entry, generation);
  }

  #takeUp(file: TrackedFile, { wasFollowed }: CopyCandidate, generation: TrackedFile): void {
    this.#options.knownFiles.candidates.delete(file);
    takeUp(this.#options, file, generation, wasFollowed);
  }
}
