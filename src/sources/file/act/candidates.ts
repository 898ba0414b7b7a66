/** The copy candidates, and the files that each may be a copy of. Of those that are still there, it has the truncated ones renewed. */
import { isDetached, type TrackedFile } from '../known/tracked-file.ts';
import {
  addOriginal,
  type CopyMatcher,
  type CopyMatcherOptions,
  isNamedAfter,
  type CopyCandidate,
} from '../observe/copy-matcher.ts';
import { parentOf } from '../scan/finder.ts';
import type { Generations } from './generations.ts';

export interface CandidatesOptions extends CopyMatcherOptions {
  /** `--once`: nothing is waited for. */
  readonly once: boolean;
  readonly generations: Generations;
  readonly matcher: CopyMatcher;
}

export class Candidates {
  readonly all = new Map<TrackedFile, CopyCandidate>();
  readonly #options: CandidatesOptions;

  constructor(options: CandidatesOptions) {
    this.#options = options;
  }

  /** The file is undecided from now on if there is a file that it may be a copy of; `isEarly`: one may be found yet. */
  gather(file: TrackedFile, wasFollowed: boolean, isEarly: boolean): void {
    const entry = { wasFollowed, originals: [], compared: new Set<TrackedFile>(), check: undefined, isShort: false };
    this.all.set(file, entry);
    file.isUndecided = true;
    this.collect(entry, file);
    if (entry.originals.length === 0 && !isEarly) this.forget(file);
  }

  /** It is known what the file is. */
  forget(file: TrackedFile): void {
    this.all.delete(file);
    file.isUndecided = false;
  }

  /** Those of this stream. */
  of(generation: TrackedFile): [TrackedFile, CopyCandidate][] {
    return [...this.all].filter(([, { originals }]) => originals.includes(generation));
  }

  /** Collects all that the file may be a copy of, before anything is decided. */
  collect(entry: CopyCandidate, file: TrackedFile): void {
    const { knownFiles, once } = this.#options;
    const { path } = file.disk;
    const nameStart = parentOf(path).length + 2;
    for (let end = path.length - 1; end >= nameStart; end -= 1) {
      const original = knownFiles.leadingTo(path.slice(0, end));
      if (original?.stream.id === undefined || entry.compared.has(original) || !isNamedAfter(path, original)) continue;
      if (this.#mayHold(original, file) && !once) addOriginal(entry, original, file.size);
    }
    for (const each of [...knownFiles.detached, ...knownFiles.gone])
      if (each.stream.id !== undefined && isNamedAfter(path, each)) addOriginal(entry, each, file.size);
  }

  /** True while the original is there and the file may be its copy. The original may be detached after that. */
  #mayHold(original: TrackedFile, file: TrackedFile): boolean {
    const { matcher, generations } = this.#options;
    this.#verify(original);
    if (matcher.isCutOff(original, file)) generations.renew(original, true);
    if (isDetached(original)) return false;
    if (matcher.isAlikeSoFar(file, original)) return true;
    // Truncated between the two checks, it is not alike any more, though the file is its copy.
    this.#verify(original);
    return !isDetached(original) && original.disk.failure !== undefined;
  }

  /** Its content may be gone since it was looked at: then it is detached when this returns. */
  isThere(original: TrackedFile): boolean {
    this.#verify(original);
    return !isDetached(original) && !this.#options.descriptors.mayRecover(original);
  }

  /** Compares the file with its stream, which is detached if it was truncated. */
  #verify(file: TrackedFile): void {
    // Closed, it may have been truncated since it was looked at last.
    this.#options.descriptors.open(file);
    this.#options.generations.current(file);
  }
}
