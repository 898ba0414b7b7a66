/**
 * One watch for each folder that a scan visited, and for the folders that symbolic links lead to. Watches only make changes noticed
 * sooner; a full scan decides, and a change that it finds and no watch reported is a miss.
 */
import type { Clock } from '../../../core/time/clock.ts';
import { codeOf, messageOf } from '../../../core/errors.ts';
import { MAX_WATCHED_FOLDERS, TELL_MS, WATCH_RETRY_MS } from '../limits.ts';
import { type FileSystem, inodeKey, leadsNowhere, parentOf, pathIn } from '../scan/file-system.ts';
import type { Visited } from '../scan/finder.ts';
import { WatchedFolder } from './folder-watch.ts';
import type { Notices } from '../scan/notices.ts';

export interface FolderWatchesOptions {
  readonly fileSystem: FileSystem;
  readonly clock: Clock;
  readonly notices: Notices;
  /** True for a path worth checking. */
  readonly concerns: (path: string) => boolean;
}

/** What a folder is watched for. */
interface FolderRole {
  /** Device and inode of a folder that is searched; undefined for one that is not. */
  key: string | undefined;
  /** By real path: the symbolic links that match and lead to a file in it. */
  readonly links: Map<string, string[]>;
  /** Paths in it that lead to a folder that is searched once it is there. */
  readonly awaits: Set<string>;
}

/** The system has no watch left, or the process no descriptor. */
const LIMITS: Readonly<Record<string, string>> = {
  ENOSPC: 'raise fs.inotify.max_user_watches (sysctl)',
  EMFILE: 'raise fs.inotify.max_user_instances (sysctl), or the limit of open files',
  ENFILE: 'raise fs.file-max (sysctl)',
};
/** The subject in `Notices` for missing watches. */
const WATCHES = 'watches';

export class FolderWatches {
  readonly #options: FolderWatchesOptions;
  readonly #folders = new Map<string, WatchedFolder>();
  #roles: ReadonlyMap<string, FolderRole> = new Map();
  /** Folders that could not be watched, each with the time before which it is not tried again (monotonic). */
  readonly #failed = new Set<string>();
  #retryAtMs = -Infinity;
  /** Folders in which a scan found changes that their watch had not reported, by the time of the scan. */
  readonly #suspects = new Map<string, number>();
  /** Folders whose watch missed a change and has reported nothing since. */
  readonly #distrusted = new Map<string, number>();
  #needsScan = false;
  #wake = new AbortController();

  constructor(options: FolderWatchesOptions) {
    this.#options = options;
  }

  /** True while trusted watches report every change. */
  get isComplete(): boolean {
    for (const [path, sinceMs] of this.#distrusted)
      if ((this.#folders.get(path)?.eventAtMs ?? Infinity) > sinceMs) this.#distrusted.delete(path);
    return this.#folders.size > 0 && this.#failed.size + this.#distrusted.size === 0;
  }

  /** Watches exactly the folders that a full scan visited. */
  sync(visited: Visited): void {
    const { fileSystem, notices } = this.#options;
    this.#roles = rolesOf(visited, fileSystem);
    this.#failed.clear();
    for (const [path, folder] of this.#folders) {
      const role = this.#roles.get(path);
      if (role && (role.key ?? folder.key) === folder.key) continue;
      folder.close();
      this.#folders.delete(path);
    }
    for (const path of this.#roles.keys()) {
      if (this.#folders.has(path)) continue;
      if (this.#folders.size < MAX_WATCHED_FOLDERS) this.#add(path);
      else this.#failed.add(path);
    }
    const text =
      'more folders than one source watches; files in the others are noticed by scans, every `scan_interval`';
    if (this.#roles.size > MAX_WATCHED_FOLDERS)
      notices.trouble('info', 'folders', { folders: this.#roles.size, limit: MAX_WATCHED_FOLDERS }, text);
    for (const path of this.#suspects.keys()) if (!this.#folders.has(path)) this.#suspects.delete(path);
    for (const path of this.#distrusted.keys()) if (!this.#folders.has(path)) this.#distrusted.delete(path);
  }

  /** Waits until there is something to check, until `untilMs` (monotonic) or `signal`. Never rejects. */
  async wait(untilMs: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const now = clock.monotonic();
    let dueMs = this.#needsScan ? now : untilMs;
    for (const folder of this.#folders.values()) dueMs = Math.min(dueMs, folder.dueMs);
    for (const sinceMs of this.#suspects.values()) dueMs = Math.min(dueMs, sinceMs + TELL_MS);
    this.#wake = new AbortController();
    const stop = (): void => this.#wake.abort();
    signal.addEventListener('abort', stop, { once: true });
    await clock.sleep(Math.max(0, dueMs - now), this.#wake.signal);
    signal.removeEventListener('abort', stop);
  }

  /** True once after a folder came, went or was replaced: only a full scan sorts that out. */
  takeScan(): boolean {
    const needsScan = this.#needsScan;
    this.#needsScan = false;
    return needsScan;
  }

  addScan(): void {
    this.#needsScan = true;
  }

  /** The folders to check now. */
  takeDue(): WatchedFolder[] {
    const now = this.#options.clock.monotonic();
    const due: WatchedFolder[] = [];
    for (const folder of this.#folders.values()) {
      if (folder.wantsWatch(now)) this.#arm(folder);
      if (folder.dueMs > now) continue;
      const role = this.#roles.get(folder.path);
      if (role?.key !== undefined) due.push(folder);
      else if (folder.take(now).kind === 'whole') this.#addLinks(role?.links.values() ?? []);
    }
    return due;
  }

  /** A full scan found these files changed: a watch that was there since `sinceMs` and did not report it has TELL_MS left to do so. */
  compare(paths: Iterable<string>, sinceMs: number): void {
    const now = this.#options.clock.monotonic();
    for (const path of paths) {
      const folder = this.#folders.get(this.#realFolderOf(path));
      if (folder?.isQuietSince(sinceMs) === true && folder.eventAtMs < sinceMs) this.#suspects.set(folder.path, now);
    }
  }

  /** Counts folders that changed without a report of their watch, and watches them anew. */
  takeMissed(): number {
    const now = this.#options.clock.monotonic();
    let missed = 0;
    for (const [path, sinceMs] of this.#suspects) {
      if (now < sinceMs + TELL_MS) continue;
      this.#suspects.delete(path);
      const folder = this.#folders.get(path);
      if (!folder || folder.eventAtMs >= sinceMs) continue;
      missed += 1;
      this.#distrusted.set(path, now);
      folder.close();
      this.#arm(folder);
    }
    return missed;
  }

  close(): void {
    for (const folder of this.#folders.values()) folder.close();
    this.#folders.clear();
  }

  #add(path: string): void {
    const { fileSystem } = this.#options;
    try {
      const stat = fileSystem.stat(path);
      if (!stat) return void (this.#needsScan = true);
      const folder = new WatchedFolder(path, inodeKey(stat));
      this.#folders.set(path, folder);
      this.#arm(folder);
    } catch (error) {
      this.#fail(path, error);
    }
  }

  #arm(folder: WatchedFolder): void {
    const { fileSystem, clock, notices } = this.#options;
    const { path } = folder;
    if (!fileSystem.watch || clock.monotonic() < this.#retryAtMs) return this.#giveUp(path);
    try {
      const tell = (name: string | undefined, isEntry: boolean): void => this.#tell(folder, name, isEntry);
      const { watch } = fileSystem;
      folder.arm(() => watch(path, tell, (error) => this.#fail(path, error)), clock.monotonic());
      notices.clear(WATCHES);
    } catch (error) {
      this.#fail(path, error);
    }
  }

  #fail(path: string, error: unknown): void {
    const { clock, notices } = this.#options;
    const code = codeOf(error);
    this.#giveUp(path);
    if (leadsNowhere(error)) return void (this.#needsScan = true);
    const fix = LIMITS[code];
    const fields = { path, code, reason: messageOf(error) };
    if (fix === undefined) {
      notices.trouble(
        'info',
        `watch ${path}`,
        fields,
        'folder cannot be watched; changes in it are noticed by scans, every `scan_interval`',
      );
      return;
    }
    this.#retryAtMs = clock.monotonic() + WATCH_RETRY_MS;
    notices.trouble(
      'warn',
      WATCHES,
      fields,
      `no more folders can be watched, scanning every \`scan_interval\`; ${fix}`,
    );
  }

  #giveUp(path: string): void {
    this.#folders.get(path)?.close();
    this.#folders.delete(path);
    this.#failed.add(path);
  }

  #tell(folder: WatchedFolder, name: string | undefined, isEntry: boolean): void {
    const { clock, concerns } = this.#options;
    const role = this.#roles.get(folder.path);
    // A closed watch may still deliver an event.
    if (this.#folders.get(folder.path) !== folder || !role) return;
    const path = name === undefined ? undefined : pathIn(folder.path, name);
    if (
      isEntry &&
      (path === undefined || role.awaits.has(path) || pathIn(parentOf(folder.path), name!) === folder.path)
    )
      this.#needsScan = true;
    this.#addLinks(path === undefined ? role.links.values() : [role.links.get(path) ?? []]);
    if (role.key !== undefined && (isEntry || path === undefined)) folder.addWhole();
    else if (path !== undefined && concerns(path)) folder.addName(path);
    folder.tell(clock.monotonic());
    this.#wake.abort();
  }

  #addLinks(links: Iterable<readonly string[]>): void {
    for (const each of links) for (const link of each) this.#folders.get(parentOf(link))?.addName(link);
  }

  #realFolderOf(path: string): string {
    for (const [folder, { links }] of this.#roles)
      for (const [real, paths] of links) if (paths.includes(path)) return parentOf(real) || folder;
    return parentOf(path);
  }
}

/** Which folders to watch, and what for. */
function rolesOf({ folders, links, missing }: Visited, fileSystem: FileSystem): Map<string, FolderRole> {
  const roles = new Map<string, FolderRole>();
  const roleOf = (folder: string): FolderRole => {
    let role = roles.get(folder);
    if (!role) roles.set(folder, (role = { key: undefined, links: new Map(), awaits: new Set() }));
    return role;
  };
  for (const [folder, key] of folders) roleOf(folder).key = key;
  for (const link of links) {
    const real = fileSystem.realPath(link);
    if (real === undefined || parentOf(real) === parentOf(link)) continue;
    const role = roleOf(parentOf(real));
    role.links.set(real, [...(role.links.get(real) ?? []), link]);
  }
  for (const folder of missing) {
    let awaited = folder;
    while (awaited !== '/' && fileSystem.realPath(parentOf(awaited)) === undefined) awaited = parentOf(awaited);
    if (awaited !== '/') roleOf(parentOf(awaited)).awaits.add(awaited);
  }
  return roles;
}
