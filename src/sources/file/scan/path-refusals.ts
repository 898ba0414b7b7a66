/**
 * What a source leaves out for safety: links that are not followed, and private files. Kept as long as it is refused, logged and counted once.
 */
import type { PrivateFiles, RefusedPath, SourceStats } from '../../../core/source.ts';
import { MAX_REFUSALS } from '../limits.ts';
import { closeQuietly, type FileStat, type FileSystem, foldersAbove } from './file-system.ts';
import { type Links, refusedError } from './links.ts';
import type { Notices } from './notices.ts';

export interface PathRefusalsOptions {
  readonly links: Links;
  readonly privateFiles: PrivateFiles | undefined;
  readonly fileSystem: FileSystem;
  readonly notices: Notices;
  readonly counts: NonNullable<SourceStats['refused']>;
}

export class PathRefusals {
  readonly #options: PathRefusalsOptions;
  readonly #refused = new Map<string, RefusedPath & { readonly search: number }>();
  #search = 0;

  constructor(options: PathRefusalsOptions) {
    this.#options = options;
  }

  /** By the path of a match, or of a folder. */
  get all(): ReadonlyMap<string, RefusedPath> {
    return this.#refused;
  }

  /** A search of everything begins: what it does not refuse by its end is refused no more. */
  begin(): void {
    this.#options.privateFiles?.refresh();
    this.#search += 1;
  }

  /** `found`: what the search came to. */
  end(found: { has(path: string): boolean }): void {
    for (const [path, { search }] of this.#refused) if (search < this.#search) this.#refused.delete(path);
    if (this.#refused.size < MAX_REFUSALS) this.#options.notices.clear('refused');
    this.#options.links.retain(found);
  }

  /** True for a match, or a folder, that is left out. `isLink`: a wildcard matched a symbolic link. Throws system errors. */
  refuses(path: string, stat: FileStat | undefined, isLink: boolean): boolean {
    const refusal = this.#refusalOf(path, stat, isLink);
    if (refusal) this.#add(path, refusal);
    return refusal !== undefined;
  }

  /** True for a path that the last search left out, or a folder above it. */
  has(path: string): boolean {
    return this.#refused.has(path) || foldersAbove(path).some((folder) => this.#refused.has(folder));
  }

  /** Why a path that patterns lead to is left out, by its present file. Throws system errors. */
  explain(path: string): RefusedPath | undefined {
    const { fileSystem, privateFiles } = this.#options;
    privateFiles?.refresh();
    const refusal = this.#options.links.refusalOf(path, undefined);
    if (refusal || !privateFiles) return refusal;
    for (const each of [path, ...foldersAbove(path)]) {
      const stat = fileSystem.stat(each);
      const what = stat && privateFiles.whatIs(stat, fileSystem.realPath(each) ?? each);
      if (what !== undefined) return privateRefusal(each, what);
    }
    return undefined;
  }

  #refusalOf(path: string, stat: FileStat | undefined, isLink: boolean): RefusedPath | undefined {
    const { links, privateFiles, fileSystem } = this.#options;
    const what = stat && privateFiles?.whatIs(stat, (isLink ? fileSystem.realPath(path) : undefined) ?? path);
    if (what !== undefined) return privateRefusal(path, what);
    return isLink ? links.refusalOf(path, stat) : undefined;
  }

  #add(path: string, refusal: RefusedPath): void {
    const { notices, counts } = this.#options;
    const isNew = !this.#refused.has(path);
    if (isNew && this.#refused.size >= MAX_REFUSALS) {
      const text = 'more links are not followed than are named; further ones are not counted';
      notices.trouble('warn', 'refused', { limit: MAX_REFUSALS }, text);
      return;
    }
    this.#refused.set(path, { ...refusal, search: this.#search });
    if (!isNew) return;
    const { isLink, path: at, reason, fix } = refusal;
    if (isLink) counts.links += 1;
    notices.event(
      'warn',
      { path, ...(at === path ? {} : { link: at }), reason },
      `${isLink ? 'symbolic link not followed' : 'file left out'}; ${fix}`,
    );
  }
}

/**
 * A file system that opens for a source only what that may read, whatever was put in a file's place since a scan saw it. `open` throws
 * `E_REFUSED` beside the system's errors.
 */
export function guard(fileSystem: FileSystem, links: Links, privateFiles: PrivateFiles | undefined): FileSystem {
  const verify = (path: string, fd: number): void => {
    privateFiles?.refresh(true);
    const opened = fileSystem.pathOf(fd);
    const what = privateFiles?.whatIs(fileSystem.fstat(fd), opened ?? path);
    if (what !== undefined) throw refusedError(privateRefusal(path, what));
    // Then there is no link in the path.
    if (opened !== path && opened !== `${path} (deleted)`) links.verify(path, fileSystem.fstat(fd));
  };
  return {
    ...fileSystem,
    open(path) {
      const fd = fileSystem.open(path);
      try {
        verify(path, fd);
        return fd;
      } catch (error) {
        closeQuietly(fileSystem, fd);
        throw error;
      }
    },
  };
}

export function privateRefusal(path: string, what: string): RefusedPath {
  return { path, reason: `it is ${what}, which is never read as a log`, fix: 'exclude it', isLink: false };
}
