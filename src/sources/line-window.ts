/**
 * Bytes come in, whole-line blocks go out: owns the window that a source reads into, and where lines begin and end in it.
 * Promises, whatever the sizes of the reads: the same lines; an unfinished line waits for its rest; a line of more than
 * `maxEventBytes` is cut to that size (at a UTF-8 boundary) and the rest skipped with flat memory; offsets count every byte.
 *
 * Use: `commit(read(free()))`, then `next()` until it returns undefined, each time awaiting `accept` before the next call;
 * at the end of the input `flush()`.
 */
import { crc32 } from 'node:zlib';
import type { Block, Region, Tail } from '../core/block.ts';
import { READ_CHUNK_BYTES, TAIL_BYTES } from '../core/limits.ts';

/** What LineWindow knows of a block; the source adds stream, shape and time. */
export type WindowBlock = Pick<Block, 'window' | 'start' | 'end' | 'offset' | 'single'>;

/** An oversize line that is left in its middle: its first `kept` bytes are the event, `length` and `crc` are of all that was seen of it. */
export interface SuspendedLine {
  readonly kept: number;
  readonly length: number;
  readonly crc: number;
  /** The last bytes that were seen. */
  readonly recent: Buffer;
}

const NEWLINE = 10;
const CARRIAGE_RETURN = 13;

/** Bytes of window that lines up to `maxEventBytes` need. */
export function windowBytes(maxEventBytes: number): number {
  return READ_CHUNK_BYTES + maxEventBytes + 64;
}

/** Where to cut `bytes[start, end)`, at most at `limit`, so that no UTF-8 character is torn; invalid bytes are cut anywhere. */
export function utf8Cut(bytes: Buffer, start: number, limit: number): number {
  let at = limit;
  while (at > start && limit - at < 3 && (bytes[at]! & 0xc0) === 0x80) at -= 1;
  return at > start && (bytes[at]! & 0xc0) === 0xc0 ? at : limit;
}

export class LineWindow {
  readonly #window: Region;
  readonly #bytes: Buffer;
  readonly #maxEventBytes: number;
  /** Bytes `[#head, #fill)` wait; none of `[#head, #scanned)` is a newline. */
  #head = 0;
  #fill = 0;
  #scanned = 0;
  #offset = 0;
  /** The last bytes of the stream that were handed out or skipped. */
  readonly #tail = Buffer.alloc(TAIL_BYTES);
  #tailLength = 0;
  /** The oversize line under way: its kept bytes are `[#head, keptEnd)`; `length` and `crc` are of all of it so far. */
  #skip: { keptEnd: number; length: number; crc: number } | undefined;

  /** `window` has at least `windowBytes(maxEventBytes)`. */
  constructor(window: Region, maxEventBytes: number) {
    if (window.bytes.length < windowBytes(maxEventBytes)) throw new RangeError('the window is too small for its lines');
    this.#window = window;
    this.#bytes = window.bytes;
    this.#maxEventBytes = maxEventBytes;
  }

  /** The stream offset of the first byte that was not handed out. */
  get offset(): number {
    return this.#offset;
  }

  /** Bytes of the stream that were read and not handed out: an unfinished line. */
  get pendingBytes(): number {
    return this.#skip === undefined ? this.#fill - this.#head : this.#skip.length;
  }

  /** True inside an oversize line: `reset` would forget its beginning, which only the window has. */
  get isSkipping(): boolean {
    return this.#skip !== undefined;
  }

  /** Goes to another position and forgets what waits. `before`: what is known of the bytes just before `offset`. */
  reset(offset: number, before: Buffer): void {
    this.#head = this.#fill = this.#scanned = 0;
    this.#skip = undefined;
    this.#offset = offset;
    this.#tailLength = 0;
    this.#remember(before);
  }

  /** A copy of the last bytes (up to TAIL_BYTES) that were handed out or skipped. */
  recent(): Buffer {
    return Buffer.from(this.#tail.subarray(0, this.#tailLength));
  }

  /** What `resume` needs to go on in the oversize line under way without its bytes being read again; undefined outside of one. */
  suspend(): SuspendedLine | undefined {
    if (this.#skip === undefined) return undefined;
    return { kept: this.#skip.keptEnd - this.#head, length: this.#skip.length, crc: this.#skip.crc, recent: this.recent() };
  }

  /**
   * Goes back into an oversize line that begins at `offset`; the next byte to commit is the one at `offset + length`. The
   * block that ends it has room for the `kept` bytes from its `start` on, which the caller must put there.
   */
  resume(offset: number, line: SuspendedLine): void {
    this.reset(offset, line.recent);
    this.#skip = { keptEnd: line.kept, length: line.length, crc: line.crc };
    this.#fill = line.kept + 1;
  }

  /** Where to read into next: 1 to READ_CHUNK_BYTES bytes. Ends the life of the blocks handed out. */
  free(): Buffer {
    const shift = this.#head;
    if (shift > 0) {
      this.#bytes.copyWithin(0, shift, this.#fill);
      this.#head = 0;
      this.#fill -= shift;
      this.#scanned -= shift;
      if (this.#skip !== undefined) this.#skip.keptEnd -= shift;
    }
    return this.#bytes.subarray(this.#fill, Math.min(this.#fill + READ_CHUNK_BYTES, this.#bytes.length - 1));
  }

  /** Says that `count` bytes were read into `free()`. */
  commit(count: number): void {
    this.#fill += count;
  }

  /** The next block, or undefined when more bytes are needed. Its bytes stay until `free` is called. */
  next(): WindowBlock | undefined {
    if (this.#skip !== undefined) return this.#skipFrom(this.#skip, this.#skip.keptEnd + 1);
    const start = this.#head;
    const end = this.#wholeLinesEnd();
    if (end > start) {
      const block = { window: this.#window, start, end, offset: this.#offset };
      this.#remember(this.#bytes.subarray(start, end));
      this.#offset += end - start;
      this.#head = end;
      return block;
    }
    if (this.#fill - start <= this.#maxEventBytes) return undefined;
    this.#skip = { keptEnd: utf8Cut(this.#bytes, start, start + this.#maxEventBytes), length: 0, crc: 0 };
    return this.#skipFrom(this.#skip, start);
  }

  /** At the end of the input, after `next` returned undefined: the unfinished line as a block, if there is one. */
  flush(): WindowBlock | undefined {
    if (this.#skip !== undefined) return this.#truncated(this.#skip);
    const { offset } = this;
    const start = this.#head;
    const end = this.#fill;
    if (start === end) return undefined;
    const rest = this.#bytes.subarray(start, end);
    this.#remember(rest);
    this.#offset += rest.length;
    this.#head = this.#scanned = end;
    const single = { length: rest.length, crc: crc32(rest), tail: this.#tailNow(), truncated: false };
    this.#bytes[end] = NEWLINE;
    return { window: this.#window, start, end: end + 1, offset, single };
  }

  /**
   * The end of the last whole line before any oversize one, or `#head`. Looks at the newlines that are `maxEventBytes`
   * apart, not at each one: what lies between two of them cannot hold a longer line.
   */
  #wholeLinesEnd(): number {
    let line = this.#head;
    for (;;) {
      const limit = Math.min(this.#fill, line + this.#maxEventBytes + 1);
      const from = Math.max(line, this.#scanned);
      const newline = from < limit ? this.#bytes.subarray(from, limit).lastIndexOf(NEWLINE) : -1;
      if (newline !== -1) line = from + newline + 1;
      if (newline === -1 || limit === this.#fill) {
        this.#scanned = limit;
        return line;
      }
    }
  }

  /** Skips the oversize line, of which the bytes at `from` are the next; hands it out once its newline is seen. */
  #skipFrom(skip: { keptEnd: number; length: number; crc: number }, from: number): WindowBlock | undefined {
    const unseen = this.#bytes.subarray(from, this.#fill);
    const newline = unseen.indexOf(NEWLINE);
    const part = newline === -1 ? unseen : unseen.subarray(0, newline + 1);
    skip.crc = crc32(part, skip.crc);
    skip.length += part.length;
    this.#remember(part);
    if (newline !== -1) return this.#truncated(skip, from + part.length);
    this.#fill = skip.keptEnd + 1;
    return undefined;
  }

  /** Hands out the oversize line; `next` is where the following line begins. */
  #truncated(skip: { keptEnd: number; length: number; crc: number }, next = skip.keptEnd + 1): WindowBlock {
    const originalBytes = skip.length - this.#lineEndingLength();
    const single = { length: skip.length, crc: skip.crc, tail: this.#tailNow(), originalBytes, truncated: true };
    // This byte belongs to the line that is cut, and is counted already.
    this.#bytes[skip.keptEnd] = NEWLINE;
    const block = { window: this.#window, start: this.#head, end: skip.keptEnd + 1, offset: this.#offset, single };
    this.#skip = undefined;
    this.#offset += skip.length;
    this.#head = this.#scanned = next;
    return block;
  }

  #remember(part: Buffer): void {
    const kept = Math.max(0, Math.min(this.#tailLength, TAIL_BYTES - part.length));
    this.#tail.copyWithin(0, this.#tailLength - kept, this.#tailLength);
    this.#tailLength = kept + part.copy(this.#tail, kept, Math.max(0, part.length - TAIL_BYTES));
  }

  /** Bytes of the line ending that was read last: LF, CRLF or none. */
  #lineEndingLength(): number {
    if (this.#tail[this.#tailLength - 1] !== NEWLINE) return 0;
    return this.#tail[this.#tailLength - 2] === CARRIAGE_RETURN ? 2 : 1;
  }

  #tailNow(): Tail {
    return { length: this.#tailLength, crc: crc32(this.#tail.subarray(0, this.#tailLength)) };
  }
}
