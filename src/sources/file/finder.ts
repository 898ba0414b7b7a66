/**
 * Finds the regular files that match a source's globs, each with a fresh stat. Symbolic links are followed, link loops end,
 * what is no regular file or cannot be looked at is named once in the log and looked at again the next time.
 * Nothing is ever opened here. Work is done in bounded slices.
 */
import { setImmediate } from 'node:timers/promises';
import { codeOf, messageOf } from '../../core/errors.ts';
import { MAX_DIRECTORIES, MAX_FILES, SCAN_SLICE_FILES } from '../../core/limits.ts';
import { inodeKey, type FileStat, type FileSystem } from './file-system.ts';
import { compileExclude, compileInclude, type IncludeRule } from './glob.ts';
import type { Notices } from './notices.ts';

export interface FoundFile {
  readonly path: string;
  readonly stat: FileStat;
}

export interface FinderOptions {
  /** Absolute globs. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly fileSystem: FileSystem;
  readonly notices: Notices;
}

interface Folder {
  readonly path: string;
  readonly level: number;
  /** Reached through a symbolic link: skipped when it was visited under another name. */
  readonly isLinked: boolean;
}

export class Finder {
  readonly #options: FinderOptions;
  readonly #rules: readonly IncludeRule[];
  readonly #isExcluded: (path: string) => boolean;
  #looked = 0;

  constructor(options: FinderOptions) {
    this.#options = options;
    this.#rules = options.include.map(compileInclude);
    this.#isExcluded = compileExclude(options.exclude);
  }

  /** The folders that the globs start in: what can be watched. */
  get roots(): readonly string[] {
    return [...new Set(this.#rules.map((rule) => (rule.isLiteral ? parentOf(rule.base) : rule.base)))];
  }

  /** All matches, at most MAX_FILES, by path. The order is the file system's. */
  async find(): Promise<Map<string, FoundFile>> {
    const found = new Map<string, FoundFile>();
    for (const rule of this.#rules) {
      if (rule.isLiteral) this.#look(rule.base, found);
      else await this.#walk(rule, found);
    }
    if (found.size < MAX_FILES) this.#options.notices.clear('');
    return found;
  }

  /** Why a path is or is not among the source's files, as far as its name goes. */
  explain(path: string): string {
    const rule = this.#rules.find((candidate) => candidate.matches(path));
    if (!rule) return 'no include pattern matches it';
    return this.#isExcluded(path) ? `${rule.pattern} includes it, but an exclude pattern matches` : `${rule.pattern} includes it`;
  }

  async #walk(rule: IncludeRule, found: Map<string, FoundFile>): Promise<void> {
    const folders: Folder[] = [{ path: rule.base, level: 0, isLinked: false }];
    // Links come last, so that a folder that is reached both ways has its own name.
    const links: Folder[] = [];
    const visited = new Set<string>();
    for (let folder = folders.pop(); folder; folder = folders.pop() ?? links.pop()) {
      if (visited.size >= MAX_DIRECTORIES) {
        this.#options.notices.trouble(
          'warn',
          rule.pattern,
          { pattern: rule.pattern, limit: MAX_DIRECTORIES },
          'pattern leads into too many folders, the rest is not searched; make it narrower',
        );
        return;
      }
      if (this.#isNewFolder(folder, visited)) await this.#list(rule, folder, folders, links, found);
    }
  }

  #isNewFolder(folder: Folder, visited: Set<string>): boolean {
    const stat = this.#stat(folder.path);
    if (!stat) return false;
    const key = inodeKey(stat);
    if (folder.isLinked && (stat.kind !== 'directory' || visited.has(key))) return false;
    visited.add(key);
    return true;
  }

  async #list(rule: IncludeRule, folder: Folder, folders: Folder[], links: Folder[], found: Map<string, FoundFile>): Promise<void> {
    const { fileSystem, notices } = this.#options;
    let entries;
    try {
      entries = fileSystem.readdir(folder.path);
      notices.clear(folder.path);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') this.#sayUnreadable(folder.path, error);
      return;
    }
    const prefix = folder.path === '/' ? '/' : `${folder.path}/`;
    const level = folder.level + 1;
    for (const entry of entries) {
      const path = prefix + entry.name;
      const isLink = entry.isSymbolicLink();
      const isDirectory = entry.isDirectory();
      if ((isDirectory || isLink) && level <= rule.depth && rule.mayContain(path, level) && !this.#isExcluded(path)) {
        const isLinked = isLink || folder.isLinked;
        (isLinked ? links : folders).push({ path, level, isLinked });
      }
      // With `**` every folder matches; that is no mistake to name.
      if (!rule.matches(path) || (isDirectory && rule.depth === Infinity)) continue;
      this.#look(path, found);
      if ((this.#looked += 1) % SCAN_SLICE_FILES === 0) await setImmediate();
    }
  }

  #look(path: string, found: Map<string, FoundFile>): void {
    if (this.#isExcluded(path) || found.has(path)) return;
    const { notices } = this.#options;
    if (found.size >= MAX_FILES) {
      notices.trouble('warn', '', { limit: MAX_FILES }, 'more files match than one source follows; the others are left for later');
      return;
    }
    const stat = this.#stat(path);
    if (stat === undefined) {
      if (path.includes('�')) notices.trouble('warn', path, { path }, 'cannot read file: its name is not valid UTF-8; rename it');
      return;
    }
    if (stat.kind === 'file') found.set(path, { path, stat });
    else
      notices.trouble(
        stat.kind === 'directory' ? 'info' : 'warn',
        path,
        { path, kind: stat.kind },
        `skipped: it matches the pattern, but is a ${stat.kind}, no regular file`,
      );
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
    this.#options.notices.trouble('warn', path, fields, 'cannot look at path, trying again at every scan; check its permissions');
  }
}

/** The folder that a path is in. */
export function parentOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash <= 0 ? '/' : path.slice(0, slash);
}
