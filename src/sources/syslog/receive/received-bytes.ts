/**
 * The bytes of a connection from the beginning of an unfinished message on. Promises: bytes are copied once when they are held and
 * again only as the message doubles; nothing is held, and no read buffer referred to, between messages.
 */
const EMPTY = Buffer.alloc(0);
const LEAST_BYTES = 256;
/** From here on, space is made for all that may come: unwritten pages take no memory. */
const LARGE_BYTES = 32 * 1024;

export class ReceivedBytes {
  #buffer: Buffer = EMPTY;
  #at = 0;
  #end = 0;
  /** Whether the buffer is not the caller's. */
  #isOwn = false;
  readonly #mostBytes: number;

  /** Space is not made for more than so many bytes ahead. */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  get length(): number {
    return this.#end - this.#at;
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(this.#at, this.#end);
  }

  /** Adds a chunk, which stays the caller's: it is only referred to until `own`, `clear` or the next push. */
  push(chunk: Buffer): void {
    if (this.length === 0) {
      this.#buffer = chunk;
      this.#at = 0;
      this.#end = chunk.length;
      this.#isOwn = false;
      return;
    }
    this.#reserve(chunk.length);
    this.#end += chunk.copy(this.#buffer, this.#end);
  }

  /** The first bytes are not needed any more. */
  skip(length: number): void {
    this.#at += length;
  }

  /** Drops all bytes from `from` on. */
  cutAt(from: number): void {
    this.#end = this.#at + from;
  }

  /** Makes copies of what refers to the caller's chunk. */
  own(): void {
    if (this.length === 0) return this.clear();
    if (!this.#isOwn) this.#reserve(0);
  }

  clear(): void {
    this.#buffer = EMPTY;
    this.#at = this.#end = 0;
    this.#isOwn = false;
  }

  #reserve(more: number): void {
    const { length } = this;
    if (this.#isOwn && this.#end + more <= this.#buffer.length) return;
    // Bytes that were given are not written to again.
    const larger = Buffer.allocUnsafeSlow(
      Math.max(LEAST_BYTES, length + more, this.#isOwn ? (length < LARGE_BYTES ? 2 * length : this.#mostBytes) : 0),
    );
    this.#buffer.copy(larger, 0, this.#at, this.#end);
    this.#buffer = larger;
    this.#isOwn = true;
    this.#at = 0;
    this.#end = length;
  }
}
