/** Reads the few bytes that tell whether a file is still the one that is known, and where its last line begins. */
import { HEAD_BYTES, TAIL_BYTES } from '../../../core/limits.ts';
import { tailOf } from '../../../core/tail.ts';
import type { Encoding } from '../../../parsers/text/encoding.ts';
import type { FileStat, FileSystem } from '../scan/file-system.ts';
import { type FileSample, hasSameContent, isAtHole, type KnownFile } from './identity.ts';

const headScratch = Buffer.alloc(HEAD_BYTES);
const tailScratch = Buffer.alloc(TAIL_BYTES);
/** Enough to see where the last character before a place begins. */
const LAST_CHARACTERS_BYTES = 1024;

/** Head and bytes before the known offset. Both buffers are overwritten by the next call. Throws system errors. */
export function sampleFile(fileSystem: FileSystem, fd: number, stat: FileStat, known: KnownFile): FileSample {
  return {
    device: String(stat.device),
    inode: String(stat.inode),
    size: stat.size,
    head: headScratch.subarray(0, fileSystem.peek(fd, headScratch, 0)),
    beforeOffset: readBefore(fileSystem, fd, known.offset, known.tail.length),
    first: isAtHole(known) ? readByte(fileSystem, fd, known.startAt) : undefined,
  };
}

/** The `length` (up to TAIL_BYTES) bytes before `offset`, fewer where they are not there. Overwritten by the next call. */
export function readBefore(fileSystem: FileSystem, fd: number, offset: number, length: number): Buffer {
  const into = tailScratch.subarray(0, Math.min(length, offset));
  return into.length === 0 ? into : into.subarray(0, fileSystem.peek(fd, into, offset - into.length));
}

/** The byte at a place; undefined where there is none. */
export function readByte(fileSystem: FileSystem, fd: number, at: number): number | undefined {
  const byte = Buffer.alloc(1);
  return fileSystem.peek(fd, byte, at) === 0 ? undefined : byte[0];
}

/** True while what was read before the position is still there: the file was not truncated, or replaced, since. */
export function isUntouched(fileSystem: FileSystem, fd: number, known: KnownFile): boolean {
  if (known.tail.length < TAIL_BYTES || isAtHole(known))
    return hasSameContent(known, sampleFile(fileSystem, fd, fileSystem.fstat(fd), known));
  return tailOf(readBefore(fileSystem, fd, known.offset, TAIL_BYTES)).crc === known.tail.crc;
}

/**
 * Where the line that `size` cuts begins: behind the last newline before it, or at `startAt`, before which nothing counts. Where there is
 * none within `limitBytes`, the line is longer than an event may be: then behind its last whole character.
 */
export function findLineStart(
  fileSystem: FileSystem,
  fd: number,
  size: number,
  limitBytes: number,
  encoding: Encoding,
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
export function readHead(fileSystem: FileSystem, fd: number, length: number, at = 0): Buffer {
  const into = Buffer.allocUnsafe(length);
  return length === 0 ? into : into.subarray(0, fileSystem.peek(fd, into, at));
}
