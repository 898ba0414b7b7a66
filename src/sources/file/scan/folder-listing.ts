/**
 * What a folder's listing means for one include pattern, kept as long as nothing was added, removed or renamed in the
 * folder: so that an idle folder costs a stat. A folder's modification time is believed only when it had stood still for
 * a while before the listing was made (clocks of file systems tick coarsely), and not for long (networks).
 */
import type { Clock } from '../../../core/time/clock.ts';
import { LISTING_SETTLES_MS, MAX_LISTING_AGE_MS } from '../limits.ts';
import { type FileStat, type FileSystem, pathIn } from './file-system.ts';
import type { IncludeRule } from './glob.ts';

export interface FolderListing {
  /** Paths that match: files as a rule, and what only looks like one. */
  readonly matches: readonly string[];
  /** Those of them that are symbolic links. */
  readonly links: readonly string[];
  /** Folders, and links that may lead to one, under which there can be matches. */
  readonly folders: readonly { readonly path: string; readonly isLink: boolean }[];
}

export interface KeptListing {
  /** How far below the base it is. */
  readonly level: number;
  readonly mtimeMs: number;
  /** Monotonic, when this `mtimeMs` was first seen. */
  readonly sinceMs: number;
  readonly listedAtMs: number;
  readonly listing: FolderListing;
}

/** The listings for one include pattern. */
export class FolderListings {
  readonly #kept = new Map<string, KeptListing>();
  readonly #rule: IncludeRule;
  readonly #isExcluded: (path: string) => boolean;
  readonly #fileSystem: FileSystem;
  readonly #clock: Clock;

  constructor(rule: IncludeRule, isExcluded: (path: string) => boolean, fileSystem: FileSystem, clock: Clock) {
    this.#rule = rule;
    this.#isExcluded = isExcluded;
    this.#fileSystem = fileSystem;
    this.#clock = clock;
  }

  /** The folder's listing; `stat` is its own, made just before, `level` how far below the base it is. Throws system errors. */
  list(folder: string, level: number, stat: FileStat): FolderListing {
    const now = this.#clock.monotonic();
    const kept = this.#kept.get(folder);
    const isStill = kept?.mtimeMs === stat.mtimeMs;
    if (isStill && kept.listedAtMs - kept.sinceMs >= LISTING_SETTLES_MS && now - kept.listedAtMs < MAX_LISTING_AGE_MS)
      return kept.listing;
    this.#kept.delete(folder);
    const listing = this.#read(folder, level + 1);
    this.#kept.set(folder, {
      level,
      mtimeMs: stat.mtimeMs,
      sinceMs: isStill ? kept.sinceMs : now,
      listedAtMs: now,
      listing,
    });
    return listing;
  }

  /** The kept listing of a folder, whether current or not. */
  kept(folder: string): KeptListing | undefined {
    return this.#kept.get(folder);
  }

  retain(folders: { readonly size: number; has(folder: string): boolean }): void {
    if (this.#kept.size <= folders.size) return;
    for (const folder of this.#kept.keys()) if (!folders.has(folder)) this.#kept.delete(folder);
  }

  #read(folder: string, level: number): FolderListing {
    const rule = this.#rule;
    const matches: string[] = [];
    const links: string[] = [];
    const folders: { path: string; isLink: boolean }[] = [];
    for (const entry of this.#fileSystem.readdir(folder)) {
      const path = pathIn(folder, entry.name);
      const isLink = entry.isSymbolicLink();
      const isDirectory = entry.isDirectory();
      const leadsOn = (isDirectory || isLink) && level <= rule.depth && rule.mayContain(path, level);
      // With `**` every folder matches; that is no mistake to name.
      const isMatch = rule.matches(path) && !(isDirectory && rule.depth === Infinity);
      if (!(leadsOn || isMatch) || this.#isExcluded(path)) continue;
      if (leadsOn) folders.push({ path, isLink });
      if (isMatch) matches.push(path);
      if (isMatch && isLink) links.push(path);
    }
    return { matches, links, folders };
  }
}
