/**
 * Files that are never read as logs: the secrets that the configuration names, and all that is in the data folder. They are known by device
 * and inode, so that a hard link or another mount of them is, too. Lists folders, opens nothing.
 */
import { secretFilesOf } from '../../../config/connect/secret-files.ts';
import type { Config } from '../../../config/model.ts';
import type { Clock } from '../../../core/time/clock.ts';
import type { PrivateFiles } from '../../../core/source.ts';
import { PRIVATE_FILES_AGE_MS, PRIVATE_FILES_PAUSE } from '../limits.ts';
import { type FileStat, type FileSystem, nodeFileSystem, pathIn } from './file-system.ts';

type FileId = Pick<FileStat, 'device' | 'inode'>;

export class ListedPrivateFiles implements PrivateFiles {
  readonly #config: () => Config;
  readonly #clock: Clock;
  readonly #fileSystem: FileSystem;
  /** By inode alone: a look-up for each file of a scan makes no text. */
  #files = new Map<number | bigint, { readonly device: number | bigint; readonly what: string }[]>();
  #refreshAtMs = -Infinity;

  /** `config`: the one in force. */
  constructor(config: () => Config, clock: Clock, fileSystem: FileSystem = nodeFileSystem) {
    this.#config = config;
    this.#clock = clock;
    this.#fileSystem = fileSystem;
  }

  refresh(): void {
    if (this.#clock.monotonic() >= this.#refreshAtMs) this.#list();
  }

  whatIs(file: FileId): string | undefined {
    // The inode may be another file's by now.
    if (this.#find(file) === undefined) return undefined;
    this.#list();
    return this.#find(file);
  }

  #find({ device, inode }: FileId): string | undefined {
    return this.#files.get(inode)?.find((each) => each.device === device)?.what;
  }

  #list(): void {
    const beganMs = this.#clock.monotonic();
    const config = this.#config();
    this.#files = new Map();
    for (const { path, what } of secretFilesOf(config)) this.#add(path, what);
    this.#add(config.dataDir, 'in data_dir');
    const endedMs = this.#clock.monotonic();
    this.#refreshAtMs = endedMs + Math.max(PRIVATE_FILES_AGE_MS, PRIVATE_FILES_PAUSE * (endedMs - beganMs));
  }

  /** A folder with all that is in it; links in it are not followed. */
  #add(path: string, what: string): void {
    try {
      const stat = this.#fileSystem.stat(path);
      if (!stat) return;
      const same = this.#files.get(stat.inode);
      const file = { device: stat.device, what };
      if (same) same.push(file);
      else this.#files.set(stat.inode, [file]);
      if (stat.kind !== 'directory') return;
      for (const entry of this.#fileSystem.readdir(path)) if (!entry.isSymbolicLink()) this.#add(pathIn(path, entry.name), what);
    } catch {
      // What this user cannot list, it cannot open.
    }
  }
}
