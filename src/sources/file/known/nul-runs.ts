/**
 * Finds NULs in place of bytes that are not written yet, or never were: those that a file ends in, and runs of GAP_BYTES and more. Normal
 * text costs one look at every 512th byte.
 */
import type { Tail } from '../../../core/block.ts';
import { TAIL_BYTES } from '../../../core/limits.ts';
import { tailOf } from '../../../core/sums.ts';
import { READ_CHUNK_BYTES } from '../../framing/limits.ts';
import { GAP_BYTES, MAX_TAIL_NULS, TURN_BYTES } from '../limits.ts';
import { type FileSystem, readBefore } from '../scan/file-system.ts';

export const NULS = Buffer.alloc(READ_CHUNK_BYTES);
const chunk = Buffer.alloc(READ_CHUNK_BYTES);
/** No run of GAP_BYTES lies between two such places. */
const STEP_BYTES = GAP_BYTES / 2;

/** How many NULs the bytes begin with. */
export function leadingNuls(bytes: Buffer): number {
  let at = 0;
  // Compares whole pieces at the speed of memory.
  for (let step = NULS.length; step >= 64; step >>= 2)
    while (at + step <= bytes.length && bytes.subarray(at, at + step).equals(NULS.subarray(0, step))) at += step;
  while (at < bytes.length && bytes[at] === 0) at += 1;
  return at;
}

/** How many bytes are left without the NULs that they end in. */
export function withoutTrailingNuls(bytes: Buffer): number {
  let end = bytes.length;
  for (let step = NULS.length; step >= 64; step >>= 2)
    while (end >= step && bytes.subarray(end - step, end).equals(NULS.subarray(0, step))) end -= step;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  return end;
}

/**
 * Where the first run of NUL characters begins that has GAP_BYTES or reaches the end of the bytes; their length without such a run.
 * `offset`: of the first byte in its file, from where code units of `unitBytes` are counted.
 */
export function findNulRun(bytes: Buffer, offset: number, unitBytes: 1 | 2): number {
  const { length } = bytes;
  for (let at = 0; at < length; at += STEP_BYTES) {
    if (bytes[at] !== 0) continue;
    const end = at + leadingNuls(bytes.subarray(at));
    let start = at;
    while (start > 0 && bytes[start - 1] === 0) start -= 1;
    // The last NUL before it may be half a character.
    start += (offset + start) % unitBytes;
    if (start < end && (end === length || end - start >= GAP_BYTES)) return start;
    at += Math.floor((end - at) / STEP_BYTES) * STEP_BYTES;
  }
  if (bytes[length - 1] !== 0) return length;
  const start = withoutTrailingNuls(bytes);
  return Math.min(length, start + ((offset + start) % unitBytes));
}

/** Where the NULs from `at` on end, and whether that is at text, at the end of the file, or not before `stopAt`. Throws system errors. */
export function findNulsEnd(
  fileSystem: FileSystem,
  fd: number,
  at: number,
  stopAt: number,
): { readonly end: number; readonly by: 'text' | 'file' | 'limit' } {
  let end = at;
  while (end < stopAt) {
    const bytes = chunk.subarray(0, fileSystem.peek(fd, chunk, end));
    const nuls = leadingNuls(bytes);
    end += nuls;
    if (nuls < bytes.length) return { end, by: 'text' };
    if (bytes.length < chunk.length) return { end, by: 'file' };
  }
  return { end, by: 'limit' };
}

/**
 * The tail before `offset` in an open file. Where that is nothing but NULs, which tell no file from another, it is the end of the text before
 * them, as far as MAX_TAIL_NULS. Throws system errors.
 */
export function tailBefore(fileSystem: FileSystem, fd: number, offset: number, length = TAIL_BYTES): Tail {
  const last = readBefore(fileSystem, fd, offset, length);
  const end = isNuls(last) ? findTextEnd(fileSystem, fd, offset, 1, Math.max(0, offset - MAX_TAIL_NULS)) : offset;
  return tailOf(end > 0 ? readBefore(fileSystem, fd, end, length) : last);
}

/** The same of the bytes `before` so many NULs. */
export function tailBeforeNuls(before: Buffer, nuls: number): Tail {
  const text = before.subarray(0, withoutTrailingNuls(before));
  const isText = nuls >= TAIL_BYTES && nuls + before.length - text.length <= MAX_TAIL_NULS && text.length > 0;
  return tailOf(isText ? text : Buffer.concat([before, NULS.subarray(0, Math.min(nuls, TAIL_BYTES))]));
}

function isNuls(bytes: Buffer): boolean {
  return bytes.length > 0 && withoutTrailingNuls(bytes) === 0;
}

/** True where text is by now where a file was known to end in NULs. Throws system errors. */
export function isFilled(fileSystem: FileSystem, fd: number, from: number, to: number): boolean {
  const bytes = chunk.subarray(0, Math.min(TAIL_BYTES, to - from));
  return leadingNuls(bytes.subarray(0, fileSystem.peek(fd, bytes, from))) < bytes.length;
}

/** Where text ends that was written in place of the NULs between `from` and `to`, as far as one look goes. Throws system errors. */
export function findFilledEnd(fileSystem: FileSystem, fd: number, from: number, to: number, unitBytes: 1 | 2): number {
  const stopAt = Math.min(to, from + TURN_BYTES);
  let at = from;
  while (at < stopAt) {
    const bytes = chunk.subarray(0, fileSystem.peek(fd, chunk.subarray(0, stopAt - at), at));
    const textBytes = findNulRun(bytes, at, unitBytes);
    at += textBytes;
    if (textBytes < bytes.length || textBytes === 0) break;
  }
  return at;
}

/**
 * Where an open file of this size ends without the NULs that it ends in, at a whole code unit; 0 where all from `stopAt` on is NULs. Throws
 * system errors.
 */
export function findTextEnd(fileSystem: FileSystem, fd: number, size: number, unitBytes: 1 | 2, stopAt = 0): number {
  for (let to = size; to > stopAt;) {
    const from = Math.max(stopAt, to - chunk.length);
    const left = withoutTrailingNuls(chunk.subarray(0, fileSystem.peek(fd, chunk.subarray(0, to - from), from)));
    if (left > 0) return Math.min(size, from + left + ((from + left) % unitBytes));
    to = from;
  }
  return 0;
}
