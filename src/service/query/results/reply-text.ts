/** The text of a reply, kept as bytes in pieces: as strings it would take several times the memory, in the heap. */
import { badRequest } from '../../http/api-error.ts';

/** Bytes of all texts of one reply. */
export class ReplyBudget {
  readonly #most: number;
  #used = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Throws an `ApiError` 400 when the reply becomes too large. */
  use(bytes: number): void {
    this.#used += bytes;
    if (this.#used > this.#most)
      throw badRequest(`the result is larger than ${this.#most / 2 ** 20} MiB: set a smaller limit`);
  }
}

/** Characters that are put together before they become bytes. */
const PIECE_CHARS = 64 * 1024;

export class ReplyText {
  readonly budget: ReplyBudget;
  readonly #pieceChars: number;
  readonly #pieces: Buffer[] = [];
  #pending = '';

  /** `count`: how many such texts are written side by side. */
  constructor(budget: ReplyBudget, count = 1) {
    this.budget = budget;
    this.#pieceChars = Math.max(512, PIECE_CHARS / count);
  }

  add(text: string): void {
    this.#pending += text;
    if (this.#pending.length >= this.#pieceChars) this.#keep();
  }

  /** Adds a text that has ended; it may be added again. */
  join(text: ReplyText): void {
    this.#keep();
    for (const piece of text.pieces()) this.#pieces.push(piece);
  }

  pieces(): readonly Buffer[] {
    this.#keep();
    return this.#pieces;
  }

  /** The bytes of it, at least so many at a time but the last. */
  *chunks(least: number): Generator<Buffer> {
    let together: Buffer[] = [];
    let bytes = 0;
    for (const piece of this.pieces()) {
      together.push(piece);
      bytes += piece.length;
      if (bytes < least) continue;
      yield Buffer.concat(together);
      [together, bytes] = [[], 0];
    }
    yield Buffer.concat(together);
  }

  /** Bytes of it. */
  size(): number {
    return this.pieces().reduce((sum, piece) => sum + piece.length, 0);
  }

  #keep(): void {
    if (this.#pending === '') return;
    const piece = Buffer.from(this.#pending);
    this.#pending = '';
    this.budget.use(piece.length);
    this.#pieces.push(piece);
  }
}
