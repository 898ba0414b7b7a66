/** A growing buffer, little endian. */
export class Bytes {
  #buffer: Buffer;
  #at = 0;

  constructor(size: number) {
    this.#buffer = Buffer.allocUnsafe(size);
  }

  get length(): number {
    return this.#at;
  }

  done(): Buffer {
    return this.#buffer.subarray(0, this.#at);
  }

  raw(bytes: Buffer): void {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#buffer[this.#at++] = value;
  }

  varint(value: number): void {
    this.#reserve(5);
    let rest = value;
    while (rest >= 128) {
      this.#buffer[this.#at++] = (rest & 127) | 128;
      rest >>>= 7;
    }
    this.#buffer[this.#at++] = rest;
  }

  string(value: string): void {
    // Up to 42 UTF-16 units make at most 126 bytes: the length is one byte that is filled in afterwards.
    if (value.length <= 42) {
      this.#reserve(128);
      const written = this.#buffer.write(value, this.#at + 1);
      this.#buffer[this.#at] = written;
      this.#at += 1 + written;
      return;
    }
    const length = Buffer.byteLength(value);
    this.varint(length);
    this.#reserve(length);
    this.#at += this.#buffer.write(value, this.#at);
  }

  float64(value: number): void {
    this.#reserve(8);
    this.#buffer.writeDoubleLE(value, this.#at);
    this.#at += 8;
  }

  int64(value: number | bigint): void {
    this.#reserve(8);
    if (typeof value === 'bigint') this.#buffer.writeBigInt64LE(value, this.#at);
    else {
      this.#buffer.writeInt32LE(value | 0, this.#at);
      this.#buffer.writeInt32LE(Math.floor(value / 0x1_0000_0000), this.#at + 4);
    }
    this.#at += 8;
  }

  uint64(value: number): void {
    this.int64(value);
  }

  /** The bytes of a typed array, which are little endian on every machine that the engine runs on. */
  view(values: BigInt64Array | Uint32Array | Uint16Array): void {
    this.raw(Buffer.from(values.buffer, values.byteOffset, values.byteLength));
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#at + bytes));
    this.#buffer.copy(grown, 0, 0, this.#at);
    this.#buffer = grown;
  }
}
