/**
 * Finds the regular files that match a source's globs, each with a fresh stat. Symbolic links are followed, link loops end, a path that is
 * no regular file or cannot be examined is logged once and tried again with the next scan. Nothing is ever opened here. Work is done in
 * bounded slices.
 */
import { setImmediate } from 'node:timers/promises';
import type { Clock, StepDeadline } from '../../../core/time/clock.ts';
import { codeOf, messageOf } from '../../../core/errors.ts';
import { MAX_FILES } from '../../../core/limits.ts';
import { MAX_DIRECTORIES, SCAN_SLICE_FILES } from '../limits.ts';
import { foldersAbove, inodeKey, isSameStat, parentOf, type FileStat, type FileSystem } from './file-system.ts';
import { type FolderListing, FolderListings } from './folder-listing.ts';
import { compileExclude, compileInclude, explainMiss, type IncludeRule } from './glob.ts';
import type { Notices } from './notices.ts';
import type { PathRefusals } from './path-refusals.ts';

export interface FoundFile {
  readonly path: string;
  readonly stat: FileStat;
}

export interface FinderOptions {
  /** Absolute globs. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly fileSystem: FileSystem;
  readonly clock: Clock;
  readonly notices: Notices;
  readonly refusals: PathRefusals;
  /** Of a search. */
  readonly deadline?: StepDeadline;
}

/** Where changes can be watched for. */
export interface Visited {
  /** The folders that were searched, each with its device and inode. */
  readonly folders: Map<string, string>;
  /** Matches that are symbolic links. */
  readonly links: Set<string>;
  /** Folders that patterns start in and that are not there. */
  readonly missing: Set<string>;
}

interface SearchedFolder {
  readonly path: string;
  readonly level: number;
  /** Reached through a symbolic link: skipped when it was visited under another name. */
  readonly isLinked: boolean;
  /** It is one itself. */
  readonly isLink: boolean;
}

export class Finder {
  readonly #options: FinderOptions;
  readonly #rules: readonly { readonly rule: IncludeRule; readonly listings: FolderListings }[];
  readonly #isExcluded: (path: string) => boolean;
  #checked = 0;
  /** What the last `find` found: a file that did not change keeps its entry, so that a scan leaves little garbage. */
  #found: ReadonlyMap<string, FoundFile> = new Map();
  #visited: Visited = { folders: new Map(), links: new Set(), missing: new Set() };

  constructor(options: FinderOptions) {
    this.#options = options;
    this.#isExcluded = compileExclude(options.exclude);
    this.#rules = options.include.map((pattern) => {
      const rule = compileInclude(pattern);
      return { rule, listings: new FolderListings(rule, this.#isExcluded, options.fileSystem, options.clock) };
    });
  }

  /** What the last `find` visited. */
  get visited(): Visited {
    return this.#visited;
  }

  /** All matches, at most MAX_FILES, by path. The order is the file system's. */
  async find(): Promise<Map<string, FoundFile>> {
    const found = new Map<string, FoundFile>();
    const visited: Visited = { folders: new Map(), links: new Set(), missing: new Set() };
    const { refusals } = this.#options;
    refusals.begin();
    for (const { rule, listings } of this.#rules) {
      if (!rule.isLiteral) await this.#walk(listings, rule, found, visited);
      else if (!this.#isExcluded(rule.base)) this.#visitFile(rule.base, found, visited);
    }
    this.#visited = visited;
    this.#found = found;
    refusals.end({ has: (path) => found.has(path) || visited.folders.has(path) });
    if (found.size < MAX_FILES) this.#options.notices.clear('');
    return found;
  }

  /** The matches in one folder that was searched; undefined where it, or a folder in it, is another one now: a `find` is needed. */
  async findIn(folder: string): Promise<Map<string, FoundFile> | undefined> {
    const found = new Map<string, FoundFile>();
    const stat = this.#stat(folder);
    if (!stat || inodeKey(stat) !== this.#visited.folders.get(folder)) return undefined;
    for (const { rule, listings } of this.#rules) {
      if (rule.isLiteral) {
        if (parentOf(rule.base) === folder && !this.#isExcluded(rule.base)) this.#check(rule.base, found);
        continue;
      }
      const kept = listings.kept(folder);
      if (!kept) continue;
      const listing = this.#list(listings, { path: folder, level: kept.level, isLinked: false, isLink: false }, stat);
      if (!listing || !hasSameFolders(listing, kept.listing)) return undefined;
      await this.#checkAll(listing, found);
    }
    return found;
  }

  /** True for a path that some pattern includes and none excludes. */
  matches(path: string): boolean {
    return !this.#isExcluded(path) && this.#rules.some(({ rule }) => rule.matches(path));
  }

  placeOf(path: string): 'matched' | 'aside' {
    return this.matches(path) ? 'matched' : 'aside';
  }

  isExcluded(path: string): boolean {
    return this.#isExcluded(path);
  }

  /** True for a path that a scan reaches: no folder above it is excluded either. */
  reaches(path: string): boolean {
    return this.#rules.some(
      ({ rule }) => rule.matches(path) && !pathsBelow(rule.base, path).some((each) => this.#isExcluded(each)),
    );
  }

  /** Why a path that no scan comes to is not reached, and what to do. */
  explainMiss(path: string): [reason: string, fix: string] {
    const { exclude } = this.#options;
    const rule = this.#rules.find((each) => each.rule.matches(path))?.rule;
    const excluded = rule && pathsBelow(rule.base, path).find((each) => this.#isExcluded(each));
    if (excluded !== undefined) {
      const pattern = exclude.find((each) => compileExclude([each])(excluded));
      const what = excluded === path ? 'it' : `the folder "${excluded}"`;
      return [`the exclude pattern "${pattern}" matches ${what}`, 'make the exclude pattern narrower, or remove it'];
    }
    const { pattern, why } = explainMiss(
      this.#rules.map(({ rule }) => rule.pattern),
      path,
    );
    return [
      `no include pattern matches it; the nearest is "${pattern}": ${why}`,
      'change that pattern, or include the path itself',
    ];
  }

  /** Why a path is or is not among the source's files, as far as its name goes. */
  explain(path: string): string {
    const rule = this.#rules.find((each) => each.rule.matches(path))?.rule;
    if (!rule) return 'no include pattern matches it';
    return this.#isExcluded(path)
      ? `${rule.pattern} includes it, but an exclude pattern matches`
      : `${rule.pattern} includes it`;
  }

  /** A pattern without wildcards. */
  #visitFile(path: string, found: Map<string, FoundFile>, visited: Visited): void {
    this.#check(path, found);
    const folder = parentOf(path);
    const stat = this.#stat(folder);
    if (stat) visited.folders.set(folder, inodeKey(stat));
    else visited.missing.add(folder);
    if (this.#options.fileSystem.linkTarget(path) !== undefined) visited.links.add(path);
  }

  async #walk(
    listings: FolderListings,
    rule: IncludeRule,
    found: Map<string, FoundFile>,
    visited: Visited,
  ): Promise<void> {
    const folders: SearchedFolder[] = [{ path: rule.base, level: 0, isLinked: false, isLink: false }];
    // Links come last, so that a folder that is reached both ways has its own name.
    const links: SearchedFolder[] = [];
    const inodes = new Set<string>();
    const paths = new Set<string>();
    for (let folder = folders.pop(); folder; folder = folders.pop() ?? links.pop()) {
      if (paths.size >= MAX_DIRECTORIES) {
        const fields = { pattern: rule.pattern, limit: MAX_DIRECTORIES };
        this.#options.notices.trouble(
          'warn',
          rule.pattern,
          fields,
          'pattern leads into too many folders, the rest is not searched; make it narrower',
        );
        break;
      }
      const stat = this.#stat(folder.path);
      this.#options.deadline?.progressed();
      if (!stat && folder.level === 0) visited.missing.add(folder.path);
      if (!stat) continue;
      const key = inodeKey(stat);
      if (folder.isLinked && (stat.kind !== 'directory' || inodes.has(key))) continue;
      if (this.#isRefused(folder.path, stat, folder.isLink)) continue;
      inodes.add(key);
      paths.add(folder.path);
      visited.folders.set(folder.path, key);
      const listing = this.#list(listings, folder, stat);
      for (const { path, isLink } of listing?.folders ?? []) {
        const isLinked = isLink || folder.isLinked;
        (isLinked ? links : folders).push({ path, level: folder.level + 1, isLinked, isLink });
      }
      if (!listing) continue;
      await this.#checkAll(listing, found);
      for (const link of listing.links) if (!this.#options.refusals.has(link)) visited.links.add(link);
    }
    listings.retain(paths);
  }

  async #checkAll({ matches, links }: FolderListing, found: Map<string, FoundFile>): Promise<void> {
    const isLink = new Set(links);
    for (const path of matches) {
      this.#check(path, found, isLink.has(path));
      if ((this.#checked += 1) % SCAN_SLICE_FILES !== 0) continue;
      this.#options.deadline?.progressed();
      await setImmediate();
    }
  }

  #list(listings: FolderListings, folder: SearchedFolder, stat: FileStat): FolderListing | undefined {
    try {
      const listing = listings.list(folder.path, folder.level, stat);
      this.#options.notices.clear(folder.path);
      return listing;
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') this.#sayUnreadable(folder.path, error);
      return undefined;
    }
  }

  /** `isLink`: a wildcard matched a symbolic link. */
  #check(path: string, found: Map<string, FoundFile>, isLink = false): void {
    if (found.has(path)) return;
    const { notices } = this.#options;
    if (found.size >= MAX_FILES) {
      notices.trouble(
        'warn',
        '',
        { limit: MAX_FILES },
        'more files match than one source follows; the others are left for later',
      );
      return;
    }
    const stat = this.#stat(path);
    if (this.#isRefused(path, stat, isLink)) return;
    if (stat === undefined) {
      if (path.includes('�'))
        notices.trouble('warn', path, { path }, 'cannot read file: its name is not valid UTF-8; rename it');
      return;
    }
    const before = this.#found.get(path);
    if (stat.kind === 'file') found.set(path, before && isSameStat(before.stat, stat) ? before : { path, stat });
    else
      notices.trouble(
        stat.kind === 'directory' ? 'info' : 'warn',
        path,
        { path, kind: stat.kind },
        `skipped: it matches the pattern, but is a ${stat.kind}, no regular file`,
      );
  }

  #isRefused(path: string, stat: FileStat | undefined, isLink: boolean): boolean {
    try {
      return this.#options.refusals.refuses(path, stat, isLink);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') this.#sayUnreadable(path, error);
      return true;
    }
  }

  #stat(path: string): FileStat | undefined {
    try {
      return this.#options.fileSystem.stat(path);
    } catch (error) {
      this.#sayUnreadable(path, error);
      return undefined;
    }
  }

  #sayUnreadable(path: string, error: unknown): void {
    const fields = { path, code: codeOf(error), reason: messageOf(error) };
    this.#options.notices.trouble(
      'warn',
      path,
      fields,
      'cannot stat path, trying again at every scan; check its permissions',
    );
  }
}

function hasSameFolders(a: FolderListing, b: FolderListing): boolean {
  if (a === b) return true;
  const paths = new Set(a.folders.map(({ path }) => path));
  return paths.size === b.folders.length && b.folders.every(({ path }) => paths.has(path));
}

/** The path, and the folders above it that are below `base`. */
function pathsBelow(base: string, path: string): string[] {
  return [path, ...foldersAbove(path).filter((folder) => folder.length > base.length)];
}
