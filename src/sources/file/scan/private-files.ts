/**
 * Files that are never read as logs: the secrets that the configuration names, other versions of them, and all that is in the data folder. They
 * are known by device and inode, so that a hard link or another mount of them is, too. Lists folders, opens nothing.
 */
import { basename, dirname } from 'node:path';
import { secretFilesOf } from '../../../config/connect/secret-files.ts';
import type { Config } from '../../../config/model.ts';
import type { Clock } from '../../../core/time/clock.ts';
import type { PrivateFile, PrivateFiles } from '../../../core/source.ts';
import { MAX_FORMER_SECRETS, PRIVATE_FILES_AGE_MS, PRIVATE_FILES_PAUSE } from '../limits.ts';
import { type FormerSecret, readFormerSecrets, writeFormerSecrets } from '../../../state/former-secrets.ts';
import { type FileSystem, inodeKey, nodeFileSystem, pathIn } from './file-system.ts';

/** Of volumes that Kubernetes mounts: the link to the folder of the version in force. */
const VERSION_LINK = '..data';
const FORMER = 'a former file of a secret';

export class ListedPrivateFiles implements PrivateFiles {
  readonly #config: () => Config;
  readonly #clock: Clock;
  readonly #fileSystem: FileSystem;
  readonly #rememberIn: string | undefined;
  /** By inode alone: a look-up for each file of a scan makes no text. */
  #files = new Map<number | bigint, { readonly device: number | bigint; readonly what: string }[]>();
  /** Every secret that was seen, the oldest first. */
  readonly #former = new Map<string, FormerSecret>();
  #hasNewSecret = false;
  #refreshAtMs = -Infinity;

  /** `config`: the one in force. `rememberIn`: the data folder, for a process that may write there. */
  constructor(config: () => Config, clock: Clock, rememberIn?: string, fileSystem: FileSystem = nodeFileSystem) {
    this.#config = config;
    this.#clock = clock;
    this.#fileSystem = fileSystem;
    this.#rememberIn = rememberIn;
    for (const each of readFormerSecrets(config().dataDir)) this.#former.set(inodeKey(each), each);
  }

  refresh(isOpening = false): void {
    if (this.#clock.monotonic() >= this.#refreshAtMs) this.#list();
    // It may have been replaced since: few files, and each open takes longer.
    else if (isOpening) this.#listSecrets();
  }

  whatIs(file: PrivateFile): string | undefined {
    // The inode may be another file's by now.
    if (this.#find(file) !== undefined) this.#list();
    const what = this.#find(file);
    return what === undefined && this.#isFormer(file) ? FORMER : what;
  }

  #find({ device, inode }: PrivateFile): string | undefined {
    return this.#files.get(inode)?.find((each) => each.device === device)?.what;
  }

  #isFormer(file: PrivateFile): boolean {
    return this.#former.size > 0 && this.#former.get(inodeKey(file))?.bornMs === file.bornMs;
  }

  #list(): void {
    const beganMs = this.#clock.monotonic();
    this.#files = new Map();
    this.#listSecrets();
    this.#add(this.#config().dataDir, 'in data_dir');
    const endedMs = this.#clock.monotonic();
    this.#refreshAtMs = endedMs + Math.max(PRIVATE_FILES_AGE_MS, PRIVATE_FILES_PAUSE * (endedMs - beganMs));
  }

  #listSecrets(): void {
    for (const { path, what } of secretFilesOf(this.#config())) {
      this.#add(path, what, true);
      this.#addVersions(path, `a version of ${what}`);
    }
    if (!this.#hasNewSecret) return;
    this.#hasNewSecret = false;
    for (const key of this.#former.keys()) if (this.#former.size > MAX_FORMER_SECRETS) this.#former.delete(key);
    if (this.#rememberIn !== undefined) writeFormerSecrets(this.#rememberIn, [...this.#former.values()]);
  }

  /**
   * Where the path leads through a link to a folder, the folders beside that one may hold the next version of the secret, or the one before: the
   * same path in each of them, and of Kubernetes' folders (`..2026_11_26`) everything.
   */
  #addVersions(path: string, what: string): void {
    for (const { path: link } of this.#fileSystem.trace(path, '/').links) {
      const folder = this.#fileSystem.realPath(link);
      const real = this.#fileSystem.realPath(path);
      const isVolume = basename(link) === VERSION_LINK;
      if (folder === undefined || real === undefined || !real.startsWith(`${folder}/`)) continue;
      const parent = dirname(folder);
      for (const name of this.#foldersIn(parent)) {
        if (isVolume && name.startsWith('..')) this.#add(pathIn(parent, name), what, true);
        else this.#add(pathIn(parent, name) + real.slice(folder.length), what, true);
      }
    }
  }

  #foldersIn(path: string): string[] {
    try {
      return this.#fileSystem.readdir(path).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
    } catch {
      return [];
    }
  }

  /** A folder with all that is in it; links in it are not followed. */
  #add(path: string, what: string, isSecret = false): void {
    try {
      const stat = this.#fileSystem.stat(path);
      if (!stat) return;
      const { device, inode, bornMs, kind } = stat;
      if (isSecret && kind === 'file' && !this.#isFormer(stat)) {
        this.#former.set(inodeKey(stat), { device: String(device), inode: String(inode), bornMs });
        this.#hasNewSecret = true;
      }
      const same = this.#files.get(inode);
      if (!same) this.#files.set(inode, [{ device, what }]);
      else if (!same.some((each) => each.device === device)) same.push({ device, what });
      if (kind !== 'directory') return;
      for (const entry of this.#fileSystem.readdir(path)) if (!entry.isSymbolicLink()) this.#add(pathIn(path, entry.name), what, isSecret);
    } catch {
      // What this user cannot list, it cannot open.
    }
  }
}
