/**
 * Files that are never read as logs: the secrets that the configuration names, other versions of them, and all that is in the data folder. They
 * are known by device and inode, so that a hard link or another mount of them is, too. A file in the folder of a sink is known by its real
 * path, as it may be a million files. Lists folders, opens nothing.
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

interface OwnFolder {
  readonly path: string;
  readonly what: string;
  real: string | undefined;
}

export class ListedPrivateFiles implements PrivateFiles {
  readonly #config: () => Config;
  readonly #clock: Clock;
  readonly #fileSystem: FileSystem;
  readonly #rememberIn: string | undefined;
  /** By inode alone: a look-up for each file of a scan makes no text. */
  #files = new Map<number | bigint, { readonly device: number | bigint; readonly what: string }[]>();
  /** Every secret that was seen, the oldest first. */
  readonly #former = new Map<string, FormerSecret>();
  /** Of sinks; one has no real path before it is made. */
  #ownFolders: OwnFolder[] = [];
  /** The files of a folder, as of the last listing. */
  readonly #inFolder = new Map<string, string | undefined>();
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

  whatIs(file: PrivateFile, path: string): string | undefined {
    // The inode may be another file's by now.
    if (this.#find(file) !== undefined) this.#list();
    const what = this.#find(file);
    if (what === undefined && this.#isFormer(file)) return FORMER;
    if (what !== undefined || this.#ownFolders.length === 0) return what;
    return this.#whatIsIn(file.kind === 'directory' ? path : dirname(path));
  }

  #find({ device, inode }: PrivateFile): string | undefined {
    return this.#files.get(inode)?.find((each) => each.device === device)?.what;
  }

  #whatIsIn(folder: string): string | undefined {
    if (this.#inFolder.has(folder)) return this.#inFolder.get(folder);
    const real = this.#fileSystem.realPath(folder);
    if (real === undefined) return undefined;
    const isIn = (own: OwnFolder): boolean => {
      own.real ??= this.#fileSystem.realPath(own.path);
      return own.real !== undefined && `${real}/`.startsWith(`${own.real}/`);
    };
    const what = this.#ownFolders.find(isIn)?.what;
    this.#inFolder.set(folder, what);
    return what;
  }

  #isFormer(file: PrivateFile): boolean {
    return this.#former.size > 0 && this.#former.get(inodeKey(file))?.bornMs === file.bornMs;
  }

  #list(): void {
    const beganMs = this.#clock.monotonic();
    this.#files = new Map();
    this.#inFolder.clear();
    const { dataDir, sinks } = this.#config();
    this.#ownFolders = sinks.flatMap(({ id, ownFolder: path }) =>
      path === undefined ? [] : { path, what: `in the folder of sink "${id}"`, real: this.#fileSystem.realPath(path) },
    );
    this.#listSecrets();
    for (const { path, what } of this.#ownFolders) this.#add(path, what);
    this.#add(dataDir, 'in data_dir');
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

  /** A folder with all that is in it, unless it is a sink's; links in it are not followed. */
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
      if (kind !== 'directory' || this.#ownFolders.some((own) => own.path === path)) return;
      for (const entry of this.#fileSystem.readdir(path))
        if (!entry.isSymbolicLink()) this.#add(pathIn(path, entry.name), what, isSecret);
    } catch {
      // What this user cannot list, it cannot open.
    }
  }
}
