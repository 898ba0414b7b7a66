/**
 * The source's open descriptors: at most MAX_OPEN_FILES, the file that changed longest ago is closed first. A file without a
 * name is never closed, because it cannot be opened again. A file that cannot be opened or read is retried after ever longer
 * waits, and logged once. Where the process runs out of descriptors, half of them are given back.
 */
import type { Clock } from '../../../core/time/clock.ts';
import { codeOf, messageOf } from '../../../core/errors.ts';
import { FORGET_AFTER_MS, MAX_OPEN_FILES, MAX_OPEN_RETRY_MS, MIN_OPEN_FILES, OPEN_FILES_GROW_MS } from '../limits.ts';
import { closeQuietly, type FileSystem, isSameFile } from '../scan/file-system.ts';
import type { KnownFiles } from './known-files.ts';
import type { Notices } from '../scan/notices.ts';
import { isGone, type TrackedFile } from './tracked-file.ts';

export interface OpenFilesOptions {
  readonly fileSystem: FileSystem;
  readonly clock: Clock;
  readonly notices: Notices;
  readonly knownFiles: Pick<KnownFiles, 'noteRealPath'>;
}

const FIRST_RETRY_MS = 1000;
/** The process, or the system, has no descriptor left. */
const OUT_OF_DESCRIPTORS: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE']);
/** Subject of the notice about missing descriptors. */
const DESCRIPTORS = 'descriptors';

export class OpenFiles {
  readonly #options: OpenFilesOptions;
  /** The one that changed last is last. */
  readonly #files = new Set<TrackedFile>();
  #limit = MAX_OPEN_FILES;
  /** Monotonic, when the limit was changed. */
  #limitedAtMs = 0;

  constructor(options: OpenFilesOptions) {
    this.#options = options;
  }

  get isFull(): boolean {
    return this.#files.size >= this.#limit;
  }

  get isCrowded(): boolean {
    return this.#files.size * 2 > this.#limit;
  }

  get files(): ReadonlySet<TrackedFile> {
    return this.#files;
  }

  /** Makes sure the file is open. False when it cannot be used now; it is tried again. */
  open(file: TrackedFile): boolean {
    const { fileSystem, clock, knownFiles } = this.#options;
    if (file.disk.failure && file.disk.failure.retryAtMs > clock.monotonic()) return false;
    if (file.disk.fd !== undefined && !file.disk.failure?.isStale) return true;
    if (isGone(file)) return file.disk.fd !== undefined;
    let fd: number | undefined;
    let realPath: string | undefined;
    try {
      this.#grow();
      if (!this.#makeRoom()) throw new Error(`${this.#limit} deleted files are still being read`);
      fd = this.#openOrGiveBack(file.disk.path);
      const stat = fileSystem.fstat(fd);
      if (stat.kind !== 'file' || !isSameFile(stat, file.disk)) {
        // Replaced since the scan; the next one says by what.
        fileSystem.close(fd);
        return file.disk.fd !== undefined;
      }
      realPath = this.#pathOf(fd);
    } catch (error) {
      if (fd !== undefined) closeQuietly(this.#options.fileSystem, fd);
      if (file.disk.fd !== undefined) return true;
      if (codeOf(error) !== 'ENOENT') this.fail(file, error);
      return false;
    }
    this.close(file);
    file.disk.fd = fd;
    knownFiles.noteRealPath(file, realPath);
    this.#files.add(file);
    return true;
  }

  /** An open file has another path now: notes where that leads. */
  locate(file: TrackedFile): void {
    try {
      if (file.disk.fd !== undefined) this.#options.knownFiles.noteRealPath(file, this.#pathOf(file.disk.fd));
    } catch (error) {
      this.fail(file, error);
    }
  }

  /** Undefined for a file that was deleted since it was opened. Throws system errors. */
  #pathOf(fd: number): string | undefined {
    const { fileSystem } = this.#options;
    const path = fileSystem.pathOf(fd);
    return path?.endsWith(' (deleted)') === true && fileSystem.fstat(fd).links === 0 ? undefined : path;
  }

  /** Notes that the file cannot be read now. It stays open: it may be deleted before it can be read. */
  fail(file: TrackedFile, error: unknown): void {
    const code = codeOf(error);
    const now = this.#options.clock.monotonic();
    const waitMs = Math.min(MAX_OPEN_RETRY_MS, file.disk.failure ? file.disk.failure.waitMs * 2 : FIRST_RETRY_MS);
    const reason = messageOf(error);
    file.disk.failure = {
      reason,
      waitMs,
      retryAtMs: now + waitMs,
      sinceMs: file.disk.failure?.sinceMs ?? now,
      isStale: code === 'ESTALE',
    };
    // Logged already, for all files.
    if (OUT_OF_DESCRIPTORS.has(code) && file.disk.fd === undefined) return;
    const text = 'cannot read file, trying again; check its permissions and its disk';
    this.#options.notices.trouble('warn', file.disk.path, { path: file.disk.path, code, reason }, text);
  }

  /** The file cannot be read for so short a time that it may pass. */
  mayRecover({ disk: { failure } }: TrackedFile): boolean {
    return failure !== undefined && this.#options.clock.monotonic() - failure.sinceMs < FORGET_AFTER_MS;
  }

  /** Notes that a turn of the file came to its end without trouble. */
  recover(file: TrackedFile): void {
    const { clock, notices } = this.#options;
    if (!file.disk.failure || file.disk.fd === undefined || file.disk.failure.retryAtMs > clock.monotonic()) return;
    file.disk.failure = undefined;
    if (notices.clear(file.disk.path)) notices.event('info', { path: file.disk.path }, 'file can be read again');
  }

  /** Closes the file's descriptor, if it has one. */
  close(file: TrackedFile): void {
    const { fd } = file.disk;
    if (fd === undefined) return;
    file.disk.fd = undefined;
    this.#files.delete(file);
    closeQuietly(this.#options.fileSystem, fd);
  }

  /** The file changed: others are closed before it. */
  touch(file: TrackedFile): void {
    if (this.#files.delete(file)) this.#files.add(file);
  }

  /** `to` has the file on disk of `from` by now, and its descriptor with it. */
  handOver(from: TrackedFile, to: TrackedFile): void {
    if (this.#files.delete(from)) this.#files.add(to);
  }

  /** False when every open file must stay open. */
  #makeRoom(): boolean {
    for (const file of this.#files) {
      if (!this.isFull) return true;
      if (!file.isBusy && !isGone(file)) this.close(file);
    }
    return !this.isFull;
  }

  /** Sockets and the database need descriptors, too: when none is left, this source closes half of its own. */
  #openOrGiveBack(path: string): number {
    const { fileSystem, clock, notices } = this.#options;
    try {
      return fileSystem.open(path);
    } catch (error) {
      const code = codeOf(error);
      if (!OUT_OF_DESCRIPTORS.has(code)) throw error;
      this.#limit = Math.max(MIN_OPEN_FILES, Math.floor(this.#files.size / 2));
      this.#limitedAtMs = clock.monotonic();
      const text =
        'no file descriptor is left, keeping fewer files open; raise the limit of open files (ulimit -n, LimitNOFILE)';
      notices.trouble('warn', DESCRIPTORS, { path, code, reason: messageOf(error), limit: this.#limit }, text);
      const before = this.#files.size;
      if (!this.#makeRoom() || this.#files.size === before) throw error;
      return fileSystem.open(path);
    }
  }

  /** Whoever used up the descriptors may have released them. */
  #grow(): void {
    const { clock, notices } = this.#options;
    if (this.#limit === MAX_OPEN_FILES || clock.monotonic() - this.#limitedAtMs < OPEN_FILES_GROW_MS) return;
    this.#limit = Math.min(MAX_OPEN_FILES, this.#limit * 2);
    this.#limitedAtMs = clock.monotonic();
    if (this.#limit === MAX_OPEN_FILES) notices.clear(DESCRIPTORS);
  }
}
