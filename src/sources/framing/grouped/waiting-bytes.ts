/** Bytes of a stream that were read and wait for the end of their event, with their place in the stream. */
export class WaitingBytes {
  #bytes = Buffer.alloc(0);
  /** Where the first byte that waits is, here and in the stream. */
  #start = 0;
  #end = 0;
  #from = 0;

  /** Where the first byte that waits is in the stream. */
  get from(): number {
    return this.#from;
  }

  get to(): number {
    return this.#from + this.length;
  }

  get length(): number {
    return this.#end - this.#start;
  }

  /** Drops all bytes; the next one is at this place of the stream. */
  restart(at: number): void {
    this.#start = this.#end = 0;
    this.#from = at;
  }

  /** Ends the life of the bytes that were taken. */
  append(part: Buffer): void {
    const needed = this.length + part.length;
    if (this.#end + part.length > this.#bytes.length) {
      const into = needed > this.#bytes.length ? Buffer.allocUnsafe(2 * needed) : this.#bytes;
      this.#bytes.copy(into, 0, this.#start, this.#end);
      this.#end -= this.#start;
      this.#start = 0;
      this.#bytes = into;
    }
    part.copy(this.#bytes, this.#end);
    this.#end += part.length;
  }

  /** Takes the bytes before this place of the stream, as a view. */
  takeTo(position: number): Buffer {
    const at = this.#start + position - this.#from;
    const taken = this.#bytes.subarray(this.#start, at);
    this.#start = at;
    this.#from = position;
    return taken;
  }

  /** A view of bytes that wait, or were taken and live still. */
  view(from: number, to: number): Buffer {
    const before = this.#start - this.#from;
    return this.#bytes.subarray(before + from, before + to);
  }
}
