/** Bytes that grow as they are written, for a body whose length is not known before. */

const QUOTE = 0x22;
/** Up to here a loop copies faster than a call. */
const SHORT_BYTES = 48;

export class ByteWriter {
  #bytes: Buffer;
  #length = 0;

  /** `capacity` is a first guess, in bytes. */
  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafe(Math.max(64, capacity));
  }

  byte(value: number): void {
    this.#need(1);
    this.#bytes[this.#length++] = value;
  }

  text(value: string): void {
    // UTF-8 takes at most three bytes for a unit of UTF-16.
    this.#need(value.length * 3);
    this.#length += this.#bytes.write(value, this.#length, 'utf8');
  }

  copy(source: Buffer, from: number, to: number): void {
    this.#need(to - from);
    if (to - from > SHORT_BYTES) {
      this.#length += source.copy(this.#bytes, this.#length, from, to);
      return;
    }
    const out = this.#bytes;
    let length = this.#length;
    for (let at = from; at < to; at++) out[length++] = source[at]!;
    this.#length = length;
  }

  /** Copies with each quote doubled, as inside a quoted CSV value. */
  copyDoubled(source: Buffer, from: number, to: number): void {
    this.#need(2 * (to - from));
    const out = this.#bytes;
    let length = this.#length;
    for (let at = from; at < to; at++) {
      const byte = source[at]!;
      if (byte === QUOTE) out[length++] = QUOTE;
      out[length++] = byte;
    }
    this.#length = length;
  }

  /** The bytes written; the writer is not used afterwards. */
  finish(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #need(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
