/**
 * Whether a file holds what was read of a generation: the head, the bytes before the position, then the checksum of all that
 * was read. A file may be large, so the sum is made a bounded amount at a time.
 */
import { HEAD_BYTES, TAIL_BYTES } from '../../../core/limits.ts';
import type { FileIdentity } from '../../../core/stream.ts';
import { addSums } from '../../../core/sums.ts';
import { tailOf } from '../../../core/tail.ts';
import { contentSum } from '../../../kernel/content-sum.ts';
import type { FileStat, FileSystem } from '../scan/file-system.ts';
import { hashHead, isAtHole } from './identity.ts';
import type { OpenFiles } from './open-files.ts';
import { readBefore, readByte, readHead } from './sample.ts';
import type { TrackedFile } from './tracked-file.ts';

const chunk = Buffer.alloc(256 * 1024);
const head = Buffer.alloc(HEAD_BYTES);

export class CopyCheck {
  readonly #fileSystem: FileSystem;
  readonly #generation: TrackedFile;
  #sum: { at: number; sum: number; readonly until: { readonly at: number; readonly sum: number } } | undefined;

  constructor(fileSystem: FileSystem, generation: TrackedFile) {
    this.#fileSystem = fileSystem;
    this.#generation = generation;
  }

  /**
   * Reads up to `maxBytes` more of the file. True: it holds everything that was read, or everything that it has was read
   * (a copy that was made before the last bytes were). Undefined: not known yet. Throws system errors.
   */
  step(fd: number, stat: FileStat, maxBytes: number): boolean | undefined {
    if (!this.#sum) {
      const isLike = this.#isLike(fd, stat);
      if (isLike !== undefined) return isLike;
    }
    const sum = this.#sum!;
    for (let left = maxBytes; sum.at < sum.until.at && left > 0;) {
      const count = this.#fileSystem.peek(fd, chunk.subarray(0, Math.min(chunk.length, left, sum.until.at - sum.at)), sum.at);
      if (count === 0) return false;
      sum.sum = addSums(sum.sum, contentSum(chunk.subarray(0, count), sum.at));
      sum.at += count;
      left -= count;
    }
    return sum.at < sum.until.at ? undefined : sum.sum === sum.until.sum;
  }

  /** The checksum of what the file has up to `end`, once `step` was true for it. Throws system errors. */
  sumUp(fd: number, end: number): number {
    const sum = this.#sum!;
    while (sum.at < end) {
      const count = this.#fileSystem.peek(fd, chunk.subarray(0, Math.min(chunk.length, end - sum.at)), sum.at);
      if (count === 0) throw new Error('file was cut off while it was compared');
      sum.sum = addSums(sum.sum, contentSum(chunk.subarray(0, count), sum.at));
      sum.at += count;
    }
    return sum.sum;
  }

  /** What head and tail tell; undefined when everything must be summed up. */
  #isLike(fd: number, { size }: FileStat): boolean | undefined {
    const { stream, disk } = this.#generation;
    const { identity, offset, startAt, tail } = stream;
    // The copy of a later generation, whose hole is longer.
    if (isAtHole(stream) && readByte(this.#fileSystem, fd, startAt) === 0) return false;
    if (identity.headLength === 0 || size < identity.headLength) return false;
    const found = head.subarray(0, this.#fileSystem.peek(fd, head, 0));
    if (hashHead(found.subarray(0, identity.headLength)).headHash !== identity.headHash) return false;
    if (!this.#hasEndOf(disk.fd, fd, size)) return false;
    if (size >= offset && tailOf(readBefore(this.#fileSystem, fd, offset, tail.length)).crc !== tail.crc) return false;
    // Nothing was read: it does not matter under which stream it will be.
    if (offset === startAt) return size >= offset;
    // Nothing of what was read is in it.
    if (size <= startAt) return false;
    const until = stream.sum.upTo(size);
    // What lies between a known point and the end of a short copy is not proven: it must be little, beside much that is.
    if (!until || (size < offset && Math.max(size - until.at, Math.min(size - startAt, HEAD_BYTES)) > until.at - startAt)) return false;
    this.#sum = { at: startAt, sum: 0, until };
    return undefined;
  }

  /** A deleted original that is still open may have bytes that were not read: a copy has those, too, as far as it goes. */
  #hasEndOf(held: number | undefined, fd: number, size: number): boolean {
    if (held === undefined) return true;
    const end = Math.min(size, this.#fileSystem.fstat(held).size);
    return (
      tailOf(readBefore(this.#fileSystem, held, end, TAIL_BYTES)).crc === tailOf(readBefore(this.#fileSystem, fd, end, TAIL_BYTES)).crc
    );
  }
}

/** True when the file at the path has the head that is known. False also where that cannot be told. */
export function beginsLike(fileSystem: FileSystem, descriptors: OpenFiles, path: string, { headLength, headHash }: FileIdentity): boolean {
  let fd: number | undefined;
  try {
    fd = fileSystem.open(path);
    return headLength > 0 && hashHead(readHead(fileSystem, fd, headLength)).headHash === headHash;
  } catch {
    return false;
  } finally {
    if (fd !== undefined) descriptors.closeQuietly(fd);
  }
}
