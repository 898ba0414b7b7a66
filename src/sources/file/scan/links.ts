/**
 * Which symbolic links are followed. Those in the fixed part of a pattern are the configuration's own; one that a wildcard matched may have been
 * made by whoever may write there, to have read what he may not. Every link on the way counts, also those in the path of a link's target.
 */
import type { RefusedPath } from '../../../core/source.ts';
import type { Clock } from '../../../core/time/clock.ts';
import { codeOf } from '../../../core/errors.ts';
import { LINK_VERDICT_MS } from '../limits.ts';
import { type FileStat, type FileSystem, isSameFile } from './file-system.ts';
import type { Trace } from './trace-links.ts';

/** Of links that a wildcard matched; `safe`: those that root, the agent's user or the owner of the target made. */
export type FollowLinks = boolean | 'safe';

export interface LinksOptions {
  readonly followLinks: FollowLinks;
  /** Paths that the configuration names: the links in them are its own. */
  readonly fixed: readonly string[];
  readonly fileSystem: FileSystem;
  readonly clock: Clock;
  /** User number of the agent; undefined on systems without such. */
  readonly user?: number | undefined;
}

type FileId = Pick<FileStat, 'device' | 'inode'>;

/** The first link that may not be followed, by its own path; undefined for none. Pure. */
export function judgeTrace({ links }: Trace, follow: FollowLinks, user: number | undefined): RefusedPath | undefined {
  if (follow === true || user === undefined) return undefined;
  if (follow === false && links[0]) {
    const fix = 'set follow_links: safe, or name the link in a pattern without wildcards';
    return {
      path: links[0].path,
      reason: 'follow_links is false, and it is a symbolic link that a wildcard matched',
      fix,
      isLink: true,
    };
  }
  const hostile = links.find(({ owner, targetOwner }) => owner !== 0 && owner !== user && owner !== targetOwner);
  return (
    hostile && {
      path: hostile.path,
      reason: `user ${hostile.owner} made the symbolic link, and what it leads to is not that user's own`,
      fix: 'have root, or the owner of its target, make the link; or set follow_links: true, if all who can write there may have the agent read any file',
      isLink: true,
    }
  );
}

export class Links {
  readonly #options: LinksOptions;
  /** Where links led to that a search followed, by path. */
  readonly #followed = new Map<string, FileId & { readonly judgedAtMs: number }>();

  constructor(options: LinksOptions) {
    this.#options = { user: process.geteuid?.(), ...options };
  }

  /** Why a path that a search came to by links is not read. `stat`: what it leads to. Throws system errors, also where that changes meanwhile. */
  refusalOf(path: string, stat: FileId | undefined): RefusedPath | undefined {
    const { followLinks, clock } = this.#options;
    if (followLinks === true) return undefined;
    const now = clock.monotonic();
    const known = this.#followed.get(path);
    if (known && stat && isSameFile(known, stat) && now - known.judgedAtMs < LINK_VERDICT_MS) return undefined;
    this.#followed.delete(path);
    const { refusal, end } = this.#judge(path);
    if (refusal) return refusal;
    if (stat && !(end && isSameFile(end, stat))) throw changedError(path);
    if (end) this.#followed.set(path, { ...end, judgedAtMs: now });
    return undefined;
  }

  /** Throws where the file that was opened at a path is not the one that links lead to that may be followed. */
  verify(path: string, opened: FileStat): void {
    if (this.#options.followLinks === true) return;
    const { refusal, end } = this.#judge(path);
    if (refusal) throw refusedError(refusal);
    // Deleted or renamed since it was opened: a search has judged it.
    const expected = end ?? this.#followed.get(path);
    if (!expected || !isSameFile(expected, opened)) throw changedError(path);
  }

  /** Forgets all paths but those that a search found. */
  retain(found: { has(path: string): boolean }): void {
    for (const path of this.#followed.keys()) if (!found.has(path)) this.#followed.delete(path);
  }

  #judge(path: string): { readonly refusal: RefusedPath | undefined; readonly end: Trace['end'] } {
    const { fileSystem, followLinks, user } = this.#options;
    const trace = fileSystem.trace(path, this.#fixedPartOf(path));
    const refusal = judgeTrace(trace, followLinks, user);
    if (!refusal && trace.error !== undefined) throw trace.error;
    return { refusal, end: trace.end };
  }

  #fixedPartOf(path: string): string {
    let fixed = '/';
    for (const base of this.#options.fixed)
      if (base.length > fixed.length && (path === base || path.startsWith(`${base}/`))) fixed = base;
    return fixed;
  }
}

/** A rotation at this moment, as a rule: the next search sees its result. */
function changedError(path: string): Error {
  return Object.assign(new Error(`what "${path}" leads to changed while it was looked at`), { code: 'ENOENT' });
}

const REFUSED = 'E_REFUSED';

export function refusedError(refusal: RefusedPath): Error {
  const { path, reason, fix } = refusal;
  return Object.assign(new Error(`"${path}" is not read: ${reason}; ${fix}`), { code: REFUSED, refusal });
}

/** What `refusedError` was made of. */
export function refusalIn(error: unknown): RefusedPath | undefined {
  return codeOf(error) === REFUSED ? (error as { refusal?: RefusedPath }).refusal : undefined;
}
