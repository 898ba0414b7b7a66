/** The parts of a memory that were given back: the first that is large enough is taken again, and neighbours become one. */
interface Gap {
  readonly at: number;
  readonly length: number;
}

export class Gaps {
  /** By address. */
  readonly #gaps: Gap[] = [];

  /** The address of `length` free bytes; undefined where no gap is large enough. */
  take(length: number): number | undefined {
    const index = this.#gaps.findIndex((gap) => gap.length >= length);
    const gap = this.#gaps[index];
    if (!gap) return undefined;
    const rest = { at: gap.at + length, length: gap.length - length };
    this.#gaps.splice(index, 1, ...(rest.length > 0 ? [rest] : []));
    return gap.at;
  }

  add(at: number, length: number): void {
    const found = this.#gaps.findIndex((gap) => gap.at > at);
    const index = found < 0 ? this.#gaps.length : found;
    const [before, after] = [this.#gaps[index - 1], this.#gaps[index]];
    const joinsBefore = before !== undefined && before.at + before.length === at;
    const joinsAfter = after !== undefined && at + length === after.at;
    const from = joinsBefore ? before.at : at;
    const end = joinsAfter ? after.at + after.length : at + length;
    this.#gaps.splice(joinsBefore ? index - 1 : index, Number(joinsBefore) + Number(joinsAfter), {
      at: from,
      length: end - from,
    });
  }
}
