/** Reads a few bytes of an open file: its head, those before a position, and where its last line begins. */
import { TAIL_BYTES } from '../../../core/limits.ts';
import type { TextEncoding } from '../../../parsers/text/encoding.ts';
import type { FileSystem } from './file-system.ts';

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
