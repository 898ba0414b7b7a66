/**
 * The source's open descriptors: at most MAX_OPEN_FILES, the file that changed longest ago makes room. A file that has no
 * name any more is never closed to make room: there is no other way to its bytes. What cannot be opened is tried again
 * after ever longer waits, and named once.
 */
import type { Clock } from '../../core/clock.ts';
import { codeOf, messageOf } from '../../core/errors.ts';
import { MAX_OPEN_FILES, MAX_OPEN_RETRY_MS } from '../../core/limits.ts';
import { type FileSystem, isSameFile } from './file-system.ts';
import type { Notices } from './notices.ts';
import { isGone, type TrackedFile } from './tracked-file.ts';

export interface OpenFilesOptions {
  readonly fileSystem: FileSystem;
  readonly clock: Clock;
  readonly notices: Notices;
}

const FIRST_RETRY_MS = 1000;

export class OpenFiles {
  readonly #options: OpenFilesOptions;
  /** The one that changed last is last. */
  readonly #files = new Set<TrackedFile>();

  constructor(options: OpenFilesOptions) {
    this.#options = options;
  }

  get isFull(): boolean {
    return this.#files.size >= MAX_OPEN_FILES;
  }

  /** Makes sure the file is open. False when it cannot be now; it is tried again. */
  open(file: TrackedFile): boolean {
    const { fileSystem, clock, notices } = this.#options;
    if (file.fd !== undefined) return true;
    if (isGone(file) || (file.failure && file.failure.retryAtMs > clock.monotonic())) return false;
    let fd: number | undefined;
    try {
      if (!this.#makeRoom()) throw new Error(`${MAX_OPEN_FILES} deleted files are still being read`);
      fd = fileSystem.open(file.path);
      const stat = fileSystem.fstat(fd);
      if (stat.kind !== 'file' || !isSameFile(stat, file)) {
        // Replaced since the scan; the next one says by what.
        fileSystem.close(fd);
        return false;
      }
    } catch (error) {
      if (fd !== undefined) this.#closeQuietly(fd);
      if (codeOf(error) !== 'ENOENT') this.fail(file, error);
      return false;
    }
    file.fd = fd;
    file.realPath ??= fileSystem.pathOf(fd);
    this.#files.add(file);
    if (file.failure) {
      file.failure = undefined;
      if (notices.clear(file.path)) notices.event('info', { path: file.path }, 'file can be read again');
    }
    return true;
  }

  /** Notes that the file cannot be read now. */
  fail(file: TrackedFile, error: unknown): void {
    if (!isGone(file)) this.close(file);
    const waitMs = Math.min(MAX_OPEN_RETRY_MS, file.failure ? file.failure.waitMs * 2 : FIRST_RETRY_MS);
    const reason = messageOf(error);
    const code = codeOf(error);
    file.failure = { reason, waitMs, retryAtMs: this.#options.clock.monotonic() + waitMs };
    const fix = code === 'EMFILE' || code === 'ENFILE' ? 'raise the limit of open files' : 'check its permissions and its disk';
    this.#options.notices.trouble('warn', file.path, { path: file.path, code, reason }, `cannot read file, trying again; ${fix}`);
  }

  /** Closes the file's descriptor, if it has one. */
  close(file: TrackedFile): void {
    const { fd } = file;
    if (fd === undefined) return;
    file.fd = undefined;
    this.#files.delete(file);
    this.#closeQuietly(fd);
  }

  /** The file changed: others make room before it. */
  touch(file: TrackedFile): void {
    if (this.#files.delete(file)) this.#files.add(file);
  }

  /** Gives one file's descriptor to another: the next generation of the same file. */
  handOver(from: TrackedFile, to: TrackedFile): void {
    if (!this.#files.delete(from)) return;
    to.fd = from.fd;
    from.fd = undefined;
    this.#files.add(to);
  }

  #makeRoom(): boolean {
    if (!this.isFull) return true;
    for (const file of this.#files) {
      if (file.isBusy || isGone(file)) continue;
      this.close(file);
      return true;
    }
    return false;
  }

  #closeQuietly(fd: number): void {
    try {
      this.#options.fileSystem.close(fd);
    } catch {
      // Nothing was written through it, so nothing is lost by it.
    }
  }
}
