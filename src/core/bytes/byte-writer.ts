/** Appends bytes in memory that grows as needed and is used again. */

const QUOTE = 0x22;
/** Memory that one very large event made grow is not kept for the rest of the agent's life. */
const KEPT_BYTES = 1024 * 1024;
/** Up to this length a loop copies faster than a call. */
const LOOP_BYTES = 40;

export class ByteWriter {
  readonly #firstBytes: number;
  #bytes: Buffer;
  #length = 0;

  /** `firstBytes` is a first guess. */
  constructor(firstBytes = 64 * 1024) {
    this.#firstBytes = firstBytes;
    this.#bytes = Buffer.allocUnsafe(firstBytes);
  }

  get length(): number {
    return this.#length;
  }

  /** A view of the bytes written; valid until the next write. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = Buffer.allocUnsafe(this.#firstBytes);
  }

  /** Forgets the bytes after `length`. */
  cut(length: number): void {
    this.#length = length;
  }

  byte(byte: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = byte;
  }

  copy(from: Buffer, start: number, end: number): void {
    this.#reserve(end - start);
    if (end - start > LOOP_BYTES) {
      this.#length += from.copy(this.#bytes, this.#length, start, end);
      return;
    }
    const to = this.#bytes;
    let length = this.#length;
    for (let at = start; at < end; at++) to[length++] = from[at]!;
    this.#length = length;
  }

  /** Copies with each quote doubled, as inside a quoted CSV value. */
  copyDoubled(from: Buffer, start: number, end: number): void {
    this.#reserve(2 * (end - start));
    const to = this.#bytes;
    let length = this.#length;
    for (let at = start; at < end; at++) {
      const byte = from[at]!;
      if (byte === QUOTE) to[length++] = QUOTE;
      to[length++] = byte;
    }
    this.#length = length;
  }

  text(text: string): void {
    // A character takes at most three bytes.
    this.#reserve(3 * text.length);
    this.#length += this.#bytes.write(text, this.#length);
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#length + bytes));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
