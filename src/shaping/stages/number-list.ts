/** Whole numbers below 2^32, one behind the other, in memory that grows as needed and is used again. */

const FIRST_NUMBERS = 4096;
/** Memory that a block of very many events made grow is not kept for the rest of the agent's life. */
const KEPT_NUMBERS = 64 * 1024;

export class NumberList {
  #numbers = new Uint32Array(FIRST_NUMBERS);
  length = 0;

  /** A view; valid until the next change. */
  get view(): Uint32Array {
    return this.#numbers.subarray(0, this.length);
  }

  get last(): number | undefined {
    return this.length === 0 ? undefined : this.#numbers[this.length - 1];
  }

  clear(): void {
    this.length = 0;
    if (this.#numbers.length > KEPT_NUMBERS) this.#numbers = new Uint32Array(FIRST_NUMBERS);
  }

  push(number: number): void {
    if (this.length === this.#numbers.length) this.#grow();
    this.#numbers[this.length++] = number;
  }

  #grow(): void {
    const larger = new Uint32Array(2 * this.#numbers.length);
    larger.set(this.#numbers);
    this.#numbers = larger;
  }
}
