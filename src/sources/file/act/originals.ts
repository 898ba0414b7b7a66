/** Collects the files that a copy candidate may be a copy of. Of those that are still there, it tells which were truncated, and has them renewed. */
import { isDetached, type TrackedFile } from '../known/tracked-file.ts';
import {
  addOriginal,
  basesOf,
  type CopyMatcher,
  type CopyMatcherOptions,
  extendsName,
  type Search,
  type Undecided,
} from '../observe/copy-matcher.ts';
import { parentOf } from '../scan/finder.ts';

export interface OriginalsOptions extends CopyMatcherOptions {
  /** `--once`: nothing is waited for. */
  readonly once: boolean;
  /** Compares the file with its stream: if it was truncated, that is detached, and its copy sought, when this returns. */
  verify(file: TrackedFile): void;
  /** The file was truncated: its stream is detached, and its copy sought, when this returns. */
  renew(file: TrackedFile): void;
}

interface CopySearches {
  readonly matcher: CopyMatcher;
  /** The copy candidates, … */
  readonly undecided: ReadonlyMap<TrackedFile, Undecided>;
  /** … and the streams whose copies are looked for. */
  readonly detached: ReadonlyMap<TrackedFile, Search>;
}

export class Originals {
  readonly #options: OriginalsOptions & CopySearches;

  constructor(options: OriginalsOptions & CopySearches) {
    this.#options = options;
  }

  /** Collects all that the file may be a copy of, before anything is decided. Returns the streams that turned out to be truncated. */
  collect(entry: Undecided, file: TrackedFile): readonly TrackedFile[] {
    const { knownFiles, once } = this.#options;
    entry.isIncomplete = true;
    const truncated: TrackedFile[] = [];
    const nameStart = parentOf(file.disk.path).length + 2;
    try {
      for (let end = file.disk.path.length - 1; end >= nameStart; end -= 1) {
        const original = knownFiles.leadingTo(file.disk.path.slice(0, end));
        if (original?.stream.id === undefined || entry.compared.has(original)) continue;
        if (!basesOf(original).some((base) => extendsName(file.disk.path, base))) continue;
        if (this.#mayHold(original, file) && !once) this.add(file, original);
        else if (isDetached(original)) truncated.push(original);
      }
      for (const each of [...this.#options.detached.keys(), ...knownFiles.gone])
        if (each.stream.id !== undefined && basesOf(each).some((base) => extendsName(file.disk.path, base))) this.add(file, each);
    } finally {
      entry.isIncomplete = false;
    }
    return truncated;
  }

  /** True while the original is there and the file may be its copy. The original may be detached after that. */
  #mayHold(original: TrackedFile, file: TrackedFile): boolean {
    this.#options.verify(original);
    if (this.#options.matcher.isCutOff(original, file)) this.#options.renew(original);
    if (isDetached(original)) return false;
    if (this.#options.matcher.isAlikeSoFar(file, original)) return true;
    // Truncated between the two checks, it is not alike any more, though the file is its copy.
    this.#options.verify(original);
    return !isDetached(original) && original.disk.failure !== undefined;
  }

  /** Its content may be gone since it was looked at: then it is detached, and all that may be its copies are decided, when this returns. */
  isThere(original: TrackedFile): boolean {
    this.#options.verify(original);
    return !isDetached(original) && !this.#options.descriptors.mayRecover(original);
  }

  /** The file may be a copy of this one, too. */
  add(file: TrackedFile, original: TrackedFile): void {
    const entry = this.#options.undecided.get(file);
    // Looking at another original may have decided it.
    if (entry) addOriginal(entry, original, file.size);
  }
}
