/**
 * The file source's only door to the file system, so that a test can make the Nth call fail. Scans are synchronous (a stat is about 1 µs
 * that way and 20 to 30 µs through the thread pool), bulk reads while they are fast. Nothing here opens anything but the named path, and
 * opening never blocks on a FIFO.
 */
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  read,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import type { Dirent, Stats } from 'node:fs';
import { codeOf } from '../../../core/errors.ts';
import { TAIL_BYTES } from '../../../core/limits.ts';
import type { TextEncoding } from '../../../parsers/text/encoding.ts';
import { nativeLibrary } from '../../native/library.ts';
import { type Trace, traceLinks } from './trace-links.ts';
import { type FolderChanged, type FolderWatch, watchFolder } from './watch-folder.ts';

/** What one stat says. Two stats of one file compare by `===` on each field. */
export interface FileStat {
  readonly kind: 'file' | 'directory' | 'FIFO' | 'socket' | 'device';
  /** A number where it is exact, else a bigint. */
  readonly device: number | bigint;
  readonly inode: number | bigint;
  readonly size: number;
  readonly mtimeMs: number;
  /** When it was made; `mtimeMs` where the file system does not know. */
  readonly bornMs: number;
  /** Hard links; 0 once an open file was deleted. */
  readonly links: number;
}

/** All functions throw Node's system errors (`code` set), except where noted. */
export interface FileSystem {
  /** Follows symbolic links. Undefined when nothing is there. */
  stat(path: string): FileStat | undefined;
  readdir(path: string): Dirent[];
  /** For reading, never blocking. Returns the descriptor. */
  open(path: string): number;
  fstat(fd: number): FileStat;
  /** Reads a few bytes synchronously; returns how many there were. */
  peek(fd: number, into: Buffer, position: number): number;
  /**
   * Bulk reading; returns how many bytes came, 0 at the end. At once while reads are fast (from the page cache, where the
   * way through the thread pool costs more than the read and loses the caches' warmth), through the thread pool for a while
   * after some were slow in a row (a disk that spins, a network that stalls).
   */
  read(fd: number, into: Buffer, position: number): Promise<number> | number;
  close(fd: number): void;
  /** Where an open file is now, on systems that can tell. Never throws. */
  pathOf(fd: number): string | undefined;
  /** Where a symbolic link points; undefined for another path. Never throws. */
  linkTarget(path: string): string | undefined;
  /** The path without symbolic links; undefined where it leads nowhere. Never throws. */
  realPath(path: string): string | undefined;
  /** The links on the way to a path, and what it leads to: see scan/trace-links. Never throws. */
  trace(path: string, base: string): Trace;
  /** Reports changes in a folder until it is closed. Throws, or calls `failed`, when the folder cannot be watched. Absent: nothing can be watched. */
  readonly watch?: (folder: string, changed: FolderChanged, failed: (error: unknown) => void) => FolderWatch;
}

const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** A read of one chunk that takes longer may not have come from the page cache. */
const SLOW_READ_MS = 5;
/** One slow read may be a wait for a processor: only so many in a row mean a slow disk. */
const SLOW_READS_IN_ROW = 3;
/** How long reads use the thread pool after that. */
const POOL_AFTER_SLOW_READS_MS = 10_000;
let slowReads = 0;
let slowUntilMs = -Infinity;

export const nodeFileSystem: FileSystem = {
  stat: statPath,
  readdir: (path) => readdirSync(path, { withFileTypes: true }),
  open: (path) => openSync(path, OPEN_FLAGS),
  fstat(fd) {
    const stats = fstatSync(fd);
    if (Number.isSafeInteger(stats.ino) && Number.isSafeInteger(stats.dev))
      return toFileStat(stats, stats.dev, stats.ino);
    const exact = fstatSync(fd, { bigint: true });
    return toFileStat(stats, exact.dev, exact.ino);
  },
  peek: (fd, into, position) => readSync(fd, into, 0, into.length, position),
  read(fd, into, position) {
    const startedMs = performance.now();
    if (startedMs < slowUntilMs) return readLater(fd, into, position);
    const count = readSync(fd, into, 0, into.length, position);
    const endedMs = performance.now();
    slowReads = endedMs - startedMs > SLOW_READ_MS ? slowReads + 1 : 0;
    if (slowReads === SLOW_READS_IN_ROW) {
      slowReads = 0;
      slowUntilMs = endedMs + POOL_AFTER_SLOW_READS_MS;
    }
    return count;
  },
  close: (fd) => closeSync(fd),
  pathOf: (fd) => linkTarget(`/proc/self/fd/${fd}`),
  linkTarget,
  realPath(path) {
    try {
      return realpathSync.native(path);
    } catch {
      return undefined;
    }
  },
  trace: traceLinks,
  watch: (folder, changed, failed) => watchFolder(nativeLibrary(), folder, changed, failed),
};

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function readLater(fd: number, into: Buffer, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    read(fd, into, 0, into.length, position, (error, count) => (error ? reject(error) : resolve(count)));
  });
}

function statPath(path: string): FileStat | undefined {
  // statSync gives undefined for ENOENT and ENOTDIR then.
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) return undefined;
  if (Number.isSafeInteger(stats.ino) && Number.isSafeInteger(stats.dev))
    return toFileStat(stats, stats.dev, stats.ino);
  const exact = statSync(path, { throwIfNoEntry: false, bigint: true });
  return exact && toFileStat(stats, exact.dev, exact.ino);
}

function toFileStat(stats: Stats, device: number | bigint, inode: number | bigint): FileStat {
  const { size, mtimeMs, nlink, birthtimeMs } = stats;
  return {
    kind: kindOf(stats),
    device,
    inode,
    size,
    mtimeMs,
    bornMs: birthtimeMs > 0 ? birthtimeMs : mtimeMs,
    links: nlink,
  };
}

function kindOf(stats: Stats | Dirent): FileStat['kind'] {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'directory';
  if (stats.isFIFO()) return 'FIFO';
  return stats.isSocket() ? 'socket' : 'device';
}

/** Of a file that is not there. */
export const NO_FILE: FileStat = { kind: 'file', device: 0, inode: 0, size: 0, mtimeMs: 0, bornMs: 0, links: 0 };

/** True for two stats of the same file, whatever its content. */
export function isSameFile(a: Pick<FileStat, 'device' | 'inode'>, b: Pick<FileStat, 'device' | 'inode'>): boolean {
  return a.inode === b.inode && a.device === b.device;
}

/** True when nothing that a stat tells has changed. */
export function isSameStat(a: FileStat, b: FileStat): boolean {
  return (
    isSameFile(a, b) &&
    a.kind === b.kind &&
    a.size === b.size &&
    a.mtimeMs === b.mtimeMs &&
    a.bornMs === b.bornMs &&
    a.links === b.links
  );
}

/** The key of a file in a map. */
export function inodeKey(file: {
  readonly device: number | bigint | string;
  readonly inode: number | bigint | string;
}): string {
  return `${file.device}:${file.inode}`;
}

/** True for the error of a path that leads to no file any more. */
export function leadsNowhere(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(codeOf(error));
}

/** The path of a name in a folder, neither of which is looked at: no dots are resolved. */
export function pathIn(folder: string, name: string): string {
  return folder === '/' ? `/${name}` : `${folder}/${name}`;
}

/** The folder that a path is in. */
export function parentOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash <= 0 ? '/' : path.slice(0, slash);
}

/** The folders that a path is in, up to the root, the nearest first. */
export function foldersAbove(path: string): string[] {
  const folders: string[] = [];
  for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1))
    folders.push(path.slice(0, slash));
  return folders;
}

/** The stat of `path` if this very file is there. Never throws. */
export function statIfAt(
  fileSystem: FileSystem,
  path: string,
  file: Pick<FileStat, 'device' | 'inode'>,
): FileStat | undefined {
  const stat = statIfAny(fileSystem, path);
  return stat?.kind === 'file' && isSameFile(stat, file) ? stat : undefined;
}

/** The stat of whatever is at `path`. Never throws: the finder names paths whose stat fails. */
export function statIfAny(fileSystem: FileSystem, path: string): FileStat | undefined {
  try {
    return fileSystem.stat(path);
  } catch {
    return undefined;
  }
}

const tailScratch = Buffer.alloc(TAIL_BYTES);
/** Enough to see where the last character before a place begins. */
const LAST_CHARACTERS_BYTES = 1024;

/** The `length` (up to TAIL_BYTES) bytes before `offset`, fewer where they are not there. Overwritten by the next call. */
export function readBefore(fileSystem: Pick<FileSystem, 'peek'>, fd: number, offset: number, length: number): Buffer {
  const into = tailScratch.subarray(0, Math.min(length, offset));
  return into.length === 0 ? into : into.subarray(0, fileSystem.peek(fd, into, offset - into.length));
}

/** The byte at a place; undefined beyond the end. */
export function readByte(fileSystem: Pick<FileSystem, 'peek'>, fd: number, at: number): number | undefined {
  const byte = Buffer.alloc(1);
  return fileSystem.peek(fd, byte, at) === 0 ? undefined : byte[0];
}

/**
 * Where the line that `size` cuts begins: behind the last newline before it, or at `startAt`, before which nothing counts. Where there is
 * none within `limitBytes`, the line is longer than an event may be: then behind its last whole character.
 */
export function findLineStart(
  fileSystem: Pick<FileSystem, 'peek'>,
  fd: number,
  size: number,
  limitBytes: number,
  encoding: TextEncoding,
  startAt = 0,
): number {
  // Code units are counted from the file's beginning.
  const aligned = (at: number): number => at - (at % encoding.unitBytes);
  const lowest = aligned(Math.max(startAt, size - limitBytes));
  const chunk = Buffer.alloc(Math.min(64 * 1024, size));
  for (let end = size; end > lowest;) {
    const start = Math.max(lowest, aligned(end - chunk.length + encoding.unitBytes - 1));
    const part = chunk.subarray(0, end - start);
    const lineStart = encoding.lastLineEnd(part, 0, fileSystem.peek(fd, part, start));
    if (lineStart !== -1) return start + lineStart;
    if (start === lowest && lowest > startAt) break;
    end = start;
  }
  if (lowest === startAt) return startAt;
  const from = aligned(Math.max(0, size - LAST_CHARACTERS_BYTES));
  const last = chunk.subarray(0, Math.min(chunk.length, size - from));
  return from + encoding.cut(last, 0, fileSystem.peek(fd, last, from));
}

/** The first `length` bytes of a file, or those at a place, fewer where it has not so many. A copy. */
export function readHead(fileSystem: Pick<FileSystem, 'peek'>, fd: number, length: number, at = 0): Buffer {
  const into = Buffer.allocUnsafe(length);
  return length === 0 ? into : into.subarray(0, fileSystem.peek(fd, into, at));
}

/** Calls `use` with the open file at the path. Throws its errors and those of opening. */
export function withOpen<T>(fileSystem: FileSystem, path: string, use: (fd: number) => T): T {
  const fd = fileSystem.open(path);
  try {
    return use(fd);
  } finally {
    closeQuietly(fileSystem, fd);
  }
}

/** The same; undefined where the file cannot be opened or read. */
export function withOpenIfReadable<T>(fileSystem: FileSystem, path: string, use: (fd: number) => T): T | undefined {
  try {
    return withOpen(fileSystem, path, use);
  } catch {
    return undefined;
  }
}

/** Closes a descriptor that was only read from. Never throws. */
export function closeQuietly(fileSystem: FileSystem, fd: number): void {
  try {
    fileSystem.close(fd);
  } catch {
    // Nothing was written through it.
  }
}
